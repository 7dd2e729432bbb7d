// Package folder keeps a wiki's files: it makes the scaffold, reads the configuration, and places pages without ever
// overwriting what a person wrote. Every access is confined to the wiki's folder; a symbolic link that leads out of it is
// refused. Files are written whole or not at all.
package folder

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"whetstone/claim"
	"whetstone/internal/linediff"
	"whetstone/wiki"
)

// Dir is the folder of one wiki.
type Dir struct {
	Path string // absolute
	root *os.Root
}

// MaxFile is the largest page or configuration that is read.
const MaxFile = 4 << 20

// Open opens a wiki's folder. It fails with fs.ErrNotExist where there is none.
func Open(dir string) (*Dir, error) {
	r, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open the wiki's folder: %w", err)
	}
	return &Dir{dir, r}, nil
}

// Close closes the folder.
func (d *Dir) Close() error { return d.root.Close() }

// Create makes the folder of a new wiki with its scaffold. It refuses a folder that holds a wiki already, and keeps what
// else is there.
func Create(dir, slug, title, flavor string, private bool) (*Dir, error) {
	if _, err := os.Lstat(filepath.Join(dir, wiki.ConfigFile)); err == nil {
		return nil, fmt.Errorf("make the wiki: %s holds one already: %w", dir, fs.ErrExist)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the wiki: %w", err)
	}
	d, err := Open(dir)
	if err != nil {
		return nil, err
	}
	f := wiki.FlavorOf(flavor)
	for _, sub := range []string{"raw", "derived", "logs"} {
		if err = d.root.MkdirAll(sub, 0o700); err != nil {
			break
		}
	}
	for _, k := range f.Kinds {
		if err == nil {
			err = d.root.MkdirAll("wiki/"+k.Name, 0o700)
		}
	}
	for _, file := range []struct{ name, text string }{
		{wiki.ConfigFile, wiki.NewConfig(slug, title, flavor, private)}, {"index.md", wiki.RenderIndex(title, f, nil)}, {"sources.md", wiki.RenderSources(nil)}, {"logs/research.md", wiki.RenderLog(nil, nil)},
	} {
		if err == nil {
			err = d.Write(file.name, file.text)
		}
	}
	if err != nil {
		_ = d.Close()
		return nil, fmt.Errorf("make the wiki: %w", err)
	}
	return d, nil
}

// Config reads wiki.config.md. A *wiki.ConfigError says what a person has to mend.
func (d *Dir) Config() (wiki.Config, error) {
	text, ok, err := d.Read(wiki.ConfigFile)
	if err != nil {
		return wiki.Config{}, err
	}
	if !ok {
		return wiki.Config{}, fmt.Errorf("read %s: %w", filepath.Join(d.Path, wiki.ConfigFile), fs.ErrNotExist)
	}
	return wiki.ParseConfig(text)
}

// Read returns a file's text; ok is false where there is none.
func (d *Dir) Read(name string) (text string, ok bool, err error) {
	info, err := d.root.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return "", false, nil
	}
	if err != nil {
		return "", false, fmt.Errorf("read %s: %w", name, err)
	}
	if !info.Mode().IsRegular() || info.Size() > MaxFile {
		return "", false, fmt.Errorf("read %s: it is not a regular file of at most 4 MiB", name)
	}
	b, err := d.root.ReadFile(name)
	if err != nil {
		return "", false, fmt.Errorf("read %s: %w", name, err)
	}
	return string(b), true, nil
}

