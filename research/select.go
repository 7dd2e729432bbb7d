package research

import (
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"whetstone/claim"
	"whetstone/internal/words"
)

// Text is a document as extraction sees it.
type Text struct {
	SourceID string
	Snapshot string
	Title    string
	Body     string
	Snippet  bool // a search engine's excerpt: it may be cut off anywhere
}

// Limits bound what is taken for one seed.
type Limits struct {
	Total     int // claims for a seed
	PerSource int
}

// DefaultLimits are what a page holds well.
var DefaultLimits = Limits{Total: 12, PerSource: 5}

// Select chooses the sentences of the documents that state something about the query, best first within the limits, in the
// order of documents and of places in them. A sentence counts for the query's words it has, for the words that its
// document keeps coming back to, and for figures; it must stand on its own. Sentences that say the same are taken once.
// The scoring is in the manner of extractive summarisation (Luhn 1958; Carbonell and Goldstein 1998 for redundancy).
func Select(query string, docs []Text, l Limits) []claim.Found {
	type scored struct {
		doc   int
		s     Sentence
		score float64
		also  []claim.Span
	}
	span := func(d Text, s Sentence) claim.Span {
		return claim.Span{SourceID: d.SourceID, Snapshot: d.Snapshot, Start: s.Start, End: s.End, Quote: d.Body[s.Start:s.End]}
	}
	want := queryTerms(query)
	telling := tellingTerms(want, docs)
	var all []scored
	for d, doc := range docs {
		sentences := Sentences(doc.Body)
		tf := map[string]int{}
		content := make([]map[string]bool, len(sentences))
		for i, s := range sentences {
			content[i] = words.Content(s.Text)
			for t := range content[i] {
				tf[t]++
			}
		}
		title := words.Content(doc.Title)
		hits, tells := 0, false
		for t := range want {
			if tf[t] > 0 || title[t] {
				hits++
			}
			tells = tells || telling[t] && (tf[t] > 1 || title[t])
		}
		// One word of a topic of two is another topic, unless it is the one that tells this document from the others and the
		// document keeps to it.
		relevant := len(want) == 0 || hits >= min(2, len(want)) || tells
		if !relevant {
			continue
		}
		about := len(want) > 0 && (meets(title, want) || float64(hits) >= 0.6*float64(len(want)))
		for i, s := range sentences {
			if !standsAlone(s, doc.Snippet) {
				continue
			}
			score := relevance(content[i], want, tf, title)
			if score < leastScore {
				continue
			}
			if len(want) > 0 && !meets(content[i], want) && (!about || score < strayScore) {
				continue // says nothing of the topic, in a document that is about something else
			}
			if s.first {
				score += 0.1
			}
			if len(figures(s.Text)) > 0 {
				score += 0.1
			}
			all = append(all, scored{doc: d, s: s, score: score})
		}
	}
	slices.SortStableFunc(all, func(a, b scored) int {
		switch {
		case a.score > b.score:
			return -1
		case a.score < b.score:
			return 1
		}
		return 0
	})
	var chosen []scored
	per := map[int]int{}
	for _, c := range all {
		if i := slices.IndexFunc(chosen, func(o scored) bool { return Duplicate(o.s.Text, c.s.Text) }); i >= 0 {
			if o := &chosen[i]; o.doc != c.doc && !slices.ContainsFunc(o.also, func(s claim.Span) bool { return s.SourceID == docs[c.doc].SourceID }) {
				o.also = append(o.also, span(docs[c.doc], c.s))
			}
			continue
		}
		if len(chosen) >= l.Total || per[c.doc] >= l.PerSource {
			continue
		}
		per[c.doc]++
		chosen = append(chosen, c)
	}
	slices.SortStableFunc(chosen, func(a, b scored) int {
		if a.doc != b.doc {
			return a.doc - b.doc
		}
		return a.s.Start - b.s.Start
	})
	out := make([]claim.Found, len(chosen))
	for i, c := range chosen {
		d := docs[c.doc]
		out[i] = claim.Found{Text: clean(c.s.Text), Score: math.Round(c.score*1000) / 1000, Span: span(d, c.s), Also: c.also}
	}
	return out
}

// tellingTerms are the words of a query that at most half of the documents have.
func tellingTerms(want map[string]bool, docs []Text) map[string]bool {
	out := map[string]bool{}
	if len(docs) < 3 {
		return out
	}
	df := map[string]int{}
	for _, d := range docs {
		have := words.Content(d.Title + " " + d.Body)
		for t := range want {
			if have[t] {
				df[t]++
			}
		}
	}
	for t := range want {
		out[t] = df[t] > 0 && df[t]*2 <= len(docs)
	}
	return out
}

