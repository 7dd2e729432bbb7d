package hook

import (
	"regexp"
	"slices"
	"strings"

	"whetstone/internal/late"
	"whetstone/internal/words"
)

// Corrects reports whether a person's prompt objects to what the agent itself did, said or keeps doing. It reads the
// person's own words only: quotations, code and lines of logs are left out first. It is made for precision: a prompt that is
// missed costs nothing, and one that is taken wrongly costs the person a look.
func Corrects(prompt string) bool {
	own := ownWords(prompt)
	if own == "" || others().MatchString(own) {
		return false
	}
	score := 0.0
	if thirdParty().MatchString(own) && !second().MatchString(own) {
		score -= 2
	}
	low, all := strings.ToLower(own), cues
	if strings.ContainsFunc(own, words.IsCJK) {
		all = slices.Concat(cjkCues, cues)
	}
	for _, c := range all {
		if slices.ContainsFunc(c.words, func(w string) bool { return strings.Contains(low, w) }) && c.re().MatchString(own) {
			score += c.weight
		}
		if score >= enough { // weights only add up
			return true
		}
	}
	return false
}

const enough = 2

type cue struct {
	weight float64
	// words, in lower case, of which every match holds one: the expression is made and asked only where one stands. A test
	// derives them from the expression.
	words []string
	re    func() *regexp.Regexp // made when it is needed: most calls of the hook never ask
}

// sentence is where a sentence begins.
const sentence = `(?:^|[.!?;:。！？；…\n]\s*|\b(?:but|and|ok|okay|sorry|hmm+|ugh|wait|hold on|please|well|actually|uh|um|oh)[,:.!… ]\s*)`

func strong(words, expr string) cue {
	return cue{2, strings.Split(words, "|"), late.Regexp(`(?im)` + expr)}
}

func weak(words, expr string) cue {
	return cue{1, strings.Split(words, "|"), late.Regexp(`(?im)` + expr)}
}

const (
	didPast = `(?:deleted?|removed?|added?|changed?|renamed?|rewrote|wrote|put|used|treated|committed|pushed|broke|touched|moved?|replaced?|installed?|skipped|ignored|missed|forgot|mixed|merged|dropped|invented|loosened|hardcoded|mocked|overwrote|reverted|left out|swapped|reformatted|created|made|ran|looked at|didn['’]?t|did not|haven['’]?t|have not|never|were supposed|were meant|shouldn['’]?t|should have|should not|just|simply|again|only)`
	doNow   = `(?:deleting|removing|adding|changing|renaming|rewriting|writing|putting|using|committing|pushing|breaking|touching|moving|replacing|installing|skipping|ignoring|forgetting|inventing|guessing|editing|mocking|creating|making|running|doing|asking|reformatting|explaining|apologi[sz]ing|summari[sz]ing|wrapping|importing|assuming|generating|opening|suggesting|repeating|converting|translating|refactoring|commenting|catching|swallowing|disabling)`
)

