package optimizer

import (
	"slices"
	"strings"
	"unicode"

	"whetstone/internal/mdblock"
	"whetstone/learning"
	"whetstone/skill"
)

// MaxPayload bounds one patch's text, in bytes: an edit is an edit, not a new document.
const MaxPayload = 8000

// Doc is a body prepared for resolving patches against it.
type Doc struct {
	Body    string
	lines   []mdblock.Line
	regions []skill.Region
	flat    string // the body with all line endings as "\n"
	offsets []int  // offsets[i] is where byte i of flat stands in Body; one more than len(flat)
	slow    []slowMark
	// slowOpen says that edits may touch the slow block.
	slowOpen bool
}

// NewDoc scans a body. Its edits may touch neither kept regions nor the slow block, and what they append goes before a slow
// block that ends the body, so that it goes on ending it.
func NewDoc(body string) *Doc {
	d := &Doc{Body: body, lines: mdblock.Scan(body), regions: skill.Regions(body), slow: slowMarks(body)}
	d.flat, d.offsets = flatten(body)
	return d
}

// NewSlowDoc scans a body for the slow update, whose edits may touch the slow block. See SlowPatch.
func NewSlowDoc(body string) *Doc {
	d := NewDoc(body)
	d.slowOpen = true
	return d
}

// flatten unifies line endings and maps each byte of the result back.
func flatten(body string) (string, []int) {
	if !strings.Contains(body, "\r") {
		offsets := make([]int, len(body)+1)
		for i := range offsets {
			offsets[i] = i
		}
		return body, offsets
	}
	flat := make([]byte, 0, len(body))
	offsets := make([]int, 0, len(body)+1)
	for i := 0; i < len(body); i++ {
		offsets = append(offsets, i)
		c := body[i]
		if c == '\r' {
			c = '\n'
			if i+1 < len(body) && body[i+1] == '\n' {
				i++
			}
		}
		flat = append(flat, c)
	}
	return string(flat), append(offsets, len(body))
}

// Resolve turns a patch into an edit of the document, or refuses it. It checks everything that can be said of one patch
// alone, the effect on fences and protected regions included.
func (d *Doc) Resolve(p Patch) (Edit, *PatchError) {
	if learning.Clean(p.Payload) != p.Payload {
		return Edit{}, refuse(BadText, "the payload holds control characters")
	}
	if _, secrets := learning.Redact(p.Payload); len(secrets) > 0 {
		return Edit{}, refuse(BadText, "the payload holds what looks like a secret")
	}
	var e Edit
	var err *PatchError
	switch p.Op {
	case Add:
		e, err = d.resolveAdd(p)
	case Delete, Replace:
		e, err = d.resolveChange(p)
	default:
		return Edit{}, refuse(BadOp, "op %q: want add, delete or replace", p.Op)
	}
	if err != nil {
		return Edit{}, err
	}
	if len(e.Text) > MaxPayload {
		return Edit{}, refuse(TooLarge, "%d bytes, at most %d a patch", len(e.Text), MaxPayload)
	}
	if d.Body[e.Start:e.End] == e.Text {
		return Edit{}, refuse(NoChange, "the body says so already")
	}
	if err := d.check(e); err != nil {
		return Edit{}, err
	}
	e.Op, e.Patch, e.Support = p.Op, p, 1
	e.Key = e.key(d.Body)
	return e, nil
}

// blank reports whether nobody would see anything of a text: it is white space and format characters, such as a zero-width space.
func blank(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return !unicode.IsSpace(r) && !unicode.Is(unicode.Cf, r) }) < 0
}

func (d *Doc) resolveAdd(p Patch) (Edit, *PatchError) {
	if blank(p.Payload) {
		return Edit{}, refuse(EmptyPayload, "nothing to add")
	}
	payload := strings.TrimRight(unify(p.Payload), "\n")
	if p.Anchor == "" {
		return d.insert(d.tail(), payload)
	}
	_, end, err := d.find(p.Anchor)
	if err != nil {
		return Edit{}, err
	}
	// The line in which the anchor's last byte stands; the payload goes below it.
	at := end
	for _, l := range d.lines {
		if end-1 < l.End {
			at = l.End
			break
		}
	}
	return d.insert(at, payload)
}

// tail is where appended text goes: the end of the body, or below the last line before a slow block that ends it.
func (d *Doc) tail() int {
	start, end, _, ok := SlowBlock(d.Body)
	if !ok || d.slowOpen || strings.TrimSpace(d.Body[end:]) != "" {
		return len(d.Body)
	}
	at := 0
	for _, l := range d.lines {
		if l.End <= start && strings.TrimSpace(l.Text) != "" {
			at = l.End
		}
	}
	return at
}