const (
	leastScore = 0.45
	strayScore = 0.6 // for a sentence without a word of the topic, in a document that is about it
)

func meets(a, b map[string]bool) bool {
	for t := range a {
		if b[t] {
			return true
		}
	}
	return false
}

func queryTerms(q string) map[string]bool {
	out := words.Content(q)
	for t := range asking {
		delete(out, t)
	}
	return out
}

var asking = words.Set(words.Tokens("how why what when where which who work works mean means explain explained overview introduction guide best practices difference between compare versus vs 如何 为什么 什么 怎么 怎样"))

// relevance weighs a sentence's words: those of the query count in full, those the document repeats count by how often.
func relevance(content, want map[string]bool, tf map[string]int, title map[string]bool) float64 {
	if len(content) == 0 {
		return 0
	}
	query, titled, often, twice := 0.0, 0, 0, 0 // counted, and weighed once: sums of fractions depend on their order
	for t := range content {
		if want[t] {
			query++
		}
		switch {
		case title[t]:
			titled++
		case tf[t] >= 3:
			often++
		case tf[t] == 2:
			twice++
		}
	}
	central := 0.6*float64(titled) + 0.5*float64(often) + 0.35*float64(twice)
	q := 0.0
	if len(want) > 0 {
		q = query / math.Min(float64(len(want)), 3)
	}
	return math.Min(q, 1.2) + math.Min(central/math.Sqrt(float64(len(content))), 1)
}

// Stands reports whether a sentence is a statement that can be understood outside its text.
func Stands(s Sentence) bool { return standsAlone(s, false) }

// standsAlone reports whether a sentence is a statement that can be understood outside its text.
func standsAlone(s Sentence, snippet bool) bool {
	t := s.Text
	n := utf8.RuneCountInString(t)
	if first, _ := utf8.DecodeRuneInString(t); snippet && unicode.IsLower(first) {
		return false // an excerpt begins anywhere
	}
	cjk := 0
	for _, r := range t {
		if words.IsCJK(r) {
			cjk++
		}
	}
	chinese := cjk*3 > n
	if s.Quote && strings.HasPrefix(t, "\"") {
		return false
	}
	if chinese && (n < 8 || n > 160) || !chinese && (len(strings.Fields(t)) < 4 || n > 420) {
		return false
	}
	last, _ := utf8.DecodeLastRuneInString(strings.TrimRight(t, "\"'”’)]*_"))
	switch {
	case strings.ContainsAny(t, "？?") && (last == '?' || last == '？' || strings.Contains(t, "? ") || strings.Contains(t, "？")):
		return false
	case last == '!' || last == '！' || strings.HasSuffix(t, "...") || strings.HasSuffix(t, "…"):
		return false
	case last == '。' || last == '；':
	case last == '.':
	case citation.MatchString(tailMark(t)):
	case s.listed && s.alone && strings.Count(t, " ") >= 5 && last != ':':
		// A list item without a full stop can be a statement; it needs a verb, see below.
	default:
		return false
	}
	if !chinese && !strings.ContainsFunc(t, unicode.IsUpper) {
		return false
	}
	low := strings.ToLower(t)
	if dangling.MatchString(low) || (chinese && cjkDangling.MatchString(t)) || chrome.MatchString(low) || link.MatchString(t) || markup.MatchString(t) || person.MatchString(low) || imperative.MatchString(low) || hanging(low) {
		return false
	}
	if !chinese && !verb.MatchString(low) {
		return false
	}
	return !looksLikeCode(t)
}

func tailMark(t string) string {
	i := strings.LastIndexByte(t, '[')
	if i < 0 {
		return ""
	}
	return t[i:]
}

// hanging reports an unresolved reference in the middle: "does this by", "the latter".
func hanging(low string) bool {
	for _, w := range []string{" the former", " the latter", "as above", "as mentioned", "see above", "see below", "described above", "described below", "the previous section", "the next section", "in this section", "in this article", "in this post", "in this paper we", "如上所述", "如下所示", "见下文", "见上文", "本文", "本节"} {
		if strings.Contains(low, w) {
			return true
		}
	}
	return false
}

