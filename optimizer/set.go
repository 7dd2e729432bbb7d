package optimizer

import (
	"path"
	"slices"
	"strings"

	"whetstone/internal/linediff"
	"whetstone/skill"
)

// NoFile is the reason for refusing a patch of a file that the package does not have.
const NoFile Reason = "no_file"

// Set are the documents of a skill package: the body of the skill file, under "", and of each reference, under its path. Patches
// meet and conflict within one file only. The head of each file, where it has one, is no part of its document.
type Set struct {
	pkg   skill.Package
	paths []string // "" first
	files map[string]*skill.File
	docs  map[string]*Doc
}

// NewSet reads a package's canonical text. It fails with skill's errors where the skill file is none.
func NewSet(text string) (*Set, error) {
	s := &Set{pkg: skill.Split(text), files: map[string]*skill.File{}, docs: map[string]*Doc{}}
	for _, p := range s.pkg.Parts {
		f, err := skill.Parse([]byte(p.Text), skill.Options{Plain: true})
		if err != nil {
			if p.Path == skill.Main {
				return nil, err
			}
			f = &skill.File{Body: p.Text} // a line of --- at its top is a rule, and no frontmatter
		}
		file := File(p.Path)
		s.paths = append(s.paths, file)
		s.files[file], s.docs[file] = f, NewDoc(f.Body)
	}
	return s, nil
}

// File is a file of a package as patches name it: "" for the skill file.
func File(name string) string {
	name = strings.TrimSpace(name)
	if name == "" {
		return ""
	}
	if name = path.Clean(strings.ReplaceAll(name, "\\", "/")); name == skill.Main {
		return ""
	}
	return name
}

// Slow lets edits touch the slow block, which is the skill file's. See NewSlowDoc.
func (s *Set) Slow() *Set {
	out := *s
	out.docs = map[string]*Doc{}
	for file, d := range s.docs {
		out.docs[file] = d
	}
	out.docs[""] = NewSlowDoc(s.docs[""].Body)
	return &out
}

// Package is what the set was read from.
func (s *Set) Package() skill.Package { return s.pkg }

// Main is the skill file's document.
func (s *Set) Main() *Doc { return s.docs[""] }

// Head is the skill file with its frontmatter.
func (s *Set) Head() *skill.File { return s.files[""] }

// Doc is the document of a file; nil where there is none.
func (s *Set) Doc(file string) *Doc { return s.docs[file] }

// Resolve is Doc.Resolve in the file that the patch names.
func (s *Set) Resolve(p Patch) (Edit, *PatchError) {
	p.File = File(p.File)
	d, ok := s.docs[p.File]
	if !ok {
		return Edit{}, refuse(NoFile, "the skill has no file %q", p.File)
	}
	e, err := d.Resolve(p)
	if err != nil {
		return Edit{}, err
	}
	return e.inFile(p.File), nil
}

// inFile makes the key of an edit of a reference another than that of the same edit elsewhere.
func (e Edit) inFile(file string) Edit {
	if file != "" {
		e.Key = "p_" + digest(file, e.Key)[:20]
	}
	return e
}

// Aggregate is Aggregate file by file. See there.
func (s *Set) Aggregate(proposals []Patch) (edits []Edit, refused []Refused) {
	by := map[string][]Patch{}
	for _, p := range proposals {
		p.File = File(p.File)
		if _, ok := s.docs[p.File]; !ok {
			refused = append(refused, Refused{p, NoFile, "the skill has no file " + p.File})
			continue
		}
		by[p.File] = append(by[p.File], p)
	}
	for _, file := range s.paths {
		es, rs := Aggregate(s.docs[file], by[file])
		for _, e := range es {
			edits = append(edits, e.inFile(file))
		}
		refused = append(refused, rs...)
	}
	SortEdits(edits)
	return edits, refused
}

// Select is Select over all files: the step's limits are for all together, the bounds on size for each file.
func (s *Set) Select(edits []Edit, lim Limits) (taken []Edit, clipped []Refused) {
	size := map[string]int{}
	for file, d := range s.docs {
		size[file] = len(d.Body)
	}
	return selectWithin(size, edits, lim)
}

// Bodies applies edits and returns the bodies of the files that they change.
func (s *Set) Bodies(edits []Edit) (map[string]string, *PatchError) {
	by := map[string][]Edit{}
	for _, e := range edits {
		by[e.Patch.File] = append(by[e.Patch.File], e)
	}
	out := map[string]string{}
	for _, file := range s.paths {
		if len(by[file]) == 0 {
			continue
		}
		body, err := s.docs[file].Apply(by[file])
		if err != nil {
			return nil, err
		}
		out[file] = body
	}
	return out, nil
}

// Text is the canonical text with other bodies for some files.
func (s *Set) Text(bodies map[string]string) string {
	texts := map[string]string{}
	for file, body := range bodies {
		name := file
		if file == "" {
			name = skill.Main
		}
		texts[name] = s.files[file].WithBody(body)
	}
	return s.pkg.With(texts).Join()
}

// Apply is Doc.Apply for the package: the canonical text with the edits.
func (s *Set) Apply(edits []Edit) (string, *PatchError) {
	bodies, err := s.Bodies(edits)
	if err != nil {
		return "", err
	}
	return s.Text(bodies), nil
}

// Merge is MergeSections file by file, in which the set's side wins: what two descendants of base learned apart, as bodies of
// the set's files. ok is false where nothing new comes of it.
func (s *Set) Merge(base, other *Set) (bodies map[string]string, ok bool) {
	bodies = map[string]string{}
	same := [3]bool{true, true, true}
	for _, file := range s.paths {
		in := [3]string{s.docs[file].Body}
		for i, x := range []*Set{base, other} {
			d := x.docs[file]
			if d == nil {
				return nil, false
			}
			in[i+1] = d.Body
		}
		merged, _, fits := MergeSections(in[1], in[0], in[2], func([]string) int { return 0 })
		if !fits && merged == "" && in[0] != "" {
			return nil, false
		}
		bodies[file] = merged
		for i := range in {
			same[i] = same[i] && merged == in[i]
		}
	}
	return bodies, !slices.Contains(same[:], true)
}

// Diff is the unified difference of two canonical texts, file by file. names gives both names of a file by its path.
func Diff(before, after string, names func(path string) (a, b string)) string {
	p, q := skill.Split(before), skill.Split(after)
	var b strings.Builder
	for _, x := range p.Parts {
		if text, ok := q.Text(x.Path); ok {
			nameA, nameB := names(x.Path)
			b.WriteString(linediff.Unified(nameA, nameB, x.Text, text))
		}
	}
	return b.String()
}

// Changed lists the paths of the files that two canonical texts hold differently.
func Changed(before, after string) []string {
	p, q := skill.Split(before), skill.Split(after)
	var out []string
	for _, x := range p.Parts {
		if text, ok := q.Text(x.Path); ok && text != x.Text {
			out = append(out, x.Path)
		}
	}
	return out
}