// insert puts whole lines at a line boundary. Bytes of other lines, their endings included, stay as they are, so where
// the last line has no ending the payload brings one along and leaves none behind.
func (d *Doc) insert(at int, payload string) (Edit, *PatchError) {
	eol := d.eolBefore(at)
	text := withEOL(payload, eol)
	switch {
	case at == 0:
		if at < len(d.Body) {
			text += eol
		} else {
			text += "\n"
		}
	case endsInEOL(d.Body[:at]):
		text += eol
	default:
		text = eol + text
	}
	return Edit{Start: at, End: at, Text: text}, nil
}

func (d *Doc) resolveChange(p Patch) (Edit, *PatchError) {
	if p.Anchor == "" {
		return Edit{}, refuse(AnchorMissing, "%s needs an anchor", p.Op)
	}
	if p.Op == Replace && blank(p.Payload) {
		return Edit{}, refuse(EmptyPayload, "an empty replacement is a deletion and must say so")
	}
	start, end, err := d.find(p.Anchor)
	if err != nil {
		return Edit{}, err
	}
	if p.Op == Replace {
		return Edit{Start: start, End: end, Text: withEOL(unify(p.Payload), d.eolAt(start))}, nil
	}
	atLineStart := start == 0 || endsInEOL(d.Body[:start])
	if atLineStart && !endsInEOL(d.Body[start:end]) {
		switch {
		case end == len(d.Body):
			// The last line goes and had no ending: the one before it goes without, too.
			start -= lenEOLBefore(d.Body[:start])
		case strings.HasPrefix(d.Body[end:], "\r\n"):
			end += 2
		case d.Body[end] == '\n' || d.Body[end] == '\r':
			end++
		}
	}
	return Edit{Start: start, End: end}, nil
}

// find locates the anchor's only occurrence. Overlapping occurrences count, and so do protected ones.
func (d *Doc) find(anchor string) (start, end int, err *PatchError) {
	a := unify(anchor)
	i := strings.Index(d.flat, a)
	if i < 0 {
		return 0, 0, refuse(AnchorMissing, "the anchor does not occur in the body")
	}
	if strings.Contains(d.flat[i+1:], a) {
		return 0, 0, refuse(AnchorAmbiguous, "the anchor occurs more than once")
	}
	return d.offsets[i], d.offsets[i+len(a)], nil
}

// check refuses an edit that touches a protected region, or that changes what the text around it is.
func (d *Doc) check(e Edit) *PatchError {
	for _, r := range d.regions {
		switch {
		case e.Start == e.End && e.Start == r.End && !r.Open, e.Start == e.End && e.Start == r.Start:
		case e.Start < r.End && e.End > r.Start,
			e.Start == e.End && e.Start > r.Start && e.Start < r.End,
			e.Start == e.End && r.Open && e.Start >= r.Start:
			return refuse(Protected, "the edit touches a region kept by its markers")
		}
	}
	if start, end, ok := d.slowRange(); ok && (e.Start < end && e.End > start || e.Start == e.End && e.Start > start && e.Start < end) {
		return refuse(Protected, "the edit touches the block that the slow update alone rewrites")
	}
	return d.sameAround([]Edit{e}, d.Body[:e.Start]+e.Text+d.Body[e.End:])
}

// slowRange are the bytes of the slow block that edits may not touch.
func (d *Doc) slowRange() (start, end int, ok bool) {
	if d.slowOpen {
		return 0, 0, false
	}
	start, end, _, ok = SlowBlock(d.Body)
	return start, end, ok
}

// sameAround refuses edits, in the order of the body and without overlaps, that change what the text around them is: whether
// a line is in a fence or a comment, which regions are kept, where the slow block is. after is the body with the edits.
func (d *Doc) sameAround(edits []Edit, after string) *PatchError {
	if !d.sameFences(edits, after) {
		return refuse(FenceChange, "the edit would change whether the text after it is inside a code fence or a comment")
	}
	if !d.sameRegions(edits, skill.Regions(after)) {
		return refuse(Protected, "the edit would open, close or move a kept region")
	}
	if !d.slowOpen && !d.sameSlow(edits, slowMarks(after)) {
		return refuse(Protected, "the edit would open, close or move a block of the slow update")
	}
	return nil
}

// moved is by how much the edits shift what stands at byte at of the body and is touched by none of them.
func moved(edits []Edit, at int) int {
	delta := 0
	for _, e := range edits {
		if e.End <= at {
			delta += len(e.Text) - (e.End - e.Start)
		}
	}
	return delta
}

