package project

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestFindIsTheSameFromEveryWorktreeAndFolder(t *testing.T) {
	dir := t.TempDir()
	repo, tree := filepath.Join(dir, "repo"), filepath.Join(dir, "tree")
	write(t, filepath.Join(repo, ".git", "config"), "[core]\n\tbare = false\n[remote \"origin\"]\n\turl = https://user:pw@Example.org/team/api.git\n[remote \"other\"]\n\turl = x\n")
	write(t, filepath.Join(repo, ".git", "worktrees", "tree", "commondir"), "../..\n")
	write(t, filepath.Join(repo, "a", "b", "file"), "")
	write(t, filepath.Join(tree, ".git"), "gitdir: "+filepath.Join(repo, ".git", "worktrees", "tree")+"\n")
	want := Find(repo)
	if want.Name != "api" || want.Key == "" {
		t.Fatalf("%+v", want)
	}
	for _, d := range []string{filepath.Join(repo, "a", "b"), tree} {
		if got := Find(d); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, want %+v", d, got, want)
		}
	}
	clone := filepath.Join(dir, "elsewhere")
	write(t, filepath.Join(clone, ".git", "config"), "[remote \"origin\"]\n  url = git@example.org:team/api\n")
	if got := Find(clone); got.Key != want.Key {
		t.Errorf("a clone is another project: %+v", got)
	}
}

func TestFoldersThatShareANameAreTwoProjects(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "x", "api"), filepath.Join(dir, "y", "api")
	write(t, filepath.Join(a, ".git", "config"), "[core]\n")
	write(t, filepath.Join(b, ".git", "config"), "[core]\n")
	if Find(a).Key == Find(b).Key || Find(a).Name != "api" {
		t.Errorf("%+v and %+v", Find(a), Find(b))
	}
	plain := filepath.Join(dir, "plain")
	write(t, filepath.Join(plain, "f"), "")
	if got := Find(plain); got.Key == "" || got.Name != "plain" {
		t.Errorf("%+v", got)
	}
	if !reflect.DeepEqual(Find(""), ID{}) {
		t.Error("no folder is a project")
	}
}

func TestNormaliseStripsWhatDoesNotTellRemotesApart(t *testing.T) {
	for in, want := range map[string]string{
		"https://Example.org/team/api.git": "example.org/team/api", "ssh://git@example.org:22/team/api": "example.org/team/api", "git@example.org:team/api.git": "example.org/team/api",
		"https://u:secret@example.org/team/api/": "example.org/team/api", "/srv/git/api.git": "", "../api": "", `C:\repos\api`: "", "file:///srv/api": "", "": "",
	} {
		if got := Normalise(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
