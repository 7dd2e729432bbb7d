package hook

import (
	"regexp"
	"strings"
)

// Corrects reports whether a person's prompt objects to what the agent itself did, said or keeps doing. It reads the
// person's own words only: quotations, code and lines of logs are left out first. It is made for precision: a prompt that is
// missed costs nothing, and one that is taken wrongly costs the person a look.
func Corrects(prompt string) bool {
	own := ownWords(prompt)
	if own == "" || others.MatchString(own) {
		return false
	}
	score := 0.0
	if thirdParty.MatchString(own) && !second.MatchString(own) {
		score -= 2
	}
	for _, c := range cues {
		if c.re.MatchString(own) {
			score += c.weight
		}
	}
	return score >= 2
}

type cue struct {
	weight float64
	re     *regexp.Regexp
}

// sentence is where a sentence begins.
const sentence = `(?:^|[.!?;:。！？；…\n]\s*|\b(?:but|and|ok|okay|sorry|hmm+|ugh|wait|hold on|please|well|actually|uh|um|oh)[,:.!… ]\s*)`

func strong(re string) cue { return cue{2, regexp.MustCompile(`(?im)` + re)} }
func weak(re string) cue   { return cue{1, regexp.MustCompile(`(?im)` + re)} }

const (
	didPast = `(?:deleted?|removed?|added?|changed?|renamed?|rewrote|wrote|put|used|treated|committed|pushed|broke|touched|moved?|replaced?|installed?|skipped|ignored|missed|forgot|mixed|merged|dropped|invented|loosened|hardcoded|mocked|overwrote|reverted|left out|swapped|reformatted|created|made|ran|looked at|didn['’]?t|did not|haven['’]?t|have not|never|were supposed|were meant|shouldn['’]?t|should have|should not|just|simply|again|only)`
	doNow   = `(?:deleting|removing|adding|changing|renaming|rewriting|writing|putting|using|committing|pushing|breaking|touching|moving|replacing|installing|skipping|ignoring|forgetting|inventing|guessing|editing|mocking|creating|making|running|doing|asking|reformatting|explaining|apologi[sz]ing|summari[sz]ing|wrapping|importing|assuming|generating|opening|suggesting|repeating|converting|translating|refactoring|commenting|catching|swallowing|disabling)`
)

