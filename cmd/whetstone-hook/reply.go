package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"whetstone/hook"
	"whetstone/learning"
	"whetstone/session"
)

const (
	detectorTime = 2 * time.Second // of one command
	detectorMost = 3               // commands at the end of one turn
)

// reply captures blocks and evidence from what the agent said, and reminds the person of what waits.
func (c *call) reply() hook.Decision {
	if c.event.Reply == "" && c.event.Transcript != "" {
		text, err := hook.LastReply(c.event.Transcript)
		if err != nil {
			c.log.note("%v", err)
		}
		c.event.Reply = text
	}
	c.state = c.sess.Load()
	got := hook.Capture(c.event, "", c.state.Skills, c.now())
	for _, why := range got.Dropped {
		c.log.note("a [LEARN] block was not taken: %s", why)
	}
	c.evidence()
	var keys []string
	if len(got.Captures) > 0 {
		keys = c.projectKeys()
	}
	c.keep(learning.Record{Captures: got.Captures}, keys)
	if len(got.Captures) > 0 {
		var lines []session.Line
		for _, x := range got.Captures {
			lines = append(lines, session.Line{T: session.LCapture, ID: x.Event})
		}
		c.remember(lines...)
	}
	if c.store != nil {
		c.owed(c.store)
	}
	if c.lost > 0 { // silence would be the worst answer
		return hook.Decision{Message: fmt.Sprintf("[whetstone] %d correction(s) could not be kept: %s can not be written; see `starter doctor`", c.lost, c.dir)}
	}
	if c.event.Kind == hook.SubagentReply || c.event.Active || !c.state.Greeted || c.getenv("WHETSTONE_BYPASS") == "1" {
		return hook.Decision{}
	}
	return hook.Decision{Message: c.reminder()}
}

// evidence notes which of the rules that this session was told were evidently applied in this turn.
func (c *call) evidence() {
	sum := sha256.Sum256([]byte(c.event.Reply))
	place := c.event.Turn
	if place == "" {
		place = hex.EncodeToString(sum[:8])
	}
	var lines []session.Line
	found := func(id, kind string) {
		lines = append(lines, session.Line{T: session.LApplied, ID: id, Evidence: kind, Use: place})
	}
	for _, id := range learning.Cited(c.event.Reply) {
		if slices.Contains(c.state.Told, id) {
			found(id, "cited")
		}
	}
	commands := 0
	for id, text := range c.state.Detectors {
		d, err := learning.ParseDetector(text)
		if err != nil || d == nil {
			continue
		}
		switch {
		case d.Kind == "reply" && d.Pattern.MatchString(c.event.Reply):
			found(id, "reply")
		case d.Kind == "command" && c.event.Kind == hook.Reply && commands < detectorMost:
			commands++
			if c.holds(d.Args) {
				found(id, "command")
			}
		}
	}
	if len(lines) > 0 {
		c.remember(lines...)
		c.state = c.sess.Load()
	}
}

// holds runs a detector's command: no shell, little environment, a short time.
func (c *call) holds(argv []string) bool {
	ctx, cancel := context.WithTimeout(c.ctx, detectorTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir = c.event.CWD
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME")}
	cmd.WaitDelay = 100 * time.Millisecond
	return cmd.Run() == nil
}

// reminder is one factual line, shown when it says something new.
func (c *call) reminder() string {
	cfg, err := c.dir.ReadConfig()
	if err != nil {
		c.log.note("%v", err)
	}
	st := c.state
	var parts []string
	for i, name := range []string{"pending_review", "corrections", "proposals"} {
		if st.Owed[i] > 0 {
			parts = append(parts, fmt.Sprintf("%s=%d", name, st.Owed[i]))
		}
	}
	if cfg.Hook.ToolBudget > 0 && st.Tools >= cfg.Hook.ToolBudget {
		parts = append(parts, fmt.Sprintf("tool_calls=%d/%d", st.Tools, cfg.Hook.ToolBudget))
	}
	if st.TestsFail {
		parts = append(parts, "tests=failing")
	}
	if st.Unread > 0 {
		parts = append(parts, fmt.Sprintf("edited_unread=%d", st.Unread))
	}
	line := strings.Join(parts, " ")
	if line == "" || line == st.Shown {
		return ""
	}
	c.remember(session.Line{T: session.LShown, Name: line})
	return "[whetstone] " + line
}