var cues = []cue{
	// No, and what follows.
	strong("n", sentence+`(?:no+|nope|nah)(?:[,.!]|\s+no\b|\s*[-–—]+)\s*(?:no[, ]+)*(?:use|not|don['’]?t (?:do|use|add|touch|change|put|make|write|edit|delete|remove)|do not|that|this|the|it|i (?:said|meant|want|asked|told|wrote|mean)|i['’]|you|put|keep|make|just|only|leave|go back|please|tabs|spaces|wrong|other|revert|undo|instead|still|in |on )`),
	strong("nah!|nah.|no!|no.|nope!|nope.", `^(?:no|nope|nah)[.!]\s+\S`),
	strong("nein!|nein,|nein.|non!|non,|non.|não!|não,|não.|нет!|нет,|нет.", sentence+`(?:nein|non|não|нет)[,.!]\s+(?:[^odmgкс\s]|(?:das|du|da|de|ma|mas|mais|ce|ça|c['’]|o |a |os |die|der|den|dem|dies|nicht|не|это|на))`),
	// What I asked.
	strong("asked|told|warned", `\bi\s+(?:(?:already|clearly|explicitly|specifically|just)\s+)?(?:told|asked|warned)\s+you\b`),
	strong("asked|meant|said|wanted", sentence+`\s*i(?:['’]d| had)?\s+(?:already |clearly |explicitly |specifically |only |just )?(?:asked|said|meant|wanted)\b[^?\n]*$`),
	strong("what", `\b(?:not|isn['’]?t|wasn['’]?t|never|hardly)\s+what\s+i\b`),
	strong("did not|didn't|didnt|didn’t|never", `\bi\s+(?:never|didn['’]?t|did not)\s+(?:ask|want|say|mean|tell|request|approve|agree)\b`),
	strong("clear", `\bi\s+was\s+(?:very |quite |perfectly )?clear\b`),
	strong("asked|meant|wanted", `\bi\s+only\s+(?:wanted|asked|meant)\b`),
	strong("asked|explained|mentioned|said|told|wrote", `\b(?:as|like)\s+i\s+(?:already |just )?(?:said|mentioned|asked|told|wrote|explained)\b`),
	strong("already", `\balready\s+(?:mentioned|told you|said|explained)\b`),
	strong("rather", `\bi(?:['’]d| would)\s+rather\s+you\s+(?:hadn|had not|didn|did not)`),
	strong("do not|don't|dont|don’t", `\bi\s+(?:don['’]?t|do not)\s+want\s+(?:a|any|you|the)\b[^?\n]*\b(?:each|every|again|after|all the time|always|anymore|any more)\b`),
	strong("agreed|discussed|have been over|settled on|talked about|went over", `\bwe\s+(?:agreed|went over|discussed|talked about|have been over|settled on)\b`),
	strong("described|it says|it stands|stated|written", `\b(?:as|like)\s+(?:stated|written|it says|it stands|described)\s+in\s+(?:the\s+)?(?:claude\.md|agents\.md|gemini\.md|instructions|guidelines|style ?guide|contributing|readme|rules)`),
	weak("agents.md|claude.md|guidelines|instruction|rules file|style guide|styleguide", `\b(?:claude\.md|agents\.md|instructions?|style ?guide|rules file|guidelines)\b`),
	// That is wrong.
	strong("false|incorrect|not correct|not how|not it|not right|not true|right at all|the cause|wrong", sentence+`(?:that|this|it)(?:['’]?s| is| was| isn['’]?t| is not| wasn['’]?t)\s+(?:still\s+|just\s+|completely\s+|totally\s+|simply\s+|plain\s+|also\s+)*(?:wrong|incorrect|not right|not correct|right at all|not it|not true|false|not the cause|the cause|not how)\b[^?\n]*(?:[.,!;:]|$)`),
	strong("incorrect|wrong", `^\s*(?:wrong|incorrect)\b\s*(?:[.,!:]|file|branch|place|folder|dir|directory|function|one|order|repo|package|approach|way|method|version|test|path|language|variable|lol)`),
	strong("wrong", `\b(?:wrong)\s+(?:file|branch|place|folder|directory|function|repo|package|approach)\b[^?\n]*\byou\b`),
	strong("wrong", `\byou\b[^?.\n]{0,40}\bwrong\s+(?:file|branch|place|folder|directory|function|repo|package|one|way)\b`),
	strong("exist", `\b(?:doesn['’]?t|does not|don['’]?t|do not)\s+exist\b[^\n]*\b(?:you|made (?:it|that|this) up|invented)\b`),
	strong("made", `\byou\s+(?:made|just made)\s+(?:it|that|this|them|those)\s+up\b`),
	strong("hallucinat|over-engineer|overengineer", `\b(?:hallucinat|over-?engineer)(?:ed|ing|ion)?\b`),
	strong("clever|complex|complicated|long|much|verbose", sentence+`(?:this|that|it)(?:['’]?s| is)?\s+(?:way |far |much )?too\s+(?:complicated|complex|long|much|verbose|clever)\b`),
	strong("went too far", `\bwent too far\b`),
	// You did it.
	strong("keep|kept", `\byou(?:['’]ve| have)?\s+(?:keep|kept)\s+\w+ing\b`),
	strong("again|did it|did that|forgot|ignored|missed|skipped", `\byou(?:['’]ve| have)?\s+(?:again|once again|yet again)\b|\byou\s+(?:forgot|did it|did that|skipped|ignored|missed)\b[^?\n]*\bagain\b|\byou(?:['’]ve| have)\b[^?\n]*\byet again\b`),
	strong("you|u", sentence+`(?:you|u)(?:['’]ve| have)?\s+(?:forgot|forgotten|skipped|ignored|missed|broke|deleted|removed|committed|pushed|overwrote|invented|loosened|hardcoded|misread|misunderstood)\b`),
	strong("you are|you're|you’re", sentence+`you(?:['’]re| are)\s+(?:still |again |always |constantly )?`+doNow),
	strong("why", `\bwhy\s+(?:did|are|do|have|were|would|is there suddenly)\s+(?:you|u)?\s*(?:still |again |always |suddenly |even |just )?(?:`+didPast+`|`+doNow+`|keep|a new|delete|remove|add|change|rename|rewrite|write|put|use|commit|push|break|touch|move|replace|install|skip|ignore)`),
	weak("why", `\bwhy\b[^\n]*\byou\b`),
	weak("you", `\byou(?:['’]ve| have)?\s+`+didPast+`\b`),
	weak("said", `\byou\s+said\b[^\n]*\bbut\b`),
	weak("but|instead|only,|though", `\bbut\b|\bthough\b|\binstead\b|\beven though\b|\bonly,`),
	weak("did you even|do you even|open the docs|read the file before", `\b(?:did you even|do you even|read the file before|open the docs)\b`),
	weak("your", `\byour\s+(?:last\s+)?(?:fix|change|changes|edit|edits|patch|commit|version|refactor(?:ing)?|answer|code)\b`),
	strong("still", `\bstill\s+(?:broken|failing|fails|wrong|not working|crashing|the same)\b[^\n]*\b(?:your|you)\b`),
	strong("after|because of|since", `\b(?:after|since|because of)\s+your\s+(?:last\s+)?(?:fix|change|changes|edit|edits|refactor)`),
	strong("back out|revert|roll back|take back|undo", `(?:^|[.,;!]\s*|\bplease\s+)(?:undo|revert|roll back|take back|back out)\s+(?:that|this|it|these|those|your|what you|the last (?:change|edit|thing))\b[^?\n]*(?:[.,;!\n]|$)`),
	strong("back", `\bput\b[^?.\n]{0,60}\bback\b`),
	weak("time|from now on|once more|again|as before|yesterday", `\b(?:third|second|fourth|nth|last) time\b|\bevery (?:single )?time\b|\beach time\b|\bonce more\b|\bagain\b|\bas before\b|\byesterday\b|\bfrom now on\b|\bnext time\b`),
	weak("should|otherwise", `\b(?:should have been|should be)\b[^\n]*\byou\b|\bthe style\s?guide says otherwise\b`),
	weak("i never|leave it alone|leave that alone|leave them alone|leave those alone|nobody needs", `\bleave (?:it|that|them|those) alone\b|\bnobody needs\b|\bi never\b`),
	// What was agreed, and what came of it.
	strong("made clear|said so|specified|spelled out|stated|told you|written|wrote", `\bi\s+(?:had |have |['’]ve |already |clearly |explicitly )*(?:wrote|written|stated|specified|spelled out|made clear|told you|said so)\b[^?\n]*\b(?:but|and|that|not|no|only|explicitly|clearly|you)\b`),
	strong("instruction|message|prompt|question|request|words", `\bmy\s+(?:words|first message|last message|message|instructions?|request|prompt|question|exact words)\b[^?\n]{0,30}\b(?:were|was|said|says|ruled|asked|is)\b`),
	strong("been over this|been through this|had this|how many|how often", `\b(?:we['’]?ve|we have)\s+(?:been (?:over|through)|had) this\b|\bhow (?:many|often)\b[^\n]*\b(?:do|must|did) i\b[^\n]*\b(?:say|tell|ask|repeat)\b`),
	strong("time", `\btime\s+(?:i['’]?m|i am|i have to|i['’]ve|i)\s+(?:telling|told|tell|say|saying|asking|asked|ask|explain)`),
	strong("you", `\byou(?:['’]re| are|['’]ve been| have been)\s+(?:still |again |in the wrong|reading the wrong|looking at the wrong|confusing|mixing|mistaken|wrong|missing the point|not listening|answering)`),
	strong("the one|what|which", `\b(?:what|which|the one)\s+you\s+(?:built|made|wrote|did|gave me|produced|have now|came up with)\b[^?\n]*\b(?:not|throws|breaks|wrong|instead|but|ignores|misses|drops|doesn)`),
	strong("quit|stop", `\b(?:can|could|would|will)\s+you\s+(?:please\s+|finally\s+|just\s+)?(?:quit|stop)\s+\w+ing\b`),
	strong("again|another|still", sentence+`(?:again|still|another)\s+(?:a|an|the|no|with|in|`+doNow+`|\w+ing)\b[^?\n]{0,80}\b(?:time|belongs|where|instead|write|you|please|said|asked|my words|tests?)\b`),
	strong("again", `\b\w+\s+again\s*[?!]{2,}`),
	strong("back|leave it the way it was", `\bput\b[^?.\n]{0,60}\bback\s+(?:the way|as|to how|where)\b|\b(?:back|leave it) the way it was\b`),
	strong("won't |wont |won’t ", `\bwon['’]?t (?:fly|do|work here)\b[^?\n]*\b(?:has to|must|should|belongs)\b`),
	strong("the thing|what", `\b(?:is|was|were)\s+(?:exactly |precisely )?(?:what|the thing)\s+i\b[^?\n]*\b(?:ruled out|not to|didn|asked you not|said not|wanted to avoid)`),
	strong("i said|supposed to|would have", `\bwould have (?:done|been enough|sufficed)\b|\bwas supposed to (?:stay|be|remain|keep)\b[^\n]*\b(?:you|why|now)\b|\bnot\s+\w+,\s+i said\b|^[^.?\n]{1,40},\s+i said\b`),
	weak("from you|i had told|it didn't before|it didnt before|it didn’t before|never asked|never ran|never run|rewrite it|supposed to|the diff|the whole file|what's this|whats this|what’s this|why is there|your last turn|your patch|your reply|your summary", `\bsupposed to\b|\bwhy is there\b|\bwhat['’]?s this\b|\brewrite it\b|\bthe (?:diff|whole file)\b|\bnever (?:run|ran|asked)\b|\byour (?:last turn|patch|summary|reply)\b|\bfrom you\b|\bit didn['’]?t before\b|\bi had told\b`),
	weak("claim|says", `\bthe (?:summary|reply|answer) (?:claims|says)\b|\b(?:it|you) claims?\b`),
	// Do not do it again.
	strong("quit|stop", `\b(?:pls|please|plz)\s+(?:stop|quit)\s+\w+ing\b`),
	strong("not", `^\s*not\s+(?:the|a|an|in|on|with|like|that|there|here|in)\b[^?\n]*[.,!;]`),
	strong("a wrong|the wrong", sentence+`(?:that['’]?s|this is|it['’]?s|thats|that is)\s+(?:still )?(?:the|a) wrong\b`),
	strong("a answer|a fix|a solution|an answer|how we|necessary|needed|the goal|the idea|the point|what we", `\b(?:isn['’]?t|is not|wasn['’]?t|was not)\s+(?:a fix|an? answer|a solution|what we|how we|the point|the idea|the goal|needed|necessary)\b`),
	strong("how does this|says who|where did you get", `\bwhere did you get\b|\bsays who\b|\bhow does this .{1,30}count as\b`),
	strong("can't be right|cant be right|can’t be right|is not true|was not true|were not true", `\b(?:was|were|is) not true\b|\bcan['’]?t be right\b`),
	strong("you said", `\byou said\b[^\n]*\b(?:isn['’]?t|doesn['’]?t|didn['’]?t|wasn['’]?t|not|never|drops?|breaks?|fails?|red)\b`),
	strong("i explained|i linked|i mentioned|i pointed out|which i pasted", `\b(?:earlier|before|at the start|already)\b[^?\n]{0,20}\bi (?:mentioned|linked|explained|pointed out)\b|\bwhich i (?:linked|mentioned|explained|pasted)\b`),
	strong("i was hoping for|i was really hoping for|misunderstanding|misunderstood", `\bi was (?:really )?hoping for\b[^?\n]*\brather than\b|\bmisunderst(?:anding|ood)\b`),
	strong("attempts|let me put it differently", `\blast (?:two|three|few|\d+) attempts\b|\blet me put it differently\b`),
	strong("you got there|you have just|you just|you simply", `\b(?:you just|you got there|you have just|you simply)\b[^?\n]*\b(?:threw|away|broke|by sprinkling|removed|deleted|ignored|silenced|skipped|commented)\b`),
	strong("ing", sentence+`(?:stop|quit|enough)\s+(?:with\s+the\s+|it with\s+)?`+doNow),
	strong("again", sentence+`again\s+with\s+the\b`),
	strong("again|any more|anymore|next time|please", `\b(?:could|can|would)\s+you\s+(?:please\s+)?not\b[^\n]*\b(?:next time|again|any ?more|please)\b`),
	strong("again|any more|anymore|time|when i ask|you did", sentence+`(?:please |pls )?(?:don['’]?t|do not|dont|never)\b[^?\n]{0,80}\b(?:again|any ?more|when i ask|you did not write|you didn['’]?t write|each time|every time|ever again)\b`),
	strong("without asking", `\byou(?:['’]d| had)\b[^?\n]*\bwithout asking\b|\bwithout asking me\b`),
	strong("did you even|guessing at|read the file before|still", `\bstill\s+in\s+\w+\b|\bread the file before\b|\bguessing at\b|\bdid you even\b`),
	// Deutsch, español, français, português, русский
	strong("schon wieder|nicht so|lass das|ich|falsch|nie die rede|hör auf|warum hast", `\bschon wieder\b|\bnicht so\b[.,!]|\blass das\b|\bich (?:wollte|sagte|meinte)\b|\bich hatte\b[^?\n]*\bgesagt\b|\bdas ist falsch\b|\bdas habe? ich nicht\b|\bhabe ich (?:dir )?(?:doch )?gesagt\b|\bhör auf\b|\bwarum hast du\b|\bdavon war nie die rede\b|\bich habe? (?:doch |dir )?(?:gesagt|geschrieben|gebeten)`),
	strong("no es|dije|ped|te he|otra vez|deja|mal|has", `\bno es lo que|\bte (?:dije|pedí|he dicho|había pedido)|\botra vez has|\bno te pedí|\bdeja de\s|\beso está mal|\bhas vuelto a\s|\bpor qué has\s`),
	strong("je|pas|tu|ce que|faux|côté|arrête", `\bce n['’]est pas (?:ce que|ça)|\bje (?:t['’]ai|t['’]avais|l['’]avais) (?:dit|demandé)|\bce que j['’](?:ai|avais) demandé|\btu (?:as|t['’]es) (?:encore|trompé)|\barrête de\s|(?:^|\s)pas ça|\bc['’]est faux|à côté[^\n]*\bje\b|\bje voulais\b|\bpourquoi (?:as-tu|tu as)\b`),
	strong("de novo você|eu disse|eu falei|eu pedi|não era isso|não era o que|não é isso|não é o que|para de|você de novo|você esqueceu", `\bnão (?:é|era) (?:isso|o que)|\beu (?:pedi|disse|falei)\b|\bde novo você|\bpara de\s|\bvocê (?:de novo|esqueceu)`),
	strong("вы опять|не так|не то|неправильно|опять ты|перестань|ты опять|я же говорил|я же просил|я же сказал", `не то\b|я же (?:просил|сказал|говорил)|(?:ты|вы) опять|опять ты|не так[,. ]|перестань|неправильно`),
}

