package fakesource

import (
	"html"
	"strings"
	"unicode/utf8"
)

// sentences splits prose, keeping the full stops.
func sentences(text string) []string {
	var all []string
	from := 0
	runes := []rune(text)
	for i, r := range runes {
		ends := r == '。' || r == '！' || r == '？' || r == '\n'
		if r == '.' || r == '!' || r == '?' {
			ends = i+1 == len(runes) || runes[i+1] == ' ' || runes[i+1] == '\n'
		}
		if !ends {
			continue
		}
		if s := strings.TrimSpace(string(runes[from : i+1])); s != "" {
			all = append(all, s)
		}
		from = i + 1
	}
	if s := strings.TrimSpace(string(runes[from:])); s != "" {
		all = append(all, s)
	}
	return all
}

// snippet is the part of a document a result list shows: the sentence with most of the query, and what follows it, cut
// to a number of characters.
func snippet(d Document, query string, size int) string {
	body := strings.TrimSpace(d.Abstract + "\n" + d.prose())
	all := sentences(body)
	if len(all) == 0 {
		return d.Title
	}
	q, best, from := terms(query), -1, 0
	for i, s := range all {
		if _, n := score([]field{{s, 1}}, q); n > best {
			best, from = n, i
		}
	}
	var b strings.Builder
	for i, s := range all[from:] {
		if last, _ := utf8.DecodeLastRuneInString(b.String()); i > 0 && last < utf8.RuneSelf {
			b.WriteByte(' ') // Chinese sentences follow each other without a space
		}
		b.WriteString(s)
	}
	return clip(b.String(), size)
}

// clip cuts a text to a number of characters, at a word where it can.
func clip(s string, size int) string {
	if utf8.RuneCountInString(s) <= size {
		return s
	}
	cut := string([]rune(s)[:size])
	if i := strings.LastIndexByte(cut, ' '); i > len(cut)/2 {
		cut = cut[:i]
	}
	return strings.TrimRight(cut, " ,;") + "..."
}

// mark escapes a text for HTML and puts an element around the words of a query, as result lists do.
func mark(text, query, before, after string) string {
	on := make([]bool, len(text))
	for _, t := range terms(query) {
		for _, w := range tokens(text) {
			switch {
			case !t.han && w.text == t.text:
				set(on, w.from, w.to)
			case t.han && w.han:
				for _, p := range t.pieces() {
					for at := w.from; ; {
						i := strings.Index(text[at:w.to], p)
						if i < 0 {
							break
						}
						set(on, at+i, at+i+len(p))
						at += i + len(p)
					}
				}
			}
		}
	}
	var b strings.Builder
	for from := 0; from < len(text); {
		to := from
		for to < len(text) && on[to] == on[from] {
			to++
		}
		part := html.EscapeString(text[from:to])
		if on[from] {
			part = before + part + after
		}
		b.WriteString(part)
		from = to
	}
	return b.String()
}

func set(on []bool, from, to int) {
	for i := from; i < to; i++ {
		on[i] = true
	}
}
