package skill

import (
	"strings"
	"unicode"
)

// Key turns a skill's name into the business key that names its workflow, its versions and its history: lower case,
// letters and digits of any script, dots and dashes. It returns "" for a name without any letter or digit.
func Key(name string) string {
	var b strings.Builder
	dash := false
	for _, r := range strings.ToLower(strings.TrimSpace(name)) {
		switch {
		case unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || r == '.':
			if dash && b.Len() > 0 {
				b.WriteByte('-')
			}
			dash = false
			b.WriteRune(r)
		default:
			dash = true
		}
	}
	return strings.Trim(b.String(), ".")
}
