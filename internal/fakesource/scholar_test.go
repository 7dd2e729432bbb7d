package fakesource_test

import (
	"net/http"
	"strings"
	"testing"

	"whetstone/internal/fakesource"
)

func TestSemanticScholar(t *testing.T) {
	t.Parallel()
	s := start(t, fakesource.None)
	search := func(pairs ...string) answer {
		return get(t, s.URL(fakesource.SemanticScholar)+"/graph/v1/paper/search"+encode(pairs...))
	}
	type found struct {
		Total, Offset, Next int
		Data                []struct {
			PaperID, Title string
			Abstract       *string
			Year           int
			Authors        []struct{ AuthorID, Name string }
			ExternalIDs    map[string]any
			OpenAccessPDF  struct{ URL, Status string }
		}
	}
	search("query", "raft", "limit", "1").want(t, http.StatusOK, `"data":[{"paperId":"`, `"title":`)
	if a := search("query", "raft", "limit", "1"); strings.Contains(a.text, "abstract") {
		t.Errorf("fields that nobody asked for: %s", a.text)
	}
	one := into[found](t, search("query", "read leases", "fields", "title,abstract,year,authors.name,externalIds,openAccessPdf", "limit", "1"))
	p := one.Data[0]
	if one.Offset != 0 || one.Next != 1 || len(p.PaperID) != 40 || p.Year != 2024 || len(p.Authors) != 2 || p.ExternalIDs["ArXiv"] != "2401.16998" || p.OpenAccessPDF.URL == "" {
		t.Errorf("%+v", one)
	}
	all := into[found](t, search("query", "raft", "fields", "title,abstract"))
	if all.Next != 0 || all.Total <= len(all.Data) { // total promises more than there is
		t.Errorf("%d of %d, next %d", len(all.Data), all.Total, all.Next)
	}
	if last := all.Data[len(all.Data)-1]; len(all.Data) < 5 || last.Title == "" {
		t.Errorf("%+v", last)
	}
	search("query", "constant-time").want(t, http.StatusOK, `"data":[]`, `"total":0`) // hyphens match nothing
	search("query", "constant time", "fields", "title,abstract").want(t, http.StatusOK, `"abstract":null`)
	search("query", "raft", "year", "-2022").want(t, http.StatusOK, "Raft")

	search().want(t, http.StatusBadRequest, `{"error":`)
	search("query", "raft", "limit", "101").want(t, http.StatusBadRequest, `{"error":"'limit' must be <= 100"}`)
	search("query", "raft", "limit", "0").want(t, http.StatusBadRequest, "Unacceptable query params: [limit=0]")
	search("query", "raft", "fields", "title,garbage").want(t, http.StatusBadRequest, "Unrecognized or unsupported fields: [garbage]") //nolint:misspell // as the service spells it
	search("query", "raft", "offset", "60").want(t, http.StatusBadRequest, `{"error":"Requested data for this limit and/or offset is not available"}`)
	search("query", "raft", "offset", "950").want(t, http.StatusBadRequest, "not available")

	limited := plain(t, start(t, fakesource.RateLimited), fakesource.SemanticScholar)
	limited.want(t, http.StatusTooManyRequests, `"code":"429"`, "Too Many Requests.")
	limited.header(t, "Retry-After", "-")
	plain(t, start(t, fakesource.Forbidden), fakesource.SemanticScholar).want(t, http.StatusForbidden, `{"message":"Forbidden"}`)
}

func TestOpenAlex(t *testing.T) {
	t.Parallel()
	s := start(t, fakesource.None)
	works := func(pairs ...string) answer { return get(t, s.URL(fakesource.OpenAlex)+"/works"+encode(pairs...)) }
	type found struct {
		Meta struct {
			Count   int
			Page    int
			PerPage int `json:"per_page"`
		}
		Results []struct {
			ID, DOI, Title string
			Published      string           `json:"publication_date"`
			Cited          int              `json:"cited_by_count"`
			Retracted      bool             `json:"is_retracted"`
			Abstract       map[string][]int `json:"abstract_inverted_index"`
			Primary        struct {
				URL string `json:"landing_page_url"`
			} `json:"primary_location"`
			Best *struct {
				PDF string `json:"pdf_url"`
			} `json:"best_oa_location"`
		}
	}
	a := works("search", "batching pipelining", "per_page", "1")
	a.header(t, "X-RateLimit-Remaining", "9990", "X-RateLimit-Credits-Used", "10", "X-RateLimit-Remaining-USD", "0.999")
	one := into[found](t, a)
	w := one.Results[0]
	if one.Meta.Count != 1 || one.Meta.PerPage != 1 || !strings.HasPrefix(w.ID, "https://openalex.org/W") || !strings.HasPrefix(w.DOI, "https://doi.org/") || w.Best == nil || w.Cited != 23 {
		t.Errorf("%+v", one)
	}
	words := make([]string, 200)
	for word, positions := range w.Abstract {
		for _, i := range positions {
			words[i] = word
		}
	}
	if text := strings.TrimSpace(strings.Join(words, " ")); !strings.HasPrefix(text, "Leaders can send several log entries in one message") || !strings.HasSuffix(text, "another 40%.") {
		t.Errorf("%s", text)
	}
	follow(t, result{URL: w.Primary.URL})
	if gone := into[found](t, works("search", "constant time commit")); len(gone.Results) != 1 || !gone.Results[0].Retracted || gone.Results[0].Abstract != nil || gone.Results[0].Best != nil {
		t.Errorf("%+v", gone)
	}
	if kept := into[found](t, works("search", "constant time commit", "filter", "is_retracted:false")); kept.Meta.Count != 0 {
		t.Errorf("%+v", kept)
	}
	sorted := into[found](t, works("filter", "from_publication_date:2024-01-01,language:en", "sort", "publication_date:desc", "per_page", "2", "page", "2"))
	if sorted.Meta.Page != 2 || len(sorted.Results) != 2 || sorted.Results[0].Published < sorted.Results[1].Published {
		t.Errorf("%+v", sorted)
	}
	works("search", "raft", "select", "id,title").want(t, http.StatusOK, `"results":[{"id":"https://openalex.org/W`)

	works("search", "raft", "per_page", "201").want(t, http.StatusBadRequest, `"error":"Invalid query parameters error."`)
	works("search", "raft", "filter", "author_name:x").want(t, http.StatusBadRequest, `"error":"Invalid filter"`, "Unknown filter field: author_name")
	works("search", "raft", "limit", "5").want(t, http.StatusBadRequest, "limit is not a valid parameter.")
	works("search", "raft", "page", "101", "per_page", "100").want(t, http.StatusBadRequest, "10,000 records")
	works("sort", "relevance_score").want(t, http.StatusBadRequest, "relevance_score")

	spent := plain(t, start(t, fakesource.RateLimited), fakesource.OpenAlex)
	spent.want(t, http.StatusTooManyRequests, `"error":"Rate limit exceeded"`, "Insufficient budget.", `"retryAfter":21600`)
	spent.header(t, "Retry-After", "21600", "X-RateLimit-Remaining", "0", "X-RateLimit-Cost-Required-USD", "0.001")
	burst := plain(t, start(t, fakesource.SecondaryLimit), fakesource.OpenAlex)
	burst.want(t, http.StatusTooManyRequests, "100 requests per second")
	burst.header(t, "Retry-After", "2", "X-RateLimit-Remaining", "5000")
}
