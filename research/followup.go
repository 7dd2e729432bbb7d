package research

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"whetstone/claim"
	"whetstone/internal/words"
)

// FollowUps proposes what to look into next: noun phrases and names of the claims that are no page yet, best first. known
// holds the keys of pages and seeds that exist. A phrase is a run of words between words that can not be in one; it counts
// for being said twice, for being a name, for two or three words. A sentence's opening is never in a phrase.
func FollowUps(topic string, claims []string, known func(key string) bool, limit int) []string {
	type cand struct {
		text  string
		score float64
		order int
	}
	byKey := map[string]*cand{}
	topicKey := claim.Key(topic)
	topicWords := words.Content(topic)
	for i, c := range claims {
		for _, p := range append(englishPhrases(c), chinesePhrases(c, claims)...) {
			key := claim.Key(p.text)
			if key == "" || key == topicKey || known(key) || singular(key) == singular(topicKey) || known(singular(key)) || known(key+"s") {
				continue
			}
			if covered(p.text, topicWords) {
				continue
			}
			k := singular(key)
			x := byKey[k]
			if x == nil {
				x = &cand{text: p.text, score: p.score, order: len(byKey)}
				byKey[k] = x
			} else if x.order >= 0 && i > 0 {
				x.score += 1
			}
		}
	}
	all := make([]*cand, 0, len(byKey))
	for _, c := range byKey {
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b *cand) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.order, b.order))
	})
	var out []string
	for _, c := range all {
		if len(out) == limit {
			break
		}
		// "election timeout" after "randomised election timeout" would ask for the same thing again.
		if slices.ContainsFunc(out, func(o string) bool { return within(c.text, o) || within(o, c.text) }) {
			continue
		}
		out = append(out, c.text)
	}
	return out
}

// Topics lists the keys of the phrases of a text that may be topics, in order: what a page may link to.
func Topics(text string) []string {
	var out []string
	seen := map[string]bool{}
	for _, p := range append(englishPhrases(text), chinesePhrases(text, nil)...) {
		for _, k := range []string{claim.Key(p.text), singular(claim.Key(p.text))} {
			if k != "" && !seen[k] {
				seen[k] = true
				out = append(out, k)
			}
		}
	}
	return out
}

func within(a, b string) bool {
	ka, kb := " "+claim.Key(a)+" ", " "+claim.Key(b)+" "
	if words.IsCJK([]rune(strings.TrimSpace(ka))[0]) {
		ka = strings.TrimSpace(ka)
	}
	return strings.Contains(kb, ka)
}

func singular(key string) string {
	switch {
	case strings.HasSuffix(key, "ies") && len(key) > 5:
		return key[:len(key)-3] + "y"
	case strings.HasSuffix(key, "ss"), strings.HasSuffix(key, "us"), strings.HasSuffix(key, "is"):
		return key
	case strings.HasSuffix(key, "s") && len(key) > 3:
		return key[:len(key)-1]
	}
	return key
}

// covered reports whether a phrase says no more than the page's topic does.
func covered(text string, topic map[string]bool) bool {
	for t := range words.Content(text) {
		if !topic[t] {
			return false
		}
	}
	return true
}

type phrase struct {
	text  string
	score float64
}

var phraseToken = regexp.MustCompile(`[\p{L}\p{N}][\p{L}\p{N}+#_./'’-]*[\p{L}\p{N}+#]|[\p{L}\p{N}]|[^\s]`)

