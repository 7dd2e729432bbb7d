package wiki

import "slices"

// Flavor is a kind of wiki: what its pages are called, how they are cut, where it begins.
type Flavor struct {
	Name     string
	About    string   // one line for people
	Kinds    []Kind   // the first is the one research makes unless a seed says otherwise
	Seeds    []string // starter seeds; %s is the wiki's title
	Fetchers []string // what it asks by default, of those that need no key
	Prompt   string   // what a model is told to look for
}

// Kind is a kind of page.
type Kind struct {
	Name     string // the folder below wiki/
	Sections []Section
}

// Section is a part of a page and the words by which a claim belongs to it. A section without words takes the rest.
type Section struct {
	Title string
	Words []string
}

func sec(title string, words ...string) Section { return Section{title, words} }

// general is what every kind ends with.
var general = []Section{sec("Findings")}

func kind(name string, sections ...Section) Kind {
	return Kind{name, append(sections, general...)}
}

var (
	definition = sec("What it is", " is a ", " is an ", " is the ", " are a ", "refers to", "defined as", "means", " consists of", "是一种", "是指", "指的是", "称为", "由")
	figures    = sec("Figures", "%", "percent", " ms", "million", "billion", "times faster", "benchmark", "measured", "throughput", "latency", "万", "亿", "毫秒", "倍")
	limits     = sec("Limits and risks", "cannot", "can not", "does not", "limit", "fail", "risk", "unless", "only if", "drawback", "however", "不能", "无法", "限制", "风险", "失败", "缺点")
	history    = sec("History", "founded", "in 19", "in 20", "introduced", "invented", "published", "released", "began", "成立", "发布", "提出", "年")
	usage      = sec("How it is used", "use", "run", "install", "configure", "command", "call", "option", "flag", "使用", "配置", "命令", "运行")
)

var flavors = []Flavor{
	{
		"research", "a question and what is known about it",
		[]Kind{kind("concept", definition, figures, limits), kind("question", sec("Answers"), limits), kind("method", definition, usage, figures, limits)},
		[]string{"%s", "%s overview", "%s limitations"},
		[]string{"local", "arxiv", "wikipedia", "github"},
		"Look for mechanisms, measured results with their conditions, and disagreements between sources.",
	},
	{
		"paper", "papers, their methods and results",
		[]Kind{kind("paper", sec("Method", "method", "propose", "approach", "algorithm", "model", "方法", "提出"), figures, limits), kind("author"), kind("method", definition, figures, limits)},
		[]string{"%s", "%s benchmark results", "%s related work"},
		[]string{"local", "arxiv", "semanticscholar", "openalex"},
		"Look for what was proposed, how it was measured, the numbers, and what later papers say against it.",
	},
	{
		"domain", "the terms and rules of a field",
		[]Kind{kind("term", definition, limits), kind("rule", sec("The rule", "must", "shall", "required", "may not", "必须", "应当", "不得"), limits), kind("process", sec("Steps", "first", "then", "before", "after", "首先", "然后", "之后"))},
		[]string{"%s", "%s terminology", "%s rules"},
		[]string{"local", "wikipedia", "arxiv"},
		"Look for definitions, obligations and their exceptions.",
	},
	{
		"product", "a product, its users and rivals",
		[]Kind{kind("feature", definition, usage, limits), kind("competitor", figures, limits), kind("user"), kind("decision", sec("Reasons", "because", "so that", "in order to", "因为", "为了"))},
		[]string{"%s", "%s alternatives", "%s pricing"},
		[]string{"local", "github", "wikipedia"},
		"Look for what it does, for whom, at what price, and how it compares.",
	},
	{
		"person", "a person's work and life",
		[]Kind{kind("person", sec("Life", "born", "died", "studied", "grew up", "married", "出生", "逝世", "毕业"), sec("Work", "wrote", "published", "founded", "designed", "invented", "developed", "discovered", "著", "创立", "发明")), kind("work", history), kind("place")},
		[]string{"%s", "%s work", "%s biography"},
		[]string{"local", "wikipedia", "openalex"},
		"Look for dated facts of life and work. State nothing about living people that a source does not state.",
	},
	{
		"organization", "an organization, its people and products",
		[]Kind{kind("organization", history, figures), kind("team"), kind("product", definition, figures), kind("person")},
		[]string{"%s", "%s history", "%s products"},
		[]string{"local", "wikipedia", "github"},
		"Look for structure, dates, figures with their year, and responsibilities.",
	},
	{
		"project", "a project's goals, decisions and state",
		[]Kind{kind("topic", definition, limits), kind("decision", sec("Reasons", "because", "so that", "in order to", "chosen", "decided", "因为", "为了", "决定")), kind("task"), kind("risk", limits)},
		[]string{"%s goals", "%s decisions", "%s risks"},
		[]string{"local", "github"},
		"Look for decisions with their reasons, what was rejected, open risks and who owns them.",
	},
	{
		"codebase", "a code base: modules, interfaces, conventions",
		[]Kind{kind("module", definition, sec("Interface", "()", "returns", "function", "method", "type", "interface", "argument", "返回", "函数", "接口"), limits), kind("convention", sec("The rule", "must", "never", "always", "should", "必须", "不要")), kind("howto", usage), kind("decision")},
		[]string{"%s architecture", "%s build and test", "%s conventions"},
		[]string{"local", "github"},
		"Look for what each module owns, its interface, its invariants, and how it is built and tested.",
	},
	{
		"incident", "incidents, causes and remedies",
		[]Kind{kind("incident", sec("What happened", "outage", "failed", "error", "began", "detected", "unavailable", "故障", "中断"), sec("Cause", "because", "caused", "root cause", "triggered", "due to", "原因", "导致"), sec("Remedy", "fixed", "restarted", "rolled back", "mitigat", "resolved", "restored", "修复", "回滚", "恢复")), kind("system", definition, limits), kind("lesson")},
		[]string{"%s", "%s root cause", "%s prevention"},
		[]string{"local", "github"},
		"Look for the timeline with times, the cause, what was done, and what would have prevented it.",
	},
}

// Flavors lists the names of the flavours.
func Flavors() []string {
	out := make([]string, len(flavors))
	for i, f := range flavors {
		out[i] = f.Name
	}
	return out
}

// FlavorOf returns a flavour by name; the first for an empty or unknown one.
func FlavorOf(name string) Flavor {
	if i := slices.IndexFunc(flavors, func(f Flavor) bool { return f.Name == name }); i >= 0 {
		return flavors[i]
	}
	return flavors[0]
}

// Kind returns a kind of page by name; the flavour's first for "". A name that the flavour does not have is a kind
// without sections of its own: people may have folders of theirs.
func (f Flavor) Kind(name string) Kind {
	if name == "" {
		return f.Kinds[0]
	}
	if i := slices.IndexFunc(f.Kinds, func(k Kind) bool { return k.Name == name }); i >= 0 {
		return f.Kinds[i]
	}
	return Kind{Name: name, Sections: general}
}
