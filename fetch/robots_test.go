package fetch

import (
	"fmt"
	"testing"

	"whetstone/internal/testcorpus"
)

func TestRobotsFollowRFC9309(t *testing.T) {
	type row struct {
		Robots, Agent, Path, Why string
		Allow                    bool
	}
	for i, c := range testcorpus.Read[row](t, "testdata/robots.jsonl") {
		if got := allowed(c.Robots, c.Agent, c.Path); got != c.Allow {
			t.Errorf("%d %s: got %v\n%s\n%s", i+1, c.Why, got, fmt.Sprintf("%q", c.Robots), c.Path)
		}
	}
}
