package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
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

// versionsOf finds the kept versions of a skill given by path or by name, latest first. Two files may have one name: a path means
// that very file, also where it is gone, and a name has to be of one file only. A file that was moved is known by its name, where
// nothing stands any more at the paths of its versions.
func versionsOf(ctx context.Context, s *service.Service, arg string) (path string, vs []run.Version, err error) {
	if path, err = findSkill(ctx, s, arg); err != nil {
		return "", nil, err
	}
	if vs, err = s.Store.VersionsAt(ctx, path); err != nil {
		return "", nil, err
	}
	byName := !exists(arg) && !strings.ContainsAny(arg, `/\`) && !strings.HasSuffix(strings.ToLower(arg), ".md")
	if len(vs) > 0 && !byName {
		return path, vs, nil
	}
	key := skill.Key(arg)
	if !byName {
		key = skill.Key(nameOf(path))
	}
	all, err := s.Store.Versions(ctx, key)
	if err != nil {
		return "", nil, err
	}
	var others []string
	for _, v := range all {
		if v.Path != path && exists(v.Path) && !slices.Contains(others, v.Path) {
			others = append(others, v.Path)
		}
	}
	switch {
	case byName && len(others) > 0 && len(vs) > 0:
		return path, nil, usage("%s is the name of more than one skill file: give the path, %s or %s", arg, path, strings.Join(others, " or "))
	case len(vs) > 0:
		return path, vs, nil
	case len(all) > 0 && len(others) == 0 && exists(path):
		return path, all, nil // it was moved
	case len(others) > 0:
		return path, nil, usage("no version of %s is kept: those of that name are of %s", arg, strings.Join(others, " and "))
	}
	return path, nil, usage("no version of %s is kept: it was never trained from this home", arg)
}

// nameOf is a skill file's own name, or its folder's.
func nameOf(path string) string {
	if f, _, err := activities.ReadSkill(path, true); err == nil && f.Name != "" {
		return f.Name
	}
	return filepath.Base(filepath.Dir(path))
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

// inPlace reads the files of a skill's package as they are now: those that like has. gone tells that there is no skill file; a
// missing reference is left out.
func inPlace(path string, like ...skill.Package) (p skill.Package, gone bool, err error) {
	seen := map[string]bool{}
	for _, l := range like {
		for _, x := range l.Parts {
			if seen[x.Path] {
				continue
			}
			seen[x.Path] = true
			text, missing, err := present(activities.PathOf(path, x.Path))
			if err != nil {
				return p, false, err
			}
			if missing {
				gone = gone || x.Path == skill.Main
				continue
			}
			p.Parts = append(p.Parts, skill.Part{Path: x.Path, Text: text})
		}
	}
	slices.SortFunc(p.Parts, func(a, b skill.Part) int { return strings.Compare(a.Path, b.Path) })
	return p, gone, nil
}

// versionPackage is the package that a version holds.
func versionPackage(ctx context.Context, s *service.Service, v run.Version) (skill.Package, error) {
	text, err := s.Store.Text(ctx, v.Hash)
	return skill.Split(text), err
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
				latest, err := versionPackage(cmd.Context(), s, vs[0])
				if err != nil {
					return err
				}
				now, _, err := inPlace(path, latest)
				if err != nil {
					return fmt.Errorf("compare %s: %w", path, err)
				}
				v, err := choose(vs, args[1:], hashOf(now))
				if err != nil {
					return err
				}
				old, err := versionPackage(cmd.Context(), s, v)
				if err != nil {
					return err
				}
				diff := packageDiff(old, now, v.N, path)
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
				v, err := rollback(ctx, s, path, vs, args[1:])
				if err != nil {
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

// rollback puts a version's files back. What is there now is kept first, so that a rollback can be rolled back.
func rollback(ctx context.Context, s *service.Service, path string, vs []run.Version, arg []string) (run.Version, error) {
	latest, err := versionPackage(ctx, s, vs[0])
	if err != nil {
		return run.Version{}, err
	}
	now, _, err := inPlace(path, latest)
	if err != nil {
		return run.Version{}, fmt.Errorf("roll %s back: %w", path, err)
	}
	v, err := choose(vs, arg, hashOf(now))
	if err != nil {
		return v, err
	}
	text, err := keptText(ctx, s, v.Hash)
	if errors.Is(err, errForgotten) {
		return v, usage("version %d can not be put back: %w", v.N, err)
	}
	if err != nil {
		return v, err
	}
	target := skill.Split(text)
	now, gone, err := inPlace(path, latest, target)
	if err != nil {
		return v, fmt.Errorf("roll %s back: %w", path, err)
	}
	held := ""
	if !gone {
		if held, err = s.Store.PutText(ctx, now.Join()); err != nil {
			return v, err
		}
		if err := s.Store.PutVersion(ctx, run.Version{Skill: v.Skill, Hash: held, RunID: "before-rollback-" + strconv.Itoa(vs[0].N), Path: path, How: "found"}); err != nil {
			return v, err
		}
	}
	for _, x := range target.Parts {
		file := activities.PathOf(path, x.Path)
		if x.Path != skill.Main {
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				return v, fmt.Errorf("roll %s back: %w", path, err)
			}
		}
		if err := activities.WriteAtomic(file, x.Text); err != nil {
			return v, err
		}
	}
	runID := "rollback-" + strconv.Itoa(vs[0].N)
	if err := s.Store.PutVersion(ctx, run.Version{Skill: v.Skill, Hash: v.Hash, Parent: held, RunID: runID, Path: path, How: "rolled_back"}); err != nil {
		return v, err
	}
	for _, x := range target.Parts {
		if err := s.Store.Attest(ctx, run.Attestation{Hash: skill.Hash(x.Text), Path: activities.PathOf(path, x.Path), SkillKey: v.Skill, RunID: runID}); err != nil {
			return v, err
		}
	}
	return v, nil
}

// hashOf is the hash of a package's canonical text; of nothing where no file is left.
func hashOf(p skill.Package) string {
	if len(p.Parts) == 0 {
		return skill.Hash("")
	}
	return skill.Hash(p.Join())
}

// packageDiff compares a version with what is in place, file by file.
func packageDiff(old, now skill.Package, n int, path string) string {
	var b strings.Builder
	for _, x := range old.Parts {
		text, _ := now.Text(x.Path)
		name := fmt.Sprintf("version %d", n)
		if x.Path != skill.Main {
			name += " of " + x.Path
		}
		b.WriteString(linediff.Unified(name, activities.PathOf(path, x.Path), x.Text, text))
	}
	return b.String()
}
