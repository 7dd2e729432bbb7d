package fakesource_test

import (
	"net/http"
	"strings"
	"testing"

	"whetstone/internal/fakesource"
)

type wikiPages struct {
	Query struct {
		Renamed []struct{ From, To string } `json:"normalized"` //nolint:misspell // as the service spells it
		Pages   []struct {
			PageID  int
			Title   string
			Extract string
			Missing bool
			Index   int
			FullURL string
		}
	}
}

func TestWikipediaSearch(t *testing.T) {
	t.Parallel()
	s := start(t, fakesource.None)
	search := func(pairs ...string) answer {
		return get(t, s.URL(fakesource.Wikipedia)+"/w/api.php"+encode(append([]string{"action", "query", "list", "search", "format", "json", "formatversion", "2"}, pairs...)...))
	}
	a := search("srsearch", "raft leaders", "srlimit", "1")
	a.want(t, http.StatusOK, `<span class=\"searchmatch\">Raft</span>`)
	found := into[struct {
		BatchComplete bool
		Continue      struct{ SROffset int }
		Query         struct {
			SearchInfo struct{ TotalHits int }
			Search     []struct {
				Title, Snippet, Timestamp string
				PageID, Size, WordCount   int
			}
		}
	}](t, a)
	hits := found.Query.Search
	if found.Continue.SROffset != 1 || found.Query.SearchInfo.TotalHits < 2 || len(hits) != 1 || hits[0].PageID == 0 || hits[0].WordCount < 100 || !strings.HasSuffix(hits[0].Timestamp, "Z") {
		t.Errorf("%+v", found)
	}
	search("srsearch", "布隆过滤器").want(t, http.StatusOK, `"title":"布隆过滤器"`, `<span class=\"searchmatch\">布隆过滤器</span>`)
	search("srsearch", "raft zebras").want(t, http.StatusOK, `"totalhits":0`, `"search":[]`)
	search("srsearch", "").want(t, http.StatusOK, `"code":"missingparam"`)
	long := search("srsearch", strings.Repeat("raft ", 61))
	long.want(t, http.StatusOK, `"code":"cirrussearch-query-too-long"`)
	long.header(t, "MediaWiki-API-Error", "cirrussearch-query-too-long")
}

func TestWikipediaExtracts(t *testing.T) {
	t.Parallel()
	s := start(t, fakesource.None)
	page := func(pairs ...string) answer {
		return get(t, s.URL(fakesource.Wikipedia)+"/w/api.php"+encode(append([]string{"action", "query", "format", "json", "prop", "extracts|info", "inprop", "url"}, pairs...)...))
	}
	intro := into[wikiPages](t, page("titles", "raft_consensus algorithm|Nothing here", "exintro", "1", "explaintext", "1", "formatversion", "2"))
	p := intro.Query.Pages
	if len(p) != 2 || p[0].PageID == 0 || !strings.HasPrefix(p[0].Extract, "Raft is a consensus algorithm") || strings.Contains(p[0].Extract, "==") || !p[1].Missing ||
		len(intro.Query.Renamed) != 1 || !strings.HasSuffix(p[0].FullURL, "/wiki/Raft_consensus_algorithm") {
		t.Errorf("%+v", intro)
	}
	whole := into[wikiPages](t, page("titles", "Raft consensus algorithm", "explaintext", "1", "formatversion", "2"))
	if !strings.Contains(whole.Query.Pages[0].Extract, "\n\n\n== Leader election ==\nA Raft follower") {
		t.Errorf("%q", whole.Query.Pages[0].Extract)
	}
	page("titles", "Raft consensus algorithm").want(t, http.StatusOK, `"batchcomplete":""`, `"pages":{"`, "<p>Raft is")
	generated := into[wikiPages](t, get(t, s.URL(fakesource.Wikipedia)+"/w/api.php"+encode("action", "query", "format", "json", "formatversion", "2",
		"generator", "search", "gsrsearch", "raft", "gsrlimit", "2", "prop", "extracts", "exintro", "1", "explaintext", "1")))
	if g := generated.Query.Pages; len(g) != 2 || g[0].Index != 1 || g[1].Extract == "" {
		t.Errorf("%+v", generated)
	}
}

func TestWikipediaRefusals(t *testing.T) {
	t.Parallel()
	s := start(t, fakesource.None)
	address := s.URL(fakesource.Wikipedia) + "/w/api.php?action=query&list=search&srsearch=raft&format=json"
	get(t, address, "User-Agent", "").want(t, http.StatusForbidden, "Please set a user-agent and respect our robot policy")
	get(t, address, "User-Agent", "Go-http-client/1.1").want(t, http.StatusForbidden, "Please set a user-agent")
	get(t, address, "User-Agent", "whetstone/1.0").want(t, http.StatusForbidden, "Please respect our robot policy")
	get(t, address, "User-Agent", "browser", "Api-User-Agent", agent).want(t, http.StatusOK, "Raft")
	get(t, s.URL(fakesource.Wikipedia)+"/w/api.php?action=dance&format=json").want(t, http.StatusOK, `"code":"badvalue"`)
	get(t, s.URL(fakesource.Wikipedia)+"/w/api.php?action=query&list=search&srsearch=raft").want(t, http.StatusOK, "<html>")

	lag := get(t, address+"&maxlag=-1")
	lag.want(t, http.StatusOK, `"code":"maxlag"`, "seconds lagged", `"lag":7.5`)
	lag.header(t, "Retry-After", "2", "X-Database-Lag", "7", "MediaWiki-API-Error", "maxlag")
	plain(t, start(t, fakesource.MaxLag), fakesource.Wikipedia).want(t, http.StatusOK, `"code":"maxlag"`)
	plain(t, start(t, fakesource.APILimit), fakesource.Wikipedia).want(t, http.StatusOK, `"code":"ratelimited"`)
	limited := plain(t, start(t, fakesource.RateLimited), fakesource.Wikipedia)
	limited.want(t, http.StatusTooManyRequests, "too many requests")
	limited.header(t, "Retry-After", "2", "Content-Type", "text/plain")
}