// englishPhrases cuts a claim at everything that can not be inside a noun phrase.
func englishPhrases(text string) []phrase {
	var out []phrase
	var run []string
	opening := false // the run begins the sentence
	first := ""
	prev := ""
	before := ""
	flush := func(next string) {
		r := run
		run = nil
		// "quorum steps down", "systems compact": the last word is what the phrase does.
		if n := len(r); n > 1 {
			last, before := strings.ToLower(r[n-1]), strings.ToLower(r[n-2])
			plural := strings.HasSuffix(before, "s") && !strings.HasSuffix(before, "ss") && !strings.HasSuffix(last, "s")
			if verbs[last] && (particle[next] || plural) {
				r = r[:n-1]
			}
		}
		for len(r) > 0 && !canLead(r[0]) {
			r = r[1:]
		}
		for len(r) > 0 && !canEnd(r[len(r)-1], next) {
			r = r[:len(r)-1]
		}
		if len(r) > 4 {
			r = r[len(r)-3:]
		}
		if p, ok := nounPhrase(r, opening && sameStart(r, first), before); ok {
			out = append(out, p)
		}
	}
	tokens := phraseToken.FindAllString(text, -1)
	for i, w := range tokens {
		r, _ := utf8.DecodeRuneInString(w)
		low := strings.ToLower(w)
		next := ""
		if i+1 < len(tokens) {
			next = strings.ToLower(tokens[i+1])
		}
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) || words.IsCJK(r) || breaks[low] || (len(run) > 0 && verbs[low] && !nominalBefore(run, low, next)) {
			flush(low)
			before = low
		} else {
			if len(run) == 0 {
				opening, before = i == 0, prev
				if opening {
					first = w
				}
			}
			run = append(run, w)
		}
		prev = low
	}
	flush("")
	return out
}

// particle follow verbs.
var particle = words.Set(strings.Fields("down up out off back away aside on over in"))

// nominalBefore keeps words that are verbs and nouns alike where they end a compound: "leader election timeout".
func nominalBefore(run []string, w, next string) bool {
	if !alsoNoun[w] || len(run) == 0 {
		return false
	}
	// "system calls are" and "Larkspur calls fsync": with an s, it is a noun only where the phrase ends.
	r, _ := utf8.DecodeRuneInString(next)
	return !strings.HasSuffix(w, "s") || next == "" || breaks[next] || verbs[next] || !unicode.IsLetter(r)
}

func canLead(w string) bool {
	low := strings.ToLower(w)
	return !vague[low] && !verbs[low] && !strings.HasSuffix(low, "ly") && !isNumber(low)
}

func canEnd(w, _ string) bool {
	low := strings.ToLower(w)
	return !adjective[low] && !isNumber(low) && !strings.HasSuffix(low, "ly") && (!verbs[low] || alsoNoun[low])
}

// inflected makes the forms of regular verbs.
func inflected(plain, irregular string) map[string]bool {
	out := words.Set(strings.Fields(irregular))
	for _, v := range strings.Fields(plain) {
		out[v] = true
		switch {
		case strings.HasSuffix(v, "e"):
			out[v+"s"], out[v+"d"] = true, true
		case strings.HasSuffix(v, "y") && !strings.ContainsAny(v[len(v)-2:len(v)-1], "aeiou"):
			out[v[:len(v)-1]+"ies"], out[v[:len(v)-1]+"ied"] = true, true
		case strings.HasSuffix(v, "s"), strings.HasSuffix(v, "x"), strings.HasSuffix(v, "ch"), strings.HasSuffix(v, "sh"), strings.HasSuffix(v, "o"):
			out[v+"es"], out[v+"ed"] = true, true
		default:
			out[v+"s"], out[v+"ed"], out[v+v[len(v)-1:]+"ed"] = true, true, true
		}
	}
	return out
}

func isNumber(w string) bool {
	digits := 0
	for _, r := range w {
		if unicode.IsDigit(r) {
			digits++
		}
	}
	_, word := numberWord(w)
	return word || digits*2 >= utf8.RuneCountInString(w)
}

// sameStart reports whether the phrase still begins with the word that opened the sentence: its capital says nothing.
func sameStart(r []string, first string) bool { return len(r) > 0 && r[0] == first }

func nounPhrase(r []string, opening bool, before string) (phrase, bool) {
	if len(r) == 0 {
		return phrase{}, false
	}
	text := strings.Join(r, " ")
	last := strings.ToLower(r[len(r)-1])
	if generic[singular(last)] && len(r) < 2 || utf8.RuneCountInString(text) < 3 || utf8.RuneCountInString(text) > 60 {
		return phrase{}, false
	}
	if generic[singular(last)] && len(r) == 2 && vagueLead(r[0]) {
		return phrase{}, false
	}
	name := 0
	for i, w := range r {
		rs := []rune(w)
		inner := slices.ContainsFunc(rs[1:], unicode.IsUpper)
		if inner || unicode.IsUpper(rs[0]) && (i > 0 || !opening) {
			name++
		}
	}
	technical := strings.ContainsAny(text, "-_")
	if len(r) == 1 {
		// A single word is a topic if it is a name or a compound; lower-case single words are vocabulary.
		if name == 0 && !(technical && len(text) > 6 && !participle(text)) {
			return phrase{}, false
		}
	}
	if len(r) > 1 && name == 0 && (participle(last) || strings.HasSuffix(strings.ToLower(r[0]), "ing") && !gerundNoun[strings.ToLower(r[0])] && verbs[before]) {
		return phrase{}, false
	}
	score := 1.0
	switch {
	case len(r) == 2 || len(r) == 3:
		score += 0.5
	case len(r) == 4:
		score += 0.1
	}
	if name > 0 {
		score += 0.3
	}
	if technical {
		score += 0.2
	}
	if generic[singular(last)] {
		score -= 0.6
	}
	// Written as in the text, but for a capital that only opens the sentence.
	if name == 0 {
		text = strings.ToLower(text)
	}
	return phrase{text, score}, true
}