var cues = []cue{
	// No, and what follows.
	strong(sentence + `(?:no+|nope|nah)(?:[,.!]|\s+no\b|\s*[-–—]+)\s*(?:no[, ]+)*(?:use|not|don['’]?t (?:do|use|add|touch|change|put|make|write|edit|delete|remove)|do not|that|this|the|it|i (?:said|meant|want|asked|told|wrote|mean)|i['’]|you|put|keep|make|just|only|leave|go back|please|tabs|spaces|wrong|other|revert|undo|instead|still|in |on )`),
	strong(`^(?:no|nope|nah)[.!]\s+\S`),
	strong(sentence + `(?:nein|non|não|нет)[,.!]\s+(?:[^odmgкс\s]|(?:das|du|da|de|ma|mas|mais|ce|ça|c['’]|o |a |os |die|der|den|dem|dies|nicht|не|это|на))`),
	// What I asked.
	strong(`\bi\s+(?:(?:already|clearly|explicitly|specifically|just)\s+)?(?:told|asked|warned)\s+you\b`),
	strong(sentence + `\s*i(?:['’]d| had)?\s+(?:already |clearly |explicitly |specifically |only |just )?(?:asked|said|meant|wanted)\b[^?\n]*$`),
	strong(`\b(?:not|isn['’]?t|wasn['’]?t|never|hardly)\s+what\s+i\b`),
	strong(`\bi\s+(?:never|didn['’]?t|did not)\s+(?:ask|want|say|mean|tell|request|approve|agree)\b`),
	strong(`\bi\s+was\s+(?:very |quite |perfectly )?clear\b`),
	strong(`\bi\s+only\s+(?:wanted|asked|meant)\b`),
	strong(`\b(?:as|like)\s+i\s+(?:already |just )?(?:said|mentioned|asked|told|wrote|explained)\b`),
	strong(`\balready\s+(?:mentioned|told you|said|explained)\b`),
	strong(`\bi(?:['’]d| would)\s+rather\s+you\s+(?:hadn|had not|didn|did not)`),
	strong(`\bi\s+(?:don['’]?t|do not)\s+want\s+(?:a|any|you|the)\b[^?\n]*\b(?:each|every|again|after|all the time|always|anymore|any more)\b`),
	strong(`\bwe\s+(?:agreed|went over|discussed|talked about|have been over|settled on)\b`),
	strong(`\b(?:as|like)\s+(?:stated|written|it says|it stands|described)\s+in\s+(?:the\s+)?(?:claude\.md|agents\.md|gemini\.md|instructions|guidelines|style ?guide|contributing|readme|rules)`),
	weak(`\b(?:claude\.md|agents\.md|instructions?|style ?guide|rules file|guidelines)\b`),
	// That is wrong.
	strong(sentence + `(?:that|this|it)(?:['’]?s| is| was| isn['’]?t| is not| wasn['’]?t)\s+(?:still\s+|just\s+|completely\s+|totally\s+|simply\s+|plain\s+|also\s+)*(?:wrong|incorrect|not right|not correct|right at all|not it|not true|false|not the cause|the cause|not how)\b[^?\n]*(?:[.,!;:]|$)`),
	strong(`^\s*(?:wrong|incorrect)\b\s*(?:[.,!:]|file|branch|place|folder|dir|directory|function|one|order|repo|package|approach|way|method|version|test|path|language|variable|lol)`),
	strong(`\b(?:wrong)\s+(?:file|branch|place|folder|directory|function|repo|package|approach)\b[^?\n]*\byou\b`),
	strong(`\byou\b[^?.\n]{0,40}\bwrong\s+(?:file|branch|place|folder|directory|function|repo|package|one|way)\b`),
	strong(`\b(?:doesn['’]?t|does not|don['’]?t|do not)\s+exist\b[^\n]*\b(?:you|made (?:it|that|this) up|invented)\b`),
	strong(`\byou\s+(?:made|just made)\s+(?:it|that|this|them|those)\s+up\b`),
	strong(`\b(?:hallucinat|over-?engineer)(?:ed|ing|ion)?\b`),
	strong(sentence + `(?:this|that|it)(?:['’]?s| is)?\s+(?:way |far |much )?too\s+(?:complicated|complex|long|much|verbose|clever)\b`),
	strong(`\bwent too far\b`),
	// You did it.
	strong(`\byou(?:['’]ve| have)?\s+(?:keep|kept)\s+\w+ing\b`),
	strong(`\byou(?:['’]ve| have)?\s+(?:again|once again|yet again)\b|\byou\s+(?:forgot|did it|did that|skipped|ignored|missed)\b[^?\n]*\bagain\b|\byou(?:['’]ve| have)\b[^?\n]*\byet again\b`),
	strong(sentence + `(?:you|u)(?:['’]ve| have)?\s+(?:forgot|forgotten|skipped|ignored|missed|broke|deleted|removed|committed|pushed|overwrote|invented|loosened|hardcoded|misread|misunderstood)\b`),
	strong(sentence + `you(?:['’]re| are)\s+(?:still |again |always |constantly )?` + doNow),
	strong(`\bwhy\s+(?:did|are|do|have|were|would|is there suddenly)\s+(?:you|u)?\s*(?:still |again |always |suddenly |even |just )?(?:` + didPast + `|` + doNow + `|keep|a new|delete|remove|add|change|rename|rewrite|write|put|use|commit|push|break|touch|move|replace|install|skip|ignore)`),
	weak(`\bwhy\b[^\n]*\byou\b`),
	weak(`\byou(?:['’]ve| have)?\s+` + didPast + `\b`),
	weak(`\byou\s+said\b[^\n]*\bbut\b`),
	weak(`\bbut\b|\bthough\b|\binstead\b|\beven though\b|\bonly,`),
	weak(`\b(?:did you even|do you even|read the file before|open the docs)\b`),
	weak(`\byour\s+(?:last\s+)?(?:fix|change|changes|edit|edits|patch|commit|version|refactor(?:ing)?|answer|code)\b`),
	strong(`\bstill\s+(?:broken|failing|fails|wrong|not working|crashing|the same)\b[^\n]*\b(?:your|you)\b`),
	strong(`\b(?:after|since|because of)\s+your\s+(?:last\s+)?(?:fix|change|changes|edit|edits|refactor)`),
	strong(`(?:^|[.,;!]\s*|\bplease\s+)(?:undo|revert|roll back|take back|back out)\s+(?:that|this|it|these|those|your|what you|the last (?:change|edit|thing))\b[^?\n]*(?:[.,;!\n]|$)`),
	strong(`\bput\b[^?.\n]{0,60}\bback\b`),
	weak(`\b(?:third|second|fourth|nth|last) time\b|\bevery (?:single )?time\b|\beach time\b|\bonce more\b|\bagain\b|\bas before\b|\byesterday\b|\bfrom now on\b|\bnext time\b`),
	weak(`\b(?:should have been|should be)\b[^\n]*\byou\b|\bthe style\s?guide says otherwise\b`),
	weak(`\bleave (?:it|that|them|those) alone\b|\bnobody needs\b|\bi never\b`),
	// What was agreed, and what came of it.
	strong(`\bi\s+(?:had |have |['’]ve |already |clearly |explicitly )*(?:wrote|written|stated|specified|spelled out|made clear|told you|said so)\b[^?\n]*\b(?:but|and|that|not|no|only|explicitly|clearly|you)\b`),
	strong(`\bmy\s+(?:words|first message|last message|message|instructions?|request|prompt|question|exact words)\b[^?\n]{0,30}\b(?:were|was|said|says|ruled|asked|is)\b`),
	strong(`\b(?:we['’]?ve|we have)\s+(?:been (?:over|through)|had) this\b|\bhow (?:many|often)\b[^\n]*\b(?:do|must|did) i\b[^\n]*\b(?:say|tell|ask|repeat)\b`),
	strong(`\btime\s+(?:i['’]?m|i am|i have to|i['’]ve|i)\s+(?:telling|told|tell|say|saying|asking|asked|ask|explain)`),
	strong(`\byou(?:['’]re| are|['’]ve been| have been)\s+(?:still |again |in the wrong|reading the wrong|looking at the wrong|confusing|mixing|mistaken|wrong|missing the point|not listening|answering)`),
	strong(`\b(?:what|which|the one)\s+you\s+(?:built|made|wrote|did|gave me|produced|have now|came up with)\b[^?\n]*\b(?:not|throws|breaks|wrong|instead|but|ignores|misses|drops|doesn)`),
	strong(`\b(?:can|could|would|will)\s+you\s+(?:please\s+|finally\s+|just\s+)?(?:quit|stop)\s+\w+ing\b`),
	strong(sentence + `(?:again|still|another)\s+(?:a|an|the|no|with|in|` + doNow + `|\w+ing)\b[^?\n]{0,80}\b(?:time|belongs|where|instead|write|you|please|said|asked|my words|tests?)\b`),
	strong(`\b\w+\s+again\s*[?!]{2,}`),
	strong(`\bput\b[^?.\n]{0,60}\bback\s+(?:the way|as|to how|where)\b|\b(?:back|leave it) the way it was\b`),
	strong(`\bwon['’]?t (?:fly|do|work here)\b[^?\n]*\b(?:has to|must|should|belongs)\b`),
	strong(`\b(?:is|was|were)\s+(?:exactly |precisely )?(?:what|the thing)\s+i\b[^?\n]*\b(?:ruled out|not to|didn|asked you not|said not|wanted to avoid)`),
	strong(`\bwould have (?:done|been enough|sufficed)\b|\bwas supposed to (?:stay|be|remain|keep)\b[^\n]*\b(?:you|why|now)\b|\bnot\s+\w+,\s+i said\b|^[^.?\n]{1,40},\s+i said\b`),
	weak(`\bsupposed to\b|\bwhy is there\b|\bwhat['’]?s this\b|\brewrite it\b|\bthe (?:diff|whole file)\b|\bnever (?:run|ran|asked)\b|\byour (?:last turn|patch|summary|reply)\b|\bfrom you\b|\bit didn['’]?t before\b|\bi had told\b`),
	weak(`\bthe (?:summary|reply|answer) (?:claims|says)\b|\b(?:it|you) claims?\b`),
	// Do not do it again.
	strong(`\b(?:pls|please|plz)\s+(?:stop|quit)\s+\w+ing\b`),
	strong(`^\s*not\s+(?:the|a|an|in|on|with|like|that|there|here|in)\b[^?\n]*[.,!;]`),
	strong(sentence + `(?:that['’]?s|this is|it['’]?s|thats|that is)\s+(?:still )?(?:the|a) wrong\b`),
	strong(`\b(?:isn['’]?t|is not|wasn['’]?t|was not)\s+(?:a fix|an? answer|a solution|what we|how we|the point|the idea|the goal|needed|necessary)\b`),
	strong(`\bwhere did you get\b|\bsays who\b|\bhow does this .{1,30}count as\b`),
	strong(`\b(?:was|were|is) not true\b|\bcan['’]?t be right\b`),
	strong(`\byou said\b[^\n]*\b(?:isn['’]?t|doesn['’]?t|didn['’]?t|wasn['’]?t|not|never|drops?|breaks?|fails?|red)\b`),
	strong(`\b(?:earlier|before|at the start|already)\b[^?\n]{0,20}\bi (?:mentioned|linked|explained|pointed out)\b|\bwhich i (?:linked|mentioned|explained|pasted)\b`),
	strong(`\bi was (?:really )?hoping for\b[^?\n]*\brather than\b|\bmisunderst(?:anding|ood)\b`),
	strong(`\blast (?:two|three|few|\d+) attempts\b|\blet me put it differently\b`),
	strong(`\b(?:you just|you got there|you have just|you simply)\b[^?\n]*\b(?:threw|away|broke|by sprinkling|removed|deleted|ignored|silenced|skipped|commented)\b`),
	strong(sentence + `(?:stop|quit|enough)\s+(?:with\s+the\s+|it with\s+)?` + doNow),
	strong(sentence + `again\s+with\s+the\b`),
	strong(`\b(?:could|can|would)\s+you\s+(?:please\s+)?not\b[^\n]*\b(?:next time|again|any ?more|please)\b`),
	strong(sentence + `(?:please |pls )?(?:don['’]?t|do not|dont|never)\b[^?\n]{0,80}\b(?:again|any ?more|when i ask|you did not write|you didn['’]?t write|each time|every time|ever again)\b`),
	strong(`\byou(?:['’]d| had)\b[^?\n]*\bwithout asking\b|\bwithout asking me\b`),
	strong(`\bstill\s+in\s+\w+\b|\bread the file before\b|\bguessing at\b|\bdid you even\b`),
	// 中文
	strong(`(?:^|[\n。！？；])\s*(?:不对|错了|不是这样|不是的|不行)[，,。！!；\s]`),
	strong(`不是(?:这个意思|我要的|我想要的|让你|叫你)|不是我说的`),
	strong(`你(?:怎么)?又|你(?:还|老)是|(?:这次|你|怎么)又(?:没|忘|把|改|加|删)|又(?:忘了|没跑|没有按)`),
	strong(`(?:别|不要)再`),
	strong(`我(?:已经|都|明明|早就)?(?:说过|说了|讲过|告诉过你|告诉你了|要求过|让你|叫你|要的是|说的是|是让你|是想让你)|(?:没|没有)(?:让|叫|要求)你`),
	strong(`我没(?:让|叫|说|要)`),
	strong(`撤销(?:刚才|你|上次|上一次)|(?:改|换|恢复|退|还原)回(?:去|来|原样)|恢复原样`),
	strong(`(?:你|是你)(?:自己)?编的|根本(?:不存在|没有)|(?:改|看|弄|搞|写|删|放)错(?:了|文件|地方|位置|分支)`),
	strong(`为什么(?:你)?(?:要|又|把)?(?:删|改|加|去掉|动|换)|(?:谁|干嘛|干吗)让你`),
	strong(`你(?:没|没有)(?:看|读|按|听|跑|照)|你(?:漏|忽略|忘)了`),
	strong(`先别(?:写|改|动|删|提交)|(?:上次|之前|前面|刚才|早就)(?:不是)?(?:已经)?(?:说过|讲过|说好)|你(?:刚才|刚刚|之前)说[^。！？\n]*(?:可|但|明显|其实)|你是(?:把|靠)[^。！？\n]*(?:吧|的吧|才)`),
	strong(`说了(?:多少|几|好几|很多)(?:遍|次)|你却|你(?:就)?直接(?:改|删|写|把)|请撤回|我写得很清楚|明显没|又是.{0,12}[，,]|你说.{0,20}(?:可|但|结果)`),
	strong(`太复杂了|过度设计|多此一举`),
	// 日本語, Deutsch, español, français, português, русский
	strong(`違います|違う[。、！]|ではなくて?[^。？]*(?:してください|直して|使って)|(?:と|って)言った(?:はず|よね|のに|でしょ)|頼んで(?:い)?ない|勝手に|元に戻して|書き換えないで|変えないで|消さないで|さっき(?:頼|言)|また.{0,12}(?:忘れ|消し|変え)`),
	strong(`\bschon wieder\b|\bnicht so\b[.,!]|\blass das\b|\bich (?:wollte|sagte|meinte)\b|\bich hatte\b[^?\n]*\bgesagt\b|\bdas ist falsch\b|\bdas habe? ich nicht\b|\bhabe ich (?:dir )?(?:doch )?gesagt\b|\bhör auf\b|\bwarum hast du\b|\bdavon war nie die rede\b|\bich habe? (?:doch |dir )?(?:gesagt|geschrieben|gebeten)`),
	strong(`\bno es lo que|\bte (?:dije|pedí|he dicho|había pedido)|\botra vez has|\bno te pedí|\bdeja de\s|\beso está mal|\bhas vuelto a\s|\bpor qué has\s`),
	strong(`\bce n['’]est pas (?:ce que|ça)|\bje (?:t['’]ai|t['’]avais|l['’]avais) (?:dit|demandé)|\bce que j['’](?:ai|avais) demandé|\btu (?:as|t['’]es) (?:encore|trompé)|\barrête de\s|(?:^|\s)pas ça|\bc['’]est faux|à côté[^\n]*\bje\b|\bje voulais\b|\bpourquoi (?:as-tu|tu as)\b`),
	strong(`\bnão (?:é|era) (?:isso|o que)|\beu (?:pedi|disse|falei)\b|\bde novo você|\bpara de\s|\bvocê (?:de novo|esqueceu)`),
	strong(`не то\b|я же (?:просил|сказал|говорил)|(?:ты|вы) опять|опять ты|не так[,. ]|перестань|неправильно`),
}

