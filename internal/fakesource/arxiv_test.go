package fakesource_test

import (
	"encoding/xml"
	"net/http"
	"strings"
	"testing"

	"whetstone/internal/fakesource"
)

type feed struct {
	Title   string `xml:"title"`
	ID      string `xml:"id"`
	Total   int    `xml:"http://a9.com/-/spec/opensearch/1.1/ totalResults"`
	Start   int    `xml:"http://a9.com/-/spec/opensearch/1.1/ startIndex"`
	PerPage int    `xml:"http://a9.com/-/spec/opensearch/1.1/ itemsPerPage"`
	Link    struct {
		Href string `xml:"href,attr"`
	} `xml:"link"`
	Entries []struct {
		ID        string   `xml:"id"`
		Title     string   `xml:"title"`
		Summary   string   `xml:"summary"`
		Published string   `xml:"published"`
		Authors   []string `xml:"author>name"`
		Primary   struct {
			Term string `xml:"term,attr"`
		} `xml:"http://arxiv.org/schemas/atom primary_category"`
		DOI   string `xml:"http://arxiv.org/schemas/atom doi"`
		Links []struct {
			Href  string `xml:"href,attr"`
			Rel   string `xml:"rel,attr"`
			Title string `xml:"title,attr"`
		} `xml:"link"`
	} `xml:"entry"`
}

func arxivFeed(t *testing.T, s *fakesource.Server, status int, pairs ...string) feed {
	t.Helper()
	a := get(t, s.URL(fakesource.ArXiv)+"/api/query"+encode(pairs...))
	a.want(t, status)
	var f feed
	if err := xml.Unmarshal([]byte(a.text), &f); err != nil {
		t.Fatalf("%v: %s", err, a.text)
	}
	return f
}

func TestArXivSearch(t *testing.T) {
	t.Parallel()
	s := start(t, fakesource.None)
	f := arxivFeed(t, s, http.StatusOK, "search_query", `ti:"election timeouts" AND cat:cs.DC`, "max_results", "5")
	if f.Total != 1 || f.PerPage != 5 || len(f.Entries) != 1 || !strings.HasPrefix(f.ID, "https://arxiv.org/api/") || f.Link.Href == "" {
		t.Fatalf("%+v", f)
	}
	e := f.Entries[0]
	if e.ID != "http://arxiv.org/abs/2405.12011v2" || e.Primary.Term != "cs.DC" || len(e.Authors) != 3 || !strings.HasSuffix(e.Published, "Z") {
		t.Errorf("%+v", e)
	}
	if !strings.Contains(e.Title, "\n  ") || strings.Count(e.Summary, "\n") < 3 {
		t.Errorf("not hard-wrapped: %q, %q", e.Title, e.Summary)
	}
	if len(e.Links) != 2 || e.Links[1].Rel != "related" || e.Links[1].Title != "pdf" || e.Links[1].Href != "https://arxiv.org/pdf/2405.12011v2" {
		t.Errorf("%+v", e.Links)
	}
}

func TestArXivQueryLanguage(t *testing.T) {
	t.Parallel()
	s := start(t, fakesource.None)
	for query, want := range map[string]struct {
		total int
		as    string
	}{
		`au:Zhou`:                    {2, "au:Zhou"},
		`all:"pre-vote"`:             {1, `all:"pre-vote"`},
		`all:meteors OR all:binary`:  {2, "all:meteors OR all:binary"},
		`cat:astro-ph.*`:             {2, "cat:astro-ph.*"},
		`all:缓存 ANDNOT all:碎片`:       {2, "all:缓存 ANDNOT all:碎片"},
		`badfield:xyz`:               {0, "all:badfield:xyz"},
		`meteors binary`:             {2, "all:meteors OR all:binary"},
		`(meteors OR x) AND cat:x.Y`: {0, "(all:meteors OR all:x) AND cat:x.Y"},
		`cat:cs.DC AND submittedDate:[202601010000 TO 202612312359]`: {1, "cat:cs.DC AND submittedDate:[202601010000 TO 202612312359]"},
	} {
		f := arxivFeed(t, s, http.StatusOK, "search_query", query)
		if f.Total != want.total || f.Title != "arXiv Query: search_query="+want.as+"&id_list=&start=0&max_results=10" {
			t.Errorf("%s: %d results, %s", query, f.Total, f.Title)
		}
	}
}

func TestArXivPagingAndSorting(t *testing.T) {
	t.Parallel()
	s := start(t, fakesource.None)
	all := arxivFeed(t, s, http.StatusOK, "search_query", "all:raft", "sortBy", "submittedDate", "sortOrder", "ascending", "max_results", "100")
	if all.Total < 5 || len(all.Entries) != all.Total {
		t.Fatalf("%d of %d", len(all.Entries), all.Total)
	}
	for i := 1; i < len(all.Entries); i++ {
		if all.Entries[i-1].Published > all.Entries[i].Published {
			t.Errorf("not ascending at %d", i)
		}
	}
	f := arxivFeed(t, s, http.StatusOK, "search_query", "all:raft", "sortBy", "submittedDate", "sortOrder", "ascending", "start", "2", "max_results", "2")
	if f.Start != 2 || f.Total != all.Total || len(f.Entries) != 2 || f.Entries[0].ID != all.Entries[2].ID {
		t.Errorf("%+v", f)
	}
	f = arxivFeed(t, s, http.StatusOK, "id_list", "2405.12011,2401.16998v3,9999.99999")
	if f.Total != 2 {
		t.Errorf("%d by id", f.Total)
	}
	posted := do(t, http.MethodPost, s.URL(fakesource.ArXiv)+"/api/query", "id_list=2405.12011", "Content-Type", "application/x-www-form-urlencoded")
	posted.want(t, http.StatusOK, "2405.12011v2")
}

func TestArXivRefusals(t *testing.T) {
	t.Parallel()
	s := start(t, fakesource.None)
	for _, c := range []struct {
		status int
		why    string
		ask    []string
	}{
		{200, "start must be an integer", []string{"search_query", "all:raft", "start", "x"}},
		{200, "max_results must be non-negative", []string{"search_query", "all:raft", "max_results", "-1"}},
		{200, "incorrect id format for 2409.3108", []string{"id_list", "2409.3108x"}},
		{200, "sortBy must be in: relevance, lastUpdatedDate, submittedDate", []string{"search_query", "all:raft", "sortBy", "date"}},
		{400, "Either a search_query or id_list must be specified for the classic API.", nil},
		{400, "max_results must be no more than 30000", []string{"search_query", "all:raft", "max_results", "30001"}},
	} {
		f := arxivFeed(t, s, c.status, c.ask...)
		if f.Total != 1 || len(f.Entries) != 1 || f.Entries[0].Title != "Error" || !strings.HasPrefix(f.Entries[0].Summary, c.why) || f.Entries[0].Authors[0] != "arXiv api core" {
			t.Errorf("%v: %+v", c.ask, f.Entries)
		}
	}
	limited := plain(t, start(t, fakesource.RateLimited), fakesource.ArXiv)
	limited.header(t, "Retry-After", "-", "Content-Type", "text/plain")
	if limited.text != "Rate exceeded." {
		t.Errorf("%q", limited.text)
	}
	plain(t, start(t, fakesource.ErrorEntry), fakesource.ArXiv).want(t, http.StatusOK, "<title>Error</title>")
}
