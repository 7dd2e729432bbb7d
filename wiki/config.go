package wiki

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// Config is what wiki.config.md says. A nil pointer is a key that is not there; zero means zero.
type Config struct {
	Slug      string
	Title     string
	Flavor    string
	Private   bool
	Project   string
	Model     string
	Embedding string
	Tags      []string
	Research  AutoResearch
	Body      string // the Markdown below the frontmatter
}

// AutoResearch is the configuration of research.
type AutoResearch struct {
	Enabled     *bool
	BudgetUSD   *float64
	MaxPages    *int
	MaxDepth    *int
	Parallel    *int
	Fetchers    []string // nil is the default
	Paths       []string // more files and folders for the local source
	MinInterval time.Duration
	StaleAfter  time.Duration
}

// ConfigError says where in the file what is wrong.
type ConfigError struct {
	Line int // 0 where it is the file as a whole
	Text string
}

func (e *ConfigError) Error() string {
	if e.Line == 0 {
		return ConfigFile + ": " + e.Text
	}
	return fmt.Sprintf("%s:%d: %s", ConfigFile, e.Line, e.Text)
}

func wrong(line int, format string, args ...any) error {
	return &ConfigError{line, fmt.Sprintf(format, args...)}
}

const (
	maxConfig  = 1 << 20
	maxNesting = 60
)

// ParseConfig reads wiki.config.md strictly: YAML 1.2 frontmatter in which an unknown key, a duplicate one, a value of
// another type or out of range is an error with its line. All errors are *ConfigError.
func ParseConfig(text string) (Config, error) {
	var c Config
	src, body, err := frontmatter(text)
	if err != nil {
		return c, err
	}
	c.Body = body
	for i, line := range strings.Split(src, "\n") {
		for _, r := range line {
			if r < ' ' && r != '\t' || r == 0x7f {
				return c, wrong(i+1, "a control character (%U) stands in the frontmatter", r)
			}
		}
		if strings.Count(line, "[")+strings.Count(line, "{") > maxNesting {
			return c, wrong(i+1, "nested too deeply")
		}
	}
	f, err := parser.ParseBytes([]byte(src), 0)
	if err != nil {
		return c, yamlError(err)
	}
	if len(f.Docs) != 1 || f.Docs[0].Body == nil {
		return c, wrong(0, "title is required: put `title: ...` between the lines of dashes")
	}
	r := &reader{anchors: map[string]ast.Node{}}
	top, err := r.mapping(f.Docs[0].Body, "")
	if err != nil {
		return c, err
	}
	if err := r.config(top, &c); err != nil {
		return c, err
	}
	if c.Title == "" {
		return c, wrong(0, "title is required")
	}
	return c, nil
}

// frontmatter cuts the file. The first line of the result stands for the file's first, so that lines agree.
func frontmatter(text string) (src, body string, err error) {
	if len(text) > maxConfig {
		return "", "", wrong(0, "larger than 1 MiB")
	}
	text = strings.ReplaceAll(strings.TrimPrefix(text, "\ufeff"), "\r\n", "\n")
	lines := strings.Split(text, "\n")
	if strings.TrimRight(lines[0], " \t") != "---" {
		return "", "", wrong(0, "it must begin with a line `---`, then YAML, then another line `---`")
	}
	for i := 1; i < len(lines); i++ {
		if strings.TrimRight(lines[i], " \t") == "---" {
			return "\n" + strings.Join(lines[1:i], "\n") + "\n", strings.Join(lines[i+1:], "\n"), nil
		}
	}
	return "", "", wrong(0, "the frontmatter is not closed: a second line `---` is missing")
}

func yamlError(err error) error {
	var y yaml.Error
	if errors.As(err, &y) {
		line := 0
		if t := y.GetToken(); t != nil {
			line = t.Position.Line
		}
		return wrong(line, "%s", y.GetMessage())
	}
	return wrong(0, "%s", err)
}

// reader walks the syntax tree. It follows aliases to scalars and lists, never to mappings: an alias bomb needs those.
type reader struct {
	anchors map[string]ast.Node
}

type entry struct {
	key   string
	line  int
	value ast.Node
}

func line(n ast.Node) int {
	if n == nil || n.GetToken() == nil {
		return 0
	}
	return n.GetToken().Position.Line
}

// resolve steps over anchors, aliases and tags.
func (r *reader) resolve(n ast.Node) (ast.Node, error) {
	for range 10 {
		switch x := n.(type) {
		case *ast.AnchorNode:
			r.anchors[x.Name.String()] = x.Value
			n = x.Value
		case *ast.AliasNode:
			v, ok := r.anchors[x.Value.String()]
			if !ok {
				return nil, wrong(line(n), "*%s points to nothing", x.Value)
			}
			n = v
		case *ast.TagNode:
			return nil, wrong(line(n), "tags such as %s have no meaning here", x.Start.Value)
		default:
			return n, nil
		}
	}
	return nil, wrong(line(n), "aliases in a circle")
}

