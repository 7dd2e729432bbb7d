package install

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/tailscale/hujson"

	"whetstone/hook/host"
)

// backupSuffix names the copy of a configuration as it was before the first installation.
const backupSuffix = ".before-whetstone"

// Result tells what was done.
type Result struct {
	Host    string   `json:"host"`
	Path    string   `json:"path"`
	Changed bool     `json:"changed"`
	Backup  string   `json:"backup,omitempty"`
	Rules   string   `json:"rules,omitempty"` // the rules file that teaches the agent, where its host can not be told by the hook; after Uninstall, where it did
	Notes   []string `json:"notes,omitempty"` // what the person still has to do
}

// Install registers the hook. Doing it again changes nothing.
func Install(o Options) (Result, error) {
	r := Result{Host: o.Host, Path: Path(o), Notes: notes(o)}
	if err := check(o); err != nil {
		return r, err
	}
	if err := teachable(o); err != nil {
		return r, err
	}
	old, mode, existed, err := read(r.Path)
	if err != nil {
		return r, err
	}
	var text []byte
	if o.Host == host.OpenCode {
		text = []byte(plugin(o))
		if existed && !bytes.Contains(old, []byte(pluginMark)) {
			return r, fmt.Errorf("install the hook: %s is there and is not ours; it was not changed", r.Path)
		}
	} else {
		d, err := parse(r.Path, old)
		if err != nil {
			return r, err
		}
		if !same(d, o) {
			if err := d.removeOurs(); err != nil {
				return r, err
			}
			if err := d.add(o); err != nil {
				return r, err
			}
			text = d.bytes(old)
		} else {
			text = old
		}
	}
	if !existed || !bytes.Equal(old, text) {
		if existed && !owned(o.Host) && (!mentions(r.Path, old) || bare(r.Path, old) != "{}") {
			if r.Backup, err = backup(r.Path, old); err != nil {
				return r, err
			}
		}
		if err := write(r.Path, text, mode); err != nil {
			return r, err
		}
		r.Changed = true
	}
	var taught bool
	r.Rules, taught, err = teach(o)
	r.Changed = r.Changed || taught
	return r, err
}

// same reports whether a configuration holds exactly the registrations that are wanted.
func same(d *document, o Options) bool {
	have := d.ours()
	want := entries(o)
	if len(have) != len(want) {
		return false
	}
	left := map[string]int{}
	for _, f := range have {
		left[f.event+" "+strings.Join(f.argv, "\x00")]++
	}
	for _, e := range want {
		var g group
		probe, err := parse("", []byte(`{"hooks": {"x": [`+string(e.value(o))+`]}}`))
		if err != nil || len(probe.events["x"]) != 1 {
			return false
		}
		g = probe.events["x"][0]
		h := g.handler
		if len(g.Hooks) > 0 {
			h = g.Hooks[0]
		}
		key := e.event + " " + strings.Join(h.argv(), "\x00")
		if left[key] == 0 {
			return false
		}
		left[key]--
	}
	return true
}

// Uninstall takes the hook out. Where nothing else was changed since, the file is as it was before.
func Uninstall(o Options) (Result, error) {
	r := Result{Host: o.Host, Path: Path(o)}
	rules, changedRules, err := unteach(o)
	r.Rules = rules
	if err != nil {
		return r, err
	}
	old, mode, existed, err := read(r.Path)
	if err != nil || !existed {
		r.Changed = changedRules
		return r, err
	}
	r.Changed = changedRules
	if o.Host == host.OpenCode {
		if !bytes.Contains(old, []byte(pluginMark)) {
			return r, nil
		}
		r.Changed = true
		return r, remove(r.Path)
	}
	d, err := parse(r.Path, old)
	if err != nil {
		return r, err
	}
	if len(d.ours()) == 0 {
		return r, nil
	}
	r.Changed = true
	if err := d.removeOurs(); err != nil {
		return r, err
	}
	text := d.bytes(old)
	before, _, had, err := read(r.Path + backupSuffix)
	if err != nil {
		return r, err
	}
	switch {
	case had && bare(r.Path, before) == bare(r.Path, text):
		text = before
		_ = remove(r.Path + backupSuffix)
	case !had && len(bytes.TrimSpace(old)) > 0 && bare(r.Path, text) == "{}":
		return r, remove(r.Path) // there was none before
	case had:
		r.Notes = append(r.Notes, r.Path+backupSuffix+" holds the file as it was before the hook was installed; it was changed since, so it is left for you to delete")
	}
	return r, write(r.Path, text, mode)
}

// mentions reports whether a configuration registers our hook already.
func mentions(path string, text []byte) bool {
	d, err := parse(path, text)
	return err == nil && len(d.ours()) > 0
}

