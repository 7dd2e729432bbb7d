package viewer

import (
	"os"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"whetstone/internal/headless"
)

// In a real browser: the search finds pages and claims, in English and Chinese; links lead where they say; claims show the
// words they rest on; keys work; no script of the content runs.
func TestTheViewerWorksInARealBrowser(t *testing.T) {
	ctx := headless.Start(t)
	dialogs := 0
	chromedp.ListenTarget(ctx, func(ev any) {
		if _, ok := ev.(*page.EventJavascriptDialogOpening); ok {
			dialogs++
			go func() { _ = chromedp.Run(ctx, page.HandleJavaScriptDialog(true)) }()
		}
	})
	if err := chromedp.Run(ctx, chromedp.Navigate("file://"+file(t)), chromedp.WaitVisible("#contents", chromedp.ByID)); err != nil {
		t.Fatal(err)
	}
	eval := func(js string) string {
		t.Helper()
		var out string
		if err := chromedp.Run(ctx, chromedp.Evaluate(`String(`+js+`)`, &out)); err != nil {
			t.Fatalf("%s: %v", js, err)
		}
		return out
	}
	search := func(q string) string {
		t.Helper()
		if err := chromedp.Run(ctx, chromedp.SetValue("#search", q, chromedp.ByID), chromedp.Evaluate(`document.querySelector("#search").dispatchEvent(new Event("input"))`, nil)); err != nil {
			t.Fatal(err)
		}
		return eval(`document.querySelector("#results").innerText`)
	}
	for q, want := range map[string]string{"zyzzyva": "Log", "election milliseconds": "Leader election", "复制": "日志复制", "一致性哈希": "日志复制", `"`: "", "<script>": ""} {
		if got := search(q); want != "" && !strings.Contains(got, want) {
			t.Errorf("searching for %q shows %q, not %q", q, got, want)
		}
	}
	if got := search("qqqqq"); !strings.Contains(got, "Nothing found") {
		t.Errorf("searching for nonsense shows %q", got)
	}
	search("zyzzyva")
	if err := chromedp.Run(ctx, chromedp.Click("#results a", chromedp.ByQuery), chromedp.WaitVisible("#p-3", chromedp.ByID)); err != nil {
		t.Fatalf("following what was found: %v", err)
	}
	if eval(`[...document.querySelectorAll(".view")].filter(v => !v.hidden).length`) != "1" {
		t.Error("more than one view is shown")
	}
	// Every link inside the file leads to something that then is shown.
	broken := eval(`[...document.querySelectorAll('a[href^="#"]')].map(a => a.getAttribute("href")).filter(h => { location.hash = h; dispatchEvent(new HashChangeEvent("hashchange")); const el = document.getElementById(decodeURIComponent(h.slice(1))); return !el || (h !== "#top" && el.getClientRects().length === 0 && el.closest(".view")?.hidden); }).join(" ")`)
	if broken != "" {
		t.Errorf("links that lead nowhere: %s", broken)
	}
	if err := chromedp.Run(ctx, chromedp.Evaluate(`location.hash = "p-1"`, nil), chromedp.WaitVisible("#p-1 .claim", chromedp.ByQuery), chromedp.Focus("#p-1 .claim", chromedp.ByQuery), chromedp.WaitVisible("#tip", chromedp.ByID)); err != nil {
		t.Fatalf("the span of a claim: %v", err)
	}
	if tip := eval(`document.querySelector("#tip").innerText`); !strings.Contains(tip, "the very words of the source") {
		t.Errorf("the tip shows %q", tip)
	}
	if err := chromedp.Run(ctx, chromedp.Evaluate(`document.activeElement.blur()`, nil), chromedp.KeyEvent("x"), chromedp.WaitVisible("#contradictions", chromedp.ByID), chromedp.KeyEvent("g"), chromedp.WaitVisible("#graph svg", chromedp.ByQuery), chromedp.KeyEvent("/")); err != nil {
		t.Fatalf("keys: %v", err)
	}
	if got := eval(`document.activeElement.id`); got != "search" {
		t.Errorf("/ focuses %q", got)
	}
	before := eval(`getComputedStyle(document.body).backgroundColor`)
	if err := chromedp.Run(ctx, chromedp.KeyEvent(kb.Escape), chromedp.KeyEvent("d")); err != nil {
		t.Fatal(err)
	}
	if after := eval(`getComputedStyle(document.body).backgroundColor`); after == before {
		t.Errorf("d leaves the background %s", before)
	}
	if got := eval(`window.pwned`); got != "undefined" || dialogs > 0 {
		t.Errorf("a script of the content ran: %s, %d dialogs", got, dialogs)
	}
	// Even markup that got past the sanitiser would find the policy closed.
	// The listener comes after the inline handler, so that once it has heard of the error, the handler has had its turn.
	var heard bool
	if err := chromedp.Run(ctx, chromedp.Evaluate(`new Promise(heard => {
		const s = document.createElement("div"); s.innerHTML = '<img src="x" onerror="window.pwned=3">';
		s.firstChild.addEventListener("error", () => heard(true)); document.body.append(s);
	})`, &heard, func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) })); err != nil || !heard {
		t.Fatal(heard, err)
	}
	if got := eval(`window.pwned`); got != "undefined" {
		t.Errorf("an inline handler ran: %s", got)
	}
	if dir := os.Getenv("WHETSTONE_SCREENSHOTS"); dir != "" {
		var shot []byte
		if err := chromedp.Run(ctx, chromedp.Evaluate(`location.hash = "p-1"`, nil), chromedp.FullScreenshot(&shot, 90)); err == nil {
			_ = os.WriteFile(dir+"/viewer.png", shot, 0o600)
		}
	}
}
