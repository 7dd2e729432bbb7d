package main

import (
	"path/filepath"
	"slices"
	"strings"

	"whetstone/hook"
	"whetstone/hook/host"
	"whetstone/learning"
	"whetstone/session"
	"whetstone/store"
	"whetstone/wiki/folder"
)

// tool notes what a tool did: names and counts, no contents. It opens no database, unless something waits to be told: on hosts
// whose prompt event reaches no model, what the prompt calls for is told here.
func (c *call) tool() hook.Decision {
	e := c.event
	kind := session.LTool
	if e.Kind == hook.ToolFailed {
		kind = session.LFailed
	}
	lines := []session.Line{{T: session.LTool, Name: hook.Name(e.Tool), Use: e.ToolUse}}
	if ran := hook.Ran(e.Input); hook.RunsTests(ran) {
		lines = append(lines, session.Line{T: session.LTests, Name: map[bool]string{true: "failed", false: "passed"}[kind == session.LFailed || hook.FailedTests(e.Output)]})
	}
	if kind == session.LFailed {
		lines = append(lines, session.Line{T: kind, Name: hook.Name(e.Tool), Use: e.ToolUse})
	} else {
		if k := hook.SkillLoaded(e.Tool, e.Input); k != "" {
			lines = append(lines, session.Line{T: session.LSkill, Name: k})
		}
		if file, edit := hook.Touched(e.Tool, e.Input); file != "" {
			t := session.LRead
			if edit {
				t = session.LEdit
			}
			lines = append(lines, session.Line{T: t, Name: session.FileKey(file), Use: e.ToolUse})
		}
		lines = append(lines, c.fired()...)
	}
	c.remember(lines...)
	if len(c.state.Later) == 0 || !host.Tells(e) {
		return hook.Decision{}
	}
	return c.tellLater()
}

func (c *call) tellLater() hook.Decision {
	s := c.open(false)
	if s == nil {
		return hook.Decision{}
	}
	told, err := s.Told(c.ctx, c.event.Session, c.state.Rounds)
	if err != nil {
		c.log.note("%v", err)
	}
	ids := slices.DeleteFunc(slices.Clone(c.state.Later), func(id string) bool { return slices.Contains(told, id) })
	ls, err := s.LearningsByID(c.ctx, ids, c.project(s))
	if err != nil {
		c.log.note("%v", err)
	}
	c.remember(session.Line{T: session.LLater})
	if len(ls) == 0 {
		return hook.Decision{}
	}
	mark, err := s.SessionMark(c.event.Session)
	if err != nil {
		c.log.note("%v", err)
		mark = c.fallbackMark()
	}
	text, ids := hook.Compose(hook.Context{Mark: mark, Learnings: ls})
	_, first, err := s.Take(c.ctx, store.Effect{Event: c.identity(append([]string{"later"}, ids...)...), Window: window, Session: c.event.Session, Round: c.state.Rounds, Tell: ids})
	if err != nil {
		c.log.note("%v", err)
		first = true
	}
	if !first {
		return hook.Decision{}
	}
	c.rememberTold(ls, ids)
	return hook.Decision{Context: text}
}

// fired are the detectors of told rules that this call proves.
func (c *call) fired() []session.Line {
	c.state = c.sess.Load()
	if len(c.state.Detectors) == 0 {
		return nil
	}
	var lines []session.Line
	written, ran := hook.Written(c.event.Input), hook.Ran(c.event.Input)
	for id, text := range c.state.Detectors {
		d, err := learning.ParseDetector(text)
		if err != nil || d == nil || d.Pattern == nil {
			continue
		}
		if d.Kind == "edit" && d.Pattern.MatchString(written) || d.Kind == "run" && d.Pattern.MatchString(ran) {
			place := c.event.ToolUse
			if place == "" {
				place = c.place()
			}
			lines = append(lines, session.Line{T: session.LApplied, ID: id, Evidence: d.Kind, Use: place})
		}
	}
	return lines
}

// fileChanged puts a verify seed into the queue where a page of a wiki was edited.
func (c *call) fileChanged(file string) {
	if !strings.HasSuffix(strings.ToLower(file), ".md") {
		return
	}
	if !filepath.IsAbs(file) {
		file = filepath.Join(c.event.CWD, file)
	}
	s := c.open(false)
	if s == nil {
		return
	}
	ws, err := s.Wikis(c.ctx)
	if err != nil {
		c.log.note("%v", err)
		return
	}
	for _, w := range ws {
		rel, err := filepath.Rel(w.Root, file)
		if err != nil || strings.HasPrefix(rel, "..") {
			continue
		}
		d, err := folder.Open(w.Root)
		if err != nil {
			c.log.note("%v", err)
			return
		}
		if _, err := d.Changed(c.ctx, s, w.Slug, filepath.ToSlash(rel)); err != nil {
			c.log.note("look at a changed page of %s: %v", w.Slug, err)
		}
		_ = d.Close()
		return
	}
}
