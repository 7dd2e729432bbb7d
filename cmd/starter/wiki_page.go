package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"whetstone/claim"
	"whetstone/learning"
	"whetstone/service"
	"whetstone/store"
	"whetstone/wiki"
)

// claimView is a claim with its source, as `wiki page --json` gives it.
type claimView struct {
	claim.Claim
	Source claim.Source `json:"source"`
}

func (a *app) wikiPageCmd() *cobra.Command {
	return &cobra.Command{
		Use: "page WIKI [PAGE]", Short: "List a wiki's pages, or show one with the claims on it", Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			return a.onWiki(ctx, args[0], func(s *service.Service, w openWiki) error {
				if len(args) == 1 {
					pages, err := s.Store.Pages(ctx, w.Slug)
					if err != nil {
						return err
					}
					if a.json {
						return a.printJSON(pages)
					}
					for _, p := range pages {
						if p.State == claim.Removed {
							continue
						}
						if err := a.print("%s  %s\n", p.Path, oneLine(p.Title, 80)); err != nil {
							return err
						}
					}
					return nil
				}
				p, err := s.FindPage(ctx, w.Slug, args[1])
				if err != nil {
					return err
				}
				text, err := os.ReadFile(filepath.Join(w.Root, filepath.FromSlash(p.Path)))
				if err != nil {
					return fmt.Errorf("read the page: %w", err)
				}
				if !a.json {
					return a.print("%s", learning.Clean(string(text)))
				}
				cs, err := s.Store.Claims(ctx, claim.Filter{Wiki: w.Slug, PageID: p.ID})
				if err != nil {
					return err
				}
				views := make([]claimView, len(cs))
				for i, c := range cs {
					src, err := s.Store.Source(ctx, c.Span.SourceID)
					if err != nil {
						return err
					}
					views[i] = claimView{c, src}
				}
				return a.printJSON(map[string]any{"page": p, "text": string(text), "claims": views})
			})
		},
	}
}

func (a *app) wikiSeedCmd() *cobra.Command {
	var kind, from string
	cmd := &cobra.Command{
		Use: "seed WIKI TEXT", Short: "Put something to look into into a wiki's queue", Args: cobra.MinimumNArgs(1),
		Example: "  starter wiki seed raft \"leader election\"\n  starter wiki seed raft --from topics.txt",
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			if (from == "") == (len(args) < 2) {
				return usage("want TEXT, or --from FILE with one on each line")
			}
			return a.onWiki(ctx, args[0], func(s *service.Service, w openWiki) error {
				if from != "" {
					return a.seedFrom(ctx, s, w, from, kind)
				}
				text := strings.Join(strings.Fields(learning.Clean(strings.ToValidUTF8(strings.Join(args[1:], " "), ""))), " ")
				if kinds := kindsOf(w); kind != "" && !slices.Contains(kinds, kind) {
					return usage("--kind %q: a wiki of flavor %s has %s", kind, w.Flavor, strings.Join(kinds, ", "))
				}
				if claim.Key(text) == "" {
					return usage("%q names nothing to look into", text)
				}
				if len(text) > 1000 {
					return usage("a seed of %d bytes is no topic: at most 1000", len(text))
				}
				x := claim.Seed{Wiki: w.Slug, Text: text, Kind: claim.Topic, PageKind: kind, Origin: "person"}
				n, err := s.Store.AddSeeds(ctx, []claim.Seed{x})
				if err != nil {
					return err
				}
				id := claim.ID(w.Slug, string(claim.Topic), claim.Key(text))
				again := false
				if n == 0 {
					// Known already: one that is done or failed is looked into again, since a person asks for it.
					again = s.Store.RetrySeed(ctx, id) == nil
				}
				seed, err := s.Store.Seed(ctx, id)
				if err != nil {
					return err
				}
				if a.json {
					return a.printJSON(map[string]any{"seed": seed, "added": n == 1, "again": again})
				}
				switch {
				case n == 1:
					return a.print("queued: %s\n", text)
				case again:
					return a.print("queued again: %s\n", text)
				}
				return a.print("%s is in the queue already\n", text)
			})
		},
	}
	cmd.Flags().StringVar(&kind, "kind", "", "the kind of page it makes (default the flavor's first)")
	cmd.Flags().StringVar(&from, "from", "", "a file with a seed on each line, - for standard input")
	return cmd
}

