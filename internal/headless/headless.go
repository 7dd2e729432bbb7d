// Package headless starts a Chromium without a screen for tests that look at pages as a person's browser does. It is for tests
// only; a machine without a browser skips them, unless WHETSTONE_BROWSER=required says that there must be one, as CI does.
package headless

import (
	"context"
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// names under which a browser may be found.
var names = []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "headless_shell", "chrome"}

// Start starts a browser with one tab, for at most two minutes. It ends with the test.
func Start(t *testing.T) context.Context {
	t.Helper()
	bin := ""
	for _, name := range names {
		if p, err := exec.LookPath(name); err == nil {
			bin = p
			break
		}
	}
	if bin == "" {
		if os.Getenv("WHETSTONE_BROWSER") == "required" {
			t.Fatal("no Chromium on this machine")
		}
		t.Skip("no Chromium on this machine")
	}
	opts := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]), chromedp.ExecPath(bin), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-dev-shm-usage", true), chromedp.WSURLReadTimeout(60*time.Second))
	alloc, cancel := chromedp.NewExecAllocator(t.Context(), opts...)
	ctx, cancelTab := chromedp.NewContext(alloc)
	tab, cancelTime := context.WithTimeout(ctx, 2*time.Minute)
	t.Cleanup(func() {
		cancelTime()
		cancelTab()
		cancel()
		// The allocator removes the browser's folder once its process has ended. It is not the test's: what a dying browser
		// still writes into it must not fail a test.
		chromedp.FromContext(ctx).Allocator.Wait()
	})
	return tab
}
