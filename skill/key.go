package skill

import (
	"strings"
	"unicode"
)

// Key turns a skill's name into the business key that names its workflow, its versions and its history: lower case,
// letters and digits of any script, dots and dashes. It returns "" for a name without any letter or digit.
func Key(name string) string {
	var b strings.Builder
	sep := rune(0)
	for _, r := range strings.ToLower(strings.TrimSpace(name)) {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) {
			if sep != 0 && b.Len() > 0 {
				b.WriteRune(sep)
			}
			sep = 0
			b.WriteRune(r)
			continue
		}
		// A dot alone between two letters stays ("v1.2"); every other run of separators becomes one dash.
		if r == '.' && sep == 0 {
			sep = '.'
		} else {
			sep = '-'
		}
	}
	return b.String()
}
