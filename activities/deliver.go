package activities

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

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
	afterText, err := a.o.Store.Text(ctx, in.After)
	if err != nil {
		return DeliverOut{}, err
	}
	beforeText, err := a.o.Store.Text(ctx, in.Before)
	if err != nil {
		return DeliverOut{}, err
	}
	before, after := skill.Split(beforeText), skill.Split(afterText)
	out := DeliverOut{Delivered: "none"}
	now, made := map[string]string{}, map[string]string{}
	var why []string
	var attest []run.Attestation
	for _, part := range after.Parts {
		old, _ := before.Text(part.Path)
		path := PathOf(p.SkillPath, part.Path)
		if part.Text == old {
			continue
		}
		d := a.deliverFile(ctx, in, path, old, part.Text)
		if d.why != "" {
			if !after.Single() {
				d.why = part.Path + ": " + d.why
			}
			why = append(why, d.why)
		}
		if d.how == "none" {
			continue
		}
		made[part.Path] = d.text
		if d.merged {
			now[part.Path] = d.now
		}
		x := run.Attestation{Hash: skill.Hash(d.text), Path: path, SkillKey: p.SkillKey, RunID: in.Job.RunID}
		if d.how == "staged" {
			x.Path = d.proposal
			if out.ProposalPath == "" {
				out.ProposalPath = d.proposal
			}
		}
		attest = append(attest, x)
		if out.Delivered != "staged" {
			out.Delivered = d.how
		}
	}
	out.Why = strings.Join(why, "; ")
	if len(made) == 0 {
		return out, nil
	}
	return out, a.keep(ctx, in, before, now, made, out.Delivered, attest)
}

// keep records what was delivered: a version of the whole package, and every file's hash. Where all was written, the files that
// the run left alone belong to what is in place as well.
func (a *Activities) keep(ctx context.Context, in DeliverIn, before skill.Package, now, made map[string]string, how string, attest []run.Attestation) error {
	p := in.Job.Params
	parent := in.Before
	if len(now) > 0 {
		var err error
		if parent, err = a.o.Store.PutText(ctx, before.With(now).Join()); err != nil {
			return err
		}
	}
	hash, err := a.o.Store.PutText(ctx, before.With(made).Join())
	if err != nil {
		return err
	}
	if err := a.o.Store.PutVersion(ctx, run.Version{Skill: p.SkillKey, Hash: hash, Parent: parent, RunID: in.Job.RunID, Path: p.SkillPath, How: how}); err != nil {
		return err
	}
	for _, x := range before.Parts {
		if _, ok := made[x.Path]; !ok && how == "written" {
			attest = append(attest, run.Attestation{Hash: skill.Hash(x.Text), Path: PathOf(p.SkillPath, x.Path), SkillKey: p.SkillKey, RunID: in.Job.RunID})
		}
	}
	for _, x := range attest {
		if err := a.o.Store.Attest(ctx, x); err != nil {
			return err
		}
	}
	return nil
}

func mergeBoth(before, now, after string) (string, int) {
	return linediff.Merge3(before, now, after, "as you left it", "as optimized")
}

// stage writes beside a file. A proposal that is there already is replaced if a run of ours made it; one that somebody has
// edited is kept under another name.
func (a *Activities) stage(ctx context.Context, path string, d *delivered) error {
	d.proposal = path + ".proposed"
	if old, err := os.ReadFile(d.proposal); err == nil && string(old) != d.text && !a.ours(ctx, d.proposal, string(old)) {
		kept := freeName(d.proposal + ".edited")
		if err := os.Rename(d.proposal, kept); err != nil {
			return fmt.Errorf("keep the edited proposal: %w", err)
		}
		note := "a proposal that somebody had edited was kept as " + kept
		if d.why != "" {
			note = d.why + "; " + note
		}
		d.why = note
	}
	if err := WriteAtomic(d.proposal, d.text); err != nil {
		return err
	}
	d.how = "staged"
	return nil
}

// ours reports whether a run made what a proposal holds.
func (a *Activities) ours(ctx context.Context, proposal, text string) bool {
	hash := skill.Hash(text)
	if _, err := a.o.Store.Text(ctx, hash); err == nil {
		return true
	}
	made, err := a.o.Store.Attestations(ctx, proposal)
	return err == nil && slices.ContainsFunc(made, func(x run.Attestation) bool { return x.Hash == hash })
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
