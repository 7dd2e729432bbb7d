package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"whetstone/internal/fakeopenai"
	"whetstone/run"
)

// process is a binary in the background.
type process struct {
	cmd  *exec.Cmd
	out  lockedBuffer
	errs lockedBuffer
	done chan struct{}
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func (p *Place) start(name string, args ...string) *process {
	p.T.Helper()
	x := &process{cmd: p.Command(name, args...), done: make(chan struct{})}
	x.cmd.Stdout, x.cmd.Stderr = &x.out, &x.errs
	if err := x.cmd.Start(); err != nil {
		p.T.Fatal(err)
	}
	go func() {
		_ = x.cmd.Wait()
		close(x.done)
	}()
	p.T.Cleanup(func() {
		kill(x.cmd)
		<-x.done
	})
	return x
}

func (x *process) wait(t *testing.T) Output {
	t.Helper()
	select {
	case <-x.done:
	case <-time.After(time.Minute):
		t.Fatalf("%v did not end within a minute\n%s", x.cmd.Args, x.errs.String())
	}
	return Output{Stdout: x.out.String(), Stderr: x.errs.String(), Code: x.cmd.ProcessState.ExitCode()}
}

// until polls a condition.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for !ok() {
		if time.Now().After(deadline) {
			t.Fatalf("%s did not come about within a minute", what)
		}
		wait(10 * time.Millisecond)
	}
}

// wait lets a moment pass between two looks at a process that has no way to call back.
func wait(d time.Duration) { <-time.After(d) }

func TestTwoStartersShareOneRun(t *testing.T) {
	p := NewPlace(t, "go-testing")
	a, b := p.start("starter", p.OptimizeArgs()...), p.start("starter", p.OptimizeArgs()...)
	ra, rb := a.wait(t), b.wait(t)
	if ra.Code != 0 || rb.Code != 0 {
		t.Fatalf("exits %d and %d\n%s\n%s", ra.Code, rb.Code, ra.Stderr, rb.Stderr)
	}
	x, y := Result(t, ra), Result(t, rb)
	if x.HashAfter != y.HashAfter || x.Outcome != run.Accepted {
		t.Errorf("%+v\n%+v", x, y)
	}
	attached := strings.Contains(ra.Stderr, "going on with it") || strings.Contains(rb.Stderr, "going on with it")
	if attached != (x.RunID == y.RunID) {
		t.Errorf("attached %v, runs %s and %s", attached, x.RunID, y.RunID)
	}
	if twice, err := p.OpenStore().DoublePaid(t.Context(), x.RunID); err != nil || len(twice) > 0 {
		t.Errorf("paid twice: %v (%v)", twice, err)
	}
}

// slow is a place whose model answers only as long as the gate is open.
func slow(t *testing.T) (p *Place, open func()) {
	t.Helper()
	var gate atomic.Bool
	f := fakeopenai.Start(t, time.Second, func(n int, _ string) fakeopenai.Fault {
		for i := 0; n >= 2 && !gate.Load() && i < 3000; i++ {
			wait(10 * time.Millisecond)
		}
		return fakeopenai.None
	})
	p = NewPlace(t, "go-testing")
	p.Env = []string{"OPENAI_API_KEY=sk-test", "OPENAI_BASE_URL=" + f.URL}
	return p, func() { gate.Store(true) }
}

// A run is open: the same command attaches, another choice is refused with the running values, and when the process that
// hosts the server is killed, the other one takes over and ends the run.
func TestAGuestSurvivesItsHost(t *testing.T) {
	p, open := slow(t)
	args := p.OptimizeArgs("--goal", "adopt", "--epochs", "1")
	host := p.start("starter", args...)
	until(t, "the run", func() bool { return strings.Contains(host.errs.String(), "watch it at") })
	guest := p.start("starter", args...)
	until(t, "the attachment", func() bool { return strings.Contains(guest.errs.String(), "going on with it") })

	other := p.Run("starter", p.OptimizeArgs("--goal", "adopt", "--epochs", "1", "--seed", "2")...)
	if other.Code != 2 || !strings.Contains(other.Stderr, "seed is 1 there and 2 here") {
		t.Errorf("other choices: exit %d\n%s", other.Code, other.Stderr)
	}

	kill(host.cmd)
	<-host.done
	open()
	out := guest.wait(t)
	r := Result(t, out)
	if out.Code != 0 || r.Outcome != run.Accepted {
		t.Errorf("exit %d: %+v\n%s", out.Code, r, out.Stderr)
	}
	if twice, err := p.OpenStore().DoublePaid(t.Context(), r.RunID); err != nil || len(twice) > 0 {
		t.Errorf("paid twice: %v (%v)", twice, err)
	}
}

func TestRunsStopAndWatchReachARunOfAnotherProcess(t *testing.T) {
	p, open := slow(t)
	main := p.start("starter", p.OptimizeArgs("--goal", "adopt")...)
	until(t, "the run", func() bool { return strings.Contains(main.errs.String(), "watch it at") })
	var id string
	until(t, "its record", func() bool {
		st := p.tryOpen()
		if st == nil {
			return false
		}
		defer func() { _ = st.Close() }()
		runs, err := st.Runs(t.Context(), 1)
		if err == nil && len(runs) == 1 {
			id = runs[0].ID
		}
		return id != ""
	})
	stop := p.Run("starter", "runs", "stop", id, "--why", "enough for today")
	if stop.Code != 0 {
		t.Fatalf("exit %d: %s", stop.Code, stop.Stderr)
	}
	again := p.Run("starter", "runs", "stop", id)
	if again.Code == 0 || !strings.Contains(again.Stderr, "stopping already") {
		t.Errorf("a second stop: exit %d, %s", again.Code, again.Stderr)
	}
	open()
	out := main.wait(t)
	r := Result(t, out)
	if r.StoppedReason != "person" || (r.Outcome == run.Stopped) != (out.Code == 4) {
		t.Errorf("exit %d: %+v", out.Code, r)
	}
}