// seedFrom queues every line of a file.
func (a *app) seedFrom(ctx context.Context, s *service.Service, w openWiki, file, kind string) error {
	in := a.stdin
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return usage("read the seeds: %w", err)
		}
		defer func() { _ = f.Close() }()
		in = f
	}
	if kinds := kindsOf(w); kind != "" && !slices.Contains(kinds, kind) {
		return usage("--kind %q: a wiki of flavor %s has %s", kind, w.Flavor, strings.Join(kinds, ", "))
	}
	var seeds []claim.Seed
	sc := bufio.NewScanner(in)
	for sc.Scan() {
		text := strings.Join(strings.Fields(learning.Clean(strings.ToValidUTF8(sc.Text(), ""))), " ")
		if claim.Key(text) != "" && len(text) <= 1000 {
			seeds = append(seeds, claim.Seed{Wiki: w.Slug, Text: text, Kind: claim.Topic, PageKind: kind, Origin: "person"})
		}
	}
	if err := sc.Err(); err != nil {
		return fmt.Errorf("read the seeds: %w", err)
	}
	n, err := s.Store.AddSeeds(ctx, seeds)
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(map[string]any{"read": len(seeds), "added": n})
	}
	return a.print("queued %d of %d seed(s); the others are known already\n", n, len(seeds))
}

// kindsOf lists the kinds of pages of a wiki's flavor.
func kindsOf(w openWiki) []string {
	var out []string
	for _, k := range wiki.FlavorOf(w.Flavor).Kinds {
		out = append(out, k.Name)
	}
	return out
}

func (a *app) wikiSeedsCmd() *cobra.Command {
	var status string
	var retry bool
	var limit int
	var drop []string
	cmd := &cobra.Command{
		Use: "seeds WIKI", Short: "List a wiki's seeds in the order in which they are taken", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			switch claim.SeedStatus(status) {
			case "", claim.Pending, claim.Active, claim.Done, claim.Failed:
			default:
				return usage("--status %q: want pending, active, done or failed", status)
			}
			return a.onWiki(ctx, args[0], func(s *service.Service, w openWiki) error {
				if len(drop) > 0 {
					n, err := s.Store.DropSeeds(ctx, w.Slug, drop)
					if err != nil {
						return err
					}
					if n == 0 {
						return usage("none of these is a pending or failed seed of %s: see `starter wiki seeds %s`", w.Slug, w.Slug)
					}
					if a.json {
						return a.printJSON(map[string]any{"dropped": n})
					}
					return a.print("dropped %d seed(s)\n", n)
				}
				if retry {
					failed, err := s.Store.Seeds(ctx, w.Slug, claim.Failed, 0)
					if err != nil {
						return err
					}
					for _, x := range failed {
						if err := s.Store.RetrySeed(ctx, x.ID); err != nil {
							return err
						}
					}
					if a.json {
						return a.printJSON(map[string]any{"retried": len(failed)})
					}
					return a.print("%d seed(s) are in the queue again\n", len(failed))
				}
				seeds, err := s.Store.Seeds(ctx, w.Slug, claim.SeedStatus(status), limit)
				if err != nil {
					return err
				}
				if a.json {
					return a.printJSON(seeds)
				}
				for _, x := range seeds {
					why := ""
					if x.Why != "" {
						why = "  (" + oneLine(x.Why, 80) + ")"
					}
					if err := a.print("%s  %d  %-7s  %s%s\n", x.ID, x.Depth, string(x.Status), oneLine(x.Text, 90), why); err != nil {
						return err
					}
				}
				return nil
			})
		},
	}
	cmd.Flags().StringVar(&status, "status", "", "pending, active, done or failed")
	cmd.Flags().IntVar(&limit, "limit", 0, "at most so many (0: all)")
	cmd.Flags().BoolVar(&retry, "retry", false, "put the failed seeds back into the queue")
	cmd.Flags().StringSliceVar(&drop, "drop", nil, "remove these seeds, by id; those under way or done stay")
	return cmd
}

