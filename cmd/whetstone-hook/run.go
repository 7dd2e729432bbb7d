package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"whetstone/home"
	"whetstone/hook"
	"whetstone/hook/host"
	"whetstone/learning"
	"whetstone/project"
	"whetstone/session"
	"whetstone/spool"
	"whetstone/store"
)

const (
	maxInput    = 16 << 20               // bytes of one event
	busyTimeout = 800 * time.Millisecond // then what was noted is spooled: the person waits for the hook
	wholeTime   = 5 * time.Second        // of one call
	drainLimit  = 20                     // spooled files brought in on the way
)

// flags are what a registration says.
type flags struct {
	host, event string
	home        string // "" leaves it to the environment
	guard       bool
	plugin      bool // the copy of the Claude Code plugin
	unknown     []string
}

func parseFlags(args []string) flags {
	var f flags
	for i := 0; i < len(args); i++ {
		name, value, has := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(args[i], "-"), "-"), "=")
		take := func() string {
			if has {
				return value
			}
			if i+1 < len(args) {
				i++
				return args[i]
			}
			return ""
		}
		switch {
		case !strings.HasPrefix(args[i], "-"):
			f.unknown = append(f.unknown, args[i])
		case name == "host":
			if f.host = take(); !slices.Contains(host.Names(), f.host) {
				f.unknown = append(f.unknown, "--host="+f.host)
			}
		case name == "event":
			f.event = take()
		case name == "home":
			f.home = take()
		case name == "guard":
			f.guard = true
		case name == "plugin":
			f.plugin = true
		default:
			f.unknown = append(f.unknown, args[i])
		}
	}
	return f
}

// call is one event on its way through the program.
type call struct {
	env
	dir   home.Dir
	event hook.Event
	log   *journal
	sess  *session.Log
	state session.State
	store *store.Store // nil until it is needed, and where it can not be had
	tried bool
	lost  int             // captures and notes that could not be kept anywhere
	ctx   context.Context //nolint:containedctx // a call lives as long as its context
}

// run handles one event.
func run(e env) (out []byte, code int, reason string) {
	f := parseFlags(e.args)
	dir, err := home.Find(f.home, e.getenv)
	if err != nil {
		return refuse(f, "whetstone has no home folder: "+err.Error())
	}
	l := &journal{path: dir.HookLog(), now: e.now}
	defer func() {
		if p := recover(); p != nil {
			l.note("panic: %v", p)
			out, code, reason = refuse(f, "whetstone's guard broke down, so the call is denied; see "+dir.HookLog())
		}
	}()
	data, err := io.ReadAll(io.LimitReader(e.stdin, maxInput+1))
	if err != nil || len(data) > maxInput {
		l.note("the event could not be read (%d bytes): %v", len(data), err)
		return refuse(f, "whetstone's guard could not read the event, so the call is denied")
	}
	event, err := host.Parse(data, f.host, f.event)
	if err != nil {
		l.note("%v", err)
		return refuse(f, "whetstone's guard could not read the event, so the call is denied")
	}
	if f.plugin && standsBack(e, event) {
		return nil, 0, ""
	}
	if f.guard {
		return guarded(e, f, dir, event, l)
	}
	if e.getenv("WHETSTONE_CANARY") != "" {
		return canary(e, event), 0, ""
	}
	ctx, cancel := context.WithTimeout(context.Background(), wholeTime)
	defer cancel()
	// What names a call or a turn is kept in files: a host that sends a secret there must not have it kept.
	event.Turn, event.ToolUse = hook.Name(event.Turn), hook.Name(event.ToolUse)
	c := &call{env: e, dir: dir, event: event, log: l, sess: session.Open(dir.Sessions(), event.Session), ctx: ctx}
	defer c.close()
	return host.Render(event, c.handle()), 0, ""
}

// refuse is what is left where nothing can be judged: a guard denies by its exit code, everything else says nothing.
func refuse(f flags, reason string) ([]byte, int, string) {
	if f.guard {
		return nil, denied, reason
	}
	return nil, 0, ""
}

func (c *call) handle() hook.Decision {
	switch c.event.Kind {
	case hook.Start:
		return c.start()
	case hook.Prompt:
		return c.prompt()
	case hook.Reply, hook.SubagentReply:
		return c.reply()
	case hook.AfterTool, hook.ToolFailed:
		d := c.tool()
		if file, edit := hook.Touched(c.event.Tool, c.event.Input); edit && c.event.Kind == hook.AfterTool {
			c.fileChanged(file)
		}
		return d
	case hook.BeforeCompact:
		c.remember(session.Line{T: session.LCompact, Use: c.place()})
	case hook.AfterCompact:
		if c.event.Host == host.OpenCode { // it has no event before
			c.remember(session.Line{T: session.LCompact, Use: c.place()})
			c.event.Source = "compact"
			return c.start()
		}
	case hook.End:
		c.state = c.sess.Load()
		c.keep(learning.Record{}, nil)
	case hook.FileChanged:
		c.fileChanged(c.event.File)
	}
	return hook.Decision{}
}