// others are openings that say that the fault is the person's own, or that the words are somebody else's.
var others = regexp.MustCompile(`(?i)^\s*(?:my (?:mistake|bad|fault)|i was wrong|i forgot|sorry, my|you['’]?re right|you are right|you were right|translate\b|never ?mind|是我(?:搞|弄|写|看)?错|我(?:搞|弄|写|看|记)错了)|帮我.{0,12}翻译|是我搞错了|\bmy mistake\b`)

// thirdParty is somebody or something else that is blamed, or a question about how to; second is the agent spoken to.
var (
	thirdParty = regexp.MustCompile(`(?i)\b(?:linter|compiler|prettier|copilot|colleagues?|teammates?|co-?workers?|vendor|reviewers?|customers?|clients?|users?|bot|intern|previous developer|predecessor|framework|library|browser|upstream|editor|ide)\b[^.!?\n]{0,40}\b(?:keeps?|put|puts|says?|said|did|does|doesn|wrote|asked|changed|changes|complains?|claims?|used|uses|broke|forgot|removed|deleted|wants?)\b|\bhow (?:do|can|should|could) (?:i|we|one)\b`)
	second     = regexp.MustCompile(`(?i)\b(?:you|your|you['’]re|u|ur)\b`)
)

var (
	chat     = regexp.MustCompile(`(?m)^\s*@?[A-Za-z][\w.-]{1,20}(?:\s\[?\d\d?:\d\d\]?)?:\s.*$`)
	fenced   = regexp.MustCompile("(?s)```.*?(?:```|\\z)|~~~.*?(?:~~~|\\z)")
	inline   = regexp.MustCompile("`[^`\n]*`")
	quoted   = regexp.MustCompile(`"[^"\n]{2,}"|“[^”\n]*”|„[^“”\n]*[“”]|«[^»\n]*»|「[^」\n]*」|『[^』\n]*』|(?:^|[\s(:])'[^'\n]*[^'\n\s]'(?:[\s.,;:!?)]|$)|‘[^’\n]*’(?:[\s.,;:!?)]|$)`)
	quoteRow = regexp.MustCompile(`(?m)^\s*>.*$`)
	logRow   = regexp.MustCompile(`(?m)^(?:\d{4}-\d\d-\d\d[T ].*|\s*(?:--- FAIL|FAIL|panic:|goroutine |at |File "|Traceback|E\s{2}|error:|Error:|warning:|fatal:|\[[A-Za-z]+\]).*|\s+\S+\.(?:go|py|ts|js|rs|java):\d+.*|(?: {4}|\t).*)$`)
)

// ownWords is a prompt without what its writer did not say himself.
func ownWords(prompt string) string {
	s := fenced.ReplaceAllString(prompt, " ")
	s = quoteRow.ReplaceAllString(s, "")
	if len(chat.FindAllString(s, 3)) > 1 { // a conversation of others
		s = chat.ReplaceAllString(s, "")
	}
	s = logRow.ReplaceAllString(s, "")
	s = inline.ReplaceAllString(s, " code ")
	s = quoted.ReplaceAllString(s, " ")
	return strings.TrimSpace(s)
}
