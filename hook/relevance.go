package hook

import (
	"math"
	"slices"
	"strings"

	"whetstone/internal/late"
	"whetstone/internal/words"
	"whetstone/learning"
)

// Topic is what a prompt is about, ready for comparison.
type Topic struct {
	tokens map[string]bool
	pairs  map[[2]string]bool // words that follow one another
	names  map[string]bool    // identifiers, in lower case
}

// NewTopic reads a prompt.
func NewTopic(prompt string) Topic {
	if rs := []rune(prompt); len(rs) > 6000 {
		prompt = string(rs[:6000])
	}
	return Topic{words.Content(prompt), pairs(prompt), identifiers(prompt)}
}

// pairs are neighbours among the words of a text that carry meaning.
func pairs(text string) map[[2]string]bool {
	content, out := words.Content(text), map[[2]string]bool{}
	before := ""
	for _, w := range words.Tokens(text) {
		if !content[w] {
			continue
		}
		if before != "" {
			out[[2]string{before, w}] = true
		}
		before = w
	}
	return out
}

// Relevance says how much of a rule a prompt speaks of: the weight of the words of the rule that occur in the prompt. Words
// that any task of programming may hold weigh little, identifiers much. It is lexical, and it is made for silence: what is
// below the threshold is not told.
func (t Topic) Relevance(l *learning.Learning) float64 {
	rule := words.Content(l.Rule)
	all := 0.0
	hit, distinct, cjk := 0.0, 0, 0
	for w := range rule {
		k := weight(w)
		all += k
		if t.tokens[w] {
			hit += k
			switch {
			case k >= 0.9:
				distinct++
			case k == bigram:
				cjk++
			}
		}
	}
	phrase := false
	for p := range pairs(l.Rule) {
		if t.pairs[p] && weight(p[0])+weight(p[1]) >= 1 {
			phrase = true
			hit += 0.5
		}
	}
	for w := range words.Content(l.Category) {
		if t.tokens[w] && !rule[w] {
			hit += 0.6 * weight(w)
		}
	}
	for w := range words.Content(l.Correction + " " + l.Mistake) {
		if t.tokens[w] && !rule[w] {
			hit += 0.25 * weight(w)
		}
	}
	named := false
	for id := range identifiers(l.Rule + " " + l.Correction) {
		if t.names[id] {
			named = true
			hit += 1.2
		}
	}
	if all == 0 {
		return 0
	}
	// A long rule is not all spoken of in a prompt; a short one must be.
	cover := hit / math.Max(2, math.Sqrt(all)*1.6)
	if distinct+cjk/3 < 2 && !named && !phrase {
		cover *= 0.55
	}
	return cover
}

// Threshold is the relevance from which a learning is told for a prompt.
const Threshold = 0.42

// Relevant keeps the learnings of which a prompt speaks, most relevant first, at most limit. The order of equals is that of ls.
func Relevant(prompt string, ls []learning.Learning, limit int) []learning.Learning {
	t := NewTopic(prompt)
	type scored struct {
		l learning.Learning
		s float64
	}
	var list []scored
	for _, l := range ls {
		if s := t.Relevance(&l); s >= Threshold {
			list = append(list, scored{l, s})
		}
	}
	slices.SortStableFunc(list, func(a, b scored) int {
		switch {
		case a.s > b.s:
			return -1
		case a.s < b.s:
			return 1
		}
		return 0
	})
	var out []learning.Learning
	for _, x := range list[:min(limit, len(list))] {
		out = append(out, x.l)
	}
	return out
}

// bigram is the weight of two characters of a word in Chinese, Japanese or Korean.
const bigram = 0.55

func weight(token string) float64 {
	switch {
	case common[token]:
		return 0.25
	case strings.ContainsAny(token, "._-/0123456789"):
		return 1.3
	case len([]rune(token)) == 2 && words.IsCJK([]rune(token)[0]):
		if cjkCommon[token] {
			return 0.2
		}
		return bigram
	}
	return 1
}

var identifier = late.Regexp("[A-Za-z_][A-Za-z0-9_]*(?:[._/:-][A-Za-z0-9_]+)+|--?[a-z][a-z0-9-]{2,}|[a-z]+[A-Z][A-Za-z0-9]*|[A-Z][a-z0-9]+(?:[A-Z][A-Za-z0-9]*)+|[A-Z]{2,}[A-Z0-9_]*")

// identifiers are names of code: with a dot, an underscore, a slash or a change of case inside, options, and words in capitals.
func identifiers(s string) map[string]bool {
	out := map[string]bool{}
	for _, w := range identifier().FindAllString(s, 200) {
		w = strings.ToLower(strings.Trim(w, ".:-/"))
		if len(w) >= 3 && !common[w] {
			out[w] = true
		}
	}
	for w := range words.Content(s) {
		if technology[w] {
			out[w] = true
		}
	}
	return out
}

// technology are names of tools, formats and files that stand for a topic by themselves; stemmed, as words.Tokens gives them.
var technology = words.Set(words.Tokens(`dockerfile makefile docker kubernetes helm terraform ansible postgres postgresql mysql sqlite mongodb redis kafka rabbitmq nginx
elasticsearch prometheus grafana graphql grpc protobuf openapi swagger webpack vite eslint prettier jest vitest pytest mypy ruff pydantic django flask fastapi
sqlalchemy alembic celery rails rspec rubocop sidekiq spring hibernate gradle maven junit kotlin swiftui xcode cocoapods cargo clippy tokio serde clang cmake
slog logrus zap testify golangci gofmt cobra gorm sqlc goose react redux vue svelte angular nextjs tailwind storybook playwright cypress selenium typescript
npm pnpm yarn poetry conda jupyter numpy pandas pytorch tensorflow airflow dbt spark hadoop snowflake bigquery lambda cloudformation dynamodb github gitlab
jenkins circleci bazel buildkite vault consul oauth saml jwt webhook websocket cors csrf xss utc timezone unicode regex cron systemd`))

// common are words of programming and of prompts that tell nothing about which rule is meant; stemmed, as words.Tokens gives them.
var common = words.Set(strings.Fields(`test file code use error add fix run write read chang updat new function class method name line
command work need want pleas check build project version type valu data user start stop set creat remov delet move return call
look tell show thing way good bad right wrong now next first last long short time day case exampl list string number int bool
true false nil null key map page app api server client request respons log messag text input output option default config
implement support handl process issu problem fail pass break keep put turn find search open close end begin instead befor after
still alreadi yet even anoth sever both few mani much less best better simpl easi hard quick slow fast full empti part whole
one two three four five a.k.a e.g i.e etc ok okay thank hello hi continu go yes sure can't don't that's it's let's i'm you're
doesn't isn't won't what's there's json http https md github com step task feature bug code review refactor explain summari
plan comment document readm librari packag modul import repo repositori branch commit program script tool agent model
question answer`))

var cjkCommon = words.Set(strings.Fields(`一个 这个 那个 我们 你们 他们 什么 怎么 如何 为什 哪些 可以 需要 应该 必须 不要 使用 进行 现在 然后 之后 之前 里面 一下 帮我 我把
代码 文件 函数 项目 测试 运行 问题 错误 修改 添加 增加 删除 更新 检查 实现 功能 方法 用户 数据 时候 如果 因为 所以 但是 还是 已经 没有 不能 不是 就是 这样 那样 写一 个函 下一
看一 改一 加一 给我 的代 的文 的函 的测 都要 要用 不用 只用 请用 所有 每个 每次 一律 统一`))
