// Package jsonmend finds a JSON object in what a language model wrote around it, and mends what models commonly get wrong.
// It never guesses contents: what is not there is not added.
package jsonmend

import "strings"

// Objects lists the spans of the text that may be the object: what each "{" at depth zero opens, the last one to the
// end of the text where it is never closed.
func Objects(s string) []string {
	var out []string
	for i := 0; i < len(s); {
		j := strings.IndexByte(s[i:], '{')
		if j < 0 {
			break
		}
		i += j
		end := Matching(s, i)
		if end < 0 {
			out = append(out, s[i:])
			i++
			if len(out) > 4 {
				break
			}
			continue
		}
		out = append(out, s[i:end])
		i = end
	}
	return out
}

// Matching returns the offset after the brace that closes the one at i, or -1.
func Matching(s string, i int) int {
	depth := 0
	inString := false
	for ; i < len(s); i++ {
		c := s[i]
		if inString {
			switch c {
			case '\\':
				i++
			case '"':
				inString = false
			}
			continue
		}
		switch c {
		case '"':
			inString = true
		case '{', '[':
			depth++
		case '}', ']':
			depth--
			if depth == 0 {
				return i + 1
			}
		}
	}
	return -1
}

// DropTrailingCommas removes commas before a closing bracket, outside strings.
func DropTrailingCommas(s string) string {
	var b strings.Builder
	inString := false
	for i := 0; i < len(s); i++ {
		c := s[i]
		if inString {
			b.WriteByte(c)
			if c == '\\' && i+1 < len(s) {
				i++
				b.WriteByte(s[i])
			} else if c == '"' {
				inString = false
			}
			continue
		}
		if c == '"' {
			inString = true
		}
		if c == ',' {
			rest := strings.TrimLeft(s[i+1:], " \t\r\n")
			if rest != "" && (rest[0] == '}' || rest[0] == ']') {
				continue
			}
		}
		b.WriteByte(c)
	}
	return b.String()
}
