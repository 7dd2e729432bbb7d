package research

import (
	"regexp"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"whetstone/internal/words"
)

var labelRE = regexp.MustCompile(`\b([a-z]{3,}) (\d+)\b`)

var numberedRE = regexp.MustCompile(`\b(?:group|number|node|server|step|layer|level|type|class|phase|stage|chapter|case|option|shard|replica|region|zone|channel|method|algorithm|variant|model|series|mode) \d+\b|\b(?:\d+|two|three|four|five|six|seven|eight|nine|ten)-(?:server|node|core|way|level|layer|stage|phase|year|day|bit|byte|member|region|party|tier)\b`)

// calendar and unitWord say when and how much, never what about.
var calendar = words.Set(words.Tokens("january february march april may june july august september october november december monday tuesday wednesday thursday friday saturday sunday spring summer autumn winter utc"))

var unitWord = func() map[string]bool {
	out := map[string]bool{}
	for u := range units {
		for _, t := range words.Tokens(u) {
			out[t] = true
		}
	}
	for w := range numberWords {
		out[words.Tokens(w)[0]] = true
	}
	return out
}()

// attributes are properties with a figure of their own: a lake's depth says nothing against its length.
var attributes = map[string][]string{
	"depth": {"deep", "depth", "深"}, "length": {"long", "length", "全长", "总长"}, "width": {"wide", "width", "宽"},
	"height": {"height", "tall", "elevation", "altitude", "rises to", "海拔"}, "span": {"main span", "跨"}, "area": {"area", "面积"},
	"weight": {"weigh", "mass of"}, "diameter": {"diameter", "直径"}, "radius": {"radius"}, "price": {"price", "售价"},
	"revenue": {"revenue", "turnover", "营业收入", "营收"}, "profit": {"profit", "利润"}, "staff": {"employ", "workforce", "headcount", "staff", "员工"},
	"users": {"users", "subscribers", "用户"}, "population": {"population", "inhabitants", "人口"}, "birth": {"born", "出生"}, "death": {"died", "death of", "逝世", "去世"},
	"founding": {"founded", "founding", "established", "成立", "创立"}, "listing": {"listed on", "went public", "ipo", "上市"}, "read": {"read timeout", "reads are"}, "write": {"write timeout", "writes are"},
	"connect": {"connect timeout", "connection timeout"}, "mean": {"mean", "on average", "average", "平均"}, "median": {"median", "中位"}, "tail": {"99th percentile", "p99", "95th percentile", "p95"},
	"release": {"was released", "came out", "发布"}, "start": {"began", "started"}, "finish": {"ended", "finished", "completed"},
}

// roles are held by one at a time.
var roles = map[string][]string{
	"capital": {"capital", "首都"}, "author": {"author", "written by", "wrote", "作者", "所著", "撰写"}, "discoverer": {"discovered", "discoverer", "发现"},
	"maintainer": {"maintain", "维护者"}, "founder": {"founded by", "founder", "创始人"}, "inventor": {"invent", "发明"}, "licence": {"licence", "license", "distributed under", "released under", "released solely under"},
	"chief": {"chief executive", "ceo", "president of", "headed by", "led by", "chaired by"}, "owner": {"owned by", "owner", "acquired by", "belongs to"}, "developer": {"developed by", "developer of", "created by", "creator"},
	"composer": {"composed", "composer"}, "director": {"directed by", "director of"}, "cause": {"caused by", "root cause"}, "language": {"written in", "implemented in"}, "place": {"headquarter", "based in", "located in", "位于"}, "winner": {"won by", "winner", "won the"},
}

var roleWord = func() map[string]bool {
	out := map[string]bool{}
	for _, ws := range roles {
		for _, w := range ws {
			for _, t := range words.Tokens(w) {
				out[t] = true
			}
		}
	}
	return out
}()

var months = words.Set(strings.Fields("january february march april may june july august september october november december jan feb mar apr jun jul aug sep sept oct nov dec about over under in at to by of from between was were is are has had have"))

// names lists what looks like a proper name or an identifier. A capital at the start of a sentence says nothing.
func names(text string) (out map[string]bool, opening string) {
	out = map[string]bool{}
	for i, m := range nameRE.FindAllStringIndex(norm.NFKC.String(text), -1) {
		w := norm.NFKC.String(text)[m[0]:m[1]]
		w = strings.TrimSuffix(strings.Trim(w, ".-/"), "'s")
		if w == "" {
			continue
		}
		r := []rune(w)
		inner := false
		for _, x := range r[1:] {
			inner = inner || unicode.IsUpper(x) || x == '_' || x == '.'
		}
		if !unicode.IsLetter(r[0]) || months[strings.ToLower(w)] {
			continue
		}
		switch {
		case inner || (unicode.IsUpper(r[0]) && i > 0):
			for _, t := range words.Tokens(w) {
				out[t] = true
			}
		case i == 0 && unicode.IsUpper(r[0]):
			if ts := words.Tokens(w); len(ts) == 1 {
				opening = ts[0]
			}
		}
	}
	return out, opening
}

// light are words that say how a claim is made, or that stand in every claim of their kind.
var light = words.Set(strings.Fields(`default otherwis unless box about roughli around total number measur roughly near almost serv
time long first year day out full whole onli sole alon`))
