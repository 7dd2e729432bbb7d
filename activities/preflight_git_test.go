package activities

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"whetstone/internal/gitstate"
)

func TestPreflightTellsWhatGitDoesNotKeep(t *testing.T) {
	for name, c := range map[string]struct {
		state gitstate.State
		known bool
		want  string // in the notes; "" for nothing about git
	}{
		"an untracked file":         {gitstate.State{Untracked: true}, true, "git does not track"},
		"a detached head":           {gitstate.State{Detached: true}, true, "detached HEAD"},
		"a clean tree":              {gitstate.State{}, true, ""},
		"no repository":             {gitstate.State{Untracked: true}, false, ""},
		"other files in its folder": {gitstate.State{Others: 1}, true, "other files"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			p.learn(rules...)
			asked := ""
			p.a.o.Git = func(_ context.Context, file string) (gitstate.State, bool) { asked = file; return c.state, c.known }
			notes := strings.Join(p.preflight().Notes, "\n")
			if asked != filepath.Join(p.dir, "SKILL.md") {
				t.Errorf("asked about %q", asked)
			}
			if c.want != "" && !strings.Contains(notes, c.want) || c.want == "" && (strings.Contains(notes, "git ") || strings.Contains(notes, "HEAD")) {
				t.Errorf("notes %q, want %q", notes, c.want)
			}
		})
	}
}