// Write replaces a file in one step: written beside it, synced, renamed over it.
func (d *Dir) Write(name, text string) error {
	if old, ok, err := d.Read(name); err == nil && ok && old == text {
		return nil
	}
	if err := d.root.MkdirAll(path.Dir(name), 0o700); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	tmp := path.Join(path.Dir(name), ".whetstone-"+claim.ID(name, text)[:10])
	f, err := d.root.OpenFile(tmp, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	_, err = f.WriteString(text)
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = d.root.Rename(tmp, name)
	}
	if err != nil {
		_ = d.root.Remove(tmp)
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}

// Placed is where a page stands after Place.
type Placed struct {
	State     claim.PageState
	Generated string // hash of the generated text that the file now holds
	Disk      string // hash of the file
	Note      string
}

// Place brings a page's text to its file. base is the generated text that the file held last, "" for none. A file that a
// person changed is merged line by line; where that is not possible the result is put beside it as .proposed. A file that a
// person removed stays removed; one that was never ours is left alone. ours tells whether a text, by hash, was written by
// us: a .proposed file that somebody edited is kept under another name. Doing it twice does nothing more.
func (d *Dir) Place(p claim.Page, base, text string, ours func(hash string) bool) (Placed, error) {
	now, exists, err := d.Read(p.Path)
	if err != nil {
		return Placed{}, err
	}
	want := claim.Hash(text)
	switch {
	case !exists && p.Generated != "":
		return Placed{State: claim.Removed, Generated: p.Generated, Note: "a person removed the page: it stays removed"}, nil
	case !exists || now == text || (p.Generated != "" && now == base):
		if err := d.Write(p.Path, text); err != nil {
			return Placed{}, err
		}
		d.dropProposal(p.Path, ours)
		return Placed{State: claim.Live, Generated: want, Disk: want}, nil
	case p.Generated != "":
		merged, conflicts := linediff.Merge3(base, now, text, "as you left it", "as researched")
		if conflicts == 0 {
			if err := d.Write(p.Path, merged); err != nil {
				return Placed{}, err
			}
			d.dropProposal(p.Path, ours)
			return Placed{State: claim.Live, Generated: want, Disk: claim.Hash(merged), Note: "merged with a person's changes"}, nil
		}
		if err := d.propose(p.Path, merged, ours); err != nil {
			return Placed{}, err
		}
		return Placed{State: claim.Proposed, Generated: p.Generated, Disk: claim.Hash(now), Note: fmt.Sprintf("%d change(s) conflict with a person's: see %s.proposed", conflicts, p.Path)}, nil
	}
	if err := d.propose(p.Path, text, ours); err != nil {
		return Placed{}, err
	}
	return Placed{State: claim.Proposed, Disk: claim.Hash(now), Note: fmt.Sprintf("a person's page has this name: see %s.proposed", p.Path)}, nil
}

func (d *Dir) propose(name, text string, ours func(string) bool) error {
	proposal := name + ".proposed"
	if old, ok, err := d.Read(proposal); err == nil && ok && old != text && !ours(claim.Hash(old)) {
		kept := proposal + ".edited-" + claim.Hash(old)[:8]
		if err := d.root.Rename(proposal, kept); err != nil {
			return fmt.Errorf("keep the edited proposal: %w", err)
		}
	}
	return d.Write(proposal, text)
}

// dropProposal removes a proposal that is out of date, unless somebody edited it.
func (d *Dir) dropProposal(name string, ours func(string) bool) {
	if old, ok, err := d.Read(name + ".proposed"); err == nil && ok && ours(claim.Hash(old)) {
		_ = d.root.Remove(name + ".proposed")
	}
}

// Pages lists the page files below wiki/, sorted.
func (d *Dir) Pages() ([]string, error) {
	var out []string
	err := fs.WalkDir(d.root.FS(), "wiki", func(p string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) && p == "wiki" {
			return fs.SkipAll
		}
		if err != nil {
			return err
		}
		if e.Type().IsRegular() && strings.HasSuffix(p, ".md") && !strings.HasPrefix(path.Base(p), ".") {
			out = append(out, p)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list the pages of %s: %w", d.Path, err)
	}
	slices.Sort(out)
	return out, nil
}

// Remove deletes the whole folder of a wiki. It refuses one that holds no wiki.
func Remove(dir string) error {
	if _, err := os.Lstat(filepath.Join(dir, wiki.ConfigFile)); err != nil {
		return fmt.Errorf("delete %s: it holds no %s: %w", dir, wiki.ConfigFile, err)
	}
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("delete %s: %w", dir, err)
	}
	return nil
}
