package research

import (
	"math"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"whetstone/internal/words"
)

// Statement is a claim made ready for comparison.
type Statement struct {
	text    string
	tokens  []string
	content map[string]bool // tokens that carry meaning; figures, negators and antonyms left out
	figures []figure
	scope   map[string]bool // tokens inside phrases that limit the claim
	version []string
	names   map[string]bool   // proper names and identifiers
	opening string            // the first word's token where it has a capital: perhaps a name
	labels  map[string]string // "specimen 12": the number that names one of several
	attrs   map[string]bool   // which property is spoken of, where a word says so
	roles   map[string]bool   // capital of, written by, ...
	poles   map[string]int    // antonym axis -> -1 or +1, negation applied
	negated bool
}

// Read prepares a claim.
func Read(text string) Statement {
	s := Statement{text: text, tokens: words.Tokens(text), poles: map[string]int{}, scope: map[string]bool{}, content: map[string]bool{}, attrs: map[string]bool{}, roles: map[string]bool{}, labels: map[string]string{}}
	s.names, s.opening = names(text)
	s.figures = figures(text)
	s.negated = negated(text)
	s.version = versions(text)
	low := " " + strings.Join(strings.Fields(strings.ToLower(norm.NFKC.String(text))), " ") + " "
	for _, ax := range axes {
		p, n := ax.hits(low)
		switch {
		case p > 0 && n == 0:
			s.poles[ax.name] = 1
		case n > 0 && p == 0:
			s.poles[ax.name] = -1
		}
	}
	for t := range words.Content(text) {
		if !strings.ContainsAny(t, "0123456789") && !axisWord[t] && !light[t] && !calendar[t] && !unitWord[t] {
			s.content[t] = true
		}
	}
	for _, m := range labelRE.FindAllStringSubmatch(low, -1) {
		if !verbs[m[1]] && !breaks[m[1]] && words.Content(m[1])[words.Tokens(m[1])[0]] {
			s.labels[m[1]] = m[2]
		}
	}
	for name, ws := range attributes {
		if p := countAny(low, ws); p > 0 {
			s.attrs[name] = true
		}
	}
	for name, ws := range roles {
		if countAny(low, ws) > 0 {
			s.roles[name] = true
		}
	}
	for _, m := range scopeRE.FindAllStringSubmatchIndex(low, -1) {
		for t := range words.Content(limb(low[m[1]:])) {
			if s.content[t] || axisWord[t] {
				s.scope[t] = true
			}
		}
	}
	for _, m := range cjkScopeRE.FindAllStringSubmatch(low, -1) {
		for t := range words.Content(m[1]) {
			s.scope[t] = true
		}
	}
	return s
}

// Contradict tells whether two claims can not both be true: the same subject and scope, with opposed polarity or a
// figure that differs after unit conversion. why names what differs. It reads words, not meaning: claims of one subject
// that are worded with no words in common pass it by.
func Contradict(a, b Statement) (bool, string) {
	if !sameSubject(a, b) || scopesDiffer(a, b) {
		return false, ""
	}
	if len(a.attrs) > 0 && len(b.attrs) > 0 && sharedCount(a.attrs, b.attrs) == 0 {
		return false, ""
	}
	if why := figuresDiffer(a, b); why != "" {
		if substituted(a, b) {
			return false, ""
		}
		return true, why
	}
	if why := polesDiffer(a, b); why != "" {
		if substituted(a, b) {
			return false, ""
		}
		return true, why
	}
	if holdersDiffer(a, b) {
		return true, "one names another than the other"
	}
	return false, ""
}