// mapping lists the entries of a mapping, in order. in names it for messages.
func (r *reader) mapping(n ast.Node, in string) ([]entry, error) {
	n, err := r.resolve(n)
	if err != nil {
		return nil, err
	}
	var values []*ast.MappingValueNode
	switch x := n.(type) {
	case *ast.MappingNode:
		values = x.Values
	case *ast.MappingValueNode:
		values = []*ast.MappingValueNode{x}
	case *ast.NullNode:
		return nil, nil
	default:
		if in == "" {
			return nil, wrong(line(n), "the frontmatter is not a mapping of keys to values")
		}
		return nil, wrong(line(n), "%s: want a mapping of keys to values", in)
	}
	seen := map[string]bool{}
	var out []entry
	for _, v := range values {
		if _, merge := v.Key.(*ast.MergeKeyNode); merge {
			return nil, wrong(line(v.Key), "unknown key <<")
		}
		key, ok := v.Key.(*ast.StringNode)
		if !ok {
			return nil, wrong(line(v.Key), "unknown key %s", v.Key.String())
		}
		if seen[key.Value] {
			return nil, wrong(line(v.Key), "%s is there twice", key.Value)
		}
		seen[key.Value] = true
		out = append(out, entry{key.Value, line(v.Key), v.Value})
	}
	return out, nil
}

