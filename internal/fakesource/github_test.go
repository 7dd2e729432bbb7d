package fakesource_test

import (
	"encoding/base64"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"whetstone/internal/fakesource"
)

type repositories struct {
	Total int `json:"total_count"`
	Items []struct {
		FullName    string   `json:"full_name"`
		Description string   `json:"description"`
		Stars       int      `json:"stargazers_count"`
		Language    string   `json:"language"`
		Topics      []string `json:"topics"`
		License     struct {
			SPDX string `json:"spdx_id"`
		} `json:"license"`
		Score float64 `json:"score"`
	} `json:"items"`
}

func TestGitHubSearch(t *testing.T) {
	t.Parallel()
	s := start(t, fakesource.None)
	search := func(pairs ...string) (repositories, answer) {
		a := get(t, s.URL(fakesource.GitHub)+"/search/repositories"+encode(pairs...))
		a.want(t, http.StatusOK)
		return into[repositories](t, a), a
	}
	all, a := search("q", "raft consensus", "sort", "stars")
	if all.Total != 3 || all.Items[0].FullName != "quayside/harborlog" || all.Items[0].Stars < all.Items[1].Stars || all.Items[0].License.SPDX != "Apache-2.0" || all.Items[0].Score != 1 {
		t.Errorf("%+v", all)
	}
	a.header(t, "X-RateLimit-Limit", "10", "X-RateLimit-Remaining", "9", "X-RateLimit-Used", "1", "X-RateLimit-Resource", "search", "Link", "-")
	reset, err := strconv.ParseInt(a.Header.Get("X-RateLimit-Reset"), 10, 64)
	if err != nil || time.Until(time.Unix(reset, 0)) > 3*time.Second {
		t.Errorf("reset %q", a.Header.Get("X-RateLimit-Reset"))
	}
	if got, _ := search("q", "raft language:rust stars:>1000"); got.Total != 1 || got.Items[0].FullName != "meadowdb/larkspur" {
		t.Errorf("%+v", got)
	}
	// Without in:readme only name, description and topics count, and every word has to be there.
	if got, _ := search("q", "raft quiescence"); got.Total != 0 || got.Items == nil {
		t.Errorf("%+v", got)
	}
	if got, _ := search("q", "torn writes in:readme"); got.Total != 1 {
		t.Errorf("%+v", got)
	}
	if got, _ := search("q", "分布式缓存"); got.Total != 1 || got.Items[0].FullName != "yunshan-lab/yunshan-cache" {
		t.Errorf("%+v", got)
	}
	second, a := search("q", "raft", "per_page", "1", "page", "2")
	if len(second.Items) != 1 || !strings.Contains(a.Header.Get("Link"), `page=3&per_page=1&q=raft>; rel="next"`) {
		t.Errorf("%+v, %s", second, a.Header.Get("Link"))
	}
}

func TestGitHubReadme(t *testing.T) {
	t.Parallel()
	s := start(t, fakesource.None)
	address := s.URL(fakesource.GitHub) + "/repos/Quayside/Harborlog/readme"
	a := get(t, address, "Authorization", "Bearer x")
	a.want(t, http.StatusOK)
	a.header(t, "X-RateLimit-Limit", "5000", "X-RateLimit-Resource", "core")
	r := into[struct {
		Type, Encoding, Name, Path, SHA, Content string
		Size                                     int
		DownloadURL                              string `json:"download_url"`
	}](t, a)
	if r.Type != "file" || r.Encoding != "base64" || r.Name != "README.md" || !strings.HasSuffix(r.Content, "\n") || strings.Count(r.Content, "\n") < 10 || r.DownloadURL == "" {
		t.Errorf("%+v", r)
	}
	text, err := base64.StdEncoding.DecodeString(r.Content)
	if err != nil || len(text) != r.Size {
		t.Fatalf("%v, %d of %d", err, len(text), r.Size)
	}
	for _, part := range []string{"# Harborlog\n", "[![CI](", "## Guarantees\n", "```sh\n", "](LICENSE).", "between 1000 and 2000 milliseconds"} {
		if !strings.Contains(string(text), part) {
			t.Errorf("no %q", part)
		}
	}
	raw := get(t, address, "Accept", "application/vnd.github.raw+json")
	if raw.text != string(text) || !strings.HasPrefix(raw.Header.Get("Content-Type"), "application/vnd.github.raw+json") {
		t.Errorf("raw: %s", raw.Header.Get("Content-Type"))
	}
	get(t, s.URL(fakesource.GitHub)+"/repos/quayside/nothing/readme").want(t, http.StatusNotFound,
		`"message":"Not Found"`, `"documentation_url":"https://docs.github.com/rest/repos/contents#get-a-repository-readme"`, `"status":"404"`)
	empty := get(t, start(t, fakesource.Empty).URL(fakesource.GitHub)+"/repos/quayside/harborlog/readme")
	empty.want(t, http.StatusOK, `"size":0`, `"content":""`)
}

func TestGitHubRefusals(t *testing.T) {
	t.Parallel()
	s := start(t, fakesource.None)
	base := s.URL(fakesource.GitHub)
	get(t, base+"/search/repositories?q=").want(t, http.StatusUnprocessableEntity, `"message":"Validation Failed"`, `"field":"q"`, `"code":"missing"`)
	get(t, base+"/search/repositories"+encode("q", strings.Repeat("raft ", 60))).want(t, http.StatusUnprocessableEntity, "longer than 256 characters")
	get(t, base+"/search/repositories"+encode("q", "a OR b OR c OR d OR e OR f OR g")).want(t, http.StatusUnprocessableEntity, "Validation Failed")
	get(t, base+"/search/repositories?q=raft&per_page=100&page=11").want(t, http.StatusUnprocessableEntity, "Only the first 1000 search results are available")
	get(t, base+"/search/repositories?q=raft", "User-Agent", "").want(t, http.StatusForbidden, "User-Agent header")

	primary := plain(t, start(t, fakesource.RateLimited), fakesource.GitHub)
	primary.want(t, http.StatusForbidden, "API rate limit exceeded for")
	primary.header(t, "X-RateLimit-Remaining", "0", "X-RateLimit-Used", "10", "Retry-After", "-")
	secondary := plain(t, start(t, fakesource.SecondaryLimit), fakesource.GitHub)
	secondary.want(t, http.StatusForbidden, "You have exceeded a secondary rate limit.")
	secondary.header(t, "X-RateLimit-Remaining", "9", "Retry-After", "2")
}