var (
	dangling    = regexp.MustCompile(`^["“(]?(it|its|this|that|these|those|they|their|them|he|she|his|her|we|our|us|i|my|you|your|here|there's|so|but|and|or|then|also|such|both|another|other|others|again|thus|hence|therefore|instead|otherwise|even so|similarly|likewise|conversely|meanwhile|the same|the other|one of them|some of them|each of them|most of them|none of them|all of them|many of them|after that|before that|for this reason|as a result|because of this|in this case|in that case|in other words|the former|the latter|if so|if not|no wonder|which|who|where|what|how|why|as such|at that|until then|since then|by then|to do so|doing so|not so)\b`)
	cjkDangling = regexp.MustCompile(`^[“"（(]?(它|他|她|这|那|此|其|该|我|你|您|咱|因此|所以|但|而|然而|然后|于是|另外|此外|同时|并且|而且|不过|否则|例如|比如|如上|如下|前者|后者|以上|以下|上述|下面|当时|结果|可见|总之)`)
	chrome      = regexp.MustCompile(`cookie|newsletter|subscribe|sign up|sign in|log in|click|all rights reserved|©|copyright|privacy policy|terms of (use|service)|read more|related (articles|posts|pages)|share (this|on)|follow (us|me)|min read|min\. read|comments?\b.*\d|advertis|sponsor|table of contents|back to top|last (updated|modified|edited)|pull request|star (us|this)|contributing|jump to|skip to|accept all|leave a comment|posted (on|by)|written by .* \||^\s*by [a-z]|^(home|menu|search|tags?|categor|filed under|photo|image|source|figure|fig\.|table)\b[^.]{0,40}[:>|]|>\s.*>\s|\|\s.*\||订阅|点击|版权所有|关注(我们|公众号)|扫码|扫描二维码|登录|注册|隐私政策|返回顶部|阅读全文|相关(文章|阅读|推荐)|上一篇|下一篇|for other uses|not to be confused|redirects here|disambiguation|大家好|编辑于|发布于|作者[:：]|来源[:：]|责任编辑|广告|转载|收藏|评论区|点赞|接受.{0,6}cookie`)
	link        = regexp.MustCompile(`^\W*(\[[^\]]*\]\([^)]*\)|https?://\S+)\W*$|^(see|visit|go to|read|check out|download)\b.*https?://`)
	markup      = regexp.MustCompile(`<[a-zA-Z/!]`)
	person      = regexp.MustCompile(`(^|[ (])(i|i'm|i've|my|me|we|we're|we've|our|us|you|you'll|your|let's)( |,|$)|我们|咱们|我的|你的|您`)
	imperative  = regexp.MustCompile(`^(see|note|remember|try|run|install|click|use|add|open|download|read|check|please|make sure|ensure|let|visit|consider|follow|keep|go|don't|do not|never|always|watch|look|ask|thanks|welcome|todo|fixme|compare after|want|need|looking|stay|get|take|have a|train leaves|请|欢迎|注意|参见|参考|详见|更多|感谢|待办)\b|^(请|欢迎|注意|参见|参考|详见|更多|感谢|待办)`)
	verb        = regexp.MustCompile(`\b(is|are|was|were|be|been|being|has|have|had|can|could|may|might|must|should|will|would|does|do|did|[a-z]{2,}(?:s|es|ed|ies))\b`)
	codeSign    = regexp.MustCompile(`:=|==|!=|=>|->|\(\)|\{|\}|;$|^\$ |^[\w.]+\([^)]*\)$|</?[a-z]+>|^\s*(import|func|def|class|return|var|let|const|curl|npm|pip|go get|git)\s|\\[a-z]+\{`)
)

func looksLikeCode(t string) bool {
	if codeSign.MatchString(t) && !strings.Contains(t, "`") {
		return true
	}
	letters, signs := 0, 0
	for _, r := range t {
		switch {
		case unicode.IsLetter(r):
			letters++
		case strings.ContainsRune("{}[]()<>=;|\\/$@#%^&*_~", r):
			signs++
		}
	}
	return signs*5 > letters
}

// clean takes Markdown's marks out of a sentence, so that it reads as one: links become their text.
func clean(s string) string {
	s = mdImage.ReplaceAllString(s, "")
	s = mdLink.ReplaceAllString(s, "$1")
	s = citeMark.ReplaceAllString(s, "")
	s = emphasis.ReplaceAllString(s, "$2")
	return strings.TrimSpace(strings.Join(strings.Fields(s), " "))
}

var (
	mdImage  = regexp.MustCompile(`!\[[^\]]*\]\([^)]*\)`)
	mdLink   = regexp.MustCompile(`\[([^\]]+)\]\([^)]*\)`)
	citeMark = regexp.MustCompile(`\s?\[\^?[\d,\- ]{1,12}\]|\s?\[citation needed\]`)
	emphasis = regexp.MustCompile(`(\*\*|__)([^*_]+)(?:\*\*|__)`)
)
