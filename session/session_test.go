package session

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"
)

func open(t *testing.T) *Log {
	t.Helper()
	return Open(t.TempDir(), "s1")
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestASessionOfWhichNothingIsKnownIsEmpty(t *testing.T) {
	s := open(t).Load()
	if s.Greeted || s.Tools != 0 || s.Told != nil || s.Rounds != 0 {
		t.Errorf("%+v", s)
	}
}

func TestCountsAreByCallAndNotByDelivery(t *testing.T) {
	l := open(t)
	for range 3 { // two copies of us and a host that repeats itself
		must(t, l.Append(Line{T: LStart}, Line{T: LPrompt, Use: "p1"}, Line{T: LTool, Name: "Bash", Use: "t1"}, Line{T: LFailed, Name: "Bash", Use: "t1"}, Line{T: LEdit, Name: "f1", Use: "t2"},
			Line{T: LSkill, Name: "go-testing"}, Line{T: LTold, ID: "l_1", Detector: "run: x"}, Line{T: LNote, ID: "n_1"}, Line{T: LCapture, ID: "c_1"}, Line{T: LApplied, ID: "l_1", Evidence: "cited", Use: "p1"}, Line{T: LCompact, Use: "p1"}))
	}
	must(t, l.Append(Line{T: LTool, Name: "Bash"}, Line{T: LTool, Name: "Bash"})) // calls without a name are each their own
	s := l.Load()
	want := State{
		Greeted: true, Prompts: 1, Tools: 3, Failures: 1, Edits: 1, Unread: 1, Notes: []string{"n_1"}, Captures: []string{"c_1"}, Skills: []string{"go-testing"}, Told: []string{"l_1"},
		Detectors: map[string]string{"l_1": "run: x"}, Rounds: 1, Pending: []Line{{T: LApplied, ID: "l_1", Evidence: "cited", Use: "p1"}},
	}
	if !reflect.DeepEqual(s, want) {
		t.Errorf("%+v\nwant %+v", s, want)
	}
}

func TestAFileThatWasReadIsNotUnread(t *testing.T) {
	l := open(t)
	must(t, l.Append(Line{T: LRead, Name: "a"}, Line{T: LEdit, Name: "a", Use: "1"}, Line{T: LEdit, Name: "b", Use: "2"}, Line{T: LEdit, Name: "b", Use: "3"}))
	if s := l.Load(); s.Unread != 1 || s.Edits != 3 {
		t.Errorf("%+v", s)
	}
}

func TestWhatIsInTheStoreIsNoLongerPending(t *testing.T) {
	l := open(t)
	must(t, l.Append(Line{T: LApplied, ID: "a", Use: "1"}, Line{T: LFlushed}, Line{T: LApplied, ID: "a", Use: "1"}, Line{T: LApplied, ID: "b", Use: "1"}))
	if s := l.Load(); len(s.Pending) != 1 || s.Pending[0].ID != "b" {
		t.Errorf("%+v", s.Pending)
	}
}

func TestTheLastRunOfTestsCounts(t *testing.T) {
	l := open(t)
	must(t, l.Append(Line{T: LTests, Name: "failed"}))
	if !l.Load().TestsFail {
		t.Error("they failed")
	}
	must(t, l.Append(Line{T: LTests, Name: "passed"}))
	if l.Load().TestsFail {
		t.Error("they pass again")
	}
}

func TestWhatIsToBeToldLaterIsToldOnce(t *testing.T) {
	l := open(t)
	must(t, l.Append(Line{T: LLater, ID: "a"}, Line{T: LLater, ID: "b"}, Line{T: LLater, ID: "a"}))
	if s := l.Load(); len(s.Later) != 2 {
		t.Errorf("%v", s.Later)
	}
	must(t, l.Append(Line{T: LLater}))
	if s := l.Load(); len(s.Later) != 0 {
		t.Errorf("%v", s.Later)
	}
}

func TestManyHooksOfASessionWriteWholeLines(t *testing.T) {
	l := open(t)
	var wg sync.WaitGroup
	for i := range 60 {
		wg.Go(func() {
			for k := range 20 {
				if err := l.Append(Line{T: LTool, Name: strings.Repeat("x", i*10), Use: fmt.Sprint(i, "-", k)}, Line{T: LSkill, Name: fmt.Sprint("skill", i)}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if s := l.Load(); s.Tools != 1200 || len(s.Skills) != 60 {
		t.Errorf("%d tools, %d skills", s.Tools, len(s.Skills))
	}
}

func TestABrokenLineIsSkipped(t *testing.T) {
	l := open(t)
	must(t, l.Append(Line{T: LTool, Use: "1"}))
	f, err := os.OpenFile(l.path, os.O_APPEND|os.O_WRONLY, 0o600)
	must(t, err)
	_, err = f.WriteString("{\"t\": \"tool\", \"use\"\n\x00\xff\n[]\n")
	must(t, err)
	must(t, f.Close())
	must(t, l.Append(Line{T: LTool, Use: "2"}))
	if s := l.Load(); s.Tools != 2 {
		t.Errorf("%+v", s)
	}
}

func TestASessionThatNeverEndsStaysSmall(t *testing.T) {
	l := open(t)
	long := strings.Repeat("x", 100_000)
	for range 40 {
		must(t, l.Append(Line{T: LSkill, Name: long}))
	}
	info, err := os.Stat(l.path)
	must(t, err)
	if info.Size() > maxFile+200_000 {
		t.Errorf("%d bytes", info.Size())
	}
}

func TestSessionsOfOtherNamesAreOtherFilesOfMode0600(t *testing.T) {
	dir := t.TempDir()
	names := []string{"a", "b", "../a", "a/b", "", strings.Repeat("n", 5000), "a\x00b"}
	for _, n := range names {
		must(t, Open(dir, n).Append(Line{T: LStart}))
	}
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	must(t, err)
	if len(files) != len(names) {
		t.Errorf("%v", files)
	}
	for _, f := range files {
		if info, err := os.Stat(f); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v %v", f, info.Mode(), err)
		}
	}
}

func TestSweepRemovesOldSessionsOnly(t *testing.T) {
	dir := t.TempDir()
	old, fresh := Open(dir, "old"), Open(dir, "fresh")
	must(t, old.Append(Line{T: LStart}))
	must(t, fresh.Append(Line{T: LStart}))
	other := filepath.Join(dir, "notes.txt")
	must(t, os.WriteFile(other, nil, 0o600))
	past := time.Now().Add(-100 * time.Hour)
	must(t, os.Chtimes(old.path, past, past))
	must(t, os.Chtimes(other, past, past))
	Sweep(dir, time.Now().Add(-50*time.Hour))
	if old.Load().Greeted || !fresh.Load().Greeted {
		t.Error("the old one goes and the fresh one stays")
	}
	if _, err := os.Stat(other); err != nil {
		t.Error(err)
	}
	Sweep(filepath.Join(dir, "nowhere"), time.Now())
}
