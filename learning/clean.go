package learning

import (
	"strings"
	"unicode"
)

// Clean removes control characters, which have no place in a rule and can drive a terminal; line breaks and tabs stay.
// Invisible direction marks go, too: they make a text read as another one.
func Clean(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\r' || r == '\t':
			return r
		case unicode.IsControl(r), r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069:
			return -1
		}
		return r
	}, s)
}