// cjkCues are looked for where a prompt holds such a character.
var cjkCues = []cue{
	// 中文
	strong("", `(?:^|[\n。！？；])\s*(?:不对|错了|不是这样|不是的|不行)[，,。！!；\s]`),
	strong("", `不是(?:这个意思|我要的|我想要的|让你|叫你)|不是我说的`),
	strong("", `你(?:怎么)?又|你(?:还|老)是|(?:这次|你|怎么)又(?:没|忘|把|改|加|删)|又(?:忘了|没跑|没有按)`),
	strong("", `(?:别|不要)再`),
	strong("", `我(?:已经|都|明明|早就)?(?:说过|说了|讲过|告诉过你|告诉你了|要求过|让你|叫你|要的是|说的是|是让你|是想让你)|(?:没|没有)(?:让|叫|要求)你`),
	strong("", `我没(?:让|叫|说|要)`),
	strong("", `撤销(?:刚才|你|上次|上一次)|(?:改|换|恢复|退|还原)回(?:去|来|原样)|恢复原样`),
	strong("", `(?:你|是你)(?:自己)?编的|根本(?:不存在|没有)|(?:改|看|弄|搞|写|删|放)错(?:了|文件|地方|位置|分支)`),
	strong("", `为什么(?:你)?(?:要|又|把)?(?:删|改|加|去掉|动|换)|(?:谁|干嘛|干吗)让你`),
	strong("", `你(?:没|没有)(?:看|读|按|听|跑|照)|你(?:漏|忽略|忘)了`),
	strong("", `先别(?:写|改|动|删|提交)|(?:上次|之前|前面|刚才|早就)(?:不是)?(?:已经)?(?:说过|讲过|说好)|你(?:刚才|刚刚|之前)说[^。！？\n]*(?:可|但|明显|其实)|你是(?:把|靠)[^。！？\n]*(?:吧|的吧|才)`),
	strong("", `说了(?:多少|几|好几|很多)(?:遍|次)|你却|你(?:就)?直接(?:改|删|写|把)|请撤回|我写得很清楚|明显没|又是.{0,12}[，,]|你说.{0,20}(?:可|但|结果)`),
	strong("", `太复杂了|过度设计|多此一举`),
	// 日本語
	strong("", `違います|違う[。、！]|ではなくて?[^。？]*(?:してください|直して|使って)|(?:と|って)言った(?:はず|よね|のに|でしょ)|頼んで(?:い)?ない|勝手に|元に戻して|書き換えないで|変えないで|消さないで|さっき(?:頼|言)|また.{0,12}(?:忘れ|消し|変え)`),
}

