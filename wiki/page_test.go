package wiki

import (
	"regexp"
	"strings"
	"testing"

	"whetstone/claim"
)

func evidence() Evidence {
	src := map[string]claim.Source{
		"s1": {ID: "s1", N: 1, URL: "https://example.org/a?b=<c>", Title: "A [title] (with) *marks*", Fetcher: "web", Snapshot: strings.Repeat("a", 64)},
		"s2": {ID: "s2", N: 2, URL: "file:raw/notes.md", Title: "notes.md", Fetcher: "local", Snapshot: strings.Repeat("b", 64)},
	}
	span := func(s, q string) claim.Span {
		return claim.Span{SourceID: s, Snapshot: src[s].Snapshot, Start: 0, End: len(q), Quote: q}
	}
	return Evidence{
		Page: claim.Page{Title: "Leader election", Kind: "concept", Path: "wiki/concept/leader-election.md", Origin: claim.ByResearch},
		Claims: []claim.Claim{
			{ID: "c1", Text: "Leader election is a vote.", Span: span("s1", "Leader election is a vote."), Supports: []claim.Span{span("s2", "A vote elects.")}},
			{ID: "c2", Text: "See [here](javascript:alert(1)) and <script>x</script> [^9]", Span: span("s2", "See it.\nnow")},
		},
		Conflicts: []Conflict{{ClaimID: "c1", Why: "the figures differ", OtherText: "It is not.", OtherSpan: span("s2", "It is not."), OtherPage: Link{"Other", "wiki/question/other.md"}}},
		Related:   []Link{{"Other", "wiki/question/other.md"}, {"Near", "wiki/concept/near.md"}},
		Sources:   src,
	}
}

var (
	noteRef = regexp.MustCompile(`[^\\]\[\^(\d+)\](?:[^:]|$)`)
	noteDef = regexp.MustCompile(`(?m)^\[\^(\d+)\]: `)
)

// The reference implementation wrote footnotes that nothing defines.
func TestEveryFootnoteResolves(t *testing.T) {
	text := Render(FlavorOf("research"), evidence())
	defs := map[string]bool{}
	for _, m := range noteDef.FindAllStringSubmatch(text, -1) {
		defs[m[1]] = true
	}
	refs := noteRef.FindAllStringSubmatch(text, -1)
	if len(refs) == 0 {
		t.Fatal("no footnotes at all")
	}
	for _, m := range refs {
		if !defs[m[1]] {
			t.Errorf("[^%s] is not defined in\n%s", m[1], text)
		}
	}
	if defs["9"] {
		t.Error("a document forged a footnote")
	}
}

func TestAPageHoldsNoLinkThatADocumentMade(t *testing.T) {
	text := Render(FlavorOf("research"), evidence())
	for _, bad := range []string{`[^\\]\]\(javascript:`, `[^\\]<script`, `[^\\]\[\^9\]`} {
		if regexp.MustCompile(bad).MatchString(text) {
			t.Errorf("%q stands in\n%s", bad, text)
		}
	}
	for _, good := range []string{"](<https://example.org/a?b=%3Cc%3E>)", "](<../../raw/notes.md>)", "](<../../wiki/question/other.md>)", "](<near.md>)"} {
		if !strings.Contains(text, good) {
			t.Errorf("%q is missing in\n%s", good, text)
		}
	}
}

func TestRenderingTwiceIsTheSame(t *testing.T) {
	if a, b := Render(FlavorOf("research"), evidence()), Render(FlavorOf("research"), evidence()); a != b {
		t.Error("two renderings differ")
	}
}

// The reference gave every Chinese query the file page.md.
func TestChineseTitlesHaveSlugsOfTheirOwn(t *testing.T) {
	seen := map[string]string{}
	for _, title := range []string{"分布式缓存", "缓存穿透", "Raft 共识", "???", "!!!", "C++", "C#", "Ünïcode", "CON", "a/b\\c", "..", strings.Repeat("长", 200)} {
		s := Slug(title)
		if s == "" || strings.ContainsAny(s, `/\.`) || len(s) > 90 || s == "con" {
			t.Errorf("%q: slug %q", title, s)
		}
		if other, taken := seen[s]; taken && claim.Key(other) != claim.Key(title) && s != Slug(other)+"" {
			t.Errorf("%q and %q share %q", title, other, s)
		}
		seen[s] = title
	}
	taken := func(s string) bool { return s == "c" }
	if a, b := PageSlug("C++", claim.Key("C++"), taken), PageSlug("C#", claim.Key("C#"), taken); a == b || a == "c" {
		t.Errorf("C++ is %s, C# is %s", a, b)
	}
}

func TestEveryFlavourHasAScaffoldOfItsOwn(t *testing.T) {
	if len(Flavors()) != 9 {
		t.Fatalf("%d flavours", len(Flavors()))
	}
	seen := map[string]bool{}
	for _, name := range Flavors() {
		f := FlavorOf(name)
		var kinds []string
		for _, k := range f.Kinds {
			kinds = append(kinds, k.Name)
			if last := k.Sections[len(k.Sections)-1]; len(last.Words) > 0 {
				t.Errorf("%s/%s has no section for the rest", name, k.Name)
			}
		}
		sig := strings.Join(kinds, ",") + strings.Join(f.Seeds, ",") + f.Prompt
		if seen[sig] || f.Name != name || len(f.Seeds) == 0 || f.Prompt == "" || len(f.Fetchers) == 0 || f.Fetchers[0] != "local" {
			t.Errorf("%s: %+v", name, f)
		}
		seen[sig] = true
		c, err := ParseConfig(NewConfig("x", `a "quoted": title`, name, name == "person"))
		if err != nil || c.Flavor != name || c.Research.Enabled == nil || !*c.Research.Enabled || c.Title != `a "quoted": title` {
			t.Errorf("%s: its own configuration: %+v, %v", name, c, err)
		}
	}
}
