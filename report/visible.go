package report

import (
	"bytes"
	"fmt"
	"unicode"
	"unicode/utf8"
)

// visible writes out characters that a reader would not see but that change what is read: marks that turn the direction
// of text (CVE-2021-42574), spaces without width, tag characters, control characters. It works on the finished page, so no
// field can be forgotten; the page's own texts hold none of them. Bytes that are no UTF-8 become U+FFFD.
func visible(page []byte) []byte {
	page = bytes.ReplaceAll(page, []byte("\r\n"), []byte("\n"))
	out := make([]byte, 0, len(page))
	for len(page) > 0 {
		r, n := utf8.DecodeRune(page)
		switch {
		case r == utf8.RuneError && n == 1:
			out = utf8.AppendRune(out, utf8.RuneError)
		case hidden(r):
			out = fmt.Appendf(out, "⟦U+%04X⟧", r)
		default:
			out = append(out, page[:n]...)
		}
		page = page[n:]
	}
	return out
}

// hidden leaves out the joiners U+200C and U+200D, which Persian and emoji are written with.
func hidden(r rune) bool {
	switch {
	case r == '\n', r == '\t', r == 0x200C, r == 0x200D:
		return false
	case r >= 0xE0000 && r <= 0xE007F, r == 0x2028, r == 0x2029:
		return true
	}
	return unicode.Is(unicode.Cc, r) || unicode.Is(unicode.Bidi_Control, r) || r == 0x200B || r == 0x2060 || r == 0xFEFF || r == 0x00AD
}
