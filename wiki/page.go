package wiki

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"whetstone/claim"
)

// Conflict says that a claim of a page contradicts another one.
type Conflict struct {
	ClaimID   string
	Why       string
	OtherText string
	OtherSpan claim.Span
	OtherPage Link // the page the other claim is on
}

// Link leads to a page of the same wiki.
type Link struct {
	Title string
	Path  string // relative to the wiki's folder
}

// Evidence is all that a page is rendered from.
type Evidence struct {
	Page      claim.Page
	Claims    []claim.Claim // in order of creation
	Conflicts []Conflict
	Related   []Link
	Sources   map[string]claim.Source
}

// Render writes a page. Every claim carries footnotes, every footnote resolves to a source and a quotation from it; links
// are made here and nowhere else, so that no model and no document can invent one.
func Render(f Flavor, e Evidence) string {
	var b strings.Builder
	notes := &footnotes{page: e.Page, sources: e.Sources}
	kind := f.Kind(e.Page.Kind)
	fmt.Fprintf(&b, "---\ntitle: %s\nkind: %s\norigin: %s\n---\n\n# %s\n", quoteYAML(e.Page.Title), e.Page.Kind, e.Page.Origin, Escape(e.Page.Title))
	if s := Summary(f, e); s != "" {
		fmt.Fprintf(&b, "\n%s\n", Escape(s))
	}
	parts := make([][]claim.Claim, len(kind.Sections))
	for _, c := range e.Claims {
		if !c.Unsupported {
			i := section(kind, c.Text)
			parts[i] = append(parts[i], c)
		}
	}
	for i, s := range kind.Sections {
		if len(parts[i]) == 0 {
			continue
		}
		fmt.Fprintf(&b, "\n## %s\n\n", s.Title)
		for _, c := range parts[i] {
			fmt.Fprintf(&b, "- %s%s\n", Escape(c.Text), notes.of(c))
		}
	}
	if len(e.Conflicts) > 0 {
		b.WriteString("\n## Contradictions\n\n")
		for _, x := range e.Conflicts {
			i := slices.IndexFunc(e.Claims, func(c claim.Claim) bool { return c.ID == x.ClaimID })
			if i < 0 {
				continue
			}
			fmt.Fprintf(&b, "- %s%s\n  - against: %s%s", Escape(e.Claims[i].Text), notes.ref(e.Claims[i].Span), Escape(x.OtherText), notes.ref(x.OtherSpan))
			if x.OtherPage.Path != "" && x.OtherPage.Path != e.Page.Path {
				fmt.Fprintf(&b, ", on %s", pageLink(e.Page.Path, x.OtherPage))
			}
			fmt.Fprintf(&b, " (%s)\n", x.Why)
		}
	}
	if gone := slices.DeleteFunc(slices.Clone(e.Claims), func(c claim.Claim) bool { return !c.Unsupported }); len(gone) > 0 {
		b.WriteString("\n## No longer supported\n\n")
		for _, c := range gone {
			fmt.Fprintf(&b, "- %s%s\n", Escape(c.Text), notes.of(c))
		}
	}
	if len(e.Related) > 0 {
		b.WriteString("\n## See also\n\n")
		for _, l := range e.Related {
			fmt.Fprintf(&b, "- %s\n", pageLink(e.Page.Path, l))
		}
	}
	b.WriteString(notes.list())
	return b.String()
}

// Summary is the claim that introduces a page: one that defines the topic if there is one, else the one most relied on.
func Summary(f Flavor, e Evidence) string {
	kind := f.Kind(e.Page.Kind)
	best, score := "", -1.0
	for _, c := range e.Claims {
		if c.Unsupported {
			continue
		}
		s := c.Confidence
		if kind.Sections[section(kind, c.Text)].Title == definition.Title {
			s += 0.3
		}
		if strings.Contains(" "+claim.Key(c.Text), " "+claim.Key(e.Page.Title)) {
			s += 0.2
		}
		if s > score {
			best, score = c.Text, s
		}
	}
	return clip(best, 280)
}

func section(k Kind, text string) int {
	low := " " + strings.ToLower(text) + " "
	for i, s := range k.Sections {
		in := low
		if s.Title == definition.Title {
			in = low[:min(len(low), 64)] // a definition opens with what it defines
		}
		for _, w := range s.Words {
			if strings.Contains(in, w) {
				return i
			}
		}
	}
	return len(k.Sections) - 1
}

// footnotes numbers the spans of a page in the order in which they are referred to.
type footnotes struct {
	page    claim.Page
	sources map[string]claim.Source
	spans   []claim.Span
}

func (n *footnotes) of(c claim.Claim) string {
	out := n.ref(c.Span)
	for _, s := range c.Supports {
		out += n.ref(s)
	}
	return out
}

func (n *footnotes) ref(s claim.Span) string {
	if _, known := n.sources[s.SourceID]; !known {
		return ""
	}
	i := slices.IndexFunc(n.spans, func(o claim.Span) bool {
		return o.SourceID == s.SourceID && o.Snapshot == s.Snapshot && o.Start == s.Start && o.End == s.End
	})
	if i < 0 {
		n.spans = append(n.spans, s)
		i = len(n.spans) - 1
	}
	return fmt.Sprintf("[^%d]", i+1)
}