// holdersDiffer compares who or what holds a role: the capital of a country, the author of a book. The names that both
// claims share are the subject; those that only one has are the holder.
func holdersDiffer(a, b Statement) bool {
	if sharedCount(a.roles, b.roles) == 0 || a.negated != b.negated {
		return false
	}
	na, nb := a.allNames(), b.allNames()
	subject := sharedCount(na, nb) > 0
	for t := range a.content {
		subject = subject || (b.content[t] && !roleWord[t])
	}
	ha, hb := minus(na, b.content), minus(nb, a.content)
	if !subject || len(ha) == 0 || len(hb) == 0 {
		return false
	}
	restA, restB := minus(minus(a.content, b.content), ha), minus(minus(b.content, a.content), hb)
	return len(restA) == 0 || len(restB) == 0 || frame(a.tokens, b.tokens) < 0.5
}

func (s Statement) allNames() map[string]bool {
	out := map[string]bool{}
	for t := range s.names {
		out[t] = true
	}
	if s.opening != "" && s.content[s.opening] {
		out[s.opening] = true
	}
	return out
}

// sharedNames counts names in common; a capital at the start of one claim is a name if the other has it as one.
func sharedNames(a, b Statement) int {
	n := sharedCount(a.names, b.names)
	if a.opening != "" && !a.names[a.opening] && (b.names[a.opening] || b.opening == a.opening) {
		n++
	}
	if b.opening != "" && !b.names[b.opening] && a.names[b.opening] {
		n++
	}
	if n == 0 && (a.opening != "" && b.content[a.opening] || b.opening != "" && a.content[b.opening]) {
		n++
	}
	return n
}

// limb is what a preposition governs: up to four words, ended by punctuation, an article that opens the next phrase, or a
// verb.
func limb(rest string) string {
	n := 0
	end := 0
	for _, w := range strings.SplitAfter(clipBytes(rest, 80), " ") {
		bare := strings.TrimSpace(w)
		if n > 0 && limbEnd[bare] || n == 4 {
			break
		}
		end += len(w)
		n++
		if strings.ContainsAny(bare, ",.;:()") {
			break
		}
	}
	return rest[:min(end, len(rest))]
}

var limbEnd = words.Set(strings.Fields("the a an is are was were has have had it they by and or to that which who in on at under for"))

// SameMatter reports whether two claims are alike enough in their words to be held against each other at all. Two claims that
// somebody put side by side have a subject in common; two out of thousands rarely do, and a detector that is right nine
// times in ten about the former would drown a wiki in false alarms about the latter. It asks for two thirds of the words
// (cosine), or for nearly all of the shorter claim's words in the longer one.
func SameMatter(a, b Statement) bool {
	shared := sharedCount(a.content, b.content)
	same := shared > 0 && shared == len(a.content) && shared == len(b.content)
	switch {
	case (len(a.version) > 0) != (len(b.version) > 0), (a.poles["extreme"] != 0) != (b.poles["extreme"] != 0):
		return false // one speaks of a version, or of a limit, and the other does not
	case same:
		return true
	case shared < 3 && float64(shared)/float64(max(len(a.content), len(b.content))) < 0.75:
		return false // a short claim has its subject in few words: each of them counts
	}
	cosine := float64(shared) / math.Sqrt(float64(len(a.content)*len(b.content)))
	contained := float64(shared) / float64(min(len(a.content), len(b.content)))
	return cosine >= 0.65 || shared >= 4 && contained >= 0.8
}

func sharedCount(a, b map[string]bool) int {
	n := 0
	for t := range a {
		if b[t] {
			n++
		}
	}
	return n
}

// sameSubject asks for enough words in common, and for a name in common where both name something.
func sameSubject(a, b Statement) bool {
	shared := sharedCount(a.content, b.content)
	least := min(len(a.content), len(b.content))
	if least == 0 || shared == 0 {
		return false
	}
	if shared == len(a.content) && shared == len(b.content) {
		return true
	}
	overlap := float64(shared) / float64(least)
	named := sharedNames(a, b)
	if len(a.names) > 0 && len(b.names) > 0 && named == 0 {
		return false
	}
	if shared >= 2 && overlap >= 0.3 {
		return true
	}
	return named > 0 && (overlap >= 0.25 || shared >= 2)
}

