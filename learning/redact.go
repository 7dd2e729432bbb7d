package learning

import (
	"slices"
	"strings"
	"unicode"
)

// Redact replaces secrets by "[redacted:kind]" and counts them by kind. Shapes come first (keys and tokens of known
// vendors, private keys, connection strings with passwords), then assignments of values that look random. It is
// idempotent.
func Redact(s string) (string, map[string]int) {
	var counts map[string]int
	low, long := lowered(s), longest(s)
	known := map[*string][][2]int{} // spans of the words that several shapes share
	for i := range shapes {
		sh := &shapes[i]
		if len(sh.need) == 0 && long < sh.long {
			continue
		}
		var spans [][2]int
		if len(sh.need) > 0 {
			key := &sh.need[0]
			s, ok := known[key]
			if !ok || !sh.near {
				s = sh.where(low)
				known[key] = s
			}
			spans = s
			if spans == nil {
				continue
			}
		}
		out, n := sh.apply(s, spans)
		if n > 0 {
			if counts == nil {
				counts = map[string]int{}
			}
			counts[sh.kind] += n
			s = out
			low = lowered(s)
			clear(known)
		}
	}
	return s, counts
}

// Bounds of the surroundings of a word that gives a secret away.
const (
	nearBefore = 160
	nearAfter  = 1200
)

// where says in which parts of a text a shape is looked for: nil is nowhere. low is the text in lower case.
func (sh *shape) where(low string) [][2]int {
	var spans [][2]int
	for _, w := range sh.need {
		covered := 0 // what is before it lies in a span already
		for from := 0; ; {
			i := strings.Index(low[from:], w)
			if i < 0 {
				break
			}
			i += from
			if !sh.near {
				return [][2]int{{0, len(low)}}
			}
			from = i + len(w)
			if from+nearAfter <= covered {
				continue
			}
			span := around(low, i, from)
			spans = append(spans, span)
			covered = span[1]
		}
	}
	slices.SortFunc(spans, func(a, b [2]int) int { return a[0] - b[0] })
	var out [][2]int
	for _, s := range spans {
		if n := len(out); n > 0 && s[0] <= out[n-1][1] {
			out[n-1][1] = max(out[n-1][1], s[1])
			continue
		}
		out = append(out, s)
	}
	return out
}

// around is the line of a word and the one after it, and less of very long lines.
func around(s string, from, to int) [2]int {
	start := max(0, from-nearBefore)
	start += strings.LastIndexByte(s[start:from], '\n') + 1
	end := min(len(s), to+nearAfter)
	if i := strings.IndexByte(s[to:end], '\n'); i >= 0 {
		if j := strings.IndexByte(s[to+i+1:end], '\n'); j >= 0 {
			end = to + i + 1 + j
		}
	}
	// Not inside a token, whose rest would stay.
	for end < len(s) && s[end] > ' ' {
		end++
	}
	for start > 0 && s[start]&0xc0 == 0x80 {
		start--
	}
	return [2]int{start, end}
}

func (sh *shape) apply(s string, spans [][2]int) (string, int) {
	if spans == nil {
		spans = [][2]int{{0, len(s)}}
	}
	var b strings.Builder
	last, n := 0, 0
	for _, span := range spans {
		for _, m := range sh.re().FindAllStringSubmatchIndex(s[span[0]:span[1]], -1) {
			start, end := span[0]+m[2*sh.group], span[0]+m[2*sh.group+1]
			secret := s[start:end]
			if strings.HasPrefix(secret, "[redacted:") || (sh.accept != nil && !sh.accept(secret)) {
				continue
			}
			b.WriteString(s[last:start])
			b.WriteString("[redacted:" + sh.kind + "]")
			last = end
			n++
		}
	}
	if n == 0 {
		return s, 0
	}
	b.WriteString(s[last:])
	return b.String(), n
}

// lowered is s with small letters, of the same length: only the ASCII ones change.
func lowered(s string) string {
	b := []byte(s)
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}

// longest is the length of the longest run without a space, in bytes.
func longest(s string) int {
	most, run := 0, 0
	for _, r := range s {
		if unicode.IsSpace(r) {
			run = 0
			continue
		}
		run++
		most = max(most, run)
	}
	return most
}
