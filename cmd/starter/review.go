package main

import (
	"context"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/spf13/cobra"

	"whetstone/learning"
	"whetstone/review"
	"whetstone/service"
	"whetstone/skill"
)

func (a *app) learnReviewCmd() *cobra.Command {
	return &cobra.Command{
		Use: "review", Short: "Look through what was captured: approve, reject, edit, link, supersede", Args: cobra.NoArgs,
		Long: "Look through pending learnings, corrections that nobody made a learning of, and learnings that do not earn their place. On a terminal this is a screen with\none key for each decision; without one it prints the list, and `starter learn approve|reject|link|edit|supersede|forget ID` decide.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.with(cmd.Context(), func(s *service.Service) error {
				d := &desk{ctx: cmd.Context(), s: s}
				if err := d.load(); err != nil {
					return err
				}
				if a.json {
					return a.printJSON(d.items)
				}
				if len(d.items) == 0 {
					return a.print("nothing to review\n")
				}
				if !a.isTerminal(a.stdout) || !a.isTerminal(a.stdin) {
					return a.printQueue(d.items)
				}
				m := newScreen(d, a.getenv("NO_COLOR") == "")
				if _, err := tea.NewProgram(m, tea.WithInput(a.stdin), tea.WithOutput(a.stdout), tea.WithContext(cmd.Context())).Run(); err != nil {
					return fmt.Errorf("show the review: %w", err)
				}
				return a.print("%s\n", d.summary())
			})
		},
	}
}

func (a *app) printQueue(items []review.Item) error {
	for _, it := range items {
		var err error
		switch {
		case it.Note != nil:
			err = a.print("%s  correction  %s\n", it.Note.ID, oneLine(it.Note.Excerpt, 120))
		case it.Learning.Flag != "":
			err = a.print("%s  flagged     %s: %s (%s)\n", it.Learning.ID, it.Learning.Category, oneLine(it.Learning.Rule, 100), it.Learning.Flag)
		default:
			err = a.print("%s  pending     %s: %s\n", it.Learning.ID, it.Learning.Category, oneLine(it.Learning.Rule, 120))
		}
		if err != nil {
			return err
		}
		for _, n := range it.Neighbours {
			if err := a.print("    %s %s (%s): %s\n", relationWord(n.Relation), n.Learning.ID, n.Learning.Status, oneLine(n.Learning.Rule, 100)); err != nil {
				return err
			}
		}
	}
	a.note("decide with: starter learn approve|reject|edit|link|supersede|forget ID, starter learn notes --dismiss ID")
	return nil
}

func relationWord(r review.Relation) string {
	if r == review.Contradicts {
		return "contradicts"
	}
	return "is like"
}

// desk is what a review works on: the queue, the decisions, and how to take each back.
type desk struct {
	ctx   context.Context //nolint:containedctx // a review lives as long as its command
	s     *service.Service
	items []review.Item
	at    int
	undo  []undoable
	done  map[string]int
}

type undoable struct {
	at   int
	what string
	back func() error
}

func (d *desk) load() error {
	all, err := d.s.Store.Learnings(d.ctx, learning.Filter{})
	if err != nil {
		return err
	}
	notes, err := d.s.Store.Notes(d.ctx, "open")
	if err != nil {
		return err
	}
	d.items = review.Queue(all, notes)
	d.done = map[string]int{}
	return nil
}

func (d *desk) current() *review.Item {
	if d.at >= len(d.items) {
		return nil
	}
	return &d.items[d.at]
}

// did records a decision and goes on.
func (d *desk) did(what string, back func() error) {
	d.undo = append(d.undo, undoable{d.at, what, back})
	d.done[what]++
	d.at++
}

func (d *desk) setStatus(to learning.Status) error {
	l := d.current().Learning
	from := l.Status
	if err := d.s.Store.SetStatus(d.ctx, []string{l.ID}, to); err != nil {
		return err
	}
	d.did(string(to), func() error { return d.s.Store.SetStatus(d.ctx, []string{l.ID}, from) })
	return nil
}

func (d *desk) dismiss() error {
	n := *d.current().Note
	if err := d.s.Store.CloseNote(d.ctx, n.ID, ""); err != nil {
		return err
	}
	d.did("dismissed", func() error { return d.s.Store.ReopenNote(d.ctx, n.ID, n.Excerpt) })
	return nil
}

// turn makes a learning of a note.
func (d *desk) turn(text string) error {
	n := *d.current().Note
	category, rule, ok := strings.Cut(text, ":")
	if !ok || strings.TrimSpace(category) == "" || strings.TrimSpace(rule) == "" {
		return fmt.Errorf("want category: rule")
	}
	now := d.s.Store.Now()
	l := learning.Learning{Status: learning.Approved, Project: n.Project, Category: strings.TrimSpace(category), Rule: strings.TrimSpace(rule), Host: n.Host, Session: n.Session, Observations: 1, CreatedAt: now, ValidFrom: now}
	redact(&l)
	if err := l.Validate(); err != nil {
		return err
	}
	added, err := d.s.Store.AddLearnings(d.ctx, []learning.Learning{l})
	if err != nil {
		return err
	}
	id := added.IDs[0]
	if err := d.s.Store.CloseNote(d.ctx, n.ID, id); err != nil {
		return err
	}
	d.did("made learnings", func() error {
		if added.New > 0 {
			if err := d.s.Store.SetStatus(d.ctx, []string{id}, learning.Rejected); err != nil {
				return err
			}
		}
		return d.s.Store.ReopenNote(d.ctx, n.ID, n.Excerpt)
	})
	return nil
}

