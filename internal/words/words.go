// Package words cuts text of any script into comparable tokens: folded, stemmed words for alphabetic scripts, bigrams
// for Chinese, Japanese and Korean. Clustering, contradiction finding and matching rest on it. It holds no judgement of
// what a text means; the offline judge and the offline reflector each have their own reading and do not use it.
package words

import (
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Tokens returns the tokens of s in order, stop words included. Identifiers such as t.Cleanup or --force-with-lease stay
// whole and unstemmed.
func Tokens(s string) []string {
	var out []string
	var word []rune
	var cjk []rune
	flushWord := func() {
		w := strings.Trim(string(word), ".-_/")
		word = word[:0]
		if w == "" {
			return
		}
		if strings.ContainsAny(w, "._-/0123456789") {
			out = append(out, w)
			return
		}
		out = append(out, stem(w))
	}
	flushCJK := func() {
		switch {
		case len(cjk) == 1:
			out = append(out, string(cjk))
		default:
			for i := 0; i+1 < len(cjk); i++ {
				out = append(out, string(cjk[i:i+2]))
			}
		}
		cjk = cjk[:0]
	}
	for _, r := range strings.ToLower(norm.NFKC.String(s)) {
		switch {
		case IsCJK(r):
			flushWord()
			cjk = append(cjk, r)
		case unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || ((r == '.' || r == '-' || r == '_' || r == '/') && len(word) > 0):
			flushCJK()
			word = append(word, r)
		case r == '\'' || r == '’':
			flushCJK() // an apostrophe joins: don't -> dont
		default:
			flushWord()
			flushCJK()
		}
	}
	flushWord()
	flushCJK()
	return out
}

// IsCJK reports whether r belongs to a script written without spaces between words.
func IsCJK(r rune) bool {
	return r >= 0x1100 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul)
}

// Content returns the tokens of s that carry meaning, as a set: stop words and negators are left out.
func Content(s string) map[string]bool {
	out := map[string]bool{}
	for _, t := range Tokens(cjkModals.Replace(s)) {
		if !stop[t] && !negators[t] {
			out[t] = true
		}
	}
	return out
}

// Negated reports whether s, read as one piece of advice, forbids: an odd number of negators.
func Negated(s string) bool {
	low := strings.ToLower(s)
	n := 0
	for _, p := range cjkNegators {
		n += strings.Count(low, p)
	}
	for _, t := range Tokens(s) {
		if negators[t] {
			n++
		}
	}
	return n%2 == 1
}

// Jaccard is |a and b| / |a or b|, 0 for two empty sets.
func Jaccard(a, b map[string]bool) float64 {
	both := 0
	for t := range a {
		if b[t] {
			both++
		}
	}
	if n := len(a) + len(b) - both; n > 0 {
		return float64(both) / float64(n)
	}
	return 0
}

// Set makes a set of tokens.
func Set(tokens []string) map[string]bool {
	out := make(map[string]bool, len(tokens))
	for _, t := range tokens {
		out[t] = true
	}
	return out
}

var stop = Set(strings.Fields(`a an the and or but if then so as at by for from in into is are be been was were it its of on
onto that this these those to with you your we our i he she they them their not-a will would can could should must may might
do doe did have has had when while which who what where how all ani each everi also veri just onli than such there here
too up out about over again more most some other same own get got go let make use 的 了 是 在 和 与 或 也 都 就 要 请 把 对 为`))

var negators = Set(strings.Fields(`not never no dont doesnt didnt cant cannot wont shouldnt mustnt without avoid forbid
forbidden prohibit refus stop neither nor`))

// cjkModals stand for what a piece of advice does with its subject, and not for the subject.
var cjkModals = func() *strings.Replacer {
	var pairs []string
	for _, w := range append(slices.Clone(cjkNegators), "允许", "可以", "应该", "应当", "必须", "务必", "推荐", "建议") {
		pairs = append(pairs, w, " ")
	}
	return strings.NewReplacer(pairs...)
}()

var cjkNegators = []string{"不要", "不能", "不得", "不可", "不应", "不准", "不许", "禁止", "避免", "切勿", "勿", "严禁", "别再", "绝不", "从不", "无需", "不用", "不再"}

// SameSubject holds when nearly all content words of the shorter advice occur in the longer one, and the longer one does not say
// much else. Fewer than three words are too few to go by.
func SameSubject(a, b map[string]bool) bool {
	both := 0
	for t := range a {
		if b[t] {
			both++
		}
	}
	small, large := min(len(a), len(b)), max(len(a), len(b))
	return small >= 3 && float64(both) >= 0.85*float64(small) && float64(both) >= 0.5*float64(large)
}