func (a *app) wikiAskCmd() *cobra.Command {
	var q store.WikiQuery
	cmd := &cobra.Command{
		Use: "ask TEXT", Short: "Search the wikis: pages and claims, with where they come from", Args: cobra.MinimumNArgs(1),
		Example: "  starter wiki ask \"how long is an election timeout\" --wiki raft\n  starter wiki ask maxRetryCount --kind module",
		RunE: func(cmd *cobra.Command, args []string) error {
			q.Text = strings.Join(args, " ")
			switch q.What {
			case "", "page", "claim":
			default:
				return usage("--what %q: want page or claim", q.What)
			}
			if q.Limit < 1 {
				return usage("--limit must be at least 1")
			}
			since, err := cmd.Flags().GetString("since")
			if err != nil {
				return err
			}
			return a.with(cmd.Context(), func(s *service.Service) error {
				if q.Since, err = parseSince(since, s.Store.Now()); err != nil {
					return err
				}
				return a.ask(cmd, s, q)
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&q.Wiki, "wiki", "", "this wiki only")
	f.StringVar(&q.Kind, "kind", "", "pages of this kind, and the claims on them")
	f.StringVar(&q.What, "what", "", "page or claim (default both)")
	f.String("since", "", "only what is newer than this date (2026-01-31) or age (720h)")
	f.IntVar(&q.Limit, "limit", 8, "at most so many")
	return cmd
}

// hitView is one thing found, as `wiki ask --json` gives it.
type hitView struct {
	claim.Hit
	Claim  *claim.Claim  `json:"claim,omitempty"`
	Source *claim.Source `json:"source,omitempty"`
}

func (a *app) ask(cmd *cobra.Command, s *service.Service, q store.WikiQuery) error {
	ctx := cmd.Context()
	hits, err := s.Ask(ctx, q)
	if errors.Is(err, store.ErrNotFound) && q.Wiki != "" {
		return usage("no wiki %s: see `starter wiki list`", q.Wiki)
	}
	if err != nil {
		return err
	}
	out := make([]hitView, len(hits))
	for i, h := range hits {
		out[i] = hitView{Hit: h}
		if id, ok := strings.CutPrefix(h.Ref, "claim:"); ok {
			cs, err := s.Store.ClaimsByID(ctx, []string{id})
			if err != nil {
				return err
			}
			if len(cs) == 1 {
				src, err := s.Store.Source(ctx, cs[0].Span.SourceID)
				if err != nil {
					return err
				}
				out[i].Claim, out[i].Source = &cs[0], &src
			}
		}
	}
	if a.json {
		return a.printJSON(out)
	}
	if len(out) == 0 {
		return a.print("nothing found\n")
	}
	for _, h := range out {
		where := h.Wiki + "/" + h.Path
		if h.Source == nil {
			if err := a.print("%s\n  %s\n  %s\n\n", a.colour("1", h.Title), where, oneLine(h.Text, 300)); err != nil {
				return err
			}
			continue
		}
		more := ""
		if len(h.Claim.Contradicts) > 0 {
			more = fmt.Sprintf("; contradicted by %d claim(s)", len(h.Claim.Contradicts))
		}
		if err := a.print("%s\n  %s, from %s (%s), confidence %s%s\n\n", h.Text, where, oneLine(h.Source.Title, 80), h.Source.URL, fmt.Sprintf("%.2f", h.Claim.Confidence), more); err != nil {
			return err
		}
	}
	return nil
}

func (a *app) wikiRelatedCmd() *cobra.Command {
	var limit int
	cmd := &cobra.Command{
		Use: "related WIKI PAGE", Short: "Find pages that are about similar things, in all wikis", Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			return a.onWiki(ctx, args[0], func(s *service.Service, w openWiki) error {
				p, err := s.FindPage(ctx, w.Slug, args[1])
				if err != nil {
					return err
				}
				hits, err := s.Related(ctx, p, limit)
				if err != nil {
					return err
				}
				if a.json {
					return a.printJSON(hits)
				}
				for _, h := range hits {
					if err := a.print("%s/%s  %s\n", h.Wiki, h.Path, oneLine(h.Title, 80)); err != nil {
						return err
					}
				}
				return nil
			})
		},
	}
	cmd.Flags().IntVar(&limit, "limit", 8, "at most so many")
	return cmd
}

func (a *app) wikiVerifyCmd() *cobra.Command {
	var stale bool
	cmd := &cobra.Command{
		Use: "verify WIKI [PAGE]", Short: "Queue a check of a page's claims, of a wiki's old ones, or of what people changed", Args: cobra.RangeArgs(1, 2),
		Long: "A check asks the sources again: a claim is verified where a source says it now, and loses its support where its own source no longer does. Claims that you\nworded differently on a page are queued by themselves. The checks are made by the next `starter wiki research`.",
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			return a.onWiki(ctx, args[0], func(s *service.Service, w openWiki) error {
				page := ""
				if len(args) == 2 {
					page = args[1]
				}
				n, err := s.Verify(ctx, w.Slug, page, stale)
				if err != nil {
					return err
				}
				pending, err := s.Store.Seeds(ctx, w.Slug, claim.Pending, 0)
				if err != nil {
					return err
				}
				checks := 0
				for _, x := range pending {
					if x.Kind == claim.Verify {
						checks++
					}
				}
				if a.json {
					return a.printJSON(map[string]any{"claims": n, "checks_pending": checks})
				}
				return a.print("%d claim(s) queued for a check, %d check(s) pending: `starter wiki research %s` makes them\n", n, checks, w.Slug)
			})
		},
	}
	cmd.Flags().BoolVar(&stale, "stale", false, "only claims that are old")
	return cmd
}
