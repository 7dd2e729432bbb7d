package gitstate

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

type repo struct {
	t   *testing.T
	dir string
}

func newRepo(t *testing.T) repo {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	r := repo{t, t.TempDir()}
	r.git("init", "-q", "-b", "main")
	return r
}

func (r repo) git(args ...string) {
	r.t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=n", "-c", "user.email=e@example.org", "-c", "commit.gpgsign=false"}, args...)...)
	cmd.Dir = r.dir
	if out, err := cmd.CombinedOutput(); err != nil {
		r.t.Fatalf("git %v: %v: %s", args, err, out)
	}
}

func (r repo) write(path, text string) string {
	r.t.Helper()
	full := filepath.Join(r.dir, path)
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(text), 0o600); err != nil {
		r.t.Fatal(err)
	}
	return full
}

func (r repo) commit() { r.git("add", "-A"); r.git("commit", "-q", "-m", "m") }

func TestOf(t *testing.T) {
	const file = "skills/ein skill ü/SKILL.md"
	for name, c := range map[string]struct {
		do   func(r repo)
		want State
	}{
		"a committed file is safe":                    {func(repo) {}, State{}},
		"an edited one is not":                        {func(r repo) { r.write(file, "edited") }, State{Changed: true}},
		"nor one that is only staged":                 {func(r repo) { r.write(file, "edited"); r.git("add", "-A") }, State{Changed: true}},
		"changes elsewhere do not matter":             {func(r repo) { r.write("other.md", "x") }, State{}},
		"changes in its folder do":                    {func(r repo) { r.write(filepath.Dir(file)+"/references/a.md", "x") }, State{Others: 1}},
		"a proposal is ours":                          {func(r repo) { r.write(file+".proposed", "x") }, State{}},
		"a detached head":                             {func(r repo) { r.git("checkout", "-q", "--detach") }, State{Detached: true}},
		"a file taken out of the index":               {func(r repo) { r.git("rm", "-q", "--cached", file) }, State{Changed: true, Untracked: true}},
		"a file without a commit in a new repository": {func(r repo) { r.git("update-ref", "-d", "HEAD"); r.git("rm", "-q", "-r", "--cached", ".") }, State{Untracked: true}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRepo(t)
			path := r.write(file, "text")
			r.commit()
			c.do(r)
			if got, ok := Of(t.Context(), path); !ok || got != c.want {
				t.Errorf("got %+v %v, want %+v", got, ok, c.want)
			}
		})
	}
	t.Run("an ignored file is not tracked", func(t *testing.T) {
		t.Parallel()
		r := newRepo(t)
		r.write(".gitignore", "skills/\n")
		r.commit()
		if got, ok := Of(t.Context(), r.write(file, "text")); !ok || got != (State{Untracked: true}) {
			t.Errorf("got %+v %v", got, ok)
		}
	})
	t.Run("a link is followed to the repository it leads to", func(t *testing.T) {
		t.Parallel()
		r := newRepo(t)
		link := filepath.Join(t.TempDir(), "SKILL.md")
		if err := os.Symlink(r.write(file, "text"), link); err != nil {
			t.Skip(err)
		}
		if got, ok := Of(t.Context(), link); !ok || !got.Untracked {
			t.Errorf("got %+v %v", got, ok)
		}
	})
	t.Run("nothing is written", func(t *testing.T) {
		t.Parallel()
		r := newRepo(t)
		path := r.write(file, "text")
		r.commit()
		index := filepath.Join(r.dir, ".git", "index")
		before, err := os.ReadFile(index)
		if err != nil {
			t.Fatal(err)
		}
		r.write(file, "text") // the same bytes with another time: an ordinary status would refresh the index
		if _, ok := Of(t.Context(), path); !ok {
			t.Fatal("nothing is known")
		}
		if after, err := os.ReadFile(index); err != nil || string(after) != string(before) {
			t.Errorf("the index was rewritten (%v)", err)
		}
	})
}

func TestOfKnowsNothingOutsideARepositoryOrWithoutGit(t *testing.T) {
	file := filepath.Join(t.TempDir(), "SKILL.md")
	if _, ok := Of(t.Context(), file); ok {
		t.Error("a file that is not there has a state")
	}
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, ok := Of(t.Context(), file); ok {
		t.Error("a folder outside any repository has a state")
	}
	r := newRepo(t)
	file = r.write("SKILL.md", "x")
	t.Setenv("PATH", t.TempDir())
	if _, ok := Of(t.Context(), file); ok {
		t.Error("there is a state without git")
	}
}

// A variable of the hook that we may run in points to another repository.
func TestTheEnvironmentDoesNotLeadElsewhere(t *testing.T) {
	r, other := newRepo(t), newRepo(t)
	file := r.write("SKILL.md", "x")
	t.Setenv("GIT_DIR", filepath.Join(other.dir, ".git"))
	t.Setenv("GIT_WORK_TREE", other.dir)
	if got, ok := Of(t.Context(), file); !ok || !got.Untracked {
		t.Errorf("got %+v %v", got, ok)
	}
}

func TestNotes(t *testing.T) {
	if n := (State{}).Notes(); n != nil {
		t.Errorf("notes where all is well: %q", n)
	}
	got := State{Untracked: true, Changed: true, Others: 2, Detached: true}.Notes()
	if len(got) != 3 || !strings.Contains(got[0], "does not track") || !strings.Contains(got[1], "folder") || !strings.Contains(got[2], "detached HEAD") {
		t.Errorf("notes %q", got)
	}
	if got := (State{Changed: true}).Notes(); len(got) != 1 || !strings.Contains(got[0], "uncommitted") {
		t.Errorf("notes %q", got)
	}
}