// others are openings that say that the fault is the person's own, or that the words are somebody else's.
var others = late.Regexp(`(?i)^\s*(?:my (?:mistake|bad|fault)|i was wrong|i forgot|sorry, my|you['’]?re right|you are right|you were right|translate\b|never ?mind|是我(?:搞|弄|写|看)?错|我(?:搞|弄|写|看|记)错了)|帮我.{0,12}翻译|是我搞错了|\bmy mistake\b`)

// thirdParty is somebody or something else that is blamed, or a question about how to; second is the agent spoken to.
var (
	thirdParty = late.Regexp(`(?i)\b(?:linter|compiler|prettier|copilot|colleagues?|teammates?|co-?workers?|vendor|reviewers?|customers?|clients?|users?|bot|intern|previous developer|predecessor|framework|library|browser|upstream|editor|ide)\b[^.!?\n]{0,40}\b(?:keeps?|put|puts|says?|said|did|does|doesn|wrote|asked|changed|changes|complains?|claims?|used|uses|broke|forgot|removed|deleted|wants?)\b|\bhow (?:do|can|should|could) (?:i|we|one)\b`)
	second     = late.Regexp(`(?i)\b(?:you|your|you['’]re|u|ur)\b`)
)

var (
	chat     = late.Regexp(`(?m)^\s*@?[A-Za-z][\w.-]{1,20}(?:\s\[?\d\d?:\d\d\]?)?:\s.*$`)
	fenced   = late.Regexp("(?s)```.*?(?:```|\\z)|~~~.*?(?:~~~|\\z)")
	inline   = late.Regexp("`[^`\n]*`")
	quoted   = late.Regexp(`"[^"\n]{2,}"|“[^”\n]*”|„[^“”\n]*[“”]|«[^»\n]*»|「[^」\n]*」|『[^』\n]*』|(?:^|[\s(:])'[^'\n]*[^'\n\s]'(?:[\s.,;:!?)]|$)|‘[^’\n]*’(?:[\s.,;:!?)]|$)`)
	quoteRow = late.Regexp(`(?m)^\s*>.*$`)
	logRow   = late.Regexp(`(?m)^(?:\d{4}-\d\d-\d\d[T ].*|\s*(?:--- FAIL|FAIL|panic:|goroutine |at |File "|Traceback|E\s{2}|error:|Error:|warning:|fatal:|\[[A-Za-z]+\]).*|\s+\S+\.(?:go|py|ts|js|rs|java):\d+.*|(?: {4}|\t).*)$`)
)

// maxOwn is how much of a prompt is read, in bytes.
const maxOwn = 16 << 10

// ownWords is a prompt without what its writer did not say himself.
func ownWords(prompt string) string {
	if len(prompt) > maxOwn { // what corrects stands at either end of what was pasted
		prompt = strings.ToValidUTF8(prompt[:maxOwn*3/4]+"\n"+prompt[len(prompt)-maxOwn/4:], "")
	}
	s := fenced().ReplaceAllString(prompt, " ")
	s = quoteRow().ReplaceAllString(s, "")
	if len(chat().FindAllString(s, 3)) > 1 { // a conversation of others
		s = chat().ReplaceAllString(s, "")
	}
	s = logRow().ReplaceAllString(s, "")
	s = inline().ReplaceAllString(s, " code ")
	s = quoted().ReplaceAllString(s, " ")
	return strings.TrimSpace(s)
}
