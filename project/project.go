// Package project finds out which project a folder belongs to, without starting a git process: the same key from every
// worktree, nested folder and clone of one repository, and different keys for two folders that merely share a name. It
// reads .git, commondir and config; a folder outside any repository is its own project.
package project

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"net/url"
	"os"
	"path/filepath"
	"strings"
)

// ID identifies a project. Name is for display only.
type ID struct {
	Key  string // the strongest of the keys
	Keys []string
	Name string
}

// Find returns the project of a folder. It never fails: what cannot be read makes the folder itself the project.
func Find(dir string) ID {
	if dir == "" {
		return ID{}
	}
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	common := commonDir(dir)
	if common == "" {
		return id(filepath.Base(dir), inode(dir), key("dir", dir))
	}
	name := filepath.Base(common)
	if name == ".git" {
		name = filepath.Base(filepath.Dir(common))
	}
	if origin := Normalise(originURL(filepath.Join(common, "config"))); origin != "" {
		// The folder's own place is no key of it: another repository may be cloned there later.
		return id(strings.TrimSuffix(filepath.Base(origin), ".git"), key("origin", origin), inode(common))
	}
	return id(name, inode(common), key("git", common))
}

// id joins keys, strongest first, leaving out those that could not be made.
func id(name string, keys ...string) ID {
	out := ID{Name: name}
	for _, k := range keys {
		if k != "" {
			out.Keys = append(out.Keys, k)
		}
	}
	out.Key = out.Keys[0]
	return out
}

func key(kind, s string) string {
	sum := sha256.Sum256([]byte(kind + ":" + s))
	return "prj_" + hex.EncodeToString(sum[:])[:16]
}

// commonDir finds the git directory that all worktrees of a repository share, "" outside a repository.
func commonDir(dir string) string {
	for {
		git := filepath.Join(dir, ".git")
		if info, err := os.Stat(git); err == nil {
			if info.IsDir() {
				return shared(git)
			}
			if b, err := os.ReadFile(git); err == nil {
				if target, ok := strings.CutPrefix(strings.TrimSpace(string(b)), "gitdir:"); ok {
					target = strings.TrimSpace(target)
					if !filepath.IsAbs(target) {
						target = filepath.Join(dir, target)
					}
					return shared(filepath.Clean(target))
				}
			}
		}
		up := filepath.Dir(dir)
		if up == dir {
			return ""
		}
		dir = up
	}
}

func shared(gitDir string) string {
	b, err := os.ReadFile(filepath.Join(gitDir, "commondir"))
	if err != nil {
		return gitDir
	}
	common := strings.TrimSpace(string(b))
	if !filepath.IsAbs(common) {
		common = filepath.Join(gitDir, common)
	}
	return filepath.Clean(common)
}

// originURL reads remote "origin" from a git configuration.
func originURL(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }()
	in := false
	sc := bufio.NewScanner(f)
	for sc.Scan() {
		line := strings.TrimSpace(sc.Text())
		if strings.HasPrefix(line, "[") {
			in = strings.EqualFold(line, `[remote "origin"]`)
			continue
		}
		if k, v, ok := strings.Cut(line, "="); in && ok && strings.EqualFold(strings.TrimSpace(k), "url") {
			return strings.TrimSpace(v)
		}
	}
	return ""
}

// Normalise strips what does not tell two remotes apart: scheme, credentials, port, a final .git, the case of the host.
// It returns "" for a remote without a host, which is a path on this machine.
func Normalise(remote string) string {
	if remote == "" {
		return ""
	}
	if !strings.Contains(remote, "://") {
		// scp form: [user@]host:path
		host, path, ok := strings.Cut(remote, ":")
		if !ok || strings.ContainsAny(host, `/\`) || len(host) == 1 {
			return ""
		}
		if i := strings.LastIndexByte(host, '@'); i >= 0 {
			host = host[i+1:]
		}
		return join(host, path)
	}
	u, err := url.Parse(remote)
	if err != nil || u.Hostname() == "" {
		return ""
	}
	return join(u.Hostname(), u.Path)
}

func join(host, path string) string {
	path = strings.TrimSuffix(strings.Trim(path, "/"), ".git")
	return strings.ToLower(host) + "/" + path
}

// Exists reports whether a folder is there.
func Exists(dir string) (os.FileInfo, error) {
	info, err := os.Stat(dir)
	if err == nil && !info.IsDir() {
		return nil, os.ErrNotExist
	}
	return info, err
}