// sameFences looks at the lines that no edit touches and that still begin where a line begins.
func (d *Doc) sameFences(edits []Edit, after string) bool {
	if endKind(d.Body) != endKind(after) {
		return false
	}
	lines := mdblock.Scan(after)
	i, j, delta := 0, 0, 0
	for _, l := range d.lines {
		for i < len(edits) && edits[i].End <= l.Start {
			delta += len(edits[i].Text) - (edits[i].End - edits[i].Start)
			i++
		}
		if i < len(edits) && edits[i].Start < l.Start {
			continue // it begins inside an edit
		}
		for j < len(lines) && lines[j].Start < l.Start+delta {
			j++
		}
		if j == len(lines) || lines[j].Start != l.Start+delta {
			continue // the line now begins elsewhere: it was joined to the edited one
		}
		if i < len(edits) && edits[i].Start < l.End {
			continue // an edit changes it, and may change what it is
		}
		if lines[j].InFence != l.InFence || block(lines[j].Kind) != block(l.Kind) {
			return false
		}
	}
	return true
}

// block tells code, comment and everything else apart.
func block(k mdblock.Kind) int {
	switch k {
	case mdblock.FenceOpen, mdblock.FenceInside, mdblock.FenceClose:
		return 1
	case mdblock.Comment:
		return 2
	}
	return 0
}

// endKind is what a paragraph after the text would be: text, or swallowed by a fence or a comment left open.
func endKind(text string) int {
	lines := mdblock.Scan(text + "\n\nx")
	return block(lines[len(lines)-1].Kind)
}

func (d *Doc) sameRegions(edits []Edit, after []skill.Region) bool {
	if len(after) != len(d.regions) {
		return false
	}
	for i, r := range d.regions {
		by := moved(edits, r.Start)
		r.Start, r.End = r.Start+by, r.End+by
		if after[i] != r {
			return false
		}
	}
	return true
}

func (d *Doc) sameSlow(edits []Edit, after []slowMark) bool {
	return slices.EqualFunc(d.slow, after, func(a, b slowMark) bool {
		return a.closes == b.closes && a.Start+moved(edits, a.Start) == b.Start
	})
}

// Apply applies edits that were resolved against this document and do not overlap. The result does not depend on their
// order: insertions at one place go by support, then by key. The combination is checked again as a whole, since edits that
// are harmless alone can still disturb a fence or a region together.
func (d *Doc) Apply(edits []Edit) (string, *PatchError) {
	sorted := slices.Clone(edits)
	SortEdits(sorted)
	slices.SortStableFunc(sorted, func(a, b Edit) int {
		if a.Start != b.Start {
			return a.Start - b.Start
		}
		return (a.End - a.Start) - (b.End - b.Start) // an insertion stands before a change of the text after it
	})
	var b strings.Builder
	at := 0
	for _, e := range sorted {
		if e.Start < at {
			return "", refuse(Conflict, "two edits overlap")
		}
		b.WriteString(d.Body[at:e.Start])
		b.WriteString(e.Text)
		at = e.End
	}
	b.WriteString(d.Body[at:])
	out := b.String()
	if err := d.sameAround(sorted, out); err != nil {
		err.Detail = "together with the others: " + err.Detail
		return "", err
	}
	return out, nil
}

// ApplyOne resolves and applies a single patch to a body.
func ApplyOne(body string, p Patch) (string, *PatchError) {
	d := NewDoc(body)
	e, err := d.Resolve(p)
	if err != nil {
		return "", err
	}
	return d.Apply([]Edit{e})
}

// eolBefore is the line ending that text inserted at a line boundary takes: that of the line before it, or of the one
// before that where it has none.
func (d *Doc) eolBefore(at int) string {
	eol := ""
	for _, l := range d.lines {
		if l.Start >= at && eol != "" {
			break
		}
		if l.EOL != "" {
			eol = l.EOL
		}
	}
	if eol == "" {
		return "\n"
	}
	return eol
}

// eolAt is the ending of the line that holds byte at, or of the one before it where it has none.
func (d *Doc) eolAt(at int) string { return d.eolBefore(at + 1) }

func unify(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
}

func withEOL(s, eol string) string {
	if eol == "\n" {
		return s
	}
	return strings.ReplaceAll(s, "\n", eol)
}

func endsInEOL(s string) bool { return strings.HasSuffix(s, "\n") || strings.HasSuffix(s, "\r") }

func lenEOLBefore(s string) int {
	switch {
	case strings.HasSuffix(s, "\r\n"):
		return 2
	case endsInEOL(s):
		return 1
	}
	return 0
}
