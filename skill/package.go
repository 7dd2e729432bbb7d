package skill

import (
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
)

// Main is the path of the skill file in its package.
const Main = "SKILL.md"

// ReferenceDir is the folder of a package's references.
const ReferenceDir = "references"

// MaxReferences bounds how many references a package has.
const MaxReferences = 20

// ErrPackage is returned for files that make no package.
var ErrPackage = errors.New("these files make no skill package")

// Part is one file of a package. Path is relative to the skill's folder, with slashes.
type Part struct {
	Path string `json:"path"`
	Text string `json:"text"`
}

// Package is a skill file with its references, sorted by path, the skill file first. Its canonical text is the skill file
// alone where there are no references.
type Package struct{ Parts []Part }

const packageHead = `{"whetstone-package":1,"files":[{"path":"SKILL.md",`

type packageJSON struct {
	Version int    `json:"whetstone-package"`
	Files   []Part `json:"files"`
}

// NewPackage sorts and checks parts: one is the skill file, the others are *.md directly below references/. ErrPackage.
func NewPackage(parts []Part) (Package, error) {
	p := Package{slices.Clone(parts)}
	slices.SortFunc(p.Parts, func(a, b Part) int { return strings.Compare(a.Path, b.Path) })
	if len(p.Parts) == 0 || p.Parts[0].Path != Main {
		return Package{}, fmt.Errorf("%w: there is no %s", ErrPackage, Main)
	}
	if len(p.Parts)-1 > MaxReferences {
		return Package{}, fmt.Errorf("%w: %d references, at most %d", ErrPackage, len(p.Parts)-1, MaxReferences)
	}
	for i, x := range p.Parts {
		if i > 0 && (!isReference(x.Path) || x.Path == p.Parts[i-1].Path) {
			return Package{}, fmt.Errorf("%w: %q is no reference", ErrPackage, x.Path)
		}
		if len(x.Text) > MaxBytes {
			return Package{}, fmt.Errorf("%w: %s: %w", ErrPackage, x.Path, ErrTooLarge)
		}
	}
	if len(p.Parts) == 1 && strings.HasPrefix(p.Parts[0].Text, packageHead) {
		return Package{}, fmt.Errorf("%w: the file is the stored form of another package", ErrPackage)
	}
	return p, nil
}

func isReference(p string) bool {
	dir, name := path.Split(p)
	return dir == ReferenceDir+"/" && path.Ext(name) == ".md" && !strings.ContainsAny(name, "\\\x00") && path.Clean(p) == p
}

// Join is the package's canonical text, by whose hash it is known.
func (p Package) Join() string {
	if len(p.Parts) == 1 {
		return p.Parts[0].Text
	}
	b, _ := json.Marshal(packageJSON{1, p.Parts}) // strings always marshal
	return string(b)
}

// Split reads a canonical text. Any text that no Join of several files made is a skill file alone.
func Split(text string) Package {
	alone := Package{[]Part{{Main, text}}}
	if !strings.HasPrefix(text, packageHead) {
		return alone
	}
	var j packageJSON
	if err := json.Unmarshal([]byte(text), &j); err != nil || j.Version != 1 || len(j.Files) < 2 {
		return alone
	}
	p, err := NewPackage(j.Files)
	if err != nil || p.Join() != text {
		return alone
	}
	return p
}

// Single reports whether there are no references.
func (p Package) Single() bool { return len(p.Parts) == 1 }

// Main is the skill file's text.
func (p Package) Main() string { return p.Parts[0].Text }

// Text is the text of one file. ok is false where the package has no such file.
func (p Package) Text(path string) (text string, ok bool) {
	for _, x := range p.Parts {
		if x.Path == path {
			return x.Text, true
		}
	}
	return "", false
}

// With is the package with other texts for some of its files.
func (p Package) With(texts map[string]string) Package {
	out := Package{slices.Clone(p.Parts)}
	for i, x := range out.Parts {
		if t, ok := texts[x.Path]; ok {
			out.Parts[i].Text = t
		}
	}
	return out
}

// View is the package for a reader: the skill file as it is, then each reference below a line that names it. Without
// references it is the skill file.
func (p Package) View() string { return p.view(p.Main()) }

// BodyView is View without the skill file's head.
func (p Package) BodyView() (string, error) {
	f, err := Parse([]byte(p.Main()), Options{Plain: true})
	if err != nil {
		return "", err
	}
	return p.view(f.Body), nil
}

func (p Package) view(main string) string {
	if p.Single() {
		return main
	}
	var b strings.Builder
	b.WriteString(strings.TrimRight(main, "\r\n"))
	for _, x := range p.Parts[1:] {
		fmt.Fprintf(&b, "\n\n# File: %s\n\n%s", x.Path, strings.TrimRight(x.Text, "\r\n"))
	}
	return b.String() + "\n"
}