func vagueLead(w string) bool { return vague[strings.ToLower(w)] || adjective[strings.ToLower(w)] }

func participle(w string) bool { return strings.HasSuffix(strings.ToLower(w), "ed") }

// chinesePhrases finds terms in text without spaces: stretches between words that build sentences, and what several claims
// share.
func chinesePhrases(text string, claims []string) []phrase {
	var out []phrase
	add := func(t string, base float64) {
		t = trimHan(t)
		n := utf8.RuneCountInString(t)
		if n < 2 || n > 8 || genericHan[t] || startsBadly(t) {
			return
		}
		times := 0
		for _, c := range claims {
			if strings.Contains(c, t) {
				times++
			}
		}
		score := base
		if n == 2 && times < 3 {
			return // two characters are vocabulary unless a page keeps coming back to them
		}
		if n >= 4 {
			score += 0.4
		}
		if times > 1 {
			score += 0.5
		}
		out = append(out, phrase{t, score})
	}
	for _, piece := range hanPieces(text) {
		add(piece, 1)
	}
	return out
}

// hanKept protects words that hold a character which by itself builds sentences.
var hanKept, hanFreed = func() (*strings.Replacer, *strings.Replacer) {
	var keep, free []string
	for i, w := range strings.Fields("超时 实时 延时 定时 临时 时钟 时间 内存 中间 中断 中心 下标 上限 下限 下载 上传 前缀 后缀 前端 后端 对称 对齐 对象 不变 可变 可用 可靠 地址 地区 过滤 过期 过拟合 外键 内核 用户 作用 与门 或门 和弦 以太 表示 会话 会议 有序 无序 有效 得分 要素 支持向量 提高班 由器 路由 从库 从节点 主从 从属 最小 最大 最优 最终一致 能量 性能 功能 智能 每秒") {
		mark := string(rune(0xe000 + i))
		keep, free = append(keep, w, mark), append(free, mark, w)
	}
	return strings.NewReplacer(keep...), strings.NewReplacer(free...)
}()

// hanPieces cuts Chinese at punctuation and at words that are not parts of terms.
func hanPieces(text string) []string {
	s := hanKept.Replace(text)
	s = hanFreed.Replace(hanBreak.ReplaceAllString(s, " "))
	var out []string
	var run []rune
	flush := func() {
		if len(run) > 0 {
			out = append(out, string(run))
		}
		run = nil
	}
	for _, r := range s {
		switch {
		case words.IsCJK(r) || r >= 0xe000 && r < 0xe100, len(run) > 0 && (unicode.IsLetter(r) || unicode.IsDigit(r) || r == '-' || r == '+'):
			run = append(run, r)
		case unicode.IsLetter(r):
			run = append(run, r)
		default:
			flush()
		}
	}
	flush()
	return slices.DeleteFunc(out, func(p string) bool {
		return !strings.ContainsFunc(p, words.IsCJK)
	})
}

