package e2e

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"whetstone/run"
	"whetstone/store"
)

// watch polls the home's database until enough holds for its only run, or the process ends.
func watch(t *testing.T, p *Place, done <-chan struct{}, enough func(*store.Store, run.Run) bool) {
	t.Helper()
	deadline := time.After(time.Minute)
	tick := time.NewTicker(3 * time.Millisecond)
	defer tick.Stop()
	var st *store.Store
	defer func() {
		if st != nil {
			_ = st.Close()
		}
	}()
	for {
		select {
		case <-done:
			return
		case <-deadline:
			t.Fatal("the run did not get there within a minute")
		case <-tick.C:
		}
		if st == nil {
			if st = p.tryOpen(); st == nil {
				continue
			}
		}
		runs, err := st.Runs(t.Context(), 1)
		if err == nil && len(runs) == 1 && enough(st, runs[0]) {
			return
		}
	}
}

// tryOpen opens the home's database if it is there already.
func (p *Place) tryOpen() *store.Store {
	path := filepath.Join(p.Home, "data.db")
	if matches, _ := filepath.Glob(path); len(matches) == 0 {
		return nil
	}
	st, err := store.Open(context.Background(), store.Options{Path: path})
	if err != nil {
		return nil
	}
	return st
}

// OpenStore opens the home's database for looking.
func (p *Place) OpenStore() *store.Store {
	p.T.Helper()
	st, err := store.Open(p.T.Context(), store.Options{Path: filepath.Join(p.Home, "data.db")})
	if err != nil {
		p.T.Fatal(err)
	}
	p.T.Cleanup(func() { _ = st.Close() })
	return st
}

// killWhen starts the main job and kills it with SIGKILL as soon as enough holds.
func (p *Place) killWhen(t *testing.T, args []string, enough func(*store.Store, run.Run) bool) {
	t.Helper()
	cmd := p.Command("starter", args...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		_ = cmd.Wait()
		close(done)
	}()
	watch(t, p, done, enough)
	kill(cmd)
	<-done
}

func kill(cmd *exec.Cmd) { _ = cmd.Process.Kill() }

// settled counts the calls of a run that were made and answered.
func settled(t *testing.T, st *store.Store, runID string) int {
	t.Helper()
	stages, err := st.SpendByStage(t.Context(), runID)
	if err != nil {
		return 0
	}
	n := 0
	for _, s := range stages {
		n += s.Calls - s.Unknown - s.Reserved
	}
	return n
}

// Killed with SIGKILL at many different points and started again, a run ends as the undisturbed one does, and no call
// that was answered is made again.
func TestARunSurvivesKill9AtAnyPoint(t *testing.T) {
	calm := NewPlace(t, "go-testing")
	want, out := calm.Optimize()
	if out.Code != 0 || want.Accepted == 0 {
		t.Fatalf("the undisturbed run accepted nothing, so this proves nothing: %+v\n%s", want, out.Stderr)
	}
	wantCalls := settled(t, calm.OpenStore(), want.RunID)

	points := map[string]func(*store.Store, run.Run) bool{
		"as soon as the run is on record": func(*store.Store, run.Run) bool { return true },
		"when the splits are frozen": func(st *store.Store, r run.Run) bool {
			items, _ := st.RunItems(context.Background(), r.ID, "")
			return len(items) > 0
		},
		"after the first step's patches": func(st *store.Store, r run.Run) bool {
			ps, _ := st.Patches(context.Background(), r.ID, 1)
			return len(ps) > 0
		},
		"after the first decision":  func(st *store.Store, r run.Run) bool { s, _ := st.Steps(context.Background(), r.ID); return len(s) > 0 },
		"after the fourth decision": func(st *store.Store, r run.Run) bool { s, _ := st.Steps(context.Background(), r.ID); return len(s) > 3 },
	}
	for _, n := range []int{1, 3, 6, 9, 12, 15, 18} {
		points[fmt.Sprintf("after %d answered calls", n)] = func(st *store.Store, r run.Run) bool {
			stages, err := st.SpendByStage(context.Background(), r.ID)
			sum := 0
			for _, s := range stages {
				sum += s.Calls - s.Unknown - s.Reserved
			}
			return err == nil && sum >= n
		}
	}
	if len(points) < 10 {
		t.Fatalf("only %d points", len(points))
	}
	for name, enough := range points {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, st, runs := killed(t, enough)
			began := time.Now()
			got, out := p.Optimize()
			if out.Code != 0 || got.Outcome != run.Accepted {
				t.Fatalf("exit %d: %s", out.Code, out.Stderr)
			}
			t.Logf("went on and ended within %v", time.Since(began).Round(time.Millisecond))
			if got.RunID != runs[0].ID {
				t.Errorf("another run was started: %s, not %s", got.RunID, runs[0].ID)
			}
			if got.HashAfter != want.HashAfter {
				t.Errorf("hash %s, undisturbed %s", got.HashAfter, want.HashAfter)
			}
			if twice, err := st.DoublePaid(t.Context(), got.RunID); err != nil || len(twice) > 0 {
				t.Errorf("answered calls made again: %v (%v)", twice, err)
			}
			if n := settled(t, st, got.RunID); n != wantCalls {
				t.Errorf("%d answered calls, undisturbed %d", n, wantCalls)
			}
		})
	}
}

// killed returns a place whose run was killed before it was over. On a loaded machine a kill may come too late; then
// another place gets its turn, three at most.
func killed(t *testing.T, enough func(*store.Store, run.Run) bool) (*Place, *store.Store, []run.Run) {
	t.Helper()
	for range 3 {
		p := NewPlace(t, "go-testing")
		p.killWhen(t, p.OptimizeArgs(), enough)
		st := p.OpenStore()
		runs, err := st.Runs(t.Context(), 0)
		if err != nil || len(runs) != 1 {
			t.Fatalf("runs after the kill: %+v (%v)", runs, err)
		}
		if runs[0].EndedAt == nil {
			return p, st, runs
		}
	}
	t.Fatal("the run was over before it was killed, three times: the kill proves nothing")
	return nil, nil, nil
}

// Killed again and again, it still gets there.
func TestARunSurvivesManyKillsInARow(t *testing.T) {
	p := NewPlace(t, "sql-migrations-zh")
	calm := NewPlace(t, "sql-migrations-zh")
	want, _ := calm.Optimize()
	for i := range 4 {
		n := 2 + 5*i
		p.killWhen(t, p.OptimizeArgs(), func(st *store.Store, r run.Run) bool { return settled(t, st, r.ID) >= n })
	}
	got, out := p.Optimize()
	if out.Code != 0 || got.HashAfter != want.HashAfter || want.HashAfter == "" {
		t.Errorf("exit %d, hash %s, undisturbed %s\n%s", out.Code, got.HashAfter, want.HashAfter, out.Stderr)
	}
}
