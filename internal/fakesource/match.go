package fakesource

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// token is a word or a run of Han characters, and where it stands.
type token struct {
	text     string // lower case, a plural without its s
	han      bool
	from, to int
}

// tokens splits a text. Chinese has no spaces, so a run of Han characters stays whole and is compared by its bigrams.
func tokens(s string) []token {
	var all []token
	from, han := -1, false
	end := func(to int) {
		if from >= 0 {
			all = append(all, token{text: stem(s[from:to], han), han: han, from: from, to: to})
		}
		from = -1
	}
	for i, r := range s {
		isHan := unicode.Is(unicode.Han, r)
		if !isHan && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			end(i)
			continue
		}
		if from >= 0 && isHan != han {
			end(i)
		}
		if from < 0 {
			from, han = i, isHan
		}
	}
	end(len(s))
	return all
}

func stem(s string, han bool) string {
	if han {
		return s
	}
	s = strings.ToLower(s)
	if len(s) > 3 && strings.HasSuffix(s, "s") && !strings.HasSuffix(s, "ss") {
		s = s[:len(s)-1]
	}
	return s
}

var stopWords = strings.Fields("a an and are as at be by do does for from how in is it of on or that the this to was what when which who why with")

// terms are the words of a query that count.
func terms(query string) []token {
	all := tokens(query)
	kept := slices.DeleteFunc(slices.Clone(all), func(t token) bool { return slices.Contains(stopWords, t.text) })
	if len(kept) == 0 {
		return all
	}
	return kept
}

// pieces are what a run of Han characters is compared by.
func (t token) pieces() []string {
	if !t.han || utf8.RuneCountInString(t.text) < 3 {
		return []string{t.text}
	}
	var all []string
	runes := []rune(t.text)
	for i := range len(runes) - 1 {
		all = append(all, string(runes[i:i+2]))
	}
	return all
}

// hit says how well a text has a term, from 0 to 1: a word is in it or not, a run of Han characters may be in part.
func (t token) hit(text string, words []token) float64 {
	if !t.han {
		if slices.ContainsFunc(words, func(w token) bool { return w.text == t.text }) {
			return 1
		}
		return 0
	}
	pieces, found := t.pieces(), 0
	for _, p := range pieces {
		if strings.Contains(text, p) {
			found++
		}
	}
	return float64(found) / float64(len(pieces))
}

// field is a part of a document, and how much a word found in it counts.
type field struct {
	text   string
	weight float64
}

// score weighs the terms found; matched is how many were found at all, half of a Han run being enough.
func score(fields []field, query []token) (points float64, matched int) {
	best := make([]float64, len(query))
	for _, f := range fields {
		words := tokens(f.text)
		for i, t := range query {
			h := t.hit(f.text, words)
			points += h * f.weight
			best[i] = max(best[i], h)
		}
	}
	for _, h := range best {
		if h >= 0.5 {
			matched++
		}
	}
	return points, matched
}

// some is enough for services that rank by relevance: a third of the words.
func some(matched, of int) bool { return matched > 0 && 3*matched >= of }

// every word has to be there for services whose search joins words by AND.
func every(matched, of int) bool { return matched == of && of > 0 }

// rank returns the documents that match, best first; ties are broken by ID, so that the order is stable.
func rank(docs []Document, query string, fields func(Document) []field, enough func(matched, of int) bool) []Document {
	type ranked struct {
		Document
		points float64
	}
	q := terms(query)
	var found []ranked
	for _, d := range docs {
		if points, matched := score(fields(d), q); enough(matched, len(q)) {
			found = append(found, ranked{d, points})
		}
	}
	slices.SortStableFunc(found, func(a, b ranked) int {
		if a.points != b.points {
			if a.points > b.points {
				return -1
			}
			return 1
		}
		return strings.Compare(a.ID, b.ID)
	})
	out := make([]Document, len(found))
	for i, f := range found {
		out[i] = f.Document
	}
	return out
}

// everything is the fields of services that index the full text.
func everything(d Document) []field {
	return []field{{d.Title, 4}, {d.Abstract, 2}, {d.Body, 1}, {strings.Join(d.Authors, " "), 1}}
}
