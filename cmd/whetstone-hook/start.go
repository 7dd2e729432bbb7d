package main

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"whetstone/claim"
	"whetstone/hook"
	"whetstone/learning"
	"whetstone/project"
	"whetstone/session"
	"whetstone/store"
)

const (
	atStart  = 8  // learnings told at the beginning of a session
	fromList = 60 // of each kind are considered
	// window is how long a second delivery of an event without a turn's name counts as the same event.
	window = 10 * time.Second
)

// start tells the agent how a correction is kept, what this project learned, and, after a compaction, what the session had
// been told before.
func (c *call) start() hook.Decision {
	c.state = c.sess.Load()
	c.remember(session.Line{T: session.LStart})
	facts := []string{hook.Teaching}
	s := c.open(true)
	if s == nil {
		text, _ := hook.Compose(hook.Context{Mark: c.fallbackMark(), Facts: facts})
		return hook.Decision{Context: text}
	}
	c.drain(s)
	c.tidy(s)
	mark, err := s.SessionMark(c.event.Session)
	if err != nil {
		c.log.note("%v", err)
		mark = c.fallbackMark()
	}
	round := c.state.Rounds
	if c.event.Source == "clear" {
		round++ // what was told is gone with the old context
		c.remember(session.Line{T: session.LCompact, Use: c.place()})
	}
	pid := c.project(s)
	told, err := s.Told(c.ctx, c.event.Session, -1)
	if err != nil {
		c.log.note("%v", err)
	}
	ctx := hook.Context{Mark: mark, Facts: facts, Wikis: c.wikis(s)}
	skip := told
	if c.event.Source == "compact" {
		ctx.Facts = append(ctx.Facts, c.stateFacts(s)...)
		if ctx.Again, err = s.LearningsByID(c.ctx, told, pid); err != nil {
			c.log.note("%v", err)
		}
	}
	list, err := s.UsableFor(c.ctx, pid, fromList)
	if err != nil {
		c.log.note("%v", err)
	}
	if c.event.Source == "clear" {
		skip = nil
	}
	ctx.Learnings = best(list, pid, skip, c.now(), atStart)
	text, ids := hook.Compose(ctx)
	_, first, err := s.Take(c.ctx, store.Effect{Event: c.identity("start", c.event.Source), Window: window, Session: c.event.Session, Round: round, Tell: ids, Again: c.event.Source == "compact"})
	if err != nil {
		c.log.note("%v", err)
		first = true // telling twice is better than never
	}
	if !first {
		return hook.Decision{}
	}
	c.rememberTold(append(ctx.Learnings, ctx.Again...), ids)
	c.owed(s)
	return hook.Decision{Context: text}
}

// identity names an event across deliveries: not by the host, since two hosts' configurations can deliver one event.
func (c *call) identity(parts ...string) string {
	h := sha256.New()
	for _, p := range append([]string{c.event.Session, c.event.Turn}, parts...) {
		_, _ = fmt.Fprintf(h, "%d:%s", len(p), p)
	}
	return "e_" + hex.EncodeToString(h.Sum(nil))[:24]
}

// fallbackMark frames what is told where no key of ours can be had: sessions are named at random, so it differs between them.
func (c *call) fallbackMark() string {
	sum := sha256.Sum256([]byte("mark:" + c.event.Session))
	return hex.EncodeToString(sum[:5])
}

func (c *call) project(s *store.Store) string {
	pid, err := s.Project(c.ctx, c.projectKeys())
	if err != nil {
		c.log.note("%v", err)
	}
	return pid
}

// best chooses what a session begins with: rules of this project before those of all, proven ones before new ones, recent ones
// before old ones, and none that is flagged for demotion while there is another.
func best(ls []learning.Learning, pid string, skip []string, now time.Time, limit int) []learning.Learning {
	score := func(l learning.Learning) float64 {
		v := math.Log1p(float64(l.TimesApplied)) + 0.6*math.Log1p(float64(l.Observations)) + 1.5*math.Exp(-now.Sub(l.CreatedAt).Hours()/24/90)
		if l.Project != "" && l.Project == pid {
			v += 2
		}
		if l.Flag != "" {
			v -= 5
		}
		return v
	}
	ls = slices.DeleteFunc(slices.Clone(ls), func(l learning.Learning) bool { return slices.Contains(skip, l.ID) })
	slices.SortStableFunc(ls, func(a, b learning.Learning) int { return cmp.Compare(score(b), score(a)) })
	return ls[:min(limit, len(ls))]
}

func (c *call) rememberTold(ls []learning.Learning, ids []string) {
	var lines []session.Line
	for _, l := range ls {
		if slices.Contains(ids, l.ID) {
			lines = append(lines, session.Line{T: session.LTold, ID: l.ID, Detector: l.Detector})
		}
	}
	if len(lines) > 0 {
		c.remember(lines...)
	}
}

// owed notes what waits for the person, for the reminder at the end of a turn.
func (c *call) owed(s *store.Store) {
	o, err := s.OwedNow(c.ctx)
	if err != nil {
		c.log.note("%v", err)
		return
	}
	n := [3]int{o.Pending, o.Notes, o.Staged}
	if n != c.state.Owed {
		c.remember(session.Line{T: session.LOwed, N: n})
		c.state.Owed = n
	}
}

// stateFacts states what a compacted session was about to forget.
func (c *call) stateFacts(s *store.Store) []string {
	c.owed(s)
	st := c.state
	facts := []string{fmt.Sprintf("This session so far, before its context was compacted: %d prompts, %d tool calls (%d failed), %d file edits.", st.Prompts, st.Tools, st.Failures, st.Edits)}
	if st.TestsFail {
		facts = append(facts, "The last run of the tests in it failed.")
	}
	if len(st.Skills) > 0 {
		facts = append(facts, "Skills loaded in it: "+strings.Join(st.Skills, ", ")+".")
	}
	if len(st.Notes) > 0 {
		facts = append(facts, fmt.Sprintf("The user corrected the agent %d time(s) in it.", len(st.Notes)))
		notes, err := s.Notes(c.ctx, "open")
		if err != nil {
			c.log.note("%v", err)
		}
		for _, n := range notes {
			if slices.Contains(st.Notes, n.ID) {
				facts = append(facts, fmt.Sprintf("One correction, in the user's words: %q", n.Excerpt))
			}
		}
	}
	if o := st.Owed; o != [3]int{} {
		facts = append(facts, fmt.Sprintf("Waiting for the user, outside this session: %d learnings and %d corrections to review, %d proposals for skills.", o[0], o[1], o[2]))
	}
	return facts
}

// wikis lists the wikis that prompts of this project are looked up in.
func (c *call) wikis(s *store.Store) []string {
	ws, err := s.Wikis(c.ctx)
	if err != nil {
		c.log.note("%v", err)
		return nil
	}
	var out []string
	for _, w := range ws {
		if c.mayTell(w) {
			out = append(out, fmt.Sprintf("%s (%s)", w.Slug, w.Title))
		}
	}
	return out[:min(len(out), 12)]
}

// mayTell reports whether a wiki's contents may reach the model of this session: a private wiki's never, since what is told
// leaves the machine, and a project's only in that project.
func (c *call) mayTell(w claim.Wiki) bool {
	return !w.Private && !privateNow(w.Root) && (w.Project == "" || project.Find(w.Project).Key == project.Find(c.event.CWD).Key)
}