var hanBreak = regexp.MustCompile(`成为|变为|作为|视为|认为|[，。；：、！？（）“”《》\s,.;:!?()"%]|因此|所以|然而|但是|例如|比如|通过|使用|采用|利用|用于|用来|可以|能够|需要|应该|必须|如果|当|时候|时|之后|以后|之前|以前|由于|因为|为了|以及|或者|并且|而且|不仅|不能|无法|没有|避免|防止|支持|提供|导致|造成|引起|使得|使|让|把|将|被|由|从|到|在|对|与|和|或|及|是|为|有|会|能|可|要|的|地|得|了|着|过|不|也|都|就|还|又|再|更|最|很|较|比|每|各|某|一个|一种|一些|多个|几个|两个|三个|这|那|其|它|等|称为|叫做|位于|属于|包括|包含|分为|组成|负责|表示|保存|存储|映射|返回|读取|写入|执行|处理|减少|增加|提高|降低|改变|保证|实现|根据|按照|基于|向|给|于|以|则|而|但|且|若|只|仅|后来|首先|然后|最后|另外|此外|同时|用|代替|节省|成立|发布|提出|开始|结束|选择|选出|发送|接收|等待|超过|达到|低于|高于|大于|小于|来自|占|加快|加速|失去|生成|表明|阻碍|发出|另一方面|一方面|吸收|释放|帮助|促进|抑制|取决于|依赖|依靠|出现|产生|具有|拥有|存在|需|约|之间|其中|上|下|中|里|内|外|前|后`)

func trimHan(t string) string {
	return strings.Trim(t, "-+ ")
}

func startsBadly(t string) bool {
	r, _ := utf8.DecodeRuneInString(t)
	return strings.ContainsRune("一二三四五六七八九十两第几数个年月日次种类些此该本大小新旧好坏多少", r) && utf8.RuneCountInString(t) < 4
}

var genericHan = words.Set(strings.Fields("优点 缺点 平均 毫秒 真实 访问 经常 随机 并发 策略 整理 分布 集群 延迟 系统 例子 结果 数量 方法 问题 情况 时间 方式 过程 数据 用户 部分 内容 工作 功能 作用 影响 特点 原因 条件 目的 国家 公司 地区 世界 人们 元素 操作 请求 结构 大小 速度 空间 成本 单位 信息 类型 版本 对象 文件 全部 主要 常见 重要 之一 性能 节点 研究 发展 历史 文化 生活 社会"))