// bare is a configuration without our registrations, without the frame that they need, and without white space and comments,
// for comparison: "{}" holds nothing of the person's.
func bare(path string, text []byte) string {
	d, err := parse(path, text)
	if err != nil {
		return string(text)
	}
	if err := d.removeOurs(); err != nil {
		return string(text)
	}
	var ops []op
	if h := d.value.Find("/hooks"); h != nil && len(d.events) == 0 {
		o, ok := h.Value.(*hujson.Object)
		if ok && len(o.Members) == 0 || strings.TrimSpace(string(h.Pack())) == "null" {
			ops = append(ops, op{Op: "remove", Path: "/hooks"})
		}
	}
	if v := d.value.Find("/version"); v != nil && strings.TrimSpace(string(v.Pack())) == "1" {
		ops = append(ops, op{Op: "remove", Path: "/version"})
	}
	if len(ops) > 0 && d.patch(ops) != nil {
		return string(text)
	}
	v := d.value.Clone()
	v.Minimize()
	return string(bytes.TrimSpace(v.Pack()))
}

func check(o Options) error {
	if !filepath.IsAbs(o.Binary) {
		return fmt.Errorf("install the hook: %s is no absolute path", o.Binary)
	}
	info, err := os.Stat(o.Binary)
	if err != nil {
		return fmt.Errorf("install the hook: %w: build it first, or put it beside starter", err)
	}
	if info.IsDir() || runtime.GOOS != "windows" && info.Mode()&0o111 == 0 {
		return fmt.Errorf("install the hook: %s can not be run", o.Binary)
	}
	if !isOurs(o.Binary) {
		return fmt.Errorf("install the hook: %s is not called whetstone-hook, so it would not be found again", o.Binary)
	}
	if o.Home != "" && (!filepath.IsAbs(o.Home) || strings.ContainsAny(o.Home, "\"\n$`%")) {
		return fmt.Errorf("install the hook: the home folder %q is no absolute path, or holds characters that a shell would take apart", o.Home)
	}
	if strings.ContainsAny(o.Binary, "\"\n$`%") {
		return fmt.Errorf("install the hook: the path %q holds characters that a shell would take apart: put the program elsewhere", o.Binary)
	}
	if o.Project != "" {
		if info, err := os.Stat(o.Project); err != nil || !info.IsDir() {
			return fmt.Errorf("install the hook: %s is no folder", o.Project)
		}
	}
	return nil
}

// notes says what the hosts ask of the person.
func notes(o Options) []string {
	var out []string
	switch o.Host {
	case host.Codex:
		out = append(out, "Codex runs a new or changed hook only after you trusted it: type /hooks in Codex once")
	case host.Cursor, host.Gemini, host.Copilot, host.Claude:
		if o.Project != "" {
			out = append(out, "the hooks of a project run once you trusted its folder in the agent")
		}
	case host.OpenCode:
		out = append(out, "OpenCode loads plugins when it starts: start it again")
	}
	if o.Guards && o.Host == host.OpenCode {
		out = append(out, "OpenCode's plugin denies what the guards deny; it can not ask")
	}
	return out
}

// read reads a configuration through symbolic links. A file that is not there is empty.
func read(path string) (text []byte, mode fs.FileMode, existed bool, err error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		if link, lerr := os.Lstat(path); lerr == nil && link.Mode()&fs.ModeSymlink != 0 {
			return nil, 0, false, fmt.Errorf("read %s: it is a link to nowhere; mend it first", path)
		}
		return nil, 0o644, false, nil
	}
	if err != nil {
		return nil, 0, false, fmt.Errorf("read %s: %w", path, err)
	}
	if !info.Mode().IsRegular() {
		return nil, 0, false, fmt.Errorf("read %s: it is not a regular file", path)
	}
	if info.Size() > 16<<20 {
		return nil, 0, false, fmt.Errorf("read %s: %d bytes are no configuration", path, info.Size())
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, 0, false, fmt.Errorf("read %s: %w", path, err)
	}
	return b, info.Mode().Perm(), true, nil
}

// write replaces a file whole or not at all, and keeps a symbolic link one.
func write(path string, text []byte, mode fs.FileMode) error {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	if info, err := os.Stat(path); err == nil && info.Mode().Perm()&0o200 == 0 {
		return fmt.Errorf("write %s: it is read-only; nothing was changed", path)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), ".whetstone-*")
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	_, err = tmp.Write(text)
	if err == nil {
		err = tmp.Sync()
	}
	if cerr := tmp.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Chmod(tmp.Name(), mode)
	}
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		_ = os.Remove(tmp.Name())
		return fmt.Errorf("write %s: %w; nothing was changed", path, err)
	}
	return nil
}

func remove(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove %s: %w", path, err)
	}
	return nil
}

// backup keeps the file as it was before the first installation; a later one keeps that copy.
func backup(path string, text []byte) (string, error) {
	to := path + backupSuffix
	if _, err := os.Stat(to); err == nil {
		return to, nil
	}
	return to, write(to, text, 0o600)
}
