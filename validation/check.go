package validation

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxChecked is the size of a text, in bytes, up to which it is checked.
const MaxChecked = 1 << 20

// Deterministic reports whether an item's verdict is the same each time for one text: all kinds but those a model judges.
func Deterministic(it Item) bool { return it.Kind != KindLLM }

// Reproducible reports whether items are decided by a text's bytes alone: neither by a model nor by a command, which may answer
// otherwise the next time. No items are not.
func Reproducible(items []Item) bool {
	return len(items) > 0 && !slices.ContainsFunc(items, func(it Item) bool { return it.Kind == KindLLM || it.Kind == KindCommand })
}

// Check decides an item of kind contains, not_contains, regex or section about a text, byte for byte; with FoldCase under
// Unicode's simple case folding. why is one clause for a report. It is Missing, never Fail, where there is nothing to
// decide by: a text of more than MaxChecked bytes, a kind that a model or a command decides, an expression that does not
// compile.
func Check(it Item, text string) (State, string) {
	if len(text) > MaxChecked {
		return Missing, fmt.Sprintf("the text has %d bytes, more than the %d that are checked", len(text), MaxChecked)
	}
	switch it.Kind {
	case KindContains, KindNotContains:
		in, pattern := text, it.Pattern
		if it.FoldCase {
			in, pattern = foldCase(in), foldCase(pattern)
		}
		return checkContains(it, strings.Contains(in, pattern))
	case KindRegex:
		expr := it.Pattern
		if it.FoldCase {
			expr = "(?i)" + expr
		}
		re, err := regexp.Compile(expr)
		if err != nil {
			return Missing, err.Error()
		}
		if re.MatchString(text) {
			return Pass, "the expression matches"
		}
		return Fail, "the expression matches nowhere"
	case KindSection:
		return checkSection(it, text)
	default:
		return Missing, fmt.Sprintf("an item of kind %s is not decided by looking at the text", it.Kind)
	}
}

func checkContains(it Item, found bool) (State, string) {
	why := short(it.Pattern) + " does not occur"
	if found {
		why = short(it.Pattern) + " occurs"
	}
	if found == (it.Kind == KindContains) {
		return Pass, why
	}
	return Fail, why
}

// foldCase puts the smallest character of its orbit under simple case folding in each one's place, so that texts that
// differ in case only become equal. Bytes that are no UTF-8 stay.
func foldCase(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n == 1 {
			b.WriteByte(s[i])
			i++
			continue
		}
		least := r
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			least = min(least, f)
		}
		b.WriteRune(least)
		i += n
	}
	return b.String()
}
