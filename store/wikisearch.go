package store

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"whetstone/claim"
	"whetstone/internal/words"
)

// WikiQuery is a question to the wikis.
type WikiQuery struct {
	Text   string
	Wiki   string // "" is all
	Kind   string // of page; "" is all
	What   string // page or claim; "" is both
	Since  *time.Time
	Limit  int
	Vector []float32 // of the question, of length one; nil leaves vectors out
	Model  string    // the vector's
	Except string    // a page that is not to be found
	// Engines limits the search to some of words, trigrams, cjk, vectors; nil is all. For measuring.
	Engines []string
}

// WikiHit is one thing found. Score is the reciprocal rank fusion of the engines that found it, higher is better.
type WikiHit = claim.Hit

// rrfK is the constant of reciprocal rank fusion (Cormack, Clarke and Buettcher 2009).
const rrfK = 60

// depthOfList is how far each engine's list goes into the fusion.
const depthOfList = 60

// SearchWikis finds pages and claims: BM25 over words (title, summary, content), trigrams for substrings and identifiers,
// bigrams for Chinese, Japanese and Korean, and vectors where the question has one, fused by reciprocal rank. No question
// is a syntax error: every term is quoted. It makes no network call.
func (s *Store) SearchWikis(ctx context.Context, q WikiQuery) ([]WikiHit, error) {
	if q.Limit <= 0 {
		q.Limit = 10
	}
	t := wikiTerms(q.Text)
	type list struct {
		weight float64
		refs   []int64
	}
	var lists []list
	for _, e := range []struct {
		name, match, rank string
		weight            float64
	}{
		{"words", t.words, `bm25(entries_words, 4, 2, 1, 0.6)`, 1},
		{"trigrams", t.trigrams, `bm25(entries_trigrams, 3, 1)`, t.trigramWeight},
		{"cjk", t.cjk, `bm25(entries_cjk)`, 1},
	} {
		if e.match == "" || q.Engines != nil && !slices.Contains(q.Engines, e.name) {
			continue
		}
		refs, err := s.engine(ctx, e.name, e.match, e.rank, q)
		if err != nil {
			return nil, err
		}
		lists = append(lists, list{e.weight, refs})
	}
	if len(q.Vector) > 0 && (q.Engines == nil || slices.Contains(q.Engines, "vectors")) {
		refs, err := s.nearest(ctx, q)
		if err != nil {
			return nil, err
		}
		lists = append(lists, list{1, refs})
	}
	score := map[int64]float64{}
	for _, l := range lists {
		for i, n := range l.refs {
			score[n] += l.weight / float64(rrfK+i+1)
		}
	}
	order := make([]int64, 0, len(score))
	for n := range score {
		order = append(order, n)
	}
	slices.SortFunc(order, func(a, b int64) int { return cmp.Or(cmp.Compare(score[b], score[a]), cmp.Compare(a, b)) })
	if len(order) > q.Limit {
		order = order[:q.Limit]
	}
	out := make([]WikiHit, 0, len(order))
	for _, n := range order {
		h := WikiHit{Score: math.Round(score[n]*1e6) / 1e6}
		var content, at string
		err := s.read.QueryRowContext(ctx, `SELECT e.ref, e.wiki, e.what, e.kind, e.page_id, e.title, e.summary, e.content, e.at, p.path FROM entries e JOIN pages p ON p.id = e.page_id WHERE e.n = ?`, n).
			Scan(&h.Ref, &h.Wiki, &h.What, &h.Kind, &h.PageID, &h.Title, &h.Summary, &content, &at, &h.Path)
		if errors.Is(err, sql.ErrNoRows) {
			continue
		}
		if err != nil {
			return nil, wrap(err, "search the wikis")
		}
		h.Text = content
		if h.What == "page" {
			h.Text = excerpt(content, t.plain)
		}
		if h.At, err = parseTime(at); err != nil {
			return nil, wrap(err, "search the wikis")
		}
		out = append(out, h)
	}
	return out, nil
}

