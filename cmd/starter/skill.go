package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"whetstone/activities"
	"whetstone/internal/linediff"
	"whetstone/run"
	"whetstone/service"
	"whetstone/skill"
)

func (a *app) skillCmd() *cobra.Command {
	cmd := &cobra.Command{Use: "skill", Short: "Trained skills: versions, proposals, what is in place", Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	cmd.AddCommand(a.skillListCmd(), a.skillVersionsCmd(), a.skillDiffCmd(), a.skillRollbackCmd(), a.skillVerifyCmd(), a.skillAdoptCmd())
	return cmd
}

// versionsOf finds the kept versions of a skill given by path or by name, latest first. A name is enough where the file is
// gone.
func versionsOf(ctx context.Context, s *service.Service, arg string) (path string, vs []run.Version, err error) {
	key := skill.Key(arg)
	if path, err = findSkill(ctx, s, arg); err != nil {
		return "", nil, err
	}
	if exists(path) {
		name := ""
		if f, _, err := activities.ReadSkill(path, true); err == nil {
			name = f.Name
		}
		if name == "" {
			name = filepath.Base(filepath.Dir(path))
		}
		key = skill.Key(name)
	}
	vs, err = s.Store.Versions(ctx, key)
	if err == nil && len(vs) == 0 {
		return path, nil, usage("no version of %s is kept: it was never trained from this home", arg)
	}
	return path, vs, err
}

// present reads what the file holds now; gone tells that it is not there any more.
func present(path string) (text string, gone bool, err error) {
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", true, nil
	}
	return string(b), false, err
}

var errForgotten = errors.New("a person had its text forgotten")

// keptText reads a kept text as it was. errForgotten where a person had something in it forgotten.
func keptText(ctx context.Context, s *service.Service, hash string) (string, error) {
	text, err := s.Store.Text(ctx, hash)
	if err == nil && skill.Hash(text) != hash {
		err = fmt.Errorf("read text %.12s: %w", hash, errForgotten)
	}
	return text, err
}

func (a *app) skillVersionsCmd() *cobra.Command {
	return &cobra.Command{
		Use: "versions PATH|NAME", Short: "List the kept versions of a skill, latest first", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.with(cmd.Context(), func(s *service.Service) error {
				_, vs, err := versionsOf(cmd.Context(), s, args[0])
				if err != nil {
					return err
				}
				if a.json {
					return a.printJSON(vs)
				}
				w := tabwriter.NewWriter(a.stdout, 0, 4, 2, ' ', 0)
				_, _ = fmt.Fprintln(w, "VERSION\tWHEN\tHOW\tHASH\tRUN")
				for _, v := range vs {
					_, _ = fmt.Fprintf(w, "%d\t%s\t%s\t%.12s\t%s\n", v.N, v.At.Local().Format("2006-01-02 15:04:05"), v.How, v.Hash, v.RunID)
				}
				return w.Flush()
			})
		},
	}
}

func (a *app) skillDiffCmd() *cobra.Command {
	return &cobra.Command{
		Use: "diff PATH|NAME [VERSION]", Short: "Compare the file with a kept version (the latest other one by default)", Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.with(cmd.Context(), func(s *service.Service) error {
				path, vs, err := versionsOf(cmd.Context(), s, args[0])
				if err != nil {
					return err
				}
				now, _, err := present(path)
				if err != nil {
					return fmt.Errorf("compare %s: %w", path, err)
				}
				v, err := choose(vs, args[1:], skill.Hash(now))
				if err != nil {
					return err
				}
				old, err := s.Store.Text(cmd.Context(), v.Hash)
				if err != nil {
					return err
				}
				diff := linediff.Unified(fmt.Sprintf("version %d", v.N), path, old, now)
				if a.json {
					return a.printJSON(map[string]any{"path": path, "version": v.N, "hash": v.Hash, "diff": diff})
				}
				return a.print("%s", a.colourDiff(diff))
			})
		},
	}
}

// choose picks a version by number or hash prefix; without one, the latest that differs from what the file holds now.
func choose(vs []run.Version, arg []string, present string) (run.Version, error) {
	for _, v := range vs {
		switch {
		case len(arg) == 0:
			if v.Hash != present && v.How != "staged" {
				return v, nil
			}
		case strconv.Itoa(v.N) == arg[0], len(arg[0]) >= 6 && strings.HasPrefix(v.Hash, arg[0]):
			return v, nil
		}
	}
	if len(arg) == 0 {
		return run.Version{}, usage("there is no other version to go to")
	}
	return run.Version{}, usage("there is no version %s: see starter skill versions", arg[0])
}

func (a *app) skillRollbackCmd() *cobra.Command {
	return &cobra.Command{
		Use: "rollback PATH|NAME [VERSION]", Short: "Put a kept version back (the previous one by default)", Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			return a.with(ctx, func(s *service.Service) error {
				path, vs, err := versionsOf(ctx, s, args[0])
				if err != nil {
					return err
				}
				now, gone, err := present(path)
				if err != nil {
					return fmt.Errorf("roll %s back: %w", path, err)
				}
				v, err := choose(vs, args[1:], skill.Hash(now))
				if err != nil {
					return err
				}
				text, err := keptText(ctx, s, v.Hash)
				if errors.Is(err, errForgotten) {
					return usage("version %d can not be put back: %w", v.N, err)
				}
				if err != nil {
					return err
				}
				held, err := s.Store.PutText(ctx, now)
				if err != nil {
					return err
				}
				// What is there now is kept first, so that a rollback can be rolled back.
				if gone {
					held = ""
				} else if err := s.Store.PutVersion(ctx, run.Version{Skill: v.Skill, Hash: held, RunID: "before-rollback-" + strconv.Itoa(vs[0].N), Path: path, How: "found"}); err != nil {
					return err
				}
				if err := activities.WriteAtomic(path, text); err != nil {
					return err
				}
				runID := "rollback-" + strconv.Itoa(vs[0].N)
				if err := s.Store.PutVersion(ctx, run.Version{Skill: v.Skill, Hash: v.Hash, Parent: held, RunID: runID, Path: path, How: "rolled_back"}); err != nil {
					return err
				}
				if err := s.Store.Attest(ctx, run.Attestation{Hash: v.Hash, Path: path, SkillKey: v.Skill, RunID: runID}); err != nil {
					return err
				}
				if a.json {
					return a.printJSON(map[string]any{"path": path, "version": v.N, "hash": v.Hash})
				}
				return a.print("%s is version %d again (%.12s)\n", path, v.N, v.Hash)
			})
		},
	}
}
