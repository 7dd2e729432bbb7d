package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"whetstone/activities"
	"whetstone/internal/linediff"
	"whetstone/run"
	"whetstone/service"
	"whetstone/skill"
	"whetstone/store"
)

// adopted is what `skill adopt --json` prints.
type adopted struct {
	Path     string `json:"path"`
	Hash     string `json:"hash"`
	Version  int    `json:"version"`
	RunID    string `json:"run_id"`
	Merged   bool   `json:"merged"`        // with what had changed in the file since the proposal was made
	Proposal string `json:"proposal_path"` // the first one, where a package has several
	// Files are those of a package that were replaced.
	Files []string `json:"files,omitempty"`
}

// placing is one file that is to be replaced by its proposal.
type placing struct {
	part, path, proposal string
	now, text            string
	merged               bool
	conflicts            int
}

func (d adopted) line() string {
	if d.Merged {
		return fmt.Sprintf("%s had changed since: it now holds that change and the proposal of run %s, merged (version %d, %.12s)", d.Path, d.RunID, d.Version, d.Hash)
	}
	return fmt.Sprintf("%s is the proposal of run %s now (version %d, %.12s)", d.Path, d.RunID, d.Version, d.Hash)
}

func (a *app) skillAdoptCmd() *cobra.Command {
	return &cobra.Command{
		Use: "adopt PATH|NAME", Short: "Put the staged proposal in the place of the file", Args: cobra.ExactArgs(1),
		Long: "What the file holds is kept as a version first (starter skill rollback). Where the file has changed since the proposal was made, both changes are merged; where\n" +
			"they conflict, the merge becomes the proposal, the file stays as it is, and you resolve the conflicts and adopt again.",
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			return a.with(ctx, func(s *service.Service) error {
				path, vs, err := versionsOf(ctx, s, strings.TrimSuffix(args[0], proposed))
				if err != nil {
					return err
				}
				done, err := adopt(ctx, s, path, vs)
				if err != nil {
					return err
				}
				if a.json {
					return a.printJSON(done)
				}
				return a.print("%s\n", done.line())
			})
		},
	}
}

// adopt puts the proposals beside a skill's files in their place. vs are the skill's versions, latest first. A refusal exits
// with 2 and leaves the files as they are.
func adopt(ctx context.Context, s *service.Service, path string, vs []run.Version) (adopted, error) {
	done := adopted{Path: path, Proposal: path + proposed}
	staged, ok := stagedAt(vs, path)
	like := skill.Package{Parts: []skill.Part{{Path: skill.Main}}}
	if ok {
		var err error
		if like, err = versionPackage(ctx, s, staged); err != nil {
			return done, err
		}
	}
	var files []placing
	for _, x := range like.Parts {
		f := placing{part: x.Path, path: activities.PathOf(path, x.Path)}
		f.proposal = f.path + proposed
		if exists(f.proposal) {
			files = append(files, f)
		}
	}
	if len(files) == 0 {
		return done, usage("adopt %s: there is no such proposal: `starter optimize --stage` makes one", done.Proposal)
	}
	done.Proposal = files[0].proposal
	if !ok {
		return done, usage("adopt %s: no run of this home staged it", done.Proposal)
	}
	done.RunID = staged.RunID
	result, err := resultOf(ctx, s, staged.RunID)
	if err != nil {
		return done, err
	}
	conflicts := 0
	for i := range files {
		if err := files[i].prepare(ctx, s, staged, skill.Split(result)); err != nil {
			return done, err
		}
		conflicts += files[i].conflicts
		done.Merged = done.Merged || files[i].merged
	}
	if conflicts > 0 {
		if err := stageMerges(ctx, s, path, like, files, staged); err != nil {
			return done, err
		}
		return done, usage("adopt %s: the file has changed since, in the same places (%d conflict(s)): the merge is in the proposal now: resolve it and adopt it again", done.Proposal, conflicts)
	}
	return done, place(ctx, s, &done, like, files, vs)
}

// prepare finds out what is to be written, and refuses what may not be.
func (f *placing) prepare(ctx context.Context, s *service.Service, staged run.Version, result skill.Package) (err error) {
	if f.text, err = readProposal(f.proposal); err != nil {
		return err
	}
	var gone bool
	f.now, gone, err = present(f.path)
	switch {
	case err != nil:
		return fmt.Errorf("adopt %s: %w", f.proposal, err)
	case gone:
		return usage("adopt %s: the file that it belongs to is gone: put it back first with `starter skill rollback`", f.proposal)
	}
	made, _ := result.Text(f.part)
	if linediff.Unresolved(f.text, f.now, made) {
		return usage("adopt %s: it holds conflict markers: resolve them first", f.proposal)
	}
	parent, err := keptText(ctx, s, staged.Parent)
	if err != nil && !errors.Is(err, errForgotten) {
		return err
	}
	if base, _ := skill.Split(parent).Text(f.part); f.now != base && f.now != f.text && skill.Hash(f.now) != staged.Parent {
		if err != nil {
			return usage("adopt %s: the file has changed since, and what it was then was forgotten, so the two can not be merged: copy what you want by hand", f.proposal)
		}
		f.text, f.conflicts = linediff.Merge3(base, f.now, f.text, "as you left it", "as proposed")
		f.merged = true
	}
	if f.conflicts > 0 {
		return nil
	}
	if _, err := skill.Parse([]byte(f.text), skill.Options{Plain: true}); err != nil && f.part == skill.Main {
		return usage("adopt %s: %w", f.proposal, err)
	}
	return nil
}

