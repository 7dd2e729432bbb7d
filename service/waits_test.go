package service

import (
	"errors"
	"strings"
	"testing"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	failurepb "go.temporal.io/api/failure/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/sdk/temporal"
	"google.golang.org/protobuf/types/known/timestamppb"

	"whetstone/llm"
)

const echoedKey = "sk-a-key-that-the-server-echoed"

func failure(err error) *failurepb.Failure {
	return temporal.GetDefaultFailureConverter().ErrorToFailure(err)
}

func TestAnAttemptToComeIsToldWithoutAnybodysWords(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 14, 3, 0, 0, time.Local)
	at := func(d time.Duration) *timestamppb.Timestamp { return timestamppb.New(now.Add(d)) }
	limited := temporal.NewApplicationErrorWithOptions("openai: "+echoedKey, "Model", temporal.ApplicationErrorOptions{Details: []any{"rate_limited"}})
	for name, c := range map[string]struct {
		p    *workflowpb.PendingActivityInfo
		want string
	}{
		"a limit":              {&workflowpb.PendingActivityInfo{Attempt: 3, NextAttemptScheduleTime: at(20 * time.Second), LastFailure: failure(limited)}, "fetch seed: attempt 3, next at 14:03:20, last: rate_limited"},
		"wrapped":              {&workflowpb.PendingActivityInfo{Attempt: 2, NextAttemptScheduleTime: at(time.Second), LastFailure: failure(temporal.NewApplicationErrorWithCause(echoedKey, "Other", limited))}, "fetch seed: attempt 2, next at 14:03:01, last: rate_limited"},
		"a failure of no kind": {&workflowpb.PendingActivityInfo{Attempt: 2, NextAttemptScheduleTime: at(time.Second), LastFailure: failure(errors.New(echoedKey))}, "fetch seed: attempt 2, next at 14:03:01, last: failed"},
		"details of other use": {&workflowpb.PendingActivityInfo{Attempt: 2, NextAttemptScheduleTime: at(time.Second), LastFailure: failure(temporal.NewApplicationError("x", "Other", echoedKey))}, "fetch seed: attempt 2, next at 14:03:01, last: failed"},
		"a process that died":  {&workflowpb.PendingActivityInfo{Attempt: 2, NextAttemptScheduleTime: at(time.Second), LastFailure: failure(temporal.NewTimeoutError(enumspb.TIMEOUT_TYPE_HEARTBEAT, nil))}, "fetch seed: attempt 2, next at 14:03:01, last: timeout"},
		"under way":            {&workflowpb.PendingActivityInfo{Attempt: 2, State: enumspb.PENDING_ACTIVITY_STATE_STARTED, NextAttemptScheduleTime: at(time.Second)}, ""},
		"the first attempt":    {&workflowpb.PendingActivityInfo{Attempt: 1}, ""},
		"over":                 {&workflowpb.PendingActivityInfo{Attempt: 2, NextAttemptScheduleTime: at(-time.Second)}, ""},
		"too short for a word": {&workflowpb.PendingActivityInfo{Attempt: 2, NextAttemptScheduleTime: at(100 * time.Millisecond)}, ""},
	} {
		c.p.ActivityId, c.p.ActivityType = "5", &commonpb.ActivityType{Name: "FetchSeed"}
		w, _, ok := retryWait(c.p, now)
		if w.Text != c.want || ok != (c.want != "") || strings.Contains(w.Key, "sk-") {
			t.Errorf("%s: %+v", name, w)
		}
	}
}

func TestAProvidersPauseIsToldInWords(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 1, 14, 3, 20, 0, time.Local)
	for want, w := range map[string]llm.Wait{
		"openai asks to wait 20 s (429); going on at 14:03:20":          {Provider: "openai", Until: at, Asked: 20*time.Second + time.Millisecond, Status: 429},
		"codex-cli asks to wait 1 h 5 min; going on at 14:03:20":        {Provider: "codex-cli", Until: at, Asked: 65 * time.Minute},
		"openai asks to wait 3 min (503); going on at 14:03:20":         {Provider: "openai", Until: at, Asked: 3 * time.Minute, Status: 503},
		"openai asks to wait 1 s (429); going on at 14:03:20":           {Provider: "openai", Until: at, Asked: 20 * time.Millisecond, Status: 429},
		"groq is asked 12 times a minute at most; going on at 14:03:20": {Provider: "groq", Until: at, Minute: 12},
	} {
		if got := providerWait(w).Text; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