// place names the moment within the session; without a turn's name, two events of one second are one.
func (c *call) place() string {
	if c.event.Turn != "" {
		return c.event.Turn
	}
	return fmt.Sprint(c.now().Unix() / 10)
}

func (c *call) remember(lines ...session.Line) {
	if err := c.sess.Append(lines...); err != nil {
		c.log.note("%v", err)
	}
}

// open opens the store, once. Where there is no database yet and create is false, there is nothing to read either.
func (c *call) open(create bool) *store.Store {
	if c.tried || c.store != nil {
		return c.store
	}
	if !create {
		if _, err := os.Stat(c.dir.Database()); errors.Is(err, os.ErrNotExist) {
			return nil
		}
	}
	c.tried = true
	if err := c.dir.Create(); err != nil {
		c.log.note("%v", err)
		return nil
	}
	s, err := store.Open(c.ctx, store.Options{
		Path: c.dir.Database(), BusyTimeout: busyTimeout, Now: c.now, Single: true,
		Durable: c.event.Kind == hook.Reply || c.event.Kind == hook.SubagentReply,
	})
	if err != nil {
		c.log.note("the database can not be had: %v", err)
		return nil
	}
	c.store = s
	return s
}

// close closes the database. To leave that to the end of the process saves the syncs of taking the log into the file, and costs
// the next call more: it has to read the log first.
func (c *call) close() {
	if c.store != nil {
		_ = c.store.Close()
	}
}

// keep stores a record with the evidence that waits in the session, or spools it. done tells the session that the evidence is
// safe.
func (c *call) keep(r learning.Record, project []string) {
	for _, p := range c.state.Pending {
		r.Applications = append(r.Applications, learning.Application{
			ID: learning.ApplicationID(c.event.Session, p.Use, p.ID), Learning: p.ID, Session: hook.Name(c.event.Session), Evidence: p.Evidence, At: c.now().UTC(),
		})
	}
	if r.Empty() {
		return
	}
	r.Keys = project
	err := errors.New("it can not be opened")
	if s := c.open(true); s != nil {
		if _, err = s.AddRecord(c.ctx, r); err == nil {
			c.drain(s)
		}
	}
	if err != nil {
		c.log.note("the database did not take a record, it is spooled: %v", err)
		if err := c.dir.Create(); err != nil {
			c.log.note("%v", err)
		}
		if err := spool.Write(c.dir.Spool(), r); err != nil {
			c.log.note("%d capture(s) and %d note(s) are lost: %v", len(r.Captures), len(r.Notes), err)
			c.lost = len(r.Captures) + len(r.Notes)
			return
		}
	}
	if len(c.state.Pending) > 0 {
		c.remember(session.Line{T: session.LFlushed})
		c.state.Pending = nil
	}
}

// drain brings in what was spooled before.
func (c *call) drain(s *store.Store) {
	_, _ = spool.Drain(c.dir.Spool(), drainLimit, func(r learning.Record) error {
		_, err := s.AddRecord(c.ctx, r)
		return err
	})
}

// What is kept of sessions and events serves to tell a second delivery from a first one, and to go on with a session; both have
// an end.
const keepSessions = 30 * 24 * time.Hour

// tidy removes what old sessions left behind, now and then: a mark in the folder says when that was done last.
func (c *call) tidy(s *store.Store) {
	mark := filepath.Join(c.dir.Sessions(), "swept")
	if info, err := os.Stat(mark); err == nil && c.now().Sub(info.ModTime()) < 24*time.Hour {
		return
	}
	if err := os.MkdirAll(c.dir.Sessions(), 0o700); err != nil {
		c.log.note("%v", err)
		return
	}
	if err := os.WriteFile(mark, nil, 0o600); err != nil {
		c.log.note("%v", err)
		return
	}
	now := c.now()
	_ = os.Chtimes(mark, now, now)
	session.Sweep(c.dir.Sessions(), now.Add(-keepSessions))
	if err := s.ForgetOldEvents(c.ctx, now.Add(-keepSessions)); err != nil {
		c.log.note("%v", err)
	}
}

func (c *call) projectKeys() []string { return project.Find(c.event.CWD).Keys }

// canary proves that the hook is live: it says who answered, for which event, and touches nothing.
func canary(e env, event hook.Event) []byte {
	return []byte(fmt.Sprintf(`{"whetstone": %q, "host": %q, "kind": %q, "canary": %q}`+"\n", version(), event.Host, event.Kind, e.getenv("WHETSTONE_CANARY")))
}