func (s *Store) engine(ctx context.Context, name, match, rank string, q WikiQuery) ([]int64, error) {
	table := "entries_" + name
	since := ""
	if q.Since != nil {
		since = stamp(*q.Since)
	}
	// The names are constants of this file.
	return collect(ctx, s.read, "search the wikis", func(r scanner) (int64, error) {
		var n int64
		return n, r.Scan(&n)
	}, `SELECT e.n FROM `+table+` f JOIN entries e ON e.n = f.rowid WHERE `+table+` MATCH ?1 AND (?2 = '' OR e.wiki = ?2) AND (?3 = '' OR e.kind = ?3) AND (?4 = '' OR e.what = ?4) AND (?5 = '' OR e.at >= ?5) AND e.page_id <> ?6
		ORDER BY `+rank+`, e.n LIMIT ?7`, match, q.Wiki, q.Kind, q.What, since, q.Except, depthOfList)
}

// terms of a question, ready for each engine.
type wikiQueryTerms struct {
	words, trigrams, cjk string // alternatives
	trigramWeight        float64
	plain                []string
	wordList, cjkList    []string // the single terms, quoted
}

func wikiTerms(text string) wikiQueryTerms {
	var t wikiQueryTerms
	text = norm.NFKC.String(strings.ToValidUTF8(strings.ReplaceAll(text, "\x00", " "), " "))
	var ws, tri []string
	seen := map[string]bool{}
	add := func(list *[]string, w string) {
		w = `"` + strings.ReplaceAll(w, `"`, `""`) + `"`
		if !seen[w] || list == &tri {
			seen[w] = true
			*list = append(*list, w)
		}
	}
	tokens := strings.FieldsFunc(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) || words.IsCJK(r)
	})
	var content []string
	for _, w := range tokens {
		if low := strings.ToLower(w); !questionWord[low] {
			content = append(content, w)
		}
	}
	if len(content) == 0 {
		content = tokens
	}
	if len(content) > 40 {
		content = content[:40]
	}
	for _, w := range content {
		add(&ws, w)
		if v := otherSpelling(strings.ToLower(w)); v != "" {
			add(&ws, v)
		}
		t.plain = append(t.plain, strings.ToLower(w))
		if parts := camel(w); len(parts) > 1 {
			for _, p := range parts {
				if len(p) > 1 {
					add(&ws, p)
				}
			}
		}
	}
	// Trigrams look for what stands together in the question: identifiers, paths, operators. Plain words are left to the
	// word index unless they are long enough to be part of a longer one.
	technical := false
	for _, w := range strings.Fields(text) {
		w = strings.Trim(w, `"'“”‘’`+"`"+`,;:!?()[]{}。，？！`)
		if strings.ContainsFunc(w, words.IsCJK) || utf8.RuneCountInString(w) < 3 || questionWord[strings.ToLower(w)] {
			continue
		}
		tech := strings.ContainsAny(w, "_./\\->:=#@()[]{}*&%$+0123456789") || len(camel(w)) > 1
		technical = technical || tech
		if tech || utf8.RuneCountInString(w) >= 4 {
			add(&tri, w)
		}
	}
	if len(tri) > 20 {
		tri = tri[:20]
	}
	t.trigramWeight = 0.5
	if technical {
		t.trigramWeight = 1
	}
	t.wordList = ws
	t.words, t.trigrams = strings.Join(ws, " OR "), strings.Join(tri, " OR ")
	var cjk []string
	var run []rune
	flush := func() {
		switch {
		case len(run) == 1:
			cjk = append(cjk, `"`+string(run)+`"*`)
		case len(run) > 1:
			for i := 0; i+1 < len(run); i++ {
				g := string(run[i : i+2])
				if !cjkFunction[g] || len(run) == 2 {
					cjk = append(cjk, `"`+g+`"`)
				}
			}
		}
		run = run[:0]
	}
	for _, r := range text {
		if words.IsCJK(r) {
			run = append(run, r)
			continue
		}
		flush()
	}
	flush()
	slices.Sort(cjk)
	cjk = slices.Compact(cjk)
	if len(cjk) > 60 {
		cjk = cjk[:60]
	}
	for _, g := range cjk {
		t.plain = append(t.plain, strings.Trim(g, `"*`))
	}
	t.cjkList = cjk
	t.cjk = strings.Join(cjk, " OR ")
	return t
}