// edit replaces the rule, and stays: an edited rule is still to be decided on.
func (d *desk) edit(rule string) error {
	l := d.current().Learning
	old := *l
	changed := old
	changed.Rule = strings.TrimSpace(rule)
	redact(&changed)
	if err := changed.Validate(); err != nil {
		return err
	}
	if err := d.s.Store.EditLearning(d.ctx, changed); err != nil {
		return err
	}
	*l = changed
	d.undo = append(d.undo, undoable{d.at, "edited", func() error {
		*l = old
		return d.s.Store.EditLearning(d.ctx, old)
	}})
	d.done["edited"]++
	return nil
}

func (d *desk) link(name string) error {
	l := d.current().Learning
	key := skill.Key(name)
	if key == "" {
		return fmt.Errorf("%q can not name a skill", name)
	}
	if err := d.s.Store.LinkSkill(d.ctx, []string{l.ID}, key); err != nil {
		return err
	}
	l.Skills = append(l.Skills, key)
	d.undo = append(d.undo, undoable{d.at, "linked", func() error {
		l.Skills = l.Skills[:len(l.Skills)-1]
		return d.s.Store.UnlinkSkill(d.ctx, l.ID, key)
	}})
	d.done["linked"]++
	return nil
}

// supersede lets the shown learning take the place of a neighbour.
func (d *desk) supersede(n int) error {
	it := d.current()
	if n < 0 || n >= len(it.Neighbours) {
		return fmt.Errorf("there is no number %d", n+1)
	}
	old := it.Neighbours[n].Learning
	l := it.Learning
	from := l.Status
	if from != learning.Approved {
		if err := d.s.Store.SetStatus(d.ctx, []string{l.ID}, learning.Approved); err != nil {
			return err
		}
	}
	if err := d.s.Store.Supersede(d.ctx, old.ID, l.ID); err != nil {
		return err
	}
	d.did("superseding", func() error {
		if err := d.s.Store.RestoreLearnings(d.ctx, []string{old.ID}); err != nil {
			return err
		}
		return d.s.Store.SetStatus(d.ctx, []string{l.ID}, from)
	})
	return nil
}

func (d *desk) skip() { d.did("skipped", func() error { return nil }) }

// back takes the last decision back and returns to it.
func (d *desk) back() error {
	if len(d.undo) == 0 {
		return fmt.Errorf("nothing to undo")
	}
	u := d.undo[len(d.undo)-1]
	if err := u.back(); err != nil {
		return err
	}
	d.undo = d.undo[:len(d.undo)-1]
	d.at = u.at
	d.done[u.what]--
	return nil
}

func (d *desk) summary() string {
	var parts []string
	for _, k := range []string{"approved", "rejected", "superseding", "made learnings", "dismissed", "edited", "linked", "skipped"} {
		if d.done[k] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", d.done[k], k))
		}
	}
	left := len(d.items) - d.at
	if len(parts) == 0 {
		return fmt.Sprintf("nothing decided, %d left", left)
	}
	return fmt.Sprintf("%s, %d left", strings.Join(parts, ", "), left)
}

// turnNote makes a learning of a note without a screen.
func (a *app) turnNote(ctx context.Context, s *service.Service, id, as string) error {
	notes, err := s.Store.Notes(ctx, "open")
	if err != nil {
		return err
	}
	for i := range notes {
		if notes[i].ID != id {
			continue
		}
		d := &desk{ctx: ctx, s: s, items: []review.Item{{Note: &notes[i]}}}
		if err := d.turn(as); err != nil {
			return usage("--as: %w", err)
		}
		return a.print("made a learning of %s\n", id)
	}
	return usage("no open note is called %s", id)
}

func (a *app) learnNotesCmd() *cobra.Command {
	var status string
	var dismiss []string
	var turn, as string
	cmd := &cobra.Command{
		Use: "notes", Short: "Prompts in which you corrected an agent", Args: cobra.NoArgs,
		Example: "  starter learn notes\n  starter learn notes --turn n_0123456789abcdef --as \"whitespace: indent with tabs\"\n  starter learn notes --dismiss n_0123456789abcdef",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if status == "all" {
				status = ""
			}
			return a.with(cmd.Context(), func(s *service.Service) error {
				if turn != "" {
					return a.turnNote(cmd.Context(), s, turn, as)
				}
				for _, id := range dismiss {
					if err := s.Store.CloseNote(cmd.Context(), id, ""); err != nil {
						return err
					}
				}
				notes, err := s.Store.Notes(cmd.Context(), status)
				if err != nil {
					return err
				}
				if a.json {
					return a.printJSON(notes)
				}
				for _, n := range notes {
					if err := a.print("%s  %s  %-9s %s\n", n.ID, n.At.Local().Format("2006-01-02 15:04"), n.Status, oneLine(n.Excerpt, 120)); err != nil {
						return err
					}
				}
				if len(notes) == 0 {
					return a.print("no correction notes\n")
				}
				return nil
			})
		},
	}
	cmd.Flags().StringVar(&status, "status", "open", "open, turned, dismissed or all")
	cmd.Flags().StringVar(&turn, "turn", "", "make a learning of this note, worded by --as")
	cmd.Flags().StringVar(&as, "as", "", "\"category: rule\", for --turn")
	cmd.Flags().StringSliceVar(&dismiss, "dismiss", nil, "dismiss these notes first; their text is erased")
	return cmd
}
