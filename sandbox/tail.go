package sandbox

import (
	"strings"
	"unicode/utf8"
)

// tail keeps the last MaxOutput bytes written to it. It is used by one goroutine at a time.
type tail struct{ buf []byte }

func (t *tail) Write(p []byte) (int, error) {
	n := len(p)
	p = p[max(0, n-MaxOutput):]
	t.buf = append(t.buf, p...)
	// Cut at twice the size, so that a flood of single bytes does not move the buffer for each.
	if len(t.buf) > 2*MaxOutput {
		t.buf = append(t.buf[:0], t.buf[len(t.buf)-MaxOutput:]...)
	}
	return n, nil
}

// String is what was kept, as UTF-8 text of at most MaxOutput bytes.
func (t *tail) String() string {
	s := strings.ToValidUTF8(string(t.buf[max(0, len(t.buf)-MaxOutput):]), "\ufffd")
	at := max(0, len(s)-MaxOutput)
	for at < len(s) && !utf8.RuneStart(s[at]) {
		at++
	}
	return s[at:]
}
