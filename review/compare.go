// Package review prepares what a person looks through: which learnings say the same, which contradict each other, and in what
// order they are shown. It is pure and lexical: it proposes, and a person decides.
package review

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"whetstone/internal/words"
	"whetstone/learning"
)

// Relation is how two rules stand to each other.
type Relation string

// The relations.
const (
	Duplicate   Relation = "duplicate"
	Contradicts Relation = "contradicts"
	Unrelated   Relation = "other"
)

// Bounds of the share of the smaller rule's words that the other one has, too.
const (
	sameMatter  = 0.55
	sameSaying  = 0.66
	bothNearly  = 0.34 // of all words of both
	fewestWords = 2
)

// Compare says whether two rules say the same or the opposite.
func Compare(a, b string) Relation {
	x, y := words.Content(a), words.Content(b)
	drop(x)
	drop(y)
	if len(x) < fewestWords || len(y) < fewestWords {
		if learning.NormaliseRule(a) == learning.NormaliseRule(b) {
			return Duplicate
		}
		return Unrelated
	}
	both := 0
	for t := range x {
		if y[t] {
			both++
		}
	}
	share := float64(both) / float64(min(len(x), len(y)))
	jaccard := words.Jaccard(x, y)
	// Each names a figure, and none that the other names: two values for one thing.
	fa, fb := figures(a), figures(b)
	differ := len(fa) > 0 && len(fb) > 0 && !slices.ContainsFunc(fa, func(f string) bool { return slices.Contains(fb, f) })
	opposite := pole(a, b) || settings(a, b)
	opposed := words.Negated(a) != words.Negated(b)
	switch {
	case opposite && both >= 1 && share >= 0.4:
		return Contradicts
	case share < sameMatter || both < 2:
		return Unrelated
	case differ && share >= 0.5:
		return Contradicts
	case opposed && jaccard >= bothNearly:
		return Contradicts
	case !opposed && !differ && share >= sameSaying && jaccard >= bothNearly:
		return Duplicate
	}
	return Unrelated
}

// drop leaves out figures, which are compared on their own.
func drop(set map[string]bool) {
	for t := range set {
		if strings.Trim(t, "0123456789.,%") == "" {
			delete(set, t)
		}
	}
}

// settings reports whether both name a value of one setting, and not the same.
func settings(a, b string) bool {
	values := map[string]string{}
	for _, m := range setting.FindAllStringSubmatch(a, -1) {
		values[strings.ToLower(m[1])] = strings.ToLower(m[2])
	}
	for _, m := range setting.FindAllStringSubmatch(b, -1) {
		if v, ok := values[strings.ToLower(m[1])]; ok && v != strings.ToLower(m[2]) {
			return true
		}
	}
	return false
}

var setting = regexp.MustCompile(`\b([A-Za-z][A-Za-z0-9_.-]*)(?:\s*=\s*|\s+(?:is|are|must be|has to be|=|to)\s+)([A-Za-z0-9_.%-]+)`)

// named are words after which a number is a name and no figure.
var named = regexp.MustCompile(`\b(?:number|no\.?|nr\.?|step|rule|chapter|section|issue|ticket|version|phase|item|figure|table|line)\s+$|#$`)

var figure = regexp.MustCompile(`(?:\b|[\p{Han}])\d+(?:[.,]\d+)?\s*(?:%|[a-zA-Z]{1,7}\b|[\p{Han}])?`)

var numerals = strings.NewReplacer(" one ", " 1 ", " two ", " 2 ", " three ", " 3 ", " four ", " 4 ", " five ", " 5 ", " six ", " 6 ", " eight ", " 8 ", " ten ", " 10 ", " twelve ", " 12 ")

func figures(s string) []string {
	s = numerals.Replace(" " + strings.ToLower(s) + " ")
	var out []string
	for _, m := range figure.FindAllStringIndex(s, -1) {
		if named.MatchString(s[:m[0]]) {
			continue
		}
		text := strings.TrimLeftFunc(s[m[0]:m[1]], func(r rune) bool { return !unicode.IsDigit(r) })
		out = append(out, strings.Join(strings.Fields(text), ""))
	}
	return out
}

