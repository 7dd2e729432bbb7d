package activities

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"whetstone/internal/linediff"
	"whetstone/run"
	"whetstone/skill"
)

// Deliver brings a result to the person: written in place of the file, if that is still what the run began with, or
// staged beside it, or nowhere. A file that was changed meanwhile is never overwritten: the result is merged with the
// change and staged.
func (a *Activities) Deliver(ctx context.Context, in DeliverIn) (DeliverOut, error) {
	defer beat(ctx)()
	p := in.Job.Params
	if in.After == in.Before || p.Deliver == "dry-run" {
		return DeliverOut{Delivered: "none"}, nil
	}
	after, err := a.o.Store.Text(ctx, in.After)
	if err != nil {
		return DeliverOut{}, err
	}
	before, err := a.o.Store.Text(ctx, in.Before)
	if err != nil {
		return DeliverOut{}, err
	}
	now, err := os.ReadFile(p.SkillPath)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return DeliverOut{Delivered: "none", Why: fmt.Sprintf("the file can not be read any more: %v", err)}, nil
	}
	present := skill.Hash(string(now))
	out := DeliverOut{}
	text, parent := after, in.Before
	switch {
	case present == in.After:
		// Written by an earlier attempt of this very activity.
		out.Delivered = "written"
	case p.Deliver == "write" && present == in.Before:
		out, err = a.write(p.SkillPath, after)
	case present != in.Before:
		if parent, err = a.o.Store.PutText(ctx, string(now)); err != nil {
			return DeliverOut{}, err
		}
		var conflicts int
		text, conflicts = linediff.Merge3(before, string(now), after, "as you left it", "as optimized")
		out, err = a.stage(ctx, p.SkillPath, text)
		why := "the file was changed while the run went on: the result was merged with the change and staged"
		if conflicts > 0 {
			why = fmt.Sprintf("%s, with %d conflict(s) to resolve", why, conflicts)
		}
		if out.Why != "" {
			why += "; " + out.Why
		}
		out.Why = why
	default:
		out, err = a.stage(ctx, p.SkillPath, text)
	}
	if err != nil {
		return DeliverOut{Delivered: "none", Why: fmt.Sprintf("%v: nothing is lost, read the result with `starter runs diff %s`", err, in.Job.RunID)}, nil
	}
	hash, err := a.o.Store.PutText(ctx, text)
	if err != nil {
		return DeliverOut{}, err
	}
	if err := a.o.Store.PutVersion(ctx, run.Version{Skill: p.SkillKey, Hash: hash, Parent: parent, RunID: in.Job.RunID, Path: p.SkillPath, How: out.Delivered}); err != nil {
		return DeliverOut{}, err
	}
	at := p.SkillPath
	if out.Delivered == "staged" {
		at = out.ProposalPath
	}
	return out, a.o.Store.Attest(ctx, run.Attestation{Hash: hash, Path: at, SkillKey: p.SkillKey, RunID: in.Job.RunID})
}

func (a *Activities) write(path, text string) (DeliverOut, error) {
	if err := WriteAtomic(path, text); err != nil {
		return DeliverOut{}, err
	}
	return DeliverOut{Delivered: "written"}, nil
}

// stage writes beside the skill file. A proposal that is there already is replaced if a run of ours made it; one that
// somebody has edited is kept under another name.
func (a *Activities) stage(ctx context.Context, path, text string) (out DeliverOut, err error) {
	proposal := path + ".proposed"
	if old, err := os.ReadFile(proposal); err == nil && string(old) != text {
		if _, err := a.o.Store.Text(ctx, skill.Hash(string(old))); err != nil {
			kept := freeName(proposal + ".edited")
			if err := os.Rename(proposal, kept); err != nil {
				return DeliverOut{}, fmt.Errorf("keep the edited proposal: %w", err)
			}
			out.Why = "a proposal that somebody had edited was kept as " + kept
		}
	}
	if err := WriteAtomic(proposal, text); err != nil {
		return DeliverOut{}, err
	}
	out.Delivered, out.ProposalPath = "staged", proposal
	return out, nil
}

// freeName is name, or name with a number behind it where that is taken.
func freeName(name string) string {
	free := name
	for i := 2; ; i++ {
		if _, err := os.Lstat(free); err != nil {
			return free
		}
		free = fmt.Sprintf("%s.%d", name, i)
	}
}

// WriteAtomic replaces a file in one step: written beside it, synced, renamed over it. A symbolic link is followed, the
// mode is kept, and at no time is there half a file.
func WriteAtomic(path, text string) error {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	mode := fs.FileMode(0o644)
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
		if mode&0o200 == 0 {
			return fmt.Errorf("write %s: it is read-only", path)
		}
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".whetstone-*")
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	_, err = f.WriteString(text)
	if err == nil {
		err = f.Chmod(mode)
	}
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}
