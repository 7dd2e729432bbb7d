package main

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"whetstone/devserver"
	"whetstone/hook/host"
	"whetstone/install"
	"whetstone/model"
	"whetstone/service"
)

// finding is one line of the doctor.
type finding struct {
	Check string `json:"check"`
	OK    bool   `json:"ok"`
	Text  string `json:"text"`
}

func (a *app) doctorCmd() *cobra.Command {
	return &cobra.Command{
		Use: "doctor", Short: "Check home, database, models and the Temporal server", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.with(cmd.Context(), func(s *service.Service) error {
				var fs []finding
				add := func(check string, ok bool, format string, args ...any) {
					fs = append(fs, finding{check, ok, fmt.Sprintf(format, args...)})
				}
				add("home", true, "%s", s.Home)
				counts, err := s.Store.CountByStatus(cmd.Context())
				if err != nil {
					add("database", false, "%v", err)
				} else {
					add("database", true, "%s: %d approved learnings, %d pending", s.Home.Database(), counts["approved"], counts["pending"])
				}
				if _, err := os.Lstat(s.Home.KillFile()); err == nil {
					add("kill file", false, "%s exists: no run spends anything until it is removed", s.Home.KillFile())
				}
				for _, p := range s.Models.Names() {
					ref := model.Ref{Provider: p, Model: s.Models.DefaultModel(p)}
					if !s.Models.Completes(p) {
						if _, err := s.Models.Embedder(ref); err != nil {
							add("model", true, "%s can not be used yet, for vectors: %v", p, err)
						} else {
							add("model", true, "%s is usable, for vectors", ref)
						}
						continue
					}
					if _, err := s.Models.Client(ref); err != nil {
						add("model", true, "%s can not be used yet: %v", p, err)
					} else if at, ok := s.Models.Answers(cmd.Context(), p); !ok {
						add("model", true, "%s can not be used yet: nobody answers at %s", p, at)
					} else {
						add("model", true, "%s is usable", ref)
					}
				}
				for _, d := range s.Sources.All(false) {
					switch {
					case d.Missing != "":
						add("source", true, "%s can not be used yet: %s", d.Name, d.Missing)
					case d.Remote:
						add("source", true, "%s is usable, over the network", d.Name)
					default:
						add("source", true, "%s is usable", d.Name)
					}
				}
				if err := s.CanRunCommands(); err != nil {
					add("commands", true, "items of kind command can not be run: %v", err)
				} else {
					add("commands", true, "items of kind command can be run, without a network")
				}
				ws, err := s.Store.Wikis(cmd.Context())
				if err != nil {
					add("wikis", false, "%v", err)
				}
				for _, w := range ws {
					_, d, _, err := s.OpenWiki(cmd.Context(), w.Slug)
					if err != nil {
						add("wiki", false, "%s: %v", w.Slug, err)
						continue
					}
					_ = d.Close()
					add("wiki", true, "%s in %s", w.Slug, w.Root)
				}
				a.auditFindings(cmd.Context(), s, add)
				a.hookFindings(cmd.Context(), add)
				switch ep, err := devserver.ReadEndpoint(string(s.Home)); {
				case s.External():
					add("temporal", true, "given by the environment: %s", a.getenv("TEMPORAL_ADDRESS"))
				case err == nil && ep.PID != 0:
					add("temporal", true, "embedded, hosted by process %d at %s, Web UI %s", ep.PID, ep.Address, ep.UIURL)
				default:
					add("temporal", true, "embedded, nobody hosts it just now; a command starts it as needed")
				}
				if a.json {
					err = a.printJSON(fs)
				} else {
					for _, f := range fs {
						mark := a.colour("32", "ok  ")
						if !f.OK {
							mark = a.colour("31", "bad ")
						}
						if err = a.print("%s %-10s %s\n", mark, f.Check, f.Text); err != nil {
							break
						}
					}
				}
				if err != nil {
					return err
				}
				for _, f := range fs {
					if !f.OK {
						return &exitError{code: exitFailed}
					}
				}
				return nil
			})
		},
	}
}

// auditFindings follows the audit chain.
func (a *app) auditFindings(ctx context.Context, s *service.Service, add func(string, bool, string, ...any)) {
	rows, damage, err := s.Store.Audit(ctx, 10)
	switch {
	case err != nil:
		add("audit", false, "the audit chain can not be followed: %v", err)
	case len(damage) == 0:
		add("audit", true, "%d event(s), an unbroken chain", rows)
	}
	for _, d := range damage {
		add("audit", false, "%s", d.What)
	}
}

// hookFindings proves the registrations of the hook, of all agents that have one.
func (a *app) hookFindings(ctx context.Context, add func(string, bool, string, ...any)) {
	registered := 0
	defer func() {
		if registered == 0 {
			add("hook", true, "registered with no agent: `starter hook install --host NAME`")
		}
	}()
	for _, project := range []bool{false, true} {
		list, err := a.hookOptions(hookFlags{hosts: host.Names(), project: project}, false)
		if err != nil {
			add("hook", false, "%v", err)
			return
		}
		for _, o := range list {
			everywhere := o
			everywhere.Project = ""
			if project && install.Path(o) == install.Path(everywhere) {
				continue // the folder is the person's own
			}
			st := install.Look(ctx, o, buildVersion())
			if st.Installed {
				registered++
				add("hook", st.Live && st.Teaches, "%s", statusLine(st))
			}
			for _, p := range st.Problems {
				add("hook", false, "%s: %s", st.Host, p)
			}
		}
	}
}

func (a *app) versionCmd() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			v := buildVersion()
			if a.json {
				return a.printJSON(map[string]string{"version": v})
			}
			return a.print("whetstone %s\n", v)
		},
	}
}