// scopesDiffer reports whether the two claims speak of different versions, times or conditions.
func scopesDiffer(a, b Statement) bool {
	if len(a.version) > 0 && len(b.version) > 0 && !slices.Equal(a.version, b.version) {
		return true
	}
	// "The mass of specimen 12 is 5 g": a number behind a noun names which, where it is not all that the claim is about.
	if len(a.figures) > 1 || len(b.figures) > 1 || len(a.poles) > 0 && len(b.poles) > 0 {
		for noun, n := range a.labels {
			if m, both := b.labels[noun]; both && m != n {
				return true
			}
		}
	}
	// A year beside another figure says when: 3.4 million in 2000, 3.7 million in 2020.
	if ya, yb := years(a), years(b); len(ya) > 0 && len(yb) > 0 && !overlapping(ya, yb) && (otherFigureDiffers(a, b) || otherFigureDiffers(b, a)) {
		return true
	}
	// Bounds say of whom: patients over 65, patients under 40.
	if ba, bb := bounds(a), bounds(b); len(ba) > 0 && len(bb) > 0 && !overlapping(ba, bb) {
		return true
	}
	onlyA, onlyB := minus(a.scope, b.content), minus(b.scope, a.content)
	if len(onlyA) == 0 || len(onlyB) == 0 {
		return false
	}
	restA, restB := minus(a.content, a.scope), minus(b.content, b.scope)
	return words.Jaccard(restA, restB) >= 0.4
}

func years(s Statement) []float64 {
	var out []float64
	for _, f := range s.figures {
		if f.year {
			out = append(out, f.value)
		}
	}
	return out
}

// otherFigureDiffers reports whether a figure of a, years aside, has no equal in b though b has one like it.
func otherFigureDiffers(a, b Statement) bool {
	for _, f := range a.figures {
		if f.year {
			continue
		}
		like, agree := false, false
		for _, g := range b.figures {
			if !g.year && (comparable(f, g) || f.dim == g.dim) {
				like, agree = true, agree || f.same(g)
			}
		}
		if like && !agree {
			return true
		}
	}
	return false
}

func bounds(s Statement) []float64 {
	var out []float64
	for _, f := range s.figures {
		if f.bound {
			out = append(out, f.value)
		}
	}
	return out
}

func overlapping(a, b []float64) bool {
	for _, x := range a {
		if slices.Contains(b, x) {
			return true
		}
	}
	return false
}

func minus(a, b map[string]bool) map[string]bool {
	out := map[string]bool{}
	for t := range a {
		if !b[t] {
			out[t] = true
		}
	}
	return out
}

// figuresDiffer compares the figures dimension by dimension; what is counted must be the same thing.
func figuresDiffer(a, b Statement) string {
	if figuresDifferFrom(a, b) || figuresDifferFrom(b, a) {
		return "the figures differ"
	}
	return ""
}

func figuresDifferFrom(a, b Statement) bool {
	for _, f := range a.figures {
		if f.dim == "" || f.dim == "ordinal" || f.dim == "month" {
			continue
		}
		against, agree := 0, false
		var other figure
		for _, g := range b.figures {
			if !comparable(f, g) {
				continue
			}
			against++
			other = g
			agree = agree || f.same(g)
		}
		if against != 1 || agree {
			continue
		}
		// The other figure must have no better partner on this side.
		better := false
		for _, x := range a.figures {
			better = better || (x.at != f.at && comparable(x, other) && x.same(other))
		}
		if !better {
			return true
		}
	}
	return false
}

func comparable(f, g figure) bool {
	if g.dim == "ordinal" || g.dim == "month" {
		return false
	}
	if f.dim == g.dim && f.dim != "" {
		return true
	}
	ca, cb := strings.HasPrefix(f.dim, "count:"), strings.HasPrefix(g.dim, "count:")
	// A bare number, or one before another noun, may count the same: "230 people", "numbered 320". Small numbers are in
	// too many phrases for that.
	return (f.dim == "" && cb || g.dim == "" && ca) && f.value > 2 && g.value > 2
}