// place keeps what is there, writes, and takes the proposals away.
func place(ctx context.Context, s *service.Service, done *adopted, like skill.Package, files []placing, vs []run.Version) error {
	now, _, err := inPlace(done.Path, like)
	if err != nil {
		return err
	}
	held, err := s.Store.PutText(ctx, now.Join())
	if err != nil {
		return err
	}
	key := vs[0].Skill
	if err := s.Store.PutVersion(ctx, run.Version{Skill: key, Hash: held, RunID: "before-adoption-" + strconv.Itoa(vs[0].N), Path: done.Path, How: "found"}); err != nil {
		return err
	}
	texts := map[string]string{}
	for _, f := range files {
		texts[f.part] = f.text
		if !like.Single() {
			done.Files = append(done.Files, f.part)
		}
	}
	after := now.With(texts)
	if done.Hash, err = s.Store.PutText(ctx, after.Join()); err != nil {
		return err
	}
	for _, f := range files {
		if err := activities.WriteAtomic(f.path, f.text); err != nil {
			return err
		}
	}
	if err := s.Store.PutVersion(ctx, run.Version{Skill: key, Hash: done.Hash, Parent: held, RunID: done.RunID, Path: done.Path, How: "adopted"}); err != nil {
		return err
	}
	for _, x := range after.Parts {
		// A file that the run left alone belongs to what is in place, unless somebody changed it.
		if staged, _ := like.Text(x.Path); texts[x.Path] == "" && staged != x.Text {
			continue
		}
		if err := s.Store.Attest(ctx, run.Attestation{Hash: skill.Hash(x.Text), Path: activities.PathOf(done.Path, x.Path), SkillKey: key, RunID: done.RunID}); err != nil {
			return err
		}
	}
	if vs, err = s.Store.Versions(ctx, key); err != nil {
		return err
	}
	for _, v := range vs {
		if v.Hash == done.Hash && v.How == "adopted" {
			done.Version = v.N
			break
		}
	}
	for _, f := range files {
		if err := os.Remove(f.proposal); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("the file is in place, but its proposal could not be removed: %w", err)
		}
	}
	return nil
}

// resultOf is the text that a run ended with, or "" where that is not known.
func resultOf(ctx context.Context, s *service.Service, id string) (string, error) {
	r, err := s.Store.Run(ctx, id)
	if err == nil && r.Result != nil {
		var text string
		if text, err = s.Store.Text(ctx, r.Result.HashAfter); err == nil {
			return text, nil
		}
	}
	if errors.Is(err, store.ErrNotFound) {
		err = nil
	}
	return "", err
}

// stageMerges makes merges with conflicts the proposals. What the proposals were stays in the store.
func stageMerges(ctx context.Context, s *service.Service, path string, like skill.Package, files []placing, of run.Version) error {
	now, texts := map[string]string{}, map[string]string{}
	for _, f := range files {
		old, err := readProposal(f.proposal)
		if err != nil {
			return err
		}
		if _, err := s.Store.PutText(ctx, old); err != nil {
			return err
		}
		now[f.part], texts[f.part] = f.now, f.text
	}
	parent, err := s.Store.PutText(ctx, like.With(now).Join())
	if err != nil {
		return err
	}
	hash, err := s.Store.PutText(ctx, like.With(texts).Join())
	if err != nil {
		return err
	}
	for _, f := range files {
		if err := activities.WriteAtomic(f.proposal, f.text); err != nil {
			return err
		}
	}
	if err := s.Store.PutVersion(ctx, run.Version{Skill: of.Skill, Hash: hash, Parent: parent, RunID: of.RunID, Path: path, How: "staged"}); err != nil {
		return err
	}
	for _, f := range files {
		if err := s.Store.Attest(ctx, run.Attestation{Hash: skill.Hash(f.text), Path: f.proposal, SkillKey: of.Skill, RunID: of.RunID}); err != nil {
			return err
		}
	}
	return nil
}

// stagedAt finds what was last staged beside a file.
func stagedAt(vs []run.Version, path string) (run.Version, bool) {
	for _, v := range vs {
		if v.How == "staged" && v.Path == path {
			return v, true
		}
	}
	return run.Version{}, false
}

func readProposal(path string) (string, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", usage("adopt %s: there is no such proposal: `starter optimize --stage` makes one", path)
	case err != nil:
		return "", fmt.Errorf("adopt a proposal: %w", err)
	case !info.Mode().IsRegular() || info.Size() > skill.MaxBytes:
		return "", usage("adopt %s: it is no regular file of at most %d bytes", path, skill.MaxBytes)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("adopt a proposal: %w", err)
	}
	return string(b), nil
}