func (r *reader) config(top []entry, c *Config) error {
	for _, e := range top {
		var err error
		switch e.key {
		case "slug":
			if c.Slug, err = r.text(e); err == nil && !ValidSlug(c.Slug) && !isNull(e.value) {
				err = wrong(e.line, "slug %q: want lower-case letters, digits and hyphens, at most 64", c.Slug)
			}
		case "title":
			if c.Title, err = r.text(e); err == nil && strings.TrimSpace(c.Title) == "" {
				err = wrong(e.line, "title is required and must not be empty")
			}
		case "flavor":
			if c.Flavor, err = r.text(e); err == nil && !slices.Contains(Flavors(), c.Flavor) && !isNull(e.value) {
				err = wrong(e.line, "flavor %q: want one of %s", c.Flavor, strings.Join(Flavors(), ", "))
			}
		case "private":
			var b *bool
			if b, err = r.boolean(e); b != nil {
				c.Private = *b
			}
		case "project":
			c.Project, err = r.text(e)
		case "model":
			c.Model, err = r.model(e)
		case "embedding_model":
			c.Embedding, err = r.text(e)
		case "tags":
			c.Tags, err = r.texts(e)
		case "auto_research":
			err = r.autoResearch(e, &c.Research)
		default:
			err = wrong(e.line, "unknown key %s: known are slug, title, flavor, private, project, model, embedding_model, tags, auto_research", e.key)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *reader) autoResearch(at entry, a *AutoResearch) error {
	if isNull(at.value) {
		return nil
	}
	es, err := r.mapping(at.value, at.key)
	if err != nil {
		var ce *ConfigError
		if errors.As(err, &ce) {
			return err
		}
		return wrong(at.line, "%s: %s", at.key, err)
	}
	for _, e := range es {
		switch e.key {
		case "enabled":
			a.Enabled, err = r.boolean(e)
		case "budget_usd":
			a.BudgetUSD, err = r.number(e)
		case "max_pages":
			a.MaxPages, err = r.integer(e, 0, math.MaxInt32)
		case "max_depth":
			a.MaxDepth, err = r.integer(e, 0, math.MaxInt32)
		case "parallel":
			a.Parallel, err = r.integer(e, 1, 16)
		case "fetchers":
			a.Fetchers, err = r.texts(e)
		case "paths":
			a.Paths, err = r.texts(e)
		case "min_interval":
			a.MinInterval, err = r.duration(e)
		case "stale_after":
			a.StaleAfter, err = r.duration(e)
		default:
			err = wrong(e.line, "unknown key %s in auto_research: known are enabled, budget_usd, max_pages, max_depth, parallel, fetchers, paths, min_interval, stale_after", e.key)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func isNull(n ast.Node) bool {
	_, null := n.(*ast.NullNode)
	return null || n == nil
}

// plain is the text of a scalar that is written without quotes, by its token: the library's own typing knows YAML 1.1.
func (r *reader) scalar(e entry) (text string, quoted bool, err error) {
	n, err := r.resolve(e.value)
	if err != nil {
		return "", false, err
	}
	switch x := n.(type) {
	case *ast.StringNode:
		return x.Value, x.Token.Type == token.SingleQuoteType || x.Token.Type == token.DoubleQuoteType, nil
	case *ast.LiteralNode:
		return x.Value.Value, true, nil
	case *ast.NullNode:
		return "", false, nil
	case *ast.BoolNode, *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		return n.GetToken().Value, false, nil
	}
	return "", false, wrong(e.line, "%s: want one value", e.key)
}

// coreType is how the core schema of YAML 1.2 reads a plain scalar: null, bool, int, float or str.
func coreType(s string) string {
	switch s {
	case "", "~", "null", "Null", "NULL":
		return "null"
	case "true", "True", "TRUE", "false", "False", "FALSE":
		return "bool"
	case ".inf", ".Inf", ".INF", "+.inf", "-.inf", "+.Inf", "-.Inf", ".nan", ".NaN", ".NAN":
		return "float"
	}
	if strings.ContainsAny(s, "_") || strings.HasPrefix(s, "0x") || strings.HasPrefix(s, "0o") {
		if _, err := strconv.ParseInt(s, 0, 64); err == nil && !strings.Contains(s, "_") {
			return "int"
		}
		return "str"
	}
	if strings.Trim(strings.TrimLeft(s, "+-"), "0123456789") == "" && strings.TrimLeft(s, "+-") != "" {
		return "int"
	}
	if strings.Trim(s, "+-0123456789.eE") == "" && strings.ContainsAny(s, "0123456789") {
		if _, err := strconv.ParseFloat(s, 64); err == nil || errors.Is(err, strconv.ErrRange) {
			return "float"
		}
	}
	return "str"
}

func (r *reader) text(e entry) (string, error) {
	if isNull(e.value) {
		return "", nil
	}
	s, quoted, err := r.scalar(e)
	if err != nil {
		return "", err
	}
	if t := coreType(s); !quoted && t != "str" {
		if t == "null" {
			return "", nil
		}
		return "", wrong(e.line, "%s: %s is not a text: put it in quotes", e.key, s)
	}
	return s, nil
}

func (r *reader) boolean(e entry) (*bool, error) {
	if isNull(e.value) {
		return nil, nil
	}
	s, quoted, err := r.scalar(e)
	if err != nil {
		return nil, err
	}
	if quoted || coreType(s) != "bool" {
		return nil, wrong(e.line, "%s: want true or false, without quotes, not %q", e.key, s)
	}
	v := strings.EqualFold(s, "true")
	return &v, nil
}

func (r *reader) number(e entry) (*float64, error) {
	if isNull(e.value) {
		return nil, nil
	}
	s, quoted, err := r.scalar(e)
	if err != nil {
		return nil, err
	}
	t := coreType(s)
	v, perr := strconv.ParseFloat(s, 64)
	if quoted || (t != "int" && t != "float") || perr != nil || math.IsInf(v, 0) || math.IsNaN(v) || v < 0 {
		return nil, wrong(e.line, "%s: want a number of at least 0, not %q", e.key, s)
	}
	return &v, nil
}

func (r *reader) integer(e entry, least, most int) (*int, error) {
	if isNull(e.value) {
		return nil, nil
	}
	s, quoted, err := r.scalar(e)
	if err != nil {
		return nil, err
	}
	v, perr := strconv.ParseInt(s, 10, 64)
	if quoted || coreType(s) != "int" || perr != nil || v < int64(least) || v > int64(most) {
		if most == math.MaxInt32 {
			return nil, wrong(e.line, "%s: want a whole number of at least %d, not %q", e.key, least, s)
		}
		return nil, wrong(e.line, "%s: want a whole number from %d to %d, not %q", e.key, least, most, s)
	}
	n := int(v)
	return &n, nil
}

func (r *reader) duration(e entry) (time.Duration, error) {
	s, err := r.text(e)
	if err != nil || isNull(e.value) {
		return 0, err
	}
	d, perr := time.ParseDuration(s)
	if perr != nil || d < 0 {
		return 0, wrong(e.line, "%s: want a duration such as 6h or 90m, not %q", e.key, s)
	}
	return d, nil
}

func (r *reader) model(e entry) (string, error) {
	s, err := r.text(e)
	if err != nil || isNull(e.value) {
		return "", err
	}
	provider, name, _ := strings.Cut(s, ":")
	if s != "offline" && (provider == "" || name == "") {
		return "", wrong(e.line, "model %q: want provider:model, or offline", s)
	}
	return s, nil
}

func (r *reader) texts(e entry) ([]string, error) {
	if isNull(e.value) {
		return nil, nil
	}
	n, err := r.resolve(e.value)
	if err != nil {
		return nil, err
	}
	seq, ok := n.(*ast.SequenceNode)
	if !ok {
		return nil, wrong(e.line, "%s: want a list, such as [a, b]", e.key)
	}
	out := []string{}
	for _, v := range seq.Values {
		if isNull(v) {
			return nil, wrong(max(e.line, line(v)), "%s: an entry is empty", e.key)
		}
		s, err := r.text(entry{e.key, line(v), v})
		if err != nil {
			return nil, err
		}
		if s == "" {
			return nil, wrong(line(v), "%s: an entry is empty", e.key)
		}
		out = append(out, s)
	}
	return out, nil
}
