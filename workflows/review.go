package workflows

import (
	"errors"
	"fmt"
	"strings"

	"go.temporal.io/sdk/workflow"

	"whetstone/activities"
	"whetstone/run"
)

// DecideUpdate is the wire name of the update with which a person decides on a result that waits for review.
const DecideUpdate = "decide"

// Verdict is a person's word on a result.
type Verdict struct {
	Accept bool
	Why    string
}

// reviewing is a result that waits for a person.
type reviewing struct {
	open    bool
	verdict *Verdict
	stopped bool // somebody asked to stop while it waited
}

// listenForReview installs the update. It may also be sent from the Web UI.
func (o *optimization) listenForReview(ctx workflow.Context) error {
	err := workflow.SetUpdateHandlerWithOptions(ctx, DecideUpdate, func(_ workflow.Context, v Verdict) error {
		v.Why = strings.TrimSpace(v.Why)
		o.review.verdict = &v
		return nil
	}, workflow.UpdateHandlerOptions{
		Description: "Accept or reject the result that waits for review: {\"Accept\": true|false, \"Why\": \"...\"}. A rejection needs a reason; it is kept with the refused edits.",
		Validator: func(v Verdict) error {
			switch {
			case !o.review.open:
				return errors.New("no result waits for review")
			case o.review.verdict != nil:
				return errors.New("it is decided already")
			case !v.Accept && strings.TrimSpace(v.Why) == "":
				return errors.New("a rejection needs a reason (Why), so that the same is not proposed again")
			}
			return nil
		},
	})
	if err != nil {
		return fmt.Errorf("install the decide update: %w", err)
	}
	return nil
}

// awaitReview waits until a person has decided, for days if need be, or stops the run. word is what came of it, and why the
// person's reason.
func (o *optimization) awaitReview(ctx workflow.Context) (word, why string, err error) {
	o.review.open = true
	o.phase = "review"
	o.show(ctx)
	err = workflow.Await(ctx, func() bool { return o.review.verdict != nil || o.review.stopped })
	o.review.open = false
	switch v := o.review.verdict; {
	case err != nil:
		return "", "", err
	case v == nil:
		return run.ReviewStopped, "stopped before anybody decided", nil
	case !v.Accept:
		_, err := callPutBack(ctx, activities.PutBackIn{Job: o.job, Gate: o.Pre.Gate, Why: v.Why})
		return run.ReviewRejected, "a person rejected it: " + v.Why, err
	}
	return run.ReviewAccepted, "", nil
}
