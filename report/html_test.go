package report

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"whetstone/run"
)

func render(t testing.TB, d Data) string {
	t.Helper()
	b, err := HTML(d)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

var tags = regexp.MustCompile(`<[^>]*>`)

// words is what can be read of a stretch of HTML.
func words(html string) string {
	html = strings.NewReplacer("&#34;", `"`, "&#39;", "'", "&#43;", "+", "&lt;", "<", "&gt;", ">", "&amp;", "&").Replace(tags.ReplaceAllString(html, " "))
	return strings.Join(strings.Fields(html), " ")
}

// section is the text of one section of a page.
func section(t testing.TB, page, id string) string {
	t.Helper()
	_, rest, ok := strings.Cut(page, `<section id="`+id+`"`)
	if !ok {
		t.Fatalf("no section %s", id)
	}
	s, _, _ := strings.Cut(rest, "</section>")
	return words("<" + s)
}

func TestTheFileIsWholeAndTheSameEachTime(t *testing.T) {
	t.Parallel()
	page := render(t, example(t))
	if render(t, example(t)) != page {
		t.Error("two renderings differ")
	}
	elsewhere := example(t)
	elsewhere.Started = elsewhere.Started.In(time.FixedZone("west", -5*3600))
	if render(t, elsewhere) != page {
		t.Error("the zone of a clock shows")
	}
	for _, bad := range []string{"/home/", "somebody", "<link", "@import", "url(", "<iframe", " style=", "ZgotmplZ", "&lt;svg", "%!"} {
		if strings.Contains(page, bad) {
			t.Errorf("%q stands in the file", bad)
		}
	}
	for _, ref := range regexp.MustCompile(`(?:src|href|action)="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		if !strings.HasPrefix(ref[1], "#") {
			t.Errorf("the file refers to %q", ref[1])
		}
	}
}

// The policy admits the script and the style sheet of the file as they stand in it, and nothing else.
func TestThePolicyAdmitsWhatStandsInTheFile(t *testing.T) {
	t.Parallel()
	page := render(t, example(t))
	_, rest, _ := strings.Cut(page, `http-equiv="Content-Security-Policy" content="`)
	got, _, _ := strings.Cut(rest, `"`)
	got = strings.ReplaceAll(strings.ReplaceAll(got, "&#39;", "'"), "&#43;", "+")
	for _, el := range []string{"script", "style"} {
		in := regexp.MustCompile(`(?s)<`+el+`>(.*?)</`+el+`>`).FindAllStringSubmatch(page, -1)
		if len(in) != 1 || !strings.Contains(got, el+"-src '"+hash(in[0][1])+"'") {
			t.Errorf("%d %s elements; the policy is %s", len(in), el, got)
		}
	}
	if !strings.HasPrefix(got, "default-src 'none';") || strings.Contains(got, "unsafe") {
		t.Errorf("the policy is %s", got)
	}
}

func TestEveryLinkInsideTheFileHasItsTarget(t *testing.T) {
	t.Parallel()
	for name, d := range map[string]Data{"full": example(t), "empty": {}, "hostile": poisoned(t)} {
		page := render(t, d)
		ids := map[string]bool{}
		for _, m := range regexp.MustCompile(` id="([^"]+)"`).FindAllStringSubmatch(page, -1) {
			if ids[m[1]] {
				t.Errorf("%s: id %q is there twice", name, m[1])
			}
			ids[m[1]] = true
		}
		for _, m := range regexp.MustCompile(`(?:href="#|aria-controls="|aria-labelledby=")([^" ]+)`).FindAllStringSubmatch(page, -1) {
			if !ids[m[1]] {
				t.Errorf("%s: #%s leads nowhere", name, m[1])
			}
		}
	}
}

// Whatever a text holds, nothing of it runs, loads, closes an element, or turns what is read around.
func TestHostileTextIsHarmless(t *testing.T) {
	t.Parallel()
	page := render(t, poisoned(t))
	if n := strings.Count(page, "<script"); n != 1 {
		t.Errorf("%d script elements", n)
	}
	for _, bad := range []string{"<img", "onerror=\"", "\u202e", "\u2066", "\u200b", "\U000e0041", "\x1b", "\x00", "<!--"} {
		if strings.Contains(page, bad) {
			t.Errorf("%q stands in the file", bad)
		}
	}
	for _, good := range []string{"⟦U+202E⟧", "⟦U+E0041⟧", "⟦U+001B⟧", "&lt;/script&gt;", "{{.Policy}}"} {
		if !strings.Contains(page, good) {
			t.Errorf("%q is missing", good)
		}
	}
	if clean := render(t, example(t)); strings.Contains(clean, "⟦") {
		t.Error("the page's own texts hold characters that nobody sees")
	}
}

func TestVisible(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"a\tb\r\nc": "a\tb\nc", "a\rb": "a⟦U+000D⟧b", "\xff": "\ufffd", "می\u200cخواهم": "می\u200cخواهم", "👩\u200d💻": "👩\u200d💻", "x\u2028y": "x⟦U+2028⟧y", "\ufeffz": "⟦U+FEFF⟧z", "soft\u00adhyphen": "soft⟦U+00AD⟧hyphen", "א\u200fב": "א⟦U+200F⟧ב", "日志": "日志",
	} {
		if got := string(visible([]byte(in))); got != want {
			t.Errorf("%q is shown as %q, not %q", in, got, want)
		}
	}
}

// A page without anything says so in words, and shows no figure that was not measured.
func TestAnEmptyRunIsToldInWords(t *testing.T) {
	t.Parallel()
	page := render(t, Data{Result: run.Result{Skill: "x", Outcome: run.Failed}})
	for id, want := range map[string]string{"scores": "Sealed test opened at the end: no candidate was chosen by it 0 - - - - not measured", "curve": "No candidate was measured", "steps": "No step was taken", "patches": "None", "diff": "The skill is unchanged", "items": "No items are on file", "spend": "Nothing was booked", "baselines": "No baseline was run"} {
		if got := section(t, page, id); !strings.Contains(got, want) {
			t.Errorf("%s says %q, not %q", id, got, want)
		}
	}
	if strings.Contains(strings.ReplaceAll(page, "$0.0000", ""), "0.000") {
		t.Error("what was not measured is shown as zero")
	}
}

// What the headline claims is what Claim says, and the mark of a win stands nowhere else.
func TestTheHeadlineIsTheClaim(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		interval *[2]float64
		verdict  string
	}{"win": {iv(0.1, 0.2), "✓ Improved on"}, "none": {iv(-0.1, 0.2), "○ No evidence of improvement"}, "worse": {iv(-0.2, -0.1), "▼ Worse on"}, "untested": {nil, "○ The sealed test came without"}} {
		d := example(t)
		d.Result.TestInterval = c.interval
		page := render(t, d)
		_, sentence := Claim(d.Result)
		if text, icon := words(page), []rune(c.verdict)[0]; !strings.Contains(text, c.verdict) || !strings.Contains(text, string(icon)+" "+sentence) {
			t.Errorf("%s: the headline is not %q", name, sentence)
		}
		if strings.Contains(page, `class="verdict win"`) != (name == "win") {
			t.Errorf("%s: the mark of a win", name)
		}
	}
}