func polesDiffer(a, b Statement) string {
	for _, ax := range axes {
		x, y := a.poles[ax.name], b.poles[ax.name]
		if x == 0 || y == 0 {
			continue
		}
		if ax.plain {
			if x != y {
				return "one says the opposite of the other"
			}
			continue
		}
		if a.negated {
			x = -x
		}
		if b.negated {
			y = -y
		}
		if x != y {
			return "one says the opposite of the other"
		}
		return ""
	}
	if a.negated != b.negated && !deniesByWord(a) && !deniesByWord(b) {
		// A negation on one side only is a contradiction where little else differs.
		shared := sharedCount(a.content, b.content)
		if float64(shared)/float64(min(len(a.content), len(b.content))) >= 0.5 {
			return "one denies what the other says"
		}
	}
	return ""
}

// deniesByWord reports whether a claim that has no negator says no all the same: "stays off".
func deniesByWord(s Statement) bool {
	if s.negated {
		return false
	}
	for _, p := range s.poles {
		if p < 0 {
			return true
		}
	}
	return false
}

// substituted reports whether one claim is the other with a single word replaced: read timeout and connect timeout, Type 1
// and Type 2. Such pairs speak of two things. A replaced figure or antonym does not count, since that is the contradiction
// itself.
func substituted(a, b Statement) bool {
	onlyA, onlyB := minus(a.content, b.content), minus(b.content, a.content)
	if len(onlyA) == 0 || len(onlyB) == 0 {
		return false
	}
	shared := sharedCount(a.content, b.content)
	return frame(a.tokens, b.tokens) >= 0.6 && shared >= len(onlyA) && shared >= len(onlyB)
}

// frame is the longest common subsequence of two token lists relative to the longer one: how much of the wording is the
// same, in the same order.
func frame(a, b []string) float64 {
	if len(a) == 0 || len(b) == 0 {
		return 0
	}
	prev := make([]int, len(b)+1)
	cur := make([]int, len(b)+1)
	for i := range a {
		for j := range b {
			if a[i] == b[j] {
				cur[j+1] = prev[j] + 1
			} else {
				cur[j+1] = max(prev[j+1], cur[j])
			}
		}
		prev, cur = cur, prev
	}
	return float64(prev[len(b)]) / float64(max(len(a), len(b)))
}

var (
	scopeRE    = regexp.MustCompile(`(?:^|[ ,;(])(?:in|on|under|with|without|at|among|during|for|since|until|before|after|as of|when|while|within|outside|if|inside) `)
	cjkScopeRE = regexp.MustCompile(`(?:^|[ ,，。;；])(?:在)?([\p{Han}a-z0-9]{2,12}?)(?:下|中|时|期间|以上|以下|之前|之后|以内|模式下|情况下|条件下)[,，]`)
	versionRE  = regexp.MustCompile(`(?i:\bv(?:ersion)?\s?(\d+(?:\.\d+)*))|\b[\p{Lu}][\p{L}+#]*\s(\d+\.\d+(?:\.\d+)*)\b|\b[\p{Lu}][\p{L}]*\s(\d{1,2})(?:\s|,\s|\.$|$)`)
	nameRE     = regexp.MustCompile(`[\p{L}\p{N}][\p{L}\p{N}_.\-/#+]*`)
)

// versions lists the version numbers that a claim names: "v1.2", "Kafka 2.7", "Type 2".
func versions(text string) []string {
	var out []string
	for _, m := range versionRE.FindAllStringSubmatch(text, -1) {
		if strings.EqualFold(m[0], m[1]) || months[strings.ToLower(strings.Fields(m[0])[0])] {
			continue
		}
		for _, g := range m[1:] {
			if g != "" {
				out = append(out, g)
			}
		}
	}
	// Numbers that name one of several: group 1, node 3, a five-server cluster.
	for _, m := range numberedRE.FindAllStringSubmatch(strings.ToLower(text), -1) {
		out = append(out, strings.Join(strings.Fields(m[0]), " "))
	}
	slices.Sort(out)
	return slices.Compact(out)
}
