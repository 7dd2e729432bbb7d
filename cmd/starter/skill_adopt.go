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
	Merged   bool   `json:"merged"` // with what had changed in the file since the proposal was made
	Proposal string `json:"proposal_path"`
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

// adopt puts the proposal beside a skill file in its place. vs are the skill's versions, latest first. A refusal exits with 2
// and leaves the file as it is.
func adopt(ctx context.Context, s *service.Service, path string, vs []run.Version) (adopted, error) {
	done := adopted{Path: path, Proposal: path + proposed}
	text, err := readProposal(done.Proposal)
	if err != nil {
		return done, err
	}
	staged, ok := stagedAt(vs, path)
	if !ok {
		return done, usage("adopt %s: no run of this home staged it", done.Proposal)
	}
	done.RunID = staged.RunID
	now, gone, err := present(path)
	switch {
	case err != nil:
		return done, fmt.Errorf("adopt %s: %w", done.Proposal, err)
	case gone:
		return done, usage("adopt %s: the file that it belongs to is gone: put it back first with `starter skill rollback`", done.Proposal)
	}
	made, err := resultOf(ctx, s, staged.RunID)
	if err != nil {
		return done, err
	}
	if linediff.Unresolved(text, now, made) {
		return done, usage("adopt %s: it holds conflict markers: resolve them first", done.Proposal)
	}
	if h := skill.Hash(now); h != staged.Parent && now != text {
		base, err := keptText(ctx, s, staged.Parent)
		if errors.Is(err, errForgotten) {
			return done, usage("adopt %s: the file has changed since, and what it was then was forgotten, so the two can not be merged: copy what you want by hand", done.Proposal)
		}
		if err != nil {
			return done, err
		}
		merged, conflicts := linediff.Merge3(base, now, text, "as you left it", "as proposed")
		if conflicts > 0 {
			if err := stageMerge(ctx, s, path, now, text, merged, staged); err != nil {
				return done, err
			}
			return done, usage("adopt %s: the file has changed since, in the same places (%d conflict(s)): the merge is in the proposal now: resolve it and adopt it again", done.Proposal, conflicts)
		}
		text, done.Merged = merged, true
	}
	if _, err := skill.Parse([]byte(text), skill.Options{Plain: true}); err != nil {
		return done, usage("adopt %s: %w", done.Proposal, err)
	}
	return done, place(ctx, s, &done, now, text, vs)
}

// place keeps what is there, writes, and takes the proposal away.
func place(ctx context.Context, s *service.Service, done *adopted, now, text string, vs []run.Version) error {
	held, err := s.Store.PutText(ctx, now)
	if err != nil {
		return err
	}
	key := vs[0].Skill
	if err := s.Store.PutVersion(ctx, run.Version{Skill: key, Hash: held, RunID: "before-adoption-" + strconv.Itoa(vs[0].N), Path: done.Path, How: "found"}); err != nil {
		return err
	}
	if done.Hash, err = s.Store.PutText(ctx, text); err != nil {
		return err
	}
	if err := activities.WriteAtomic(done.Path, text); err != nil {
		return err
	}
	if err := s.Store.PutVersion(ctx, run.Version{Skill: key, Hash: done.Hash, Parent: held, RunID: done.RunID, Path: done.Path, How: "adopted"}); err != nil {
		return err
	}
	if err := s.Store.Attest(ctx, run.Attestation{Hash: done.Hash, Path: done.Path, SkillKey: key, RunID: done.RunID}); err != nil {
		return err
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
	if err := os.Remove(done.Proposal); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("the file is in place, but its proposal could not be removed: %w", err)
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

// stageMerge makes a merge with conflicts the proposal. What the proposal was stays in the store.
func stageMerge(ctx context.Context, s *service.Service, path, now, proposal, merged string, of run.Version) error {
	if _, err := s.Store.PutText(ctx, proposal); err != nil {
		return err
	}
	parent, err := s.Store.PutText(ctx, now)
	if err != nil {
		return err
	}
	hash, err := s.Store.PutText(ctx, merged)
	if err != nil {
		return err
	}
	if err := activities.WriteAtomic(path+proposed, merged); err != nil {
		return err
	}
	if err := s.Store.PutVersion(ctx, run.Version{Skill: of.Skill, Hash: hash, Parent: parent, RunID: of.RunID, Path: path, How: "staged"}); err != nil {
		return err
	}
	return s.Store.Attest(ctx, run.Attestation{Hash: hash, Path: path + proposed, SkillKey: of.Skill, RunID: of.RunID})
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
