package main

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"whetstone/claim"
	"whetstone/hook"
	"whetstone/hook/host"
	"whetstone/learning"
	"whetstone/session"
	"whetstone/store"
	"whetstone/wiki/folder"
)

const (
	perPrompt = 3 // learnings, and as many passages
	shortlist = 24
)

// prompt tells what is relevant to the person's prompt, and notes a correction.
func (c *call) prompt() hook.Decision {
	// Whether the prompt corrects is found out while the database is opened and searched.
	noting := make(chan *learning.Note, 1)
	go func() {
		defer func() {
			if p := recover(); p != nil {
				c.log.note("panic: %v", p)
				noting <- nil
			}
		}()
		noting <- hook.NoteOf(c.event, "", c.now())
	}()
	c.state = c.sess.Load()
	var (
		text string
		ids  []string
		ls   []learning.Learning
	)
	s := c.open(false)
	if s != nil {
		text, ids, ls = c.relevant(s, c.project(s))
	}
	note := <-noting
	lines := []session.Line{{T: session.LPrompt, Use: c.place()}}
	var keys []string
	if note != nil {
		lines = append(lines, session.Line{T: session.LNote, ID: note.ID})
		keys = c.projectKeys()
	}
	if !host.Tells(c.event) {
		lines = append(lines, session.Line{T: session.LLater})
		for _, l := range ls {
			lines = append(lines, session.Line{T: session.LLater, ID: l.ID})
		}
		text, ids, ls = "", nil, nil
	}
	c.remember(lines...)
	if s == nil {
		if note != nil {
			c.keep(learning.Record{Notes: []learning.Note{*note}}, keys)
		}
		return hook.Decision{}
	}
	e := store.Effect{Session: c.event.Session, Round: c.state.Rounds, Tell: ids, Record: learning.Record{Keys: keys}}
	sum := sha256.Sum256([]byte(c.event.Prompt))
	e.Event = c.identity("prompt", hex.EncodeToString(sum[:]))
	if c.event.Turn == "" {
		e.Window = window
	}
	if note != nil {
		e.Record.Notes = []learning.Note{*note}
	}
	if len(ids) == 0 && note == nil {
		return hook.Decision{}
	}
	_, first, err := s.Take(c.ctx, e)
	if err != nil {
		c.log.note("%v", err)
		first = true
		if note != nil {
			c.keep(e.Record, keys)
		}
	}
	c.owed(s)
	if !first || text == "" {
		return hook.Decision{}
	}
	c.rememberTold(ls, ids)
	return hook.Decision{Context: text}
}

// relevant composes what the prompt is answered with better: learnings and passages above a threshold, and nothing where none
// is.
func (c *call) relevant(s *store.Store, pid string) (text string, ids []string, ls []learning.Learning) {
	hits, err := s.Candidates(c.ctx, head(c.event.Prompt), pid, shortlist)
	if err != nil {
		c.log.note("%v", err)
	}
	told, err := s.Told(c.ctx, c.event.Session, c.state.Rounds)
	if err != nil {
		c.log.note("%v", err)
	}
	passages := c.passages(s, told)
	open := map[string]bool{"": true} // the wikis whose learnings may be told, each asked once
	for _, p := range passages {
		open[p.Wiki] = true
	}
	var candidates []learning.Learning
	for _, h := range hits {
		if slices.Contains(told, h.ID) {
			continue
		}
		if _, asked := open[h.Wiki]; !asked {
			open[h.Wiki] = c.about(s, h.Wiki)
		}
		if open[h.Wiki] {
			candidates = append(candidates, h)
		}
	}
	ls = hook.Relevant(c.event.Prompt, candidates, perPrompt)
	if len(ls) == 0 && len(passages) == 0 {
		return "", nil, nil
	}
	mark, err := s.SessionMark(c.event.Session)
	if err != nil {
		c.log.note("%v", err)
		mark = c.fallbackMark()
	}
	text, ids = hook.Compose(hook.Context{Mark: mark, Learnings: ls, Hits: passages})
	return text, ids, ls
}

// about reports whether the prompt speaks of a wiki's title, for wikis whose pages do not say it yet.
func (c *call) about(s *store.Store, slug string) bool {
	w, err := s.Wiki(c.ctx, slug)
	if err != nil || !c.mayTell(w) {
		return false
	}
	return hook.NewTopic(c.event.Prompt).Relevance(&learning.Learning{Category: w.Title, Rule: w.Title}) >= hook.Threshold
}

// head bounds what is searched for: a prompt may hold a whole file.
func head(s string) string {
	if rs := []rune(s); len(rs) > 4000 {
		return string(rs[:4000])
	}
	return s
}

// passages finds what the wikis say about the prompt.
func (c *call) passages(s *store.Store, told []string) []claim.Hit {
	n, err := s.WikiCount(c.ctx)
	if err != nil || n == 0 {
		return nil
	}
	hits, err := s.SearchWikis(c.ctx, store.WikiQuery{Text: head(c.event.Prompt), Limit: 12})
	if err != nil {
		c.log.note("%v", err)
		return nil
	}
	may := map[string]bool{}
	var out []claim.Hit
	topic := hook.NewTopic(c.event.Prompt)
	for _, h := range hits {
		if len(out) == perPrompt {
			break
		}
		if slices.Contains(told, h.Ref) || topic.Relevance(&learning.Learning{Category: h.Title, Rule: h.Text}) < hook.Threshold {
			continue
		}
		ok, known := may[h.Wiki]
		if !known {
			w, err := s.Wiki(c.ctx, h.Wiki)
			ok = err == nil && c.mayTell(w)
			may[h.Wiki] = ok
		}
		if ok && !slices.ContainsFunc(out, func(o claim.Hit) bool { return o.Text == h.Text }) {
			out = append(out, h)
		}
	}
	return out
}

// privateNow reads a wiki's own configuration: a person may have made it private since the store last saw it. One that can not
// be read is taken for private.
func privateNow(root string) bool {
	d, err := folder.Open(root)
	if err != nil {
		return true
	}
	defer func() { _ = d.Close() }()
	cfg, err := d.Config()
	return err != nil || cfg.Private
}
