package main

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"whetstone/service"
)

func TestAWaitIsToldOnce(t *testing.T) {
	t.Parallel()
	var w waitLines
	now := time.Date(2026, 3, 1, 14, 3, 0, 0, time.UTC)
	asked := 0
	step := func(after time.Duration, err error, keys ...string) []string {
		now = now.Add(after)
		return w.fresh(t.Context(), func(context.Context) ([]service.Wait, error) {
			asked++
			var out []service.Wait
			for _, k := range keys {
				out = append(out, service.Wait{Key: k, Text: "wait " + k})
			}
			return out, err
		}, now)
	}
	for i, c := range []struct {
		after time.Duration
		err   error
		keys  []string
		want  []string
	}{
		{0, nil, []string{"a"}, []string{"wait a"}},
		{time.Second, nil, []string{"a", "b"}, []string{"wait b"}},
		{time.Second, errors.New("no answer"), []string{"a"}, nil},
		{time.Second, nil, []string{"a", "b"}, nil}, // b was not over: nobody could say
		{time.Second, nil, nil, nil},
		{time.Second, nil, []string{"b"}, []string{"wait b"}}, // over, and again
	} {
		if got := step(c.after, c.err, c.keys...); !slices.Equal(got, c.want) {
			t.Errorf("look %d: %q, want %q", i, got, c.want)
		}
	}
	n := asked
	if got := step(100*time.Millisecond, nil, "c"); got != nil || asked != n {
		t.Errorf("asked again too soon: %q", got)
	}
	if got := new(waitLines).fresh(t.Context(), nil, now); got != nil {
		t.Errorf("without a home: %q", got)
	}
}
