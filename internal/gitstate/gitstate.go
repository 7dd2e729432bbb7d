// Package gitstate asks git, where there is one, whether a file is safe in a repository. It only reads: no lock is taken, no
// network is used, no hook or monitor is started, and no argument depends on anything but the file's folder. It never fails:
// without git, outside a repository or after two seconds it knows nothing.
package gitstate

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// State is what git says of a file and its folder.
type State struct {
	Untracked bool // the file is in no commit and no index, ignored ones included
	Changed   bool // it is tracked and differs from the last commit
	Others    int  // files beside or below it that are changed or untracked; proposals do not count
	Detached  bool // HEAD is on no branch
}

// Notes are the state in words for a person; none where all is well.
func (s State) Notes() []string {
	var out []string
	switch {
	case s.Untracked:
		out = append(out, "git does not track the skill file: what is replaced comes back with `starter skill rollback` alone")
	case s.Changed:
		out = append(out, "the skill file has uncommitted changes: commit them first, so that git shows what the run changed")
	}
	if s.Others > 0 {
		out = append(out, "the skill's folder holds other files with uncommitted changes, or untracked ones")
	}
	if s.Detached {
		out = append(out, "the repository is on a detached HEAD: a commit made now belongs to no branch")
	}
	return out
}

const timeout = 2 * time.Second

// Of asks git about a file. ok is false where nothing is known.
func Of(ctx context.Context, file string) (s State, ok bool) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	file, err := filepath.EvalSymlinks(file)
	if err != nil {
		return s, false
	}
	dir := filepath.Dir(file)
	prefix, err := git(ctx, dir, "rev-parse", "--show-prefix")
	if err != nil {
		return s, false
	}
	out, err := git(ctx, dir, "status", "--porcelain=v2", "--branch", "-z", "--untracked-files=normal", "--ignored=traditional", "--ignore-submodules=all", "--no-renames", "--", ".")
	if err != nil {
		return s, false
	}
	return parse(out, strings.TrimRight(prefix, "\r\n")+filepath.Base(file)), true
}

func git(ctx context.Context, dir string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", append([]string{"-c", "core.fsmonitor=false", "-c", "core.quotePath=false"}, args...)...)
	cmd.Dir, cmd.WaitDelay = dir, 100*time.Millisecond
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, "GIT_") { // of a hook that we run in, and about another repository
			cmd.Env = append(cmd.Env, kv)
		}
	}
	cmd.Env = append(cmd.Env, "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "GIT_NO_LAZY_FETCH=1", "LC_ALL=C")
	b, err := cmd.Output()
	return string(b), err
}

// parse reads `git status --porcelain=v2 --branch -z --no-renames`. file is the path from the repository's root.
func parse(out, file string) State {
	var s State
	for _, entry := range strings.Split(out, "\x00") {
		kind, rest, _ := strings.Cut(entry, " ")
		var path string
		switch kind {
		case "#":
			s.Detached = s.Detached || rest == "branch.head (detached)"
			continue
		case "1":
			path = field(rest, 7)
		case "u":
			path = field(rest, 9)
		case "?", "!":
			path = rest
		default:
			continue
		}
		mine := path == file || strings.HasSuffix(path, "/") && strings.HasPrefix(file, path)
		switch {
		case mine && (kind == "?" || kind == "!"):
			s.Untracked = true
		case mine:
			s.Changed = true
		case kind != "!" && !strings.Contains(filepath.Base(path), ".proposed"):
			s.Others++
		}
	}
	return s
}

// field is what follows n fields that end in a space each.
func field(s string, n int) string {
	for range n {
		_, s, _ = strings.Cut(s, " ")
	}
	return s
}
