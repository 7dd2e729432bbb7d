package optimizer

import (
	"errors"
	"fmt"
	"strings"

	"whetstone/internal/mdblock"
	"whetstone/skill"
)

// The markers of the block at the end of a body that the slow update alone rewrites, each on a line of its own.
const (
	SlowOpen  = "<!-- whetstone:slow -->"
	SlowClose = "<!-- /whetstone:slow -->"
)

// MaxSlow bounds the text of a slow block, in bytes.
const MaxSlow = 2000

// ErrSlowText is returned for a text that can not stand in a slow block.
var ErrSlowText = errors.New("the text can not stand in a slow block")

// SlowBlock finds the slow block of a body: bytes start to end from the first byte of the opening marker to the last of the
// closing one, without the line ending after it, and the text between the two lines without its last line ending. Markers
// in code, comments, lists and kept regions are text. ok is false unless there is exactly one opening marker and one closing
// marker below it: of two blocks nobody could say which one is meant.
func SlowBlock(body string) (start, end int, text string, ok bool) {
	marks := slowMarks(body)
	if len(marks) != 2 || marks[0].closes || !marks[1].closes {
		return 0, 0, "", false
	}
	start, end = marks[0].Start, marks[1].Start+len(SlowClose)
	text = body[marks[0].End:marks[1].Start]
	return start, end, text[:len(text)-lenEOLBefore(text)], true
}

type slowMark struct {
	mdblock.Line
	closes bool
}

// slowMarks are the lines of a body that are a marker of a slow block.
func slowMarks(body string) []slowMark {
	if !strings.Contains(body, SlowOpen) && !strings.Contains(body, SlowClose) {
		return nil
	}
	var out []slowMark
	regions := skill.Regions(body)
	for _, l := range mdblock.Scan(body) {
		text := strings.TrimRight(l.Text, " \t")
		if l.Kind != mdblock.Comment || l.Container > 0 || text != SlowOpen && text != SlowClose {
			continue
		}
		// A line inside a comment that an earlier line opened is of the same kind; only a scan of what stands before it tells.
		if within(regions, l.Start) || endKind(body[:l.Start]) != 0 {
			continue
		}
		out = append(out, slowMark{l, text == SlowClose})
	}
	return out
}

// SlowPatch is the one patch that makes text the text of body's slow block: it adds the block at the end where there is none,
// replaces the present one, or deletes it where text is empty. It is an ordinary patch for a Doc of NewSlowDoc, and resolves
// against it. Blank lines around the text are dropped.
//
// It fails with ErrSlowText for a text that may not stand there, and with a *PatchError for a body that takes none: NoChange
// where the block says so already, Protected where the body ends in a kept region left open, and so on.
func SlowPatch(body, text string) (Patch, error) {
	text = strings.Trim(unify(text), "\n")
	if strings.TrimSpace(text) == "" {
		text = ""
	}
	if err := checkSlowText(text); err != nil {
		return Patch{}, err
	}
	if marks := slowMarks(body); len(marks) > 0 {
		if _, _, _, ok := SlowBlock(body); !ok {
			return Patch{}, refuse(AnchorAmbiguous, "the body holds markers of a slow block that are no pair")
		}
	}
	start, end, _, ok := SlowBlock(body)
	var p Patch
	switch {
	case !ok && text == "":
		return Patch{}, refuse(NoChange, "there is no slow block to remove")
	case !ok && endKind(body) != 0:
		return Patch{}, refuse(FenceChange, "the body ends in a code fence or a comment left open")
	case !ok:
		p = Patch{Op: Add, Payload: SlowOpen + "\n" + text + "\n" + SlowClose}
		if !endsInBlankLine(body) {
			p.Payload = "\n" + p.Payload
		}
	case text == "":
		p = Patch{Op: Delete, Anchor: body[blankBefore(body, start):end]}
	default:
		p = Patch{Op: Replace, Anchor: body[start:end], Payload: SlowOpen + "\n" + text + "\n" + SlowClose}
	}
	d := NewSlowDoc(body)
	e, refusal := d.Resolve(p)
	if refusal != nil {
		return Patch{}, refusal
	}
	after, refusal := d.Apply([]Edit{e})
	if refusal != nil {
		return Patch{}, refusal
	}
	// Where markers stand is for the scan to say, and it saw the block of the text before: what it sees now has to be the text.
	if _, _, got, ok := SlowBlock(after); ok != (text != "") || unify(got) != text {
		return Patch{}, fmt.Errorf("%w: it does not end where its block ends", ErrSlowText)
	}
	return p, nil
}

func checkSlowText(text string) error {
	if len(text) > MaxSlow {
		return fmt.Errorf("%w: %d bytes, at most %d", ErrSlowText, len(text), MaxSlow)
	}
	for _, m := range []string{SlowOpen, SlowClose, skill.KeepOpen, skill.KeepClose} {
		if strings.Contains(text, m) {
			return fmt.Errorf("%w: it holds the marker %s", ErrSlowText, m)
		}
	}
	if endKind(text) != 0 {
		return fmt.Errorf("%w: it leaves a code fence or a comment open", ErrSlowText)
	}
	for _, s := range Sections(text) {
		if s.Level == 1 {
			return fmt.Errorf("%w: it holds a heading of level 1", ErrSlowText)
		}
	}
	return nil
}

// endsInBlankLine reports whether text that is added below the body needs no blank line of its own before it.
func endsInBlankLine(body string) bool {
	lines := mdblock.SplitLines(body)
	if len(lines) == 0 {
		return true
	}
	l := lines[len(lines)-1]
	return l.EOL != "" && strings.TrimSpace(l.Text) == ""
}

// blankBefore is where the blank line before a line begins, or the line itself.
func blankBefore(body string, start int) int {
	for _, l := range mdblock.SplitLines(body) {
		if l.End == start && strings.TrimSpace(l.Text) == "" {
			return l.Start
		}
	}
	return start
}
