package research

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"whetstone/internal/words"
)

// Duplicate reports whether two claims say the same: nearly the same words, the same figures, versions and names, and the
// same polarity. A claim that adds something of substance is not a duplicate of the shorter one.
func Duplicate(a, b string) bool {
	a, b = trimMarks(a), trimMarks(b)
	if hanShare(a) && hanShare(b) {
		return duplicateHan(a, b)
	}
	x, y := dupContent(a), dupContent(b)
	if len(x) == 0 || len(y) == 0 {
		return strings.EqualFold(strings.TrimSpace(a), strings.TrimSpace(b))
	}
	return duplicateTerms(a, b, x, y)
}

func hanShare(s string) bool {
	han, all := 0, 0
	for _, r := range s {
		if !unicode.IsSpace(r) {
			all++
			if words.IsCJK(r) {
				han++
			}
		}
	}
	return han*2 > all
}

// duplicateHan compares Chinese claims by their characters: word order moves bigrams about. One character for another may
// be another thing, so one side may only have more.
func duplicateHan(a, b string) bool {
	if !sameNumbers(a, b) || negated(a) != negated(b) || opposed(a, b) {
		return false
	}
	x, y := characters(a), characters(b)
	moreX, moreY := len(minus(x, y)), len(minus(y, x))
	if moreX > 0 && moreY > 0 || moreX+moreY > 2 {
		return false
	}
	la, lb := cjkBigrams(a), cjkBigrams(b)
	return words.Jaccard(la, lb) >= 0.5 && (!directed.MatchString(a) || words.Jaccard(la, lb) >= 0.85)
}

func characters(s string) map[string]bool {
	out := map[string]bool{}
	for _, r := range strings.ToLower(cjkParticles.Replace(s)) {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			out[string(r)] = true
		}
	}
	return out
}

func cjkBigrams(s string) map[string]bool { return words.Content(cjkParticles.Replace(s)) }

func duplicateTerms(a, b string, x, y map[string]bool) bool {
	j := words.Jaccard(x, y)
	if j < 0.5 {
		return false
	}
	if !sameNumbers(a, b) || negated(a) != negated(b) || opposed(a, b) {
		return false
	}
	onlyX, onlyY := minus(x, y), minus(y, x)
	if j < 1 {
		// Synonyms and trivial adverbs may differ; names may not, and one word for another may be another thing.
		if len(onlyX) > 0 && len(onlyY) > 0 && (len(onlyX) > 1 || len(onlyY) > 1) && j < 0.6 {
			return false
		}
		if len(onlyX) == 1 && len(onlyY) == 1 && !synonym(only(onlyX), only(onlyY)) {
			return false
		}
		if (len(onlyX) == 0 && !trivial(onlyY)) || (len(onlyY) == 0 && !trivial(onlyX)) {
			return false
		}
		if len(onlyX) > 0 && len(onlyY) > 0 && !paired(onlyX, onlyY) {
			return false
		}
	}
	return sameOrder(a, b, x)
}

// trimMarks takes off what cites and what points: "(see Fig. 2)", "[12]", "(Nwosu 2018)".
func trimMarks(s string) string {
	return strings.TrimSpace(pointer.ReplaceAllString(clean(s), ""))
}

var pointer = regexp.MustCompile(`\s*[(（](?:see |cf\. |参见|见|如)?(?:Fig|Figs|Table|Sec|Section|Eq|Ch|图|表|第)[^)）]*[)）]|\s*\((?:[A-Z][\p{L}.&\- ]+,? (?:et al\.?,? )?)\d{4}[a-z]?\)|\s*\[\^?[\w,\- ]{1,12}\]|\s*[(（](?:see )[^)）]*[)）]`)

func dupContent(s string) map[string]bool {
	out := map[string]bool{}
	for t := range words.Content(cjkParticles.Replace(s)) {
		if !hedge[t] {
			out[canonical(t)] = true
		}
	}
	return out
}

// cjkParticles mark how a Chinese sentence is built and not what it says; left in, they would change the bigrams around them.
var cjkParticles = strings.NewReplacer("将", "", "把", "", "的", "", "了", "", "通常", "", "一般", "", "大约", "", "约", "", "属于", "是", "可以", "", "能够", "", "能", "", "会", "", "被", "", "进行", "", "，", "", "、", "", "其", "", "因此", "", "所以", "", "并", "", "都", "", "也", "", "地", "", "可", "")

// hedge are words that add nothing to a statement.
var hedge = words.Set(words.Tokens("about roughly approximately around nearly almost generally usually typically basically essentially simply really quite indeed actually clearly largely mainly mostly currently now also still therefore thus however one ones it they 大约 约 基本 通常 一般 目前 其实"))

