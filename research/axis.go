package research

import (
	"strings"

	"whetstone/internal/words"
)

// axis is a pair of opposites. A word on one side of it, negated, counts for the other. plain axes are not turned by a
// negation elsewhere in the sentence: "asynchronous: append returns before" carries none.
type axis struct {
	name     string
	pos, neg []string
	plain    bool
}

// hits counts the words of each side in a lower-case text that begins and ends with a space.
func (x axis) hits(low string) (pos, neg int) {
	neg = countAny(low, x.neg)
	for _, w := range x.neg {
		low = strings.ReplaceAll(low, w, " ") // "never allocates" holds "allocates"
	}
	return countAny(low, x.pos), neg
}

func countAny(low string, ws []string) int {
	n := 0
	for _, w := range ws {
		for from := 0; ; {
			i := strings.Index(low[from:], w)
			if i < 0 {
				break
			}
			i += from
			from = i + len(w)
			if words.IsCJK([]rune(w)[0]) {
				n++
				continue
			}
			if prev := low[i-1]; prev >= 'a' && prev <= 'z' || prev == '-' {
				continue // inside a longer word: synchronous in asynchronous
			}
			n++
		}
	}
	return n
}

func ax(name, pos, neg string, plain bool) axis {
	return axis{name, strings.Split(pos, "|"), strings.Split(neg, "|"), plain}
}

// axes are the opposites that claims are made of. English entries are beginnings of words.
var axes = []axis{
	ax("direction", "increas|rais|rise|rose|grow|grew|improv|higher|climb|up by|accelerat|gain|expand|提高|增加|上升|升高|增长|加快|提升", "decreas|reduc|lower|fall|fell|drop|declin|worsen|shrink|shrank|slow|cut |cuts|lost|降低|减少|下降|变慢|减慢|缩短", false),
	ax("synchrony", "synchronous|blocks until|blocks the|blocking|同步", "asynchronous|returns before|non-blocking|nonblocking|does not block|异步", true),
	ax("mutability", "mutable|can be changed|can be reassigned|can be modified|may be changed|可变", "immutable|cannot be changed|can not be changed|never changes|read-only|不可变", true),
	ax("switch", "enabled|switched on|turned on|is on |is active|out of the box|opt-out|默认开启|默认启用|开启|启用", "disabled|switched off|turned off|is off|inactive|opt-in|opts in|stays off|默认关闭|默认禁用|关闭|禁用|停用", false),
	ax("duty", "mandatory|required|requires|compulsory|obligatory|must |needs |necessary|必须|强制|必填|需要", "optional|not required|not necessary|need not|voluntary|unnecessary|without needing|可选|选填|无需|不需要|不必", true),
	ax("rotation", "prograde|same direction", "retrograde|opposite", true),
	ax("blood", "warm-blooded|warmer than", "cold-blooded|no part of", true),
	ax("thread", "thread-safe|thread safe|concurrently safe|无需额外加锁|线程安全|可以在多个线程", "not thread-safe|not thread safe|thread-unsafe|并不是线程安全|不是线程安全|非线程安全|必须由调用方", true),
	ax("speed", "faster|quicker|fast |更快", "slower|slow |更慢", false),
	ax("order", "ordered|in order|有序|sorted", "unordered|out of order|无序|unsorted|no particular order", true),
	ax("open", "open source|open-source|publicly available|开源", "proprietary|closed source|closed-source|闭源|专有", true),
	ax("state", "stateless|无状态", "stateful|有状态", true),
	ax("safe", "safe |harmless|安全", "unsafe|dangerous|harmful|toxic|不安全|有毒|危险", false),
	ax("free", "free of charge|for free|gratis|免费", "paid |costs |charges|fee |收费|付费", false),
	ax("life", "alive|extant|active volcano|still in use|现存", "extinct|dead |no longer in use|灭绝|已废弃", true),
	ax("success", "succeed|success|passed|approved|成功|通过", "failed|failure|rejected|refused|denied|失败|未通过|拒绝", false),
	ax("presence", "contains|includes|with |包含|含有", "lacks|excludes|free of |does not contain|不含|不包含", false),
	ax("leak", "exposed|leaked|stolen|compromised|泄露|外泄", "no customer data|no data was|not exposed|not leaked|未泄露|没有泄露", true),
	ax("allocation", "allocates|makes one heap allocation|heap allocation", "never allocates|zero-allocation|allocation-free|no allocation", true),
	ax("persistence", "persistent|durable|survives|持久", "volatile|ephemeral|in-memory only|is lost|易失|丢失", true),
	ax("position", "before|precedes|earlier|之前|先于", "after|follows|later|之后|晚于", true),
	ax("extreme", "maximum|most |largest|highest|longest|at most|最大|最高|最多|上限", "minimum|least |smallest|lowest|shortest|at least|最小|最低|最少|下限", true),
	ax("compat", "compatible|supports|supported|runs on|works on|works with|支持|兼容", "incompatible|unsupported|not a supported|does not support|not supported|not supported|no support|dropped support|不支持|不兼容", true),
	ax("scope", "global|everywhere|always|all |every |全部|所有|总是|一直", "local only|nowhere|never|none |no |从不|从未|均不", false),
	ax("encryption", "encrypted|加密", "unencrypted|plain text|plaintext|in the clear|明文|未加密", true),
	ax("strength", "strong|strongly|strictly|强", "weak|weakly|loosely|eventual|弱|最终", false),
	ax("hand", "automatic|automatically|自动", "manual|manually|by hand|手动", true),
	ax("liquid", "solid", "liquid|gaseous", true),
	ax("gate", "allowed|permits|permitted|accepts|may be|允许|接受", "forbidden|prohibited|prohibits|rejects|not permit|not allowed|banned|禁止|不允许|不接受", true),
	ax("bound", "bounded|limited|finite|有限|有界", "unbounded|unlimited|infinite|无限|无界", true),
	ax("share", "most |majority|多数|大部分", "minority|few |少数|小部分", false),
}

// axisWord holds the stems of all one-word opposites: they say what is claimed of a subject, not which subject.
var axisWord = func() map[string]bool {
	out := map[string]bool{}
	for _, a := range axes {
		for _, w := range append(append([]string{}, a.pos...), a.neg...) {
			if strings.Contains(strings.TrimSpace(w), " ") {
				continue
			}
			for _, t := range words.Tokens(w) {
				out[t] = true
			}
		}
	}
	return out
}()

var moreNegators = []string{" no longer ", " not ", " never ", " cannot ", "n't ", " none ", " neither ", " nor ", " without ", " no ", " nothing ", " lacks ", " unable ", " fails to ", " instead of ", " rather than ", " remains free of ", " hardly "}

var cjkNot = []string{"不", "没有", "未", "无", "非"}

var cjkNotWords = strings.NewReplacer("不仅", "", "不但", "", "不同", "", "不断", "", "不过", "", "无论", "", "非常", "", "未来", "", "不少", "", "无线", "", "无锡", "")

// negated reports whether a claim denies: an odd number of negators.
func negated(text string) bool {
	low := " " + strings.ToLower(strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == '\n' || r == ',' || r == '.' || r == ';' || r == ':' }), " ")) + " "
	n := 0
	for _, w := range moreNegators {
		n += strings.Count(low, w)
	}
	cjk := cjkNotWords.Replace(low)
	for _, w := range cjkNot {
		n += strings.Count(cjk, w)
	}
	return n%2 == 1
}