func TestTheWebUIShowsARunWhileAWorkerStands(t *testing.T) {
	p := NewPlace(t, "go-testing")
	w := p.start("worker")
	var ui string
	until(t, "the worker", func() bool {
		m := regexp.MustCompile(`Web UI: (http://\S+)`).FindStringSubmatch(w.out.String())
		if m != nil {
			ui = m[1]
		}
		return m != nil
	})
	r, out := p.Optimize()
	if out.Code != 0 || r.UIURL == nil || !strings.HasPrefix(*r.UIURL, ui) {
		t.Fatalf("exit %d, ui_url %v\n%s", out.Code, r.UIURL, out.Stderr)
	}
	get := func(url string) (int, string) {
		t.Helper()
		resp, err := http.Get(url)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = resp.Body.Close() }()
		b, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, string(b)
	}
	if code, body := get(*r.UIURL); code != http.StatusOK || !strings.Contains(body, "<html") {
		t.Errorf("the page: %d %.100s", code, body)
	}
	code, body := get(ui + "/api/v1/namespaces/default/workflows?query=" + "WorkflowId%3D%22optimize%2Fgo-testing%22")
	if code != http.StatusOK {
		t.Fatalf("the list: %d %s", code, body)
	}
	for _, want := range []string{`"optimize/go-testing"`, "WORKFLOW_EXECUTION_STATUS_COMPLETED", `"SkillSlug"`, `"Outcome"`, `"BestScore"`} {
		if !strings.Contains(body, want) {
			t.Errorf("the list lacks %s: %s", want, body)
		}
	}
	// What the page shows of a finished run is its result, with the Markdown, and no text of a learning.
	hist := p.Run("starter", "runs", "history", r.RunID)
	var h struct {
		Events []map[string]json.RawMessage `json:"events"`
	}
	if err := json.Unmarshal([]byte(hist.Stdout), &h); err != nil || len(h.Events) == 0 {
		t.Fatalf("history: %v\n%s", err, hist.Stderr)
	}
	if len(hist.Stdout) > 4<<20 {
		t.Errorf("the history has %d bytes", len(hist.Stdout))
	}
	detached := p.Run("starter", p.OptimizeArgs("--detach", "--seed", "3")...)
	if detached.Code != 0 || !strings.Contains(detached.Stdout, `"run_id"`) {
		t.Errorf("--detach with a worker: exit %d, %s", detached.Code, detached.Stderr)
	}
}

func TestDetachWithoutAWorkerIsRefused(t *testing.T) {
	p := NewPlace(t, "go-testing")
	out := p.Run("starter", p.OptimizeArgs("--detach")...)
	if out.Code != 2 || !strings.Contains(out.Stderr, "worker") {
		t.Errorf("exit %d: %s", out.Code, out.Stderr)
	}
}

// Fifty hooks at once, some killed: what was acknowledged is there, once; nothing is there twice.
func TestNoCaptureIsLostOrDoubled(t *testing.T) {
	p := NewPlace(t, "go-testing")
	const n = 50
	acknowledged := make([]bool, n)
	var wg sync.WaitGroup
	sem := make(chan struct{}, 16)
	for i := range n {
		wg.Go(func() {
			sem <- struct{}{}
			defer func() { <-sem }()
			reply := fmt.Sprintf("Done.\n\n[LEARN] testing: rule number %d about channels\nMistake: slept\n", i)
			b, err := json.Marshal(map[string]string{"hook_event_name": "Stop", "session_id": fmt.Sprint("s", i), "prompt_id": "p", "cwd": p.Home, "last_assistant_message": reply})
			if err != nil {
				t.Error(err)
				return
			}
			cmd := p.Command("whetstone-hook")
			cmd.Stdin = bytes.NewReader(b)
			var out bytes.Buffer
			cmd.Stdout = &out
			if err := cmd.Start(); err != nil {
				t.Error(err)
				return
			}
			if i%5 == 0 {
				wait(time.Duration(i%7) * time.Millisecond)
				kill(cmd)
			}
			err = cmd.Wait()
			var exit *exec.ExitError
			if err != nil && !errors.As(err, &exit) {
				t.Error(err)
			}
			acknowledged[i] = err == nil
			if out.Len() > 0 {
				t.Errorf("the hook printed %q", out.String())
			}
		})
	}
	wg.Wait()
	out := p.Run("starter", "learn", "list", "--json")
	var ls []struct {
		Rule         string `json:"rule"`
		Status       string `json:"status"`
		Observations int    `json:"observations"`
	}
	if err := json.Unmarshal([]byte(out.Stdout), &ls); err != nil {
		t.Fatal(err, out.Stderr)
	}
	seen := map[string]int{}
	for _, l := range ls {
		seen[l.Rule]++
		if l.Status != "pending" || l.Observations != 1 {
			t.Errorf("%+v", l)
		}
	}
	acks := 0
	for i, ok := range acknowledged {
		if ok {
			acks++
			if got := seen[fmt.Sprintf("rule number %d about channels", i)]; got != 1 {
				t.Errorf("acknowledged capture %d is there %d times", i, got)
			}
		}
	}
	if acks < n/2 {
		t.Errorf("only %d of %d were acknowledged", acks, n)
	}
}