// otherSpelling is the British spelling of an American word and the other way round, "" for most words.
func otherSpelling(w string) string {
	for _, e := range []string{"ation", "ations", "e", "ed", "es", "er", "ers", "ing"} {
		if stem, ok := strings.CutSuffix(w, "iz"+e); ok && len(stem) > 3 {
			return stem + "is" + e
		}
		if stem, ok := strings.CutSuffix(w, "is"+e); ok && len(stem) > 3 {
			return stem + "iz" + e
		}
	}
	for _, p := range [][2]string{{"color", "colour"}, {"behavior", "behaviour"}, {"flavor", "flavour"}, {"center", "centre"}, {"fiber", "fibre"}, {"license", "licence"}, {"catalog", "catalogue"}, {"labeled", "labelled"}, {"modeling", "modelling"}, {"canceled", "cancelled"}, {"defense", "defence"}, {"meter", "metre"}, {"liter", "litre"}, {"gray", "grey"}} {
		if i := slices.IndexFunc([]string{p[0], p[0] + "s"}, func(x string) bool { return x == w }); i >= 0 {
			return p[1] + strings.Repeat("s", i)
		}
		if i := slices.IndexFunc([]string{p[1], p[1] + "s"}, func(x string) bool { return x == w }); i >= 0 {
			return p[0] + strings.Repeat("s", i)
		}
	}
	return ""
}

// questionWord are words of questions that say nothing about the answer.
var questionWord = words.Set(strings.Fields(`a an the and or but if then so as at by for from in into is are be been was were it its of on to with you your we our i do does did how what when where which who why can could should would will may might there this that these those about me my not no any has have had than`))

var cjkFunction = words.Set(strings.Fields(`什么 怎么 如何 为什 怎样 哪些 哪个 是否 可以 一个 么是 的是 是什 有什 么样 吗 的区 区别`))

// excerpt is the part of a text around the first of the terms.
func excerpt(text string, terms []string) string {
	low := strings.ToLower(text)
	at := -1
	for _, t := range terms {
		if i := strings.Index(low, t); i >= 0 && (at < 0 || i < at) {
			at = i
		}
	}
	if at > len(text) {
		at = -1
	}
	from := max(0, at-120)
	to := min(len(text), from+360)
	s := strings.Join(strings.Fields(strings.ToValidUTF8(text[from:to], "")), " ")
	if from > 0 {
		s = "… " + s
	}
	if to < len(text) {
		s += " …"
	}
	return s
}

// nearest ranks pages by the cosine of the question's vector and the best of their chunks.
func (s *Store) nearest(ctx context.Context, q WikiQuery) ([]int64, error) {
	if q.What == "claim" {
		return nil, nil
	}
	rows, err := s.read.QueryContext(ctx, `SELECT e.n, v.vec FROM chunks c JOIN vectors v ON v.hash = c.hash AND v.model = ?1 JOIN entries e ON e.ref = 'page:' || c.page_id
		WHERE (?2 = '' OR c.wiki = ?2) AND (?3 = '' OR e.kind = ?3) AND c.page_id <> ?4`, q.Model, q.Wiki, q.Kind, q.Except)
	if err != nil {
		return nil, wrap(err, "search by vectors")
	}
	defer func() { _ = rows.Close() }()
	best := map[int64]float64{}
	for rows.Next() {
		var n int64
		var raw sql.RawBytes
		if err := rows.Scan(&n, &raw); err != nil {
			return nil, wrap(err, "search by vectors")
		}
		if len(raw) != 4*len(q.Vector) {
			continue
		}
		dot := 0.0
		for i, x := range q.Vector {
			dot += float64(x) * float64(math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:])))
		}
		if old, ok := best[n]; !ok || dot > old {
			best[n] = dot
		}
	}
	if err := rows.Err(); err != nil {
		return nil, wrap(err, "search by vectors")
	}
	out := make([]int64, 0, len(best))
	for n, v := range best {
		if v > 0 {
			out = append(out, n)
		}
	}
	slices.SortFunc(out, func(a, b int64) int { return cmp.Or(cmp.Compare(best[b], best[a]), cmp.Compare(a, b)) })
	if len(out) > depthOfList {
		out = out[:depthOfList]
	}
	return out, nil
}
