package report

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"whetstone/internal/headless"
)

// tab is one page in a headless Chromium, with all that it complained of or asked for.
type tab struct {
	t   *testing.T
	ctx context.Context

	mu   sync.Mutex
	seen []string // complaints, dialogs, requests
}

// open starts a browser on a rendered page. Without Chromium the test is skipped, unless WHETSTONE_BROWSER=required says
// that there must be one, as CI does.
func open(t *testing.T, html string) *tab {
	t.Helper()
	file := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(file, []byte(html), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx := headless.Start(t)
	b := &tab{t: t, ctx: ctx}
	chromedp.ListenTarget(ctx, func(ev any) {
		switch e := ev.(type) {
		case *cdppage.EventJavascriptDialogOpening:
			b.note("dialog: " + e.Message)
			go func() { _ = chromedp.Run(ctx, cdppage.HandleJavaScriptDialog(true)) }()
		case *runtime.EventExceptionThrown:
			b.note("exception: " + e.ExceptionDetails.Error())
		case *runtime.EventConsoleAPICalled:
			b.note(fmt.Sprintf("console: %s", e.Type))
		case *log.EventEntryAdded:
			b.note("log: " + e.Entry.Text)
		case *network.EventRequestWillBeSent:
			if e.Request.URL != "file://"+file {
				b.note("request: " + e.Request.URL)
			}
		}
	})
	b.run(network.Enable(), log.Enable(), emulation.SetDeviceMetricsOverride(1200, 900, 1, false), chromedp.Navigate("file://"+file), chromedp.WaitVisible("#scores", chromedp.ByID))
	return b
}

func (b *tab) note(s string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.seen = append(b.seen, s)
}

func (b *tab) noted() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.seen)
}

func (b *tab) run(actions ...chromedp.Action) {
	b.t.Helper()
	if err := chromedp.Run(b.ctx, actions...); err != nil {
		b.t.Fatal(err)
	}
}

// eval is a value of the page as a string; a promise is awaited.
func (b *tab) eval(js string) string {
	b.t.Helper()
	var out string
	if err := chromedp.Run(b.ctx, chromedp.Evaluate(`(async () => String(await (`+js+`)))()`, &out, func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) })); err != nil {
		b.t.Fatalf("%s: %v", js, err)
	}
	return out
}

func (b *tab) wants(what, js, want string) {
	b.t.Helper()
	if got := b.eval(js); got != want {
		b.t.Errorf("%s: got %q, want %q", what, got, want)
	}
}

