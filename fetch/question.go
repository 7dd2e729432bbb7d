package fetch

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"whetstone/internal/words"
)

// keywords are the words of a seed that a search engine should look for, as they are written, in order. Questions lose
// their asking words.
func keywords(text string, most int) []string {
	var out []string
	for _, w := range strings.FieldsFunc(text, func(r rune) bool {
		return unicode.IsSpace(r) || strings.ContainsRune(`"“”‘’'()[]{}<>?!,;:。，？！；：、（）《》`, r)
	}) {
		w = strings.Trim(w, ".-/_")
		low := strings.ToLower(w)
		if w == "" || plainWord[low] {
			continue
		}
		out = append(out, w)
		if len(out) == most {
			break
		}
	}
	return out
}

var plainWord = words.Set(strings.Fields(`a an the and or of in on at to for from with by as is are was were be been do does did how what why when where which who can could should would will may might it its this that these those there than then into about between vs versus if not no you your we our i my`))

// chinese reports whether a text is mostly written in Chinese characters.
func chinese(text string) bool {
	han, all := 0, 0
	for _, r := range text {
		if unicode.IsLetter(r) {
			all++
			if unicode.Is(unicode.Han, r) {
				han++
			}
		}
	}
	return han*2 > all
}

// short cuts a text to n characters at a word.
func short(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	r := []rune(s)[:n]
	if i := strings.LastIndexByte(string(r), ' '); i > 0 {
		return string(r)[:i]
	}
	return string(r)
}

// unwrap joins the hard-wrapped lines of an abstract.
func unwrap(s string) string { return strings.Join(strings.Fields(s), " ") }