// opposites are words of advice of which one excludes the other.
var opposites = [][2]string{
	{"always", "never"},
	{"tab", "space"},
	{"singular", "plural"},
	{"before", "after"},
	{"merg", "rebas"},
	{"squash", "keep"},
	{"singl", "doubl"},
	{"sync", "async"},
	{"public", "privat"},
	{"short", "long"},
	{"one", "sever"},
	{"first", "last"},
	{"allow", "forbid"},
	{"allow", "ban"},
	{"requir", "option"},
	{"enabl", "disabl"},
	{"with", "without"},
	{"uppercas", "lowercas"},
	{"camelcas", "snake_cas"},
	{"includ", "exclud"},
	{"commit", "ignor"},
	{"inlin", "separ"},
	{"global", "local"},
	{"英文", "中文"},
	{"单数", "复数"},
	{"之前", "之后"},
	{"单引", "双引"},
	{"同步", "异步"},
	{"大写", "小写"},
	{"空格", "制表"},
	{"允许", "禁止"},
	{"必须", "不必"},
	{"utc", "local"},
	{"upper", "lower"},
	{"name", "default"},
	{"下划", "驼峰"},
	{"英文", "拼音"},
	{"自动", "手动"},
	{"automat", "hand"},
	{"automat", "manual"},
	{"npm", "pnpm"},
	{"npm", "yarn"},
	{"strict", "lax"},
	{"block", "non-block"},
	{"hard", "soft"},
	{"hidden", "visibl"},
	{"ascend", "descend"},
	{"left", "right"},
	{"捕获", "抛出"},
	{"rest", "grpc"},
	{"uuid", "bigint"},
}

func pole(a, b string) bool {
	x, y := words.Set(words.Tokens(a)), words.Set(words.Tokens(b))
	for _, o := range opposites {
		if x[o[0]] && !x[o[1]] && y[o[1]] && !y[o[0]] || x[o[1]] && !x[o[0]] && y[o[0]] && !y[o[1]] {
			return true
		}
	}
	return false
}

// Neighbour is another learning that a person should see beside one.
type Neighbour struct {
	Relation Relation          `json:"relation"`
	Learning learning.Learning `json:"learning"`
}

// Neighbours finds what stands beside a learning among others of its project or of all: contradictions first, then duplicates.
func Neighbours(l learning.Learning, others []learning.Learning) []Neighbour {
	out := []Neighbour{}
	for _, o := range others {
		if o.ID == l.ID || o.Status == learning.Forgotten || o.Status == learning.Rejected || o.Status == learning.Superseded || o.Project != "" && l.Project != "" && o.Project != l.Project {
			continue
		}
		if r := Compare(l.Rule, o.Rule); r != Unrelated {
			out = append(out, Neighbour{r, o})
		}
	}
	slices.SortStableFunc(out, func(a, b Neighbour) int { return strings.Compare(string(a.Relation), string(b.Relation)) })
	return out
}

// Item is one thing to decide on: a pending learning with its neighbours, or a correction note.
type Item struct {
	Learning   *learning.Learning `json:"learning,omitempty"`
	Note       *learning.Note     `json:"note,omitempty"`
	Neighbours []Neighbour        `json:"neighbours"`
}

// Queue orders what is to be decided: pending learnings, oldest first, with their near-duplicates directly behind them, then open
// notes, then learnings that are flagged for demotion.
func Queue(all []learning.Learning, notes []learning.Note) []Item {
	out := []Item{}
	done := map[string]bool{}
	add := func(l learning.Learning) []Neighbour {
		done[l.ID] = true
		n := Neighbours(l, all)
		out = append(out, Item{Learning: &l, Neighbours: n})
		return n
	}
	for _, l := range all {
		if l.Status != learning.Pending || done[l.ID] {
			continue
		}
		for _, n := range add(l) {
			if n.Learning.Status == learning.Pending && !done[n.Learning.ID] {
				add(n.Learning)
			}
		}
	}
	for _, n := range notes {
		if n.Status == "open" {
			out = append(out, Item{Note: &n, Neighbours: []Neighbour{}})
		}
	}
	for _, l := range all {
		if l.Flag != "" && !done[l.ID] {
			add(l)
		}
	}
	return out
}
