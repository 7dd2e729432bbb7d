package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"whetstone/model"
	"whetstone/run"
	"whetstone/service"
)

func (a *app) wikiViewCmd() *cobra.Command {
	return &cobra.Command{
		Use: "view WIKI", Short: "Write the wiki as one HTML file that needs nothing else: derived/viewer.html", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.onWiki(cmd.Context(), args[0], func(s *service.Service, w openWiki) error {
				path, err := s.View(cmd.Context(), w.Slug)
				if err != nil {
					return err
				}
				if a.json {
					return a.printJSON(map[string]any{"wiki": w.Slug, "path": path, "private": w.Private})
				}
				return a.print("%s\n", path)
			})
		},
	}
}

func (a *app) wikiEmbedCmd() *cobra.Command {
	var embedding, price string
	var budget float64
	cmd := &cobra.Command{
		Use: "embed WIKI", Short: "Bring a wiki's vectors up to date, so that it is found by meaning, too", Args: cobra.ExactArgs(1),
		Long: "Pages are cut into pieces; pieces whose content has no vector of the model yet are sent in batches. What did not change is not paid for again.\nWithout an embedding model a wiki is searched by words alone, which needs no network.",
		RunE: func(cmd *cobra.Command, args []string) error {
			if budget < 0 || budget != budget {
				return usage("--budget-usd %v: want dollars, at least 0", budget)
			}
			var in *float64
			if price != "" {
				p, _, err := parsePrice(price + ",0")
				if err != nil {
					return usage("--price %q: want dollars for a million tokens", price)
				}
				in = &p
			}
			return a.onWiki(cmd.Context(), args[0], func(s *service.Service, w openWiki) error {
				out, err := s.Embed(cmd.Context(), w.Slug, embedding, budget, in)
				if err != nil {
					return err
				}
				if a.json {
					if err := a.printJSON(map[string]any{"wiki": w.Slug, "pages": out.Pages, "chunks": out.Chunks, "embedded": out.Embedded, "calls": out.Calls, "stopped": out.Stopped}); err != nil {
						return err
					}
				} else if err := a.print("%d page(s) in %d piece(s); %d had no vector yet, %d call(s)\n", out.Pages, out.Chunks, out.Embedded, out.Calls); err != nil {
					return err
				}
				if out.Stopped != "" {
					a.note("stopped: %s", out.Stopped)
					return &exitError{code: exitStopped}
				}
				return nil
			})
		},
	}
	cmd.Flags().StringVar(&embedding, "embedding-model", "", "provider:model (default wiki.config.md)")
	cmd.Flags().Float64Var(&budget, "budget-usd", 0.50, "dollars it may spend")
	cmd.Flags().StringVar(&price, "price", "", "dollars for a million tokens, for a model that is not in the price table")
	return cmd
}