// synonyms are pairs that may stand for each other in a restated claim.
var synonyms = func() map[string]string {
	m := map[string]string{}
	for _, group := range []string{
		"permit allow let enable", "happen occur arise", "cause make lead induce", "begin start commence", "end finish conclude", "show demonstrate reveal indicate",
		"use employ utilise utilize", "need require", "big large great", "small little", "quick fast rapid", "help assist", "stop halt prevent", "fix repair mend", "buy purchase",
		"build construct", "get obtain receive", "give provide supply offer", "keep retain hold store", "remove delete discard drop", "equal equally identical same", "size sized", "create produce generate form",
		"consist comprise contain include", "divide split partition separate", "merge combine join", "increase raise rise grow", "decrease reduce lower cut", "method approach technique",
		"survive surviving", "prevent avoid", "improve enhance better", "replace substitute", "convert transform turn change", "connect link attach", "appear occur", "handle process manage", "grant award", "publish release issue",
		"measure gauge", "discover find detect", "last persist remain stay", "require demand", "support permit", "wait block", "finish complete", "run execute operate", "copy replicate duplicate", "save store write", "load read fetch", "split shard", "error fault failure",
		"fast speedy", "slow sluggish", "simple easy", "hard difficult", "rare uncommon", "common frequent", "usual ordinary", "important key", "different distinct", "similar alike", "many numerous", "several multiple", "high tall", "near close", "old ancient",
		"city town", "country nation", "firm company business", "engineer developer", "user customer", "page article", "document file", "thread goroutine", "row record tuple", "key identifier", "lock mutex", "memory ram", "disk storage", "message packet",
		"absorb take", "carry transport bear", "contain hold", "cover span", "define specify", "depend rely", "deliver ship", "ensure guarantee", "establish found", "estimate reckon", "explain account", "extend stretch", "link join", "limit cap restrict", "operate function work", "protect guard shield", "reach attain hit", "reject refuse", "repeat redo", "reside live", "return yield", "select elect", "start launch", "transfer move", "trigger fire", "warm heat", "weaken lessen", "locate situated lie", "call name term", "write author", "answer reply respond", "choose select pick", "send transmit", "node server", "entire whole", "main primary chief", "twice double",
	} {
		ts := words.Tokens(group)
		for _, t := range ts {
			m[t] = ts[0]
		}
	}
	return m
}()

func canonical(t string) string {
	if c, ok := synonyms[t]; ok {
		return c
	}
	return t
}

func synonym(a, b string) bool {
	if canonical(a) == canonical(b) {
		return true
	}
	short, long := a, b
	if len(short) > len(long) {
		short, long = long, short
	}
	// equal and equally, archiv and archive: one stem
	return len(short) >= 4 && strings.HasPrefix(long, short) && len(long)-len(short) <= 3
}

func only(m map[string]bool) string {
	for t := range m {
		return t
	}
	return ""
}

// trivial reports whether the words that one side has more are worth nothing.
func trivial(extra map[string]bool) bool { return len(extra) <= 1 }

// paired reports whether each word of the smaller side has a partner on the other.
func paired(x, y map[string]bool) bool {
	if len(x) > len(y) {
		x, y = y, x
	}
	ys := slices.Sorted(maps.Keys(y))
	for _, t := range slices.Sorted(maps.Keys(x)) {
		if !slices.ContainsFunc(ys, func(o string) bool { return synonym(t, o) }) {
			return false
		}
	}
	return len(y)-len(x) <= 1
}

var plainNumber = regexp.MustCompile(`\d[\d,]*(?:\.\d+)*`)

// sameNumbers compares all numbers, in words or digits, in any order.
func sameNumbers(a, b string) bool {
	return slices.Equal(numbersOf(a), numbersOf(b))
}

func numbersOf(s string) []string {
	out := plainNumber.FindAllString(s, -1)
	for i := range out {
		out[i] = strings.ReplaceAll(strings.TrimRight(out[i], ".,"), ",", "")
	}
	for _, t := range words.Tokens(s) {
		if v, ok := numberWords[t]; ok && !ordinals[t] {
			out = append(out, strconv.FormatFloat(v, 'f', -1, 64))
		}
	}
	slices.Sort(out)
	return out
}

// opposed reports whether the two stand on opposite sides of an axis, or bound a thing from opposite sides.
func opposed(a, b string) bool {
	la, lb := " "+strings.ToLower(a)+" ", " "+strings.ToLower(b)+" "
	for _, x := range axes {
		pa, na := x.hits(la)
		pb, nb := x.hits(lb)
		if (pa > 0) != (pb > 0) && (na > 0) != (nb > 0) {
			return true
		}
	}
	return false
}

// sameOrder guards against swapped roles: "A contains more than B" and "B contains more than A" have the same words. The
// order of the first two names or nouns around a comparison must agree, unless a whole phrase moved to the front.
func sameOrder(a, b string, shared map[string]bool) bool {
	if !directed.MatchString(strings.ToLower(a)) {
		return true
	}
	ta, tb := inOrder(a, shared), inOrder(b, shared)
	return len(ta) == 0 || len(tb) == 0 || ta[0] == tb[0] || frame(ta, tb) >= 0.8
}

var directed = regexp.MustCompile(`\b(more|less|fewer|larger|smaller|faster|slower|higher|lower|better|worse|older|younger|greater|earlier|later) .*\bthan\b|\b(precedes|follows|replaces|replaced|contains|calls|sends|beats|causes|outnumbers?)\b|比|多于|少于|大于|小于|高于|低于|取代|导致`)

func inOrder(s string, keep map[string]bool) []string {
	var out []string
	for _, t := range words.Tokens(s) {
		if keep[canonical(t)] && !slices.Contains(out, t) {
			out = append(out, t)
		}
	}
	return out
}
