package activities

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"whetstone/llm"
	"whetstone/model"
)

// What a person has to act on is asked for once, and the workflow learns which kind it was; what may pass is asked for again.
func TestTheKindOfAFailureReachesTheWorkflow(t *testing.T) {
	t.Parallel()
	for kind, attempts := range map[model.Kind]int{
		model.Unauthorised: 1, model.Quota: 1, model.NotFound: 1, model.BadRequest: 1, model.TooLong: 1, model.Refused: 1, model.CutOff: 1,
		model.RateLimited: 3, model.Unavailable: 3, model.Timeout: 3, model.Malformed: 3,
	} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.learn(rules...)
			pre := p.preflight()
			p.m.fail = func(int) error {
				return &model.Error{Kind: kind, Provider: "openai", Err: errors.New("the server said no")}
			}
			var s testsuite.WorkflowTestSuite
			env := s.NewTestWorkflowEnvironment()
			env.RegisterActivity(p.a)
			started := 0
			env.SetOnActivityStartedListener(func(*activity.Info, context.Context, converter.EncodedValues) { started++ })
			env.ExecuteWorkflow(func(ctx workflow.Context) (string, error) {
				ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{StartToCloseTimeout: time.Minute, RetryPolicy: &temporal.RetryPolicy{InitialInterval: time.Second, MaximumAttempts: 3}})
				err := workflow.ExecuteActivity(ctx, "Evaluate", EvaluateIn{Job: p.job, Stage: "baseline", Hash: pre.Hash, Side: "selection", Trials: 1}).Get(ctx, nil)
				return KindOf(err), nil
			})
			var got string
			if err := env.GetWorkflowResult(&got); err != nil || got != string(kind) {
				t.Errorf("the workflow reads %q, %v", got, err)
			}
			if started != attempts {
				t.Errorf("%d attempt(s), want %d", started, attempts)
			}
		})
	}
}

// From a status on the wire to what the workflow reads.
func TestAStatusHasOneKind(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]model.Kind{
		400: model.BadRequest, 401: model.Unauthorised, 402: model.Quota, 403: model.Unauthorised, 404: model.NotFound, 413: model.TooLong, 422: model.BadRequest,
		429: model.RateLimited, 500: model.Unavailable, 503: model.Unavailable,
	} {
		c, err := llm.NewOpenAI(llm.OpenAIOptions{Provider: "openai", BaseURL: serving(t, status), Key: "k"})
		if err != nil {
			t.Fatal(err)
		}
		_, err = c.Complete(t.Context(), model.Request{Ref: model.Ref{Provider: "openai", Model: "m"}, Messages: []model.Message{{Role: "user", Content: "x"}}, MaxTokens: 10})
		out := translate(err)
		var app *temporal.ApplicationError
		if KindOf(out) != string(want) || !errors.As(out, &app) || app.Type() != TypeModel || app.NonRetryable() == want.Retryable() {
			t.Errorf("HTTP %d: %q, %v", status, KindOf(out), out)
		}
	}
}

// serving is a server that answers with one status.
func serving(t *testing.T, status int) string {
	t.Helper()
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = w.Write([]byte(`{"error": {"message": "no", "type": "some_error"}}`))
	}))
	t.Cleanup(h.Close)
	return h.URL
}

func TestOnlyFailuresOfAModelHaveAKind(t *testing.T) {
	t.Parallel()
	quota := &model.Error{Kind: model.Quota, Provider: "openai", Err: errors.New("used up")}
	for name, c := range map[string]struct {
		err  error
		want string
	}{
		"nothing":                                {nil, ""},
		"another error":                          {errors.New("quota"), ""},
		"a person's to mend":                     {InputError("quota: %w", errors.New("x")), ""},
		"one of an older release, without kind":  {temporal.NewApplicationError("openai: quota", TypeModel), ""},
		"untranslated":                           {fmt.Errorf("judge: %w", quota), "quota"},
		"translated":                             {translate(quota), "quota"},
		"translated and wrapped":                 {fmt.Errorf("baseline: %w", translate(quota)), "quota"},
		"wrapped in an error of another type":    {temporal.NewApplicationErrorWithCause("x", "Other", translate(quota)), "quota"},
		"of another type with a kind in details": {temporal.NewApplicationError("x", "Other", "quota"), ""},
	} {
		if got := KindOf(c.err); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