func (n *footnotes) list() string {
	if len(n.spans) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("\n")
	for i, s := range n.spans {
		src := n.sources[s.SourceID]
		fmt.Fprintf(&b, "[^%d]: “%s” — %s (source %d, bytes %d–%d of %.12s)\n", i+1, Escape(oneLine(s.Quote)), SourceLink(n.page.Path, src), src.N, s.Start, s.End, s.Snapshot)
	}
	return b.String()
}

// SourceLink renders a source as seen from a page: its title, linked where its address can be followed.
func SourceLink(from string, s claim.Source) string {
	title := Escape(orElse(s.Title, s.URL))
	switch target := Target(from, s.URL); {
	case target != "":
		title = fmt.Sprintf("[%s](<%s>)", title, target)
	case s.URL != s.Title:
		title += " (" + Escape(s.URL) + ")"
	}
	var more []string
	if len(s.Authors) > 0 {
		more = append(more, Escape(strings.Join(clipList(s.Authors, 3), ", ")))
	}
	if s.Published != "" {
		more = append(more, Escape(s.Published))
	}
	more = append(more, s.Fetcher)
	if s.Retracted {
		more = append(more, "**retracted**")
	}
	return title + ", " + strings.Join(more, ", ")
}

// Target is what a link to a source may point at: http and https addresses as they are, files below the wiki's folder
// relative to the page. Everything else is shown and not linked.
func Target(from, url string) string {
	if rel, ok := strings.CutPrefix(url, "file:raw/"); ok {
		return encode(strings.Repeat("../", strings.Count(from, "/")) + "raw/" + rel)
	}
	low := strings.ToLower(url)
	if strings.HasPrefix(low, "https://") || strings.HasPrefix(low, "http://") {
		return encode(url)
	}
	return ""
}

var encode = strings.NewReplacer("<", "%3C", ">", "%3E", " ", "%20", "\n", "", "\r", "", "\t", "%09", `"`, "%22", "\\", "%5C", "`", "%60").Replace

func pageLink(from string, l Link) string {
	return fmt.Sprintf("[%s](<%s>)", Escape(l.Title), encode(Relative(from, l.Path)))
}

// Relative is the path of a page as seen from another one, both relative to the wiki's folder.
func Relative(from, to string) string {
	dir := path.Dir(from)
	if path.Dir(to) == dir {
		return path.Base(to)
	}
	if dir == "." {
		return to
	}
	return strings.Repeat("../", strings.Count(dir, "/")+1) + to
}

// Escape makes foreign text safe inside a line of Markdown: it can open no link, footnote, image, HTML or block. Code
// spans stay as they are where their marks are balanced.
func Escape(s string) string {
	s = oneLine(s)
	parts := strings.Split(s, "`")
	if len(parts)%2 == 0 || strings.Contains(s, "``") {
		parts = []string{strings.ReplaceAll(s, "`", "'")}
	}
	for i := range parts {
		if i%2 == 0 {
			parts[i] = escapeText(parts[i])
		} else if parts[i] == "" || strings.TrimSpace(parts[i]) == "" {
			parts[i] = "-"
		}
	}
	s = strings.Join(parts, "`")
	if s != "" && strings.ContainsAny(s[:1], "#>+-=|~:") {
		s = "\\" + s
	}
	if i := strings.IndexFunc(s, func(r rune) bool { return r < '0' || r > '9' }); i > 0 && (s[i] == '.' || s[i] == ')') && i+1 < len(s) && s[i+1] == ' ' {
		s = s[:i] + "\\" + s[i:]
	}
	return s
}

var markdownSigns = strings.NewReplacer(`\`, `\\`, "[", `\[`, "]", `\]`, "<", `\<`, "*", `\*`, "|", `\|`, "!", `\!`, "&", `\&`, "~~", `\~\~`, "$", `\$`, "://", `:\//`)

func escapeText(s string) string {
	s = markdownSigns.Replace(s)
	// Underscores inside words are no emphasis; at their edges they are.
	var b strings.Builder
	rs := []rune(s)
	for i, r := range rs {
		if r == '_' && (i == 0 || i == len(rs)-1 || rs[i-1] == ' ' || rs[i+1] == ' ') {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

func oneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == 0x2028 || r == 0x2029 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\ufffd"))
	return strings.Join(strings.Fields(s), " ")
}

func quoteYAML(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(oneLine(s)) + `"`
}

func orElse(a, b string) string {
	if strings.TrimSpace(a) == "" {
		return b
	}
	return a
}

func clip(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	r := []rune(s)[:n]
	if i := strings.LastIndexByte(string(r), ' '); i > n/2 {
		return string(r)[:i] + " …"
	}
	return string(r) + "…"
}

func clipList(xs []string, n int) []string {
	if len(xs) <= n {
		return xs
	}
	return append(slices.Clone(xs[:n]), "et al.")
}
