package activities

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"whetstone/optimizer"
	"whetstone/run"
	"whetstone/skill"
)

// ReferenceTokens caps each reference of a package, as --max-skill-tokens caps the skill file's body.
const ReferenceTokens = 5000

// ReadPackage reads a skill file and, where it is a SKILL.md with references/*.md beside it, those as well; what is wrong with
// them comes back as BadInput. A reference must be a regular file inside the skill's folder.
func ReadPackage(path string, plain bool) (*skill.File, skill.Package, error) {
	f, text, err := ReadSkill(path, plain)
	if err != nil {
		return nil, skill.Package{}, err
	}
	parts := []skill.Part{{Path: skill.Main, Text: text}}
	if filepath.Base(path) == skill.Main {
		refs, err := readReferences(filepath.Dir(path))
		if err != nil {
			return nil, skill.Package{}, err
		}
		parts = append(parts, refs...)
	}
	p, err := skill.NewPackage(parts)
	if err != nil {
		return nil, skill.Package{}, InputError("read skill %s: %w", path, err)
	}
	return f, p, nil
}

func readReferences(dir string) ([]skill.Part, error) {
	entries, err := os.ReadDir(filepath.Join(dir, skill.ReferenceDir))
	if err != nil {
		if info, serr := os.Stat(filepath.Join(dir, skill.ReferenceDir)); serr == nil && info.IsDir() {
			return nil, InputError("read the references of the skill: %w", err)
		}
		return nil, nil // there is no such folder
	}
	inside, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, InputError("read the references of the skill: %w", err)
	}
	var out []skill.Part
	for _, e := range entries {
		if filepath.Ext(e.Name()) != ".md" || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		full := filepath.Join(dir, skill.ReferenceDir, e.Name())
		real, err := filepath.EvalSymlinks(full)
		if err != nil {
			return nil, InputError("read reference %s: %w", full, err)
		}
		if rel, err := filepath.Rel(inside, real); err != nil || !filepath.IsLocal(rel) {
			return nil, InputError("read reference %s: it leads out of the skill's folder, to %s: put the file itself there", full, real)
		}
		info, err := os.Stat(real)
		if err != nil {
			return nil, InputError("read reference: %w", err)
		}
		if !info.Mode().IsRegular() {
			continue
		}
		if info.Size() > skill.MaxBytes {
			return nil, InputError("read reference %s: %w (%d bytes, at most %d)", full, skill.ErrTooLarge, info.Size(), skill.MaxBytes)
		}
		data, err := os.ReadFile(real)
		if err != nil {
			return nil, InputError("read reference: %w", err)
		}
		_, err = skill.Parse(data, skill.Options{Plain: true})
		if errors.Is(err, skill.ErrNotUTF8) || errors.Is(err, skill.ErrNUL) {
			return nil, InputError("read reference %s: %w", full, err)
		}
		out = append(out, skill.Part{Path: skill.ReferenceDir + "/" + e.Name(), Text: string(data)})
	}
	return out, nil
}

// PathOf is where a file of a skill's package lies.
func PathOf(skillPath, part string) string {
	if part == skill.Main {
		return skillPath
	}
	return filepath.Join(filepath.Dir(skillPath), filepath.FromSlash(part))
}

// filesChanged names the files that a run changed, from the skill's folder on.
func (a *Activities) filesChanged(ctx context.Context, skillPath, before, after string) ([]string, error) {
	if before == after || before == "" || after == "" {
		return nil, nil
	}
	x, err := a.o.Store.Text(ctx, before)
	if err != nil {
		return nil, err
	}
	y, err := a.o.Store.Text(ctx, after)
	if err != nil {
		return nil, err
	}
	out := optimizer.Changed(x, y)
	for i, p := range out {
		if p == skill.Main {
			out[i] = filepath.Base(skillPath)
		}
	}
	return out, nil
}

// writable checks before a run what its delivery will need.
func writable(p run.Params, pkg skill.Package) error {
	for _, x := range pkg.Parts {
		path := PathOf(p.SkillPath, x.Path)
		if p.Deliver != "dry-run" {
			if err := writableDir(filepath.Dir(path)); err != nil {
				return InputError("%w: make the folder writable, or use --dry-run and read the result with `starter runs diff`", err)
			}
		}
		if p.Deliver == "write" {
			if info, err := os.Stat(path); err == nil && info.Mode()&0o200 == 0 {
				return InputError("write %s: it is read-only: make it writable, or use --stage", path)
			}
		}
	}
	return nil
}

// delivered is what became of one file of a result.
type delivered struct {
	how      string // written, staged or none
	proposal string
	text     string // what was written or staged
	now      string // what the file held
	merged   bool
	why      string
}

// deliverFile brings one file to its place, or stages it beside. Every file is looked at on its own.
func (a *Activities) deliverFile(ctx context.Context, in DeliverIn, path, before, after string) delivered {
	d := delivered{how: "none", text: after}
	now, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		d.why = fmt.Sprintf("the file can not be read any more: %v", err)
		return d
	}
	d.now = string(now)
	switch {
	case d.now == after:
		// Written by an earlier attempt of this very activity.
		d.how = "written"
		return d
	case in.Job.Params.Deliver == "write" && d.now == before:
		err = WriteAtomic(path, after)
		d.how = "written"
	case d.now != before:
		d.merged = true
		var conflicts int
		d.text, conflicts = mergeBoth(before, d.now, after)
		d.why = "the file was changed while the run went on: the result was merged with the change and staged"
		if conflicts > 0 {
			d.why = fmt.Sprintf("%s, with %d conflict(s) to resolve", d.why, conflicts)
		}
		err = a.stage(ctx, path, &d)
	default:
		err = a.stage(ctx, path, &d)
	}
	if err != nil {
		d.how, d.proposal = "none", ""
		d.why = fmt.Sprintf("%v: nothing is lost, read the result with `starter runs diff %s`", err, in.Job.RunID)
	}
	return d
}
