package hook

import (
	"regexp/syntax"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// TestCuesNameTheirWords derives from each expression which words a match must hold, and compares them with those that decide
// whether it is asked at all.
func TestCuesNameTheirWords(t *testing.T) {
	n := 0
	for _, c := range append(append([]cue{}, cues...), cjkCues...) {
		if slices.Contains(c.words, "") { // always asked
			continue
		}
		n++
		covered := func(set []string) bool {
			return len(set) > 0 && !slices.ContainsFunc(set, func(s string) bool {
				s = strings.ReplaceAll(s, "ſ", "s")
				return !slices.ContainsFunc(c.words, func(w string) bool { return strings.Contains(s, w) })
			})
		}
		sets := required(c.re().String())
		if !slices.ContainsFunc(sets, covered) {
			t.Errorf("a match of %s need not hold one of %q; it must hold one of %q", c.re(), c.words, sets)
		}
	}
	if n < 70 {
		t.Errorf("only %d cues name words", n)
	}
}

// required returns sets of strings, of each of which every match of an expression holds one, in lower case. It follows the
// prefilter of RE2: what is exact is multiplied out, what is not is chosen from.
func required(expr string) [][]string {
	re, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		panic(err)
	}
	sets := [][]string{analyse(re).best()}
	if re.Op == syntax.OpConcat {
		for i := range re.Sub {
			sets = append(sets, analyse(re.Sub[i]).best())
			for j := i + 1; j <= len(re.Sub); j++ {
				sets = append(sets, analyse(&syntax.Regexp{Op: syntax.OpConcat, Sub: re.Sub[i:j]}).best())
			}
		}
	}
	return sets
}

type info struct {
	exact []string // all that it matches, nil is unknown
	need  []string // one of these is in what it matches, nil is unknown
}

func (i info) best() []string {
	if i.exact != nil && good(i.exact) >= good(i.need) {
		return i.exact
	}
	return i.need
}

// good is the length of the shortest, 0 for none.
func good(set []string) int {
	if len(set) == 0 {
		return 0
	}
	n := 1 << 20
	for _, s := range set {
		n = min(n, len(strings.TrimSpace(s)))
	}
	return n
}

const most = 400

func analyse(re *syntax.Regexp) info {
	switch re.Op {
	case syntax.OpLiteral:
		return info{exact: []string{strings.ToLower(string(re.Rune))}}
	case syntax.OpCharClass:
		var out []string
		for i := 0; i < len(re.Rune); i += 2 {
			if re.Rune[i+1]-re.Rune[i] > 8 {
				return info{}
			}
			for r := re.Rune[i]; r <= re.Rune[i+1]; r++ {
				out = append(out, string(unicode.ToLower(r)))
			}
		}
		if len(out) > 8 {
			return info{}
		}
		return info{exact: out}
	case syntax.OpEmptyMatch, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText, syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return info{exact: []string{""}}
	case syntax.OpCapture:
		return analyse(re.Sub[0])
	case syntax.OpQuest:
		if s := analyse(re.Sub[0]); s.exact != nil {
			return info{exact: append([]string{""}, s.exact...)}
		}
		return info{}
	case syntax.OpPlus:
		return info{need: analyse(re.Sub[0]).best()}
	case syntax.OpRepeat:
		if re.Min > 0 {
			return info{need: analyse(re.Sub[0]).best()}
		}
		return info{}
	case syntax.OpAlternate:
		var all info
		exact, need := true, true
		for _, s := range re.Sub {
			i := analyse(s)
			if i.exact == nil {
				exact = false
			}
			if b := i.best(); good(b) == 0 {
				need = false
			} else {
				all.need = append(all.need, b...)
			}
			all.exact = append(all.exact, i.exact...)
		}
		if !exact {
			all.exact = nil
		}
		if !need {
			all.need = nil
		}
		return all
	case syntax.OpConcat:
		var best []string
		run := []string{""}
		flush := func() {
			if good(run) > good(best) {
				best = run
			}
			run = []string{""}
		}
		exact := true
		for _, s := range re.Sub {
			i := analyse(s)
			if i.exact == nil || len(i.exact)*len(run) > most {
				exact = false
				flush()
				if b := i.best(); good(b) > good(best) {
					best = b
				}
				if i.exact != nil && len(i.exact) <= most {
					run = i.exact
				}
				continue
			}
			var next []string
			for _, a := range run {
				for _, b := range i.exact {
					next = append(next, a+b)
				}
			}
			run = next
		}
		if exact {
			return info{exact: run, need: nil}
		}
		flush()
		return info{need: best}
	}
	return info{}
}