func (a *app) wikiCouncilCmd() *cobra.Command {
	var models []string
	var chair, price string
	var budget float64
	var calls int
	var watch bool
	var t tapes
	cmd := &cobra.Command{
		Use: "council WIKI QUESTION", Short: "Ask several models one question: answers, a ranking without names, a synthesis", Args: cobra.MinimumNArgs(2),
		Long:    "Each model answers by itself, with what the wiki states as evidence; then each ranks the answers without knowing whose they are; the ranks are counted (Borda), and the chair\nwrites what the answers support together. A model that fails is told in the transcript and ranked nowhere. The transcript is a page of the wiki.",
		Example: "  starter wiki council raft \"is pre-vote enough against partitions\" --models openai:gpt-4o-mini,openai:gpt-4.1-mini,ollama:llama3.2",
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			question := strings.Join(strings.Fields(strings.Join(args[1:], " ")), " ")
			if question == "" || len(question) > 4000 {
				return usage("a council needs a question of at most 4000 bytes")
			}
			if budget < 0 || budget != budget {
				return usage("--budget-usd %v: want dollars, at least 0", budget)
			}
			return a.onWiki(ctx, args[0], func(s *service.Service, w openWiki) error {
				p := run.CouncilParams{Wiki: w.Slug, BudgetUSD: budget, MaxCalls: calls, Private: w.Private}
				var err error
				if p.Record, p.Replay, err = t.folders(); err != nil {
					return err
				}
				if p.Members, p.Chair, err = members(s, w, models, chair); err != nil {
					return err
				}
				if price != "" {
					in, out, err := parsePrice(price)
					if err != nil {
						return err
					}
					p.Price, p.PriceOut = &in, &out
				}
				if t.show {
					return a.showCouncilPrompts(ctx, s, w, p, question)
				}
				if err := s.KeepHome(w.Private); err != nil {
					return err
				}
				c, err := s.Connect(ctx)
				if err != nil {
					return err
				}
				return errors.Join(a.council(cmd, c, p, question, watch), c.Close())
			})
		},
	}
	f := cmd.Flags()
	f.StringSliceVar(&models, "models", nil, "the members, as provider:model; any number (default the wiki's model, or the offline one)")
	f.StringVar(&chair, "chair", "", "who writes the synthesis (default the first member)")
	f.Float64Var(&budget, "budget-usd", 0.50, "dollars it may spend; it never spends more")
	f.IntVar(&calls, "max-calls", 0, "model calls it may make (0: no limit)")
	f.StringVar(&price, "price", "", "IN,OUT: dollars for a million tokens, for models that are not in the price table")
	t.flags(f)
	f.BoolVar(&watch, "watch", false, "tell what it waits for also where standard error is no terminal")
	return cmd
}

// members names a council's members, each once, and its chair.
func members(s *service.Service, w openWiki, models []string, chair string) ([]string, string, error) {
	if len(models) == 0 {
		name := w.cfg.Model
		if name == "" && !w.Private {
			name = s.Models.Default().String()
		}
		if name == "" {
			name = model.Offline
		}
		models = []string{name}
	}
	var out []string
	for _, m := range append(models, chair) {
		if m = strings.TrimSpace(m); m == "" {
			continue
		}
		ref, err := model.ParseRef(m)
		if err != nil || !s.Models.Completes(ref.Provider) {
			return nil, "", usage("model %q: want provider:model with a known provider", m)
		}
		full, err := modelRef(s.Models, ref.Provider, ref.Model)
		if err != nil {
			return nil, "", err
		}
		if m == chair {
			chair = full
			continue
		}
		if slices.Contains(out, full) {
			return nil, "", usage("model %s is in the council twice: each member has one voice", full)
		}
		out = append(out, full)
	}
	if chair == "" {
		chair = out[0]
	}
	return out, chair, nil
}

func (a *app) council(cmd *cobra.Command, c *service.Connection, p run.CouncilParams, question string, watch bool) error {
	ctx := cmd.Context()
	stop, err := c.StartWorker()
	if err != nil {
		return err
	}
	defer stop()
	r, err := c.StartCouncil(ctx, p, question)
	if err != nil {
		return err
	}
	url := c.RunURL(r.WorkflowID, r.RunID)
	a.noteRun(r, url, "a council about this question is open: going on with it")
	done := a.watchWaits(ctx, watch)
	waitCtx, cancel := c.WithDisk(ctx)
	out, err := r.WaitCouncil(waitCtx)
	cancel()
	done()
	if err != nil {
		return a.waitError(ctx, c, err)
	}
	res := out.Result
	if url != "" && !c.Hosting() {
		res.UIURL = &url
	}
	if a.json {
		err = a.printJSON(res)
	} else {
		err = a.print("%s\n", strings.TrimSpace(stripFrontmatter(out.Markdown)))
	}
	switch {
	case err != nil:
		return err
	case res.Stopped != "":
		return &exitError{code: exitStopped}
	case res.Page == "":
		return &exitError{exitFailed, errors.New("no member answered")}
	}
	return nil
}

func stripFrontmatter(md string) string {
	if rest, ok := strings.CutPrefix(md, "---\n"); ok {
		if _, body, ok := strings.Cut(rest, "\n---\n"); ok {
			return body
		}
	}
	return md
}