// screen sets the window's size and the scheme that the system asks for.
func (b *tab) screen(width, height int64, scheme string) {
	b.t.Helper()
	b.run(emulation.SetDeviceMetricsOverride(width, height, 1, false), emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"}}))
	b.eval(`new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))`)
}

// shoot keeps a picture for a person to look at, where one asks for it.
func (b *tab) shoot(name string) {
	b.t.Helper()
	dir := os.Getenv("WHETSTONE_SCREENSHOTS")
	if dir == "" {
		return
	}
	var shot []byte
	b.run(chromedp.FullScreenshot(&shot, 100))
	if err := os.WriteFile(filepath.Join(dir, name+".png"), shot, 0o600); err != nil {
		b.t.Fatal(err)
	}
}

const (
	visibleRows = `[...document.querySelectorAll("#item-table tbody tr")].filter(r => !r.hidden)`
	ids         = visibleRows + `.map(r => r.querySelector("code").textContent).join(" ")`
)

func pick(name, value string) chromedp.Action {
	return chromedp.Click(fmt.Sprintf(`input[name=%s][value="%s"] + span`, name, value), chromedp.ByQuery)
}

// In a real browser: items filter and sort, by mouse and by keys, and the page never asks for anything.
func TestTheReportWorksInARealBrowser(t *testing.T) {
	t.Parallel()
	b := open(t, render(t, example(t)))
	b.wants("the policy lets the style sheet in", `getComputedStyle(document.querySelector(".tiles")).display`, "grid")
	b.wants("all items are shown", visibleRows+`.length`, "18")

	b.run(pick("side", "test"))
	b.wants("one side", visibleRows+`.every(r => r.dataset.side === "test") && document.querySelector("#shown").textContent`, "6 of 18 shown")
	b.run(pick("change", "improved"))
	b.wants("one side, improved", ids, "i_13 i_14 i_18")
	b.run(pick("change", "regressed"))
	b.wants("one side, regressed", ids, "i_16")
	b.run(pick("change", "unmeasured"), pick("side", ""))
	b.wants("not measured is not unchanged", ids, "i_05 i_11 i_17")
	b.run(chromedp.SendKeys("#find", "no such words", chromedp.ByID), chromedp.WaitVisible("#no-items", chromedp.ByID), chromedp.Click("#clear", chromedp.ByID))
	b.wants("all again", visibleRows+`.length`, "18")
	b.run(chromedp.SendKeys("#find", "并发 train", chromedp.ByID))
	b.wants("words of any language, all of them", ids, "i_04")
	b.run(chromedp.KeyEvent(kb.Escape))
	b.wants("Escape shows all", visibleRows+`.length + document.querySelector("#find").value`, "18")

	sort := `#item-table thead th:nth-child(5) button` // before
	column := `[...document.querySelectorAll("#item-table tbody tr")].map(r => r.cells[4].dataset.v ?? "-").join(" ")`
	first := func() string { return strings.Join(strings.Fields(b.eval(column))[:3], " ") }
	b.run(chromedp.Click(sort, chromedp.ByQuery))
	if up := b.eval(column); !strings.HasPrefix(up, "0 0 0 0 0 0 0.333") || !strings.HasSuffix(up, " 1 1 1 - - -") {
		t.Errorf("sorted up: %s", up)
	}
	b.wants("the sort is told", `document.querySelector("#item-table thead th:nth-child(5)").getAttribute("aria-sort")`, "ascending")
	b.run(chromedp.Focus(sort, chromedp.ByQuery), chromedp.KeyEvent(kb.Enter))
	if down := b.eval(column); first() != "1 1 1" || !strings.HasSuffix(down, " 0 0 - - -") {
		t.Errorf("sorted down by a key: %s", down)
	}
	b.run(chromedp.KeyEvent(" "))
	b.wants("the third time it is as it was", ids+`.slice(0, 14)`, "i_01 i_02 i_03")

	// One event, as a keyboard makes it: chromedp's own sends the character even where the key was taken.
	b.run(chromedp.Evaluate(`document.activeElement.blur()`, nil), input.DispatchKeyEvent(input.KeyDown).WithKey("/").WithCode("Slash").WithText("/"))
	b.wants("/ leads to the filter", `document.activeElement.id`, "find")
	b.run(chromedp.KeyEvent("d"))
	b.wants("letters in the filter are letters", `document.querySelector("#find").value + (document.documentElement.dataset.theme ?? "")`, "d")
	b.run(chromedp.KeyEvent(kb.Escape))
	b.run(chromedp.Focus(`input[name=side][value=""]`, chromedp.ByQuery), chromedp.KeyEvent(kb.ArrowRight))
	b.wants("arrows choose a side", `document.querySelector("input[name=side]:checked").value + " " + `+visibleRows+`.length`, "test 6")
	b.run(chromedp.KeyEvent(kb.Escape), chromedp.Evaluate(`document.activeElement.blur()`, nil), chromedp.KeyEvent("e"))
	b.wants("e unfolds", `[...document.querySelectorAll("details")].every(d => d.open)`, "true")
	b.run(chromedp.KeyEvent("e"), chromedp.KeyEvent("?"), chromedp.WaitVisible("#help", chromedp.ByID), chromedp.KeyEvent(kb.Escape))
	b.wants("Escape closes the keys", `document.querySelector("#help").hidden`, "true")
	b.screen(1200, 900, "light") // without smooth scrolling
	b.run(chromedp.Evaluate(`scrollTo(0, 0)`, nil), chromedp.KeyEvent("j"))
	b.wants("j leads on", `Math.abs(document.querySelector("#scores").getBoundingClientRect().top) < innerHeight / 3`, "true")
	before := b.eval(`getComputedStyle(document.body).backgroundColor`)
	b.run(chromedp.KeyEvent("d"))
	if after := b.eval(`getComputedStyle(document.body).backgroundColor`); after == before {
		t.Errorf("d leaves the background %s", before)
	}
	b.eval(`dispatchEvent(new Event("beforeprint"))`)
	b.wants("paper is unfolded", `[...document.querySelectorAll("details")].every(d => d.open)`, "true")
	b.eval(`dispatchEvent(new Event("afterprint"))`)
	b.wants("and folded again", `[...document.querySelectorAll("details")].some(d => d.open)`, "false")
	if seen := b.noted(); len(seen) > 0 {
		t.Errorf("the page complains or asks for something: %q", seen)
	}
}

// Hostile texts in every field: nothing runs, nothing is asked for, nothing leaves its place.
func TestNoScriptOfTheContentRuns(t *testing.T) {
	t.Parallel()
	b := open(t, render(t, poisoned(t)))
	b.run(chromedp.KeyEvent("e"), chromedp.SendKeys("#find", "pwned", chromedp.ByID))
	b.wants("hostile items are found as text", visibleRows+`.length`, "1")
	b.run(chromedp.KeyEvent(kb.Escape))
	b.wants("nothing ran", `window.pwned`, "undefined")
	b.wants("no element came of a text", `document.querySelectorAll("img, iframe, main script").length`, "0")
	for _, width := range []int64{1200, 360} {
		b.screen(width, 800, "light")
		b.wants(fmt.Sprintf("nothing sticks out at %d", width), `document.documentElement.scrollWidth`, fmt.Sprint(width))
	}
	if seen := b.noted(); len(seen) > 0 {
		t.Errorf("the page complains or asks for something: %q", seen)
	}
	// Even markup that got past the escaping would find the policy closed.
	b.run(chromedp.Evaluate(`{ const s = document.createElement("div"); s.innerHTML = '<img src="x" onerror="window.pwned=3"><p style="color:red" id="styled">x</p>'; document.body.append(s); const e = document.createElement("script"); e.textContent = "window.pwned=4"; document.body.append(e); }`, nil))
	b.eval(`new Promise(done => setTimeout(done, 200))`)
	b.wants("an inline handler and a foreign script are refused", `window.pwned`, "undefined")
	b.wants("a style attribute is refused", `getComputedStyle(document.querySelector("#styled")).color === getComputedStyle(document.body).color`, "true")
}

// contrast lists the texts that stand out too little from what is behind them: less than 4.5 to 1 (WCAG 2.2, 1.4.3).
const contrast = `(() => {
  const rgb = (c) => (c.match(/[\d.]+/g) || []).map(Number);
  const light = (c) => c.slice(0, 3).map((v) => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4).reduce((s, v, i) => s + v * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = (el) => { for (; el; el = el.parentElement) { const c = rgb(getComputedStyle(el).backgroundColor); if (c.length && c[3] !== 0) return c; } return [255, 255, 255]; };
  const bad = new Set();
  let n = 0;
  for (const el of document.querySelectorAll("body *")) {
    const own = [...el.childNodes].some((c) => c.nodeType === 3 && c.data.trim());
    if (!own || !el.checkVisibility() || ["SCRIPT", "TITLE", "title", "desc", "NOSCRIPT"].includes(el.tagName)) continue;
    n++;
    const s = getComputedStyle(el), a = light(rgb(el instanceof SVGElement ? s.fill : s.color)), b = light(behind(el));
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) bad.add(el.tagName + "." + (el.getAttribute("class") || "") + " " + ratio.toFixed(2) + " " + el.textContent.slice(0, 20));
  }
  return n < 200 ? "only " + n + " texts" : [...bad].join("; ");
})()`

// Both schemes, a wide window and a telephone: every text stands out, and the page never scrolls sideways.
func TestTheReportIsReadableEverywhere(t *testing.T) {
	t.Parallel()
	b := open(t, render(t, example(t)))
	for _, scheme := range []string{"light", "dark"} {
		for _, width := range []int64{1200, 820, 360} {
			at := fmt.Sprintf("%s-%d", scheme, width)
			b.screen(width, 800, scheme)
			b.wants(at+": folded, nothing sticks out", `document.documentElement.scrollWidth`, fmt.Sprint(width))
			b.shoot("report-" + at)
			b.eval(`document.querySelectorAll("details").forEach(d => d.open = true)`)
			b.wants(at+": unfolded, nothing sticks out", `document.documentElement.scrollWidth`, fmt.Sprint(width))
			b.wants(at+": texts that can hardly be read", contrast, "")
			b.eval(`document.querySelectorAll("details").forEach(d => d.open = false)`)
		}
	}
	light, dark := "rgb(252, 252, 250)", b.eval(`getComputedStyle(document.body).backgroundColor`)
	if dark == light {
		t.Error("the dark scheme is light")
	}
	b.run(emulation.SetDeviceMetricsOverride(700, 990, 1, false), emulation.SetEmulatedMedia().WithMedia("print").WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}}))
	b.wants("paper is white", `getComputedStyle(document.body).backgroundColor`, "rgb(255, 255, 255)")
	b.wants("paper has no controls", `[...document.querySelectorAll(".filters, aside")].some(e => e.checkVisibility())`, "false")
	b.eval(`dispatchEvent(new Event("beforeprint"))`)
	b.wants("nothing sticks out of paper", `document.documentElement.scrollWidth`, "700")
	b.shoot("report-print")
	if seen := b.noted(); len(seen) > 0 {
		t.Errorf("the page complains or asks for something: %q", seen)
	}
}
