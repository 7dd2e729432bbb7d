package fakesource_test

import (
	"bytes"
	"net/http"
	"strings"
	"testing"

	"whetstone/internal/fakesource"
)

func TestWebPage(t *testing.T) {
	t.Parallel()
	s := start(t, fakesource.None)
	a := get(t, s.URL(fakesource.Web)+"/huancun-xuebeng.html")
	a.want(t, http.StatusOK, `<html lang="zh-CN">`, "<title>一次缓存雪崩的复盘 | ", `<link rel="canonical" href="`+s.URL(fakesource.Web)+`/huancun-xuebeng.html">`,
		"<nav", "cookie", "<aside", "Related articles", "<footer", "<script>", "<article>", "<p>缓存雪崩是指")
	a.header(t, "Content-Type", "text/html; charset=utf-8")
	if a.Header.Get("Last-Modified") == "" || a.Header.Get("Etag") == "" {
		t.Errorf("%v", a.Header)
	}
	article, _, _ := strings.Cut(a.text[strings.Index(a.text, "<article>"):], "</article>")
	d, _ := fakesource.Default().Find("huancun-xuebeng")
	for _, p := range strings.Split(d.Body, "\n\n") {
		if !strings.Contains(article, p) {
			t.Errorf("the article lacks %q", p)
		}
	}
	// Markup in the middle of a sentence does not part its words.
	get(t, s.URL(fakesource.Web)+"/raft-pre-vote.html").want(t, http.StatusNotFound)
	get(t, s.URL(fakesource.Web)+"/raft-overview.html").want(t, http.StatusOK, "<p><strong>Raft</strong> splits consensus", "<h2>Leader election</h2>")
}

func TestWebPlanted(t *testing.T) {
	t.Parallel()
	s := start(t, fakesource.None)
	base := s.URL(fakesource.Web)
	get(t, base+"/robots.txt").want(t, http.StatusOK, "Disallow: /admin/")
	s.Robots("User-agent: *\nDisallow: /\n")
	get(t, base+"/robots.txt").want(t, http.StatusOK, "Disallow: /\n")

	s.Redirect("/old", "/raft-overview.html")
	a := get(t, base+"/old")
	a.want(t, http.StatusFound)
	a.header(t, "Location", "/raft-overview.html")

	blob := bytes.Repeat([]byte{0, 1, 0xff}, 1<<20)
	s.Page("/blob.bin", "application/octet-stream", blob)
	a = get(t, base+"/blob.bin")
	a.header(t, "Content-Type", "application/octet-stream")
	if a.text != string(blob) {
		t.Errorf("%d bytes", len(a.text))
	}
	s.Page("/raft-overview.html", "text/html", []byte("<script>evil()</script>"))
	get(t, base+"/raft-overview.html").want(t, http.StatusOK, "evil()")

	do(t, http.MethodHead, base+"/blob.bin", "").want(t, http.StatusOK)
	do(t, http.MethodPost, base+"/blob.bin", "x").want(t, http.StatusMethodNotAllowed)
	get(t, base+"/nothing.html").want(t, http.StatusNotFound)
	limited := plain(t, start(t, fakesource.RateLimited), fakesource.Web)
	limited.header(t, "Retry-After", "2")
}
