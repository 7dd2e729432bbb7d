package statement

import (
	"regexp"
	"strings"
	"unicode"
)

func set(s string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(s) {
		out[w] = true
	}
	return out
}

var (
	enNegators = set(`not never no none nothing nobody neither nor avoid avoids avoiding avoided skip skips skipping skipped forget
forgets forgetting forbid forbids forbidden prohibit prohibited ban bans banned disallow disallowed refuse refuses refused
omit omits omitting hesitate hesitates reject rejects rejected dont doesnt didnt mustnt shouldnt prevent prevents`)

	// enLimits turn around what another negator said: "never X without Y", "no merge until Y", "do not X unless Y".
	enLimits = set(`without unless until lacking missing except lacks`)

	enStop = set(`a an the and or if then as at by for from in into is are be been being was were it its of on onto that this
these those to with you your we our us i they them their will would can could should must may might shall do does did done has
have had when while which who whom whose what where how all any each every both also very just only than such there here too up
out about again more most some other same own always please sure ensure make makes need needs needed needn't ought let lets so
one ones per via yet still even ever once
however though although against between during under off own being s t d ll re ve m & + = always-on must-have
rule rules before after first kind of way`)

	enLight = set(`run use set add keep put write get take give go do have create call want like work thing new good right proper
properly explicit explicitly clear clearly directly straight simply really be allow allowed permit permitted require required
requires includ contain stay remain becom handl provid perform apply`)

	enNeutral = regexp.MustCompile(`\b(?:not only|not just|not necessarily|no matter|no later than|no more than|not more than|no-op|nothing but|no fewer than|at least|whether or not)\b`)

	// zhDouble are double negations that affirm; they vanish whole.
	zhDouble = regexp.MustCompile(`不得不|不能不|不可不|无不|非.{0,4}不可|不是不能|并非不能|并非不可|不无`)

	// zhNeutral contain a negator's character without negating.
	zhNeutral = regexp.MustCompile(`不仅|不但|不同|不过|不断|不少|不久|不论|不管|不只|无论|未来|特别|类别|级别|区别|分别|别名|别的|个别|识别|判别|不可变|不变|不足|不等|无状态|无锁|异步|不一致|不超过|不少于|不多于|不低于|不高于|不小于|不大于`)

	zhNegatorRE = regexp.MustCompile(`不应该|不应当|不允许|不可以|不需要|不使用|不要|不能|不得|不可|不应|不准|不许|不用|不必|不会|不再|不该|严禁|禁止|禁用|杜绝|避免|切勿|切忌|请勿|勿|拒绝|没有|绝不|从不|决不|无需|无须|未经|尚未|未|跳过|忽略|遗漏|忘记|除非|并非|担心|犹豫|没|别|不|无|非`)

	// zhAcross is a double negation over two clauses: what has not been reviewed must not be merged.
	zhAcross = regexp.MustCompile(`(?:没有|未经过?|未)([^，,。；]*?的[^，,。；]*?[，,]?|[^，,。；]{1,12}[，,])\s*(?:一律|都|绝)?(?:不得|不能|禁止|不可以?|不准|不许|不要|严禁)([^，,。；]*)`)

	// historical marks what was once said and no longer holds.
	historical = regexp.MustCompile(`\b(?:used to|no longer|formerly|until (?:version|v\d|release|last)|the (?:old )?rule (?:here )?was|has been dropped|was dropped)\b|以前|过去曾|已废弃|不再要求|曾经`)

	zhStop = runes(`的了是在和与或也都就要请把对为以及其之个些每各一所有可能应该当时候里上下中时用使让被给到从向并且而则即如若等这那它们必须务必始终总是统需先再后前才`)
)

func runes(s string) map[rune]bool {
	out := map[rune]bool{}
	for _, r := range s {
		out[r] = true
	}
	return out
}

var (
	negativeHeadingRE = regexp.MustCompile(`(?i)^(?:.{0,24}\b)?(?:never|don'?ts?|do nots?|avoid|not allowed|forbidden|prohibited|anti-?patterns?|what not to do|not to do|must not|should not|bad|wrong|mistakes|pitfalls|out of bounds|off limits|banned|no-?gos?|things we do not do|not accepted|not ok|rejected)\b.{0,24}$|^.{0,8}(?:禁止|不要|不应该做?|不可以|不能|避免|反模式|严禁|切勿|别这样|不允许|不应|不得|错误做法|常见错误|禁忌|红线|不推荐).{0,8}$`)
	doAndDont         = regexp.MustCompile(`(?i)\bdo(?:'?s)? and don'?t|\bdos and don|应该.*不应该`)
	leadInRE          = regexp.MustCompile(`(?i)\b(?:never|do not|don'?t|avoid|must not|should not|not allowed|forbidden|prohibited|stop|refuse|reject(?:ed)?)\b[^.]*[:：]\s*$|(?:禁止|不要|不应|不得|避免|严禁|切勿|不允许|不能|不可)[^。]*[:：]\s*$`)
)

// negativeHeading reports whether what stands below the heading is what not to do.
func negativeHeading(s string) bool {
	s = strings.TrimFunc(s, func(r rune) bool { return unicode.IsPunct(r) || unicode.IsSymbol(r) || unicode.IsSpace(r) })
	if doAndDont.MatchString(s) {
		return false
	}
	return negativeHeadingRE.MatchString(s)
}

// opensNegatedList reports whether a paragraph such as "Do not:" turns the list below it around.
func opensNegatedList(s string) bool {
	if !strings.HasSuffix(strings.TrimSpace(s), ":") && !strings.HasSuffix(strings.TrimSpace(s), "：") {
		return false
	}
	return leadInRE.MatchString(s)
}

// antonyms maps stems to their opposites, both ways: where one is asked for and only the other is there, the passage
// speaks of something else.
var antonyms = pairs(
	"enabl", "disabl", "show", "hide", "open", "close", "includ", "exclud", "lock", "unlock", "encrypt", "decrypt",
	"accept", "reject", "upper", "lower", "increas", "decreas", "client", "server", "minimum", "maximum", "public", "privat",
	"synchron", "asynchron", "sync", "async", "upload", "download", "import", "export", "read", "write", "left", "right",
	"前台", "后台", "启用", "禁用", "开启", "关闭", "增加", "减少", "内部", "外部", "单线", "多线", "同步", "异步",
	"最大", "最小", "生产", "消费", "上传", "下载", "导入", "导出", "升序", "降序",
)

func pairs(words ...string) map[string]string {
	out := map[string]string{}
	for i := 0; i+1 < len(words); i += 2 {
		out[words[i]], out[words[i+1]] = words[i+1], words[i]
	}
	return out
}