func TestSectionsShowWhatTheyAreGiven(t *testing.T) {
	t.Parallel()
	page := render(t, example(t))
	for id, wants := range map[string][]string{
		"scores":    {"0.417 0.722 +0.305 +0.083 to +0.528 above zero", "0.375 0.792 +0.417 +0.208 to +0.625 above zero", "read once before"},
		"steps":     {"1 3 0 indecisive 0.583 - - - 0.0042", "from file, unpaid"},
		"patches":   {"Accepted 2", "replace · step 1 · support 3 · answers i_01, i_04, i_07 - - Name tests well. + - Name a subtest", "at the end of the body", "2 rejected : the gain may be chance: p … is above the … this look may spend", "2 refused : anchor_missing its anchor does not stand in the skill", "withheld: the learning behind it was forgotten", "1 clipped the step's budget"},
		"diff":      {"+5 and −1 lines", "--- SKILL.md", "@@ -4,6 +4,7 @@", "21 22 --- a rule, no header"},
		"items":     {"withheld: forgotten since", "0.333 3 trials 1.000 3 trials ▲ +0.667 improved", "- 1.000 3 trials - not measured"},
		"spend":     {"judge $1.2099 66 % 391 1,842,009 1,204,000 88,120 12 1", "Total $1.8342 412 1,994,320 1,300,000 109,970 12 1"},
		"baselines": {"The full loop beats no change on the sealed test (+0.083 to +0.528).", "No evidence that the full loop beats append all learnings on the sealed test (-0.056 to +0.306 includes zero).", "The full loop beats one-shot rewrite on the selection items, which its own gate chose by", "full loop this run 0.792 0.722"},
		"advice":    {"Keep payloads under two lines."},
		"details":   {"seed 42", "alpha 0.05", "File SKILL.md", "Proposal SKILL.md.proposed", "Body before 9c1f0e6b7d2a4458a1b0c9d8e7f60512", "Expected $1.5200 in half of all runs, $2.4000 in 95 of 100"},
	} {
		got := section(t, page, id)
		for _, want := range wants {
			if !strings.Contains(got, want) {
				t.Errorf("%s does not say %q:\n%s", id, want, got)
			}
		}
	}
}

// What HTML is given stays as it was: the caller may render it once more, elsewhere.
func TestRenderingChangesNothingOfWhatItIsGiven(t *testing.T) {
	t.Parallel()
	d := example(t)
	d.Result.Notes[0] = d.Result.Path
	d.Steps[0].Reason = d.Result.Path
	if page := render(t, d); strings.Contains(page, "/home/") {
		t.Error("the folder of the skill shows")
	}
	if d.Result.Notes[0] != d.Result.Path || d.Steps[0].Reason != d.Result.Path {
		t.Error("a text of the caller was changed")
	}
}
