package install

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"whetstone/hook"
	"whetstone/hook/host"
)

// rulesFile is where an agent is taught whose host can not be told at the start of every session: OpenCode, of which one
// generation runs no plugin of the other, and Cursor's cloud agents, which run a project's hooks but not at the start.
func rulesFile(o Options) (path string, whole bool) {
	switch {
	case o.Host == host.OpenCode && o.Project != "":
		return filepath.Join(o.Project, "AGENTS.md"), false
	case o.Host == host.OpenCode:
		return filepath.Join(o.User, ".config", "opencode", "AGENTS.md"), false
	case o.Host == host.Cursor && o.Project != "":
		return filepath.Join(o.Project, ".cursor", "rules", "whetstone.mdc"), true
	}
	return "", false
}

const (
	rulesBegin = "<!-- whetstone: begin -->"
	// rulesJoined begins the block where the text before it had no line break at its end, which then was ours.
	rulesJoined = "<!-- whetstone: begin; no line break before -->"
	rulesEnd    = "<!-- whetstone: end -->"
)

// teachable fails before anything is written where the rules file can not be edited without guessing.
func teachable(o Options) error {
	path, whole := rulesFile(o)
	if path == "" {
		return nil
	}
	old, _, existed, err := read(path)
	if err != nil || !existed {
		return err
	}
	p, err := parts(path, string(old), whole)
	if err != nil {
		return err
	}
	if info, err := os.Stat(path); err == nil && !p.block && info.Mode().Perm()&0o200 == 0 {
		return fmt.Errorf("edit %s: it is read-only; nothing was changed", path)
	}
	return nil
}

// text around our block; block is false where there is none.
type around struct {
	before, after string
	block         bool
}

func parts(path, text string, whole bool) (around, error) {
	from, mark := strings.Index(text, rulesBegin), rulesBegin
	if i := strings.Index(text, rulesJoined); i >= 0 && (from < 0 || i < from) {
		from, mark = i, rulesJoined
	}
	if from < 0 {
		if strings.Contains(text, rulesEnd) {
			return around{}, fmt.Errorf("edit %s: the line %q stands there without its beginning: take it out first; nothing was changed", path, rulesEnd)
		}
		if whole && strings.TrimSpace(text) != "" {
			return around{}, fmt.Errorf("edit %s: it is there and is not ours; nothing was changed", path)
		}
		return around{before: text}, nil
	}
	rest := text[from+len(mark):]
	end := strings.Index(rest, rulesEnd)
	if end < 0 || strings.Contains(rest[:end], rulesBegin) || strings.Contains(rest[:end], rulesJoined) {
		return around{}, fmt.Errorf("edit %s: the line %q stands there without %q: take it out first; nothing was changed", path, mark, rulesEnd)
	}
	before := strings.TrimSuffix(text[:from], "\n") // the empty line is ours
	if mark == rulesJoined {
		before = strings.TrimSuffix(before, "\n")
	}
	return around{before, strings.TrimPrefix(rest[end+len(rulesEnd):], "\n"), true}, nil
}

func teach(o Options) (path string, changed bool, err error) {
	path, whole := rulesFile(o)
	if path == "" {
		return "", false, nil
	}
	old, mode, existed, err := read(path)
	if err != nil {
		return path, false, err
	}
	p, err := parts(path, string(old), whole)
	if err != nil {
		return path, false, err
	}
	body := hook.Teaching + "\n" + rulesEnd + "\n"
	var text string
	switch {
	case whole:
		text = "---\ndescription: How corrections are kept\nalwaysApply: true\n---\n" + rulesBegin + "\n" + body
	case p.before == "":
		text = rulesBegin + "\n" + body + p.after
	case strings.HasSuffix(p.before, "\n"):
		text = p.before + "\n" + rulesBegin + "\n" + body + p.after
	default:
		text = p.before + "\n\n" + rulesJoined + "\n" + body + p.after
	}
	if existed && text == string(old) {
		return path, false, nil
	}
	if existed && !p.block && !whole {
		if _, err := backup(path, old); err != nil {
			return path, false, err
		}
	}
	return path, true, write(path, []byte(text), mode)
}

// unteach takes our lines out. It returns the path only where they were there.
func unteach(o Options) (path string, changed bool, err error) {
	path, whole := rulesFile(o)
	if path == "" {
		return "", false, nil
	}
	old, mode, existed, err := read(path)
	if err != nil || !existed || !strings.Contains(string(old), "<!-- whetstone: ") {
		return "", false, err
	}
	p, err := parts(path, string(old), whole)
	if err != nil || !p.block {
		return "", false, err
	}
	text := p.before + p.after
	if whole || text == "" {
		return path, true, remove(path)
	}
	if kept, _, had, err := read(path + backupSuffix); err == nil && had && string(kept) == text {
		_ = remove(path + backupSuffix)
	}
	return path, true, write(path, []byte(text), mode)
}