var (
	// breaks can not stand inside a noun phrase.
	breaks = words.Set(strings.Fields(`a an the this that these those it its they their them he she his her we our you your i my and or but nor so yet if then else when while where which who whom whose what how why
because since although though unless until whereas whether as than of in on at by for from to into onto with without within about over under between among through during before after against across along behind beyond per via upon off out up down near
is are was were be been being am do does did done has have had having can could may might must shall should will would not no never always often usually sometimes typically generally mainly mostly only just also too very more most less least much many few several some any all each every both either neither one another other others such same own here there now later once twice ten hundred thousand million times again already still even ever
however therefore thus hence moreover furthermore meanwhile nevertheless instead otherwise consequently additionally finally first second third next last
e.g i.e etc vs cf eg ie s t
them alone altogether alike cannot away apart aside together else january february march april may june july august september october november december
themselves itself someone something anything nothing everything`))
	// verbs end a phrase that they follow: the plain forms of what claims are made with, inflected by rule, and irregular forms.
	verbs = inflected(`use make take give get keep hold let allow permit enable become begin start stop end call need require want provide support
store send receive read write return run reduce increase improve cause lead contain include consist depend rely prevent protect avoid ensure guarantee replicate commit append elect grant choose select apply add remove replace
separate split divide merge combine collect buffer reach accept reject smooth compose mean introduce describe propose develop publish release discover invent drive carry cover cross flow open close build produce form feed live grow
occur happen remain serve work handle detect tolerate survive show suggest report find compress encode decode map convert compute measure track record sort compare help hide know think see say look behave perceive retry wait lose fail break set put
proceed differ vary exceed arrive leave move turn change create define determine identify limit cost spend pay block trigger follow expel raise lower slow kill attack bind transport regulate evict expire invalidate cache scale shard throttle assign scan sweep allocate free mark
suffer emit suppress estimate decide exist group perform guide fall rise load tell acidify place balance sail link join meet yield gain absorb achieve act adapt adjust affect aim alter announce answer appear approve argue assume attach attract back bear beat believe belong bring burn buy
calculate catch challenge check cite claim clean clear climb coat collapse come compete complete concern conclude conduct confirm connect consider constrain consume control convey cool cope correct correlate count crash cut damage deal decay decline decrease degrade delay delete deliver demand demonstrate deny deploy derive deserve design destroy
die digest dilute direct disable discard dissolve distribute dominate double drain draw drop dry earn eat eliminate embed employ encounter encourage enforce enter escape establish evaluate evaporate evolve examine expand expect experience explain explore export expose express extend extract face favour fetch fill filter finish fit fix float
flush fold force fuse gather generate go govern guard guess harm heat hit host identify ignore illustrate implement imply import impose indicate induce infer influence inherit inhibit inject insert inspect inspire install interact interfere intersect interpret involve isolate issue iterate jump justify lack last launch lay learn lie lift listen log maintain manage
match mature melt migrate mix monitor mount multiply name negotiate note notice obey observe obtain occupy offer operate oppose order originate outperform overlap override overwrite own parse partition pass penetrate persist pick play point pose possess precede predict prefer prepare present preserve press prioritise process prohibit promote prove pull push query quit
raise range rank react realise rebuild recall recognise recommend recover reflect refuse relate remember render renew repair repeat represent reproduce request resemble reserve reset reside resist resolve respond restart restore restrict result resume retain retire retrieve reuse reveal reverse review rewrite rotate round sample save schedule scrape search secure seek
seem sell sense shape share shift shorten shrink signal sit skip sleep solve speak speed spread stall stand stay steal stick stimulate strengthen stretch strike study submit substitute succeed suit supply surround suspend sustain swap switch synchronise synthesise tend terminate test threaten tie touch train transfer transform translate travel treat try tune
ask hand lag span count simplify sit outperform pause resume notice hear promise trick bring tune shed compact relax undergo twist understand update upgrade verify violate visit vote wake walk warm warn waste watch weaken wear weigh win wrap acquire activate advance amplify arrange bypass capture crowd cultivate decompose deplete detach diffuse discharge distinguish dwarf emerge erode ferment forage fragment freeze harden hatch hydrate inform ingest ionise mimic neutralise nest nourish
oscillate oxidise pollinate precipitate propagate purify radiate recruit refine reinforce release ripen scatter secrete settle shed soak stabilise stack sum taste thicken tilt trap`,
		"made took taken gave given got kept held became began known lost broke broken set put led read wrote written ran found showed shown chose chosen drove flew grew grown rose fell fallen met meant said saw seen thought built sent spent paid won wore came went gone brought bought caught taught sought fed fled shed cut hit let hurt cost left lay lain stood stuck struck swept told understood sold spoke spoken broke drew drawn ate eaten froze frozen hid hidden proved proven")
	// alsoNoun are verbs that end compounds: "log compaction", "write amplification" come from others; these are themselves.
	alsoNoun  = words.Set(strings.Fields("query search request test design control attack order process signal index update upgrade release import export filter match schedule vote switch transfer heat point range rank name place order wake host experience lock pattern study review train share speed taste trap stack sample study group balance load estimate link timeout commit split merge cache read reads write writes buffer record block blocks change changes release report scale scan sort map lock log store call calls process set shard shards index measure limit limits start end lead work form flow run cost drive attack sweep mark"))
	adjective = words.Set(strings.Fields(`new old large small big little long short high low good bad better best worse fast slow early late different similar same whole full empty common rare important main major minor possible impossible available able strong weak
hot cold warm wet dry free open closed equal single double multiple certain particular specific general special recent current previous next following present due stable typical popular simple complex modern ancient famous key`))
	vague      = words.Set(strings.Fields(`important main major minor common different various certain particular several many few new old large small big long short good better best simple special general typical popular recent current previous following possible available famous modern early late high low much more most less least other another same single whole way thing important`))
	gerundNoun = words.Set(strings.Fields("caching sharding hashing sampling routing logging learning indexing batching pipelining scheduling clustering encoding processing computing networking testing programming mining load-shedding folding typing combining bleaching cooling heating writing reading rate-limiting string ring king spring wing thing"))
	// generic nouns name no topic.
	generic = words.Set(strings.Fields(`system example result number way thing case part kind type form level value time year day month hour minute second point place name word line side end use user people person group set list order amount size length area rate factor term state change effect cause reason problem solution method approach process step version feature function data information file page server node client machine computer device service request response message call key item entry element object member field row column table reader writer server application program software code tool model
bit byte percent metre kilometre mile degree world country city water line others lot half majority minority rest version copy piece sequence operation capacity constant boundary bursts traffic letter character sign product company report study paper author work site`))
)