func (a *app) wikiSurveyCmd() *cobra.Command {
	var topic, provider, modelName, price string
	var budget float64
	var calls int
	var watch bool
	var t tapes
	cmd := &cobra.Command{
		Use: "survey WIKI", Short: "Write a literature survey of a wiki, whose every citation is one of its sources", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			if budget < 0 || budget != budget {
				return usage("--budget-usd %v: want dollars, at least 0", budget)
			}
			return a.onWiki(ctx, args[0], func(s *service.Service, w openWiki) error {
				p := run.SurveyParams{Wiki: w.Slug, BudgetUSD: budget, MaxCalls: calls, Private: w.Private}
				var err error
				if p.Record, p.Replay, err = t.folders(); err != nil {
					return err
				}
				if p.Provider, err = modelRef(s.Models, provider, modelName); err != nil {
					return err
				}
				p.Provider = chosen(s, w, p.Provider)
				if price != "" {
					in, out, err := parsePrice(price)
					if err != nil {
						return err
					}
					p.Price, p.PriceOut = &in, &out
				}
				if t.show {
					return a.showSurveyPrompts(ctx, s, w, p, strings.TrimSpace(topic))
				}
				if err := s.KeepHome(w.Private); err != nil {
					return err
				}
				c, err := s.Connect(ctx)
				if err != nil {
					return err
				}
				return errors.Join(a.survey(cmd, c, p, strings.TrimSpace(topic), watch), c.Close())
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&topic, "topic", "", "what it is about (default the whole wiki)")
	f.StringVar(&provider, "provider", "", "the model's provider (default wiki.config.md, then openai where OPENAI_API_KEY is set, else offline)")
	f.StringVar(&modelName, "model", "", "the model")
	f.Float64Var(&budget, "budget-usd", 0.50, "dollars it may spend; it never spends more")
	f.IntVar(&calls, "max-calls", 0, "model calls it may make (0: no limit)")
	f.StringVar(&price, "price", "", "IN,OUT: dollars for a million tokens, for a model that is not in the price table")
	t.flags(f)
	f.BoolVar(&watch, "watch", false, "tell what it waits for also where standard error is no terminal")
	return cmd
}

func (a *app) survey(cmd *cobra.Command, c *service.Connection, p run.SurveyParams, topic string, watch bool) error {
	ctx := cmd.Context()
	stop, err := c.StartWorker()
	if err != nil {
		return err
	}
	defer stop()
	r, err := c.StartSurvey(ctx, p, topic)
	if err != nil {
		return err
	}
	url := c.RunURL(r.WorkflowID, r.RunID)
	a.noteRun(r, url, "a survey of this topic is open: going on with it")
	done := a.watchWaits(ctx, watch)
	waitCtx, cancel := c.WithDisk(ctx)
	out, err := r.WaitSurvey(waitCtx)
	cancel()
	done()
	if err != nil {
		return a.waitError(ctx, c, err)
	}
	res := out.Result
	if url != "" && !c.Hosting() {
		res.UIURL = &url
	}
	if a.json {
		err = a.printJSON(res)
	} else {
		if res.Page != "" {
			err = a.print("%s\n%s\n", strings.TrimSpace(stripFrontmatter(out.Markdown)), surveyLine(res))
		}
	}
	switch {
	case err != nil:
		return err
	case res.Stopped != "":
		return &exitError{code: exitStopped}
	case res.Page == "":
		return &exitError{exitNoImprovement, errors.New("the wiki has no claims to survey: research it first")}
	}
	return nil
}

func surveyLine(r run.SurveyResult) string {
	s := fmt.Sprintf("\n%s: %d section(s), %d citation(s), spent $%.4f", r.Page, r.Sections, r.Citations, r.SpentUSD)
	if r.Dropped > 0 {
		s += fmt.Sprintf("; %d paragraph(s) of the model cited nothing that exists and were dropped", r.Dropped)
	}
	return s
}
