// Package wiki says what a wiki is: its flavours, its strict configuration, how pages are named, rendered and linked. It
// is pure; wiki/folder reads and writes the files, wiki/viewer renders the HTML. A page's text is a function of the
// evidence, so that it can be rendered again at any time, on any machine, byte for byte.
package wiki

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"whetstone/claim"
)

// ConfigFile is the wiki's configuration, in its folder.
const ConfigFile = "wiki.config.md"

// Slug makes a file name of a title: lower-case letters and digits of any script, with hyphens between. Titles that
// differ in nothing but marks share a slug; PageSlug keeps their files apart.
func Slug(title string) string {
	var b strings.Builder
	gap := false
	for _, r := range strings.ToLower(norm.NFKC.String(title)) {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) {
			if gap && b.Len() > 0 {
				b.WriteByte('-')
			}
			gap = false
			if b.Len()+utf8.RuneLen(r) > 80 {
				break
			}
			b.WriteRune(r)
			continue
		}
		gap = true
	}
	s := strings.TrimRight(b.String(), "-")
	if s == "" || reserved[s] {
		// Nothing to name it by, or a name that a file system keeps for itself.
		return "page-" + claim.ID(title)[:8]
	}
	return s
}

// reserved are names of devices on one file system or another.
var reserved = map[string]bool{"con": true, "prn": true, "aux": true, "nul": true, "com1": true, "com2": true, "com3": true, "com4": true, "lpt1": true, "lpt2": true, "lpt3": true, "index": true}

// PageSlug is Slug, with a part of the topic's hash where another topic has the plain one already.
func PageSlug(title, key string, taken func(slug string) bool) string {
	s := Slug(title)
	if !taken(s) {
		return s
	}
	return s + "-" + claim.ID(key)[:8]
}

// ValidSlug reports whether s can name a wiki: lower-case ASCII letters, CJK letters, digits and hyphens, not a hyphen
// first, at most 64 characters.
func ValidSlug(s string) bool {
	if s == "" || utf8.RuneCountInString(s) > 64 || s[0] == '-' {
		return false
	}
	for _, r := range s {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '-':
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul):
		default:
			return false
		}
	}
	return true
}
