package sandbox

import (
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func TestRunTellsHowACommandEnded(t *testing.T) {
	t.Parallel()
	res := mustRun(t, Spec{Argv: me(t, "exit")})
	if res.Exit != 0 || res.TimedOut || !strings.Contains(res.Output, "out") || !strings.Contains(res.Output, "err") || res.Took <= 0 {
		t.Errorf("%+v", res)
	}
	if res := mustRun(t, Spec{Argv: me(t, "exit", "a", "b", "c")}); res.Exit != 3 {
		t.Errorf("%+v", res)
	}
}

// A shell would take these apart.
func TestRunUsesNoShell(t *testing.T) {
	t.Parallel()
	res := mustRun(t, Spec{Argv: me(t, "args", "$HOME", "a  b", "`id`", "*", "")})
	if want := "[\"$HOME\" \"a  b\" \"`id`\" \"*\" \"\"]"; res.Output != want {
		t.Errorf("%s, want %s", res.Output, want)
	}
}

func TestRunHasNoNetwork(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	argv := me(t, "dial", l.Addr().String())
	if out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput(); err != nil {
		t.Fatalf("the listener can not be reached from outside either: %s", out)
	}
	if res := mustRun(t, Spec{Argv: argv}); res.Exit == 0 {
		t.Error("a listener of this machine was reached")
	}
}

func TestRunPassesNoEnvironment(t *testing.T) {
	t.Setenv("WHETSTONE_TEST_API_KEY", "sk-very-secret")
	t.Setenv("LANG", "C.UTF-8")
	res := mustRun(t, Spec{Argv: me(t, "env"), Env: map[string]string{"CHECK": "1", "HOME": "/elsewhere"}})
	var names []string
	home := ""
	for _, kv := range strings.Split(res.Output, "\n") {
		k, v, _ := strings.Cut(kv, "=")
		if names = append(names, k); k == "HOME" {
			home = v
		}
	}
	slices.Sort(names)
	want := []string{"CHECK", "HOME", "LANG", "PATH", "TMPDIR"}
	if names = slices.DeleteFunc(names, func(s string) bool { return s == "__CF_USER_TEXT_ENCODING" || s == "PWD" }); !slices.Equal(names, want) {
		t.Errorf("%v, want %v", names, want)
	}
	if strings.Contains(res.Output, "secret") || !strings.Contains(home, "whetstone-check-") {
		t.Errorf("%s", res.Output)
	}
}

func TestRunBoundsTheOutput(t *testing.T) {
	t.Parallel()
	res := mustRun(t, Spec{Argv: me(t, "flood")})
	if len(res.Output) > MaxOutput || len(res.Output) < MaxOutput-8 || !strings.HasSuffix(res.Output, "line 39999 é\n\ufffdthe end") || !utf8.ValidString(res.Output) {
		t.Errorf("%d bytes, the last are %q", len(res.Output), res.Output[max(0, len(res.Output)-40):])
	}
}

func TestRunGivesFilesAndRemovesThem(t *testing.T) {
	t.Parallel()
	res := mustRun(t, Spec{Argv: me(t, "files"), Files: map[string]string{"SKILL.md": "text", "a/b/c.txt": "deep"}})
	dir, rest, _ := strings.Cut(res.Output, "\n")
	if rest != "SKILL.md=text\na/b/c.txt=deep\n" {
		t.Errorf("%q", res.Output)
	}
	if _, err := os.Stat(dir); !filepath.IsAbs(dir) || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s is still there: %v", dir, err)
	}
}

func TestRunRemovesWhatIsLocked(t *testing.T) {
	t.Parallel()
	res := mustRun(t, Spec{Argv: me(t, "lock")})
	if _, err := os.Stat(res.Output); res.Output == "" || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%q is still there: %v", res.Output, err)
	}
}

// These need no isolation: they are refused before anything is made.
func TestRunRefusesWhatItCanNotRun(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	plain := filepath.Join(t.TempDir(), "plain")
	if err := os.WriteFile(plain, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	file := func(name string) Spec {
		return Spec{Argv: []string{self}, Files: map[string]string{name: "x"}, Timeout: time.Second}
	}
	for name, spec := range map[string]Spec{
		"no program":             {Timeout: time.Second},
		"an empty program":       {Argv: []string{""}, Timeout: time.Second},
		"no timeout":             {Argv: []string{self}},
		"an unknown program":     {Argv: []string{"whetstone-no-such-program"}, Timeout: time.Second},
		"a file that is no code": {Argv: []string{plain}, Timeout: time.Second},
		"a relative path":        {Argv: []string{"./sandbox.test"}, Timeout: time.Second},
		"a name above":           file("../x"),
		"a name above, later":    file("a/../../x"),
		"a full name":            file("/tmp/x"),
		"the folder itself":      file("."),
		"no name":                file(""),
		"a folder's name":        file("a/"),
		"a backslash":            file(`..\x`),
		"a NUL":                  file("a\x00b"),
		"a drive":                file("c:x"),
		"a variable with =":      {Argv: []string{self}, Env: map[string]string{"A=B": "c"}, Timeout: time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			if res, err := Run(t.Context(), spec); err == nil || errors.Is(err, ErrNoIsolation) || res != (Result{}) {
				t.Errorf("%+v, %v", res, err)
			}
		})
	}
}

// An executable that the kernel does not take is an error: the check has not failed, it has not run.
func TestRunDoesNotCallAFailedStartAVerdict(t *testing.T) {
	t.Parallel()
	me(t, "")
	broken := filepath.Join(t.TempDir(), "broken")
	if err := os.WriteFile(broken, []byte("\x7fELF, not"), 0o700); err != nil {
		t.Fatal(err)
	}
	if res, err := Run(t.Context(), Spec{Argv: []string{broken}, Timeout: time.Minute}); err == nil {
		t.Errorf("%+v", res)
	}
}

func TestRunEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Run(ctx, Spec{Argv: me(t, "exit"), Timeout: time.Minute}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func TestIsolationErrorsSayWhatToDo(t *testing.T) {
	t.Parallel()
	err := error(&IsolationError{"why", "what to do"})
	if !errors.Is(err, ErrNoIsolation) || !strings.Contains(err.Error(), "why: what to do") {
		t.Error(err)
	}
	if err := Available(); err != nil {
		var typed *IsolationError
		if !errors.As(err, &typed) || typed.Remedy == "" {
			t.Errorf("%v is no isolation error", err)
		}
	}
}
