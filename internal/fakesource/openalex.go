package fakesource

// The OpenAlex API, https://developers.openalex.org/api-reference/errors, .../authentication and
// https://help.openalex.org/api/searching, as of 2026-11: GET /works. Words of search are joined by AND and looked for in
// title, abstract and full text. The abstract is an inverted index, word to positions, or null. Errors are {"error",
// "message"}. A search costs 10 credits of a daily budget, which every answer reports in X-RateLimit headers; when it is
// spent, 429 asks to wait until midnight UTC. More than 100 requests a second is 429 too, with a short wait. The key, in
// api_key or as a bearer, is optional; one that is not known is 401.

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

const (
	openAlexWait   = 6 * 3600 // what a spent budget asks for
	openAlexCredit = 10000    // a day with a key
)

type openAlex struct{ s *Server }

func (*openAlex) key(c call) string {
	if token, ok := strings.CutPrefix(c.Header.Get("Authorization"), "Bearer "); ok {
		return token
	}
	return c.query.Get("api_key")
}

func (o *openAlex) deny(_ call, f Fault) (reply, bool) {
	switch f {
	case RateLimited:
		return o.limited("Insufficient budget. This request costs $0.001 but you only have $0 remaining. Resets at midnight UTC. Need more? Add funds at https://openalex.org/pricing", openAlexWait, 0), true
	case SecondaryLimit:
		return o.limited("Rate limit exceeded: 100 requests per second. Please slow down.", o.s.waitSeconds(), openAlexCredit/2), true
	case ServerError:
		return o.error(http.StatusInternalServerError, "Internal Server Error", "The server encountered an internal error."), true
	case Unauthorised:
		return o.error(http.StatusUnauthorized, "Invalid or missing API key", "API key not found"), true
	case Forbidden:
		return o.error(http.StatusForbidden, "Forbidden", "Rate limit exceeded"), true
	case NotFound:
		return o.error(http.StatusNotFound, "Not Found", "The requested URL was not found on the server."), true
	}
	return reply{}, false
}

var openAlexParams = []string{"search", "filter", "sort", "select", "page", "per_page", "per-page", "cursor", "api_key", "mailto", "group_by", "sample", "seed", "corpus"}

func (o *openAlex) answer(c call) reply {
	if c.URL.Path != "/works" || c.Method != http.MethodGet {
		return o.error(http.StatusNotFound, "Not Found", "The requested URL was not found on the server.")
	}
	refuse := func(why string) reply {
		return o.error(http.StatusBadRequest, "Invalid query parameters error.", why)
	}
	for name := range c.query {
		if !slices.Contains(openAlexParams, name) {
			return refuse(name + " is not a valid parameter. Valid parameters are: " + strings.Join(openAlexParams, ", ") + ".")
		}
	}
	per := c.query.Get("per_page")
	if per == "" {
		per = c.query.Get("per-page")
	}
	size, sizeOK := number(per, 25)
	at, atOK := number(c.query.Get("page"), 1)
	switch {
	case !sizeOK || size < 1 || size > 200: // 100 by the documentation, the old 200 is still taken
		return refuse("per-page parameter must be between 1 and 200")
	case !atOK || at < 1:
		return refuse("Page parameter must be a positive integer")
	case at*size > 10000:
		return refuse("Maximum results size of 10,000 records is exceeded. Cursor pagination is required for records beyond 10,000.")
	}
	docs := c.world.of(OpenAlex)
	search := c.query.Get("search")
	for _, f := range strings.Split(c.query.Get("filter"), ",") {
		name, value, _ := strings.Cut(f, ":")
		keep, known := openAlexFilter(name, value)
		if !known {
			return o.error(http.StatusBadRequest, "Invalid filter", "Unknown filter field: "+name)
		}
		docs = slices.DeleteFunc(docs, func(d Document) bool { return !keep(d) })
	}
	if search != "" {
		docs = rank(docs, search, everything, every)
	}
	if err := o.sort(docs, c.query.Get("sort"), search != ""); err != "" {
		return refuse(err)
	}
	results := []m{}
	for i, d := range page(docs, (at-1)*size, size) {
		w := o.work(d)
		if search != "" {
			w["relevance_score"] = 900.5 / float64((at-1)*size+i+1)
		}
		if only := c.query.Get("select"); only != "" {
			picked := m{}
			for _, name := range strings.Split(only, ",") {
				v, ok := w[name]
				if !ok {
					return refuse(name + " is not a valid select field. Valid fields for select are: id, doi, title, display_name, and so on.")
				}
				picked[name] = v
			}
			w = picked
		}
		results = append(results, w)
	}
	left := max(openAlexCredit-10*(c.n+1), 0)
	return object(http.StatusOK, m{
		"meta":    m{"count": len(docs), "db_response_time_ms": 38, "page": at, "per_page": size, "groups_count": nil, "cost_usd": 0.001},
		"results": results, "group_by": []m{},
	}).with("X-Ratelimit-Limit", strconv.Itoa(openAlexCredit), "X-Ratelimit-Remaining", strconv.Itoa(left), "X-Ratelimit-Credits-Used", "10",
		"X-Ratelimit-Limit-Usd", "1", "X-Ratelimit-Remaining-Usd", usd(left), "X-Ratelimit-Cost-Usd", "0.001", "X-Ratelimit-Reset", strconv.Itoa(openAlexWait))
}

// openAlexFilter knows the filters a research tool would use. The empty one lets everything through.
func openAlexFilter(name, value string) (func(Document) bool, bool) {
	switch name {
	case "":
		return func(Document) bool { return true }, true
	case "from_publication_date":
		return func(d Document) bool { return d.Published >= value }, true
	case "to_publication_date":
		return func(d Document) bool { return d.Published <= value }, true
	case "publication_year":
		return func(d Document) bool { return inYears(d, value) }, true
	case "language":
		return func(d Document) bool { return d.Lang == value }, true
	case "is_retracted":
		return func(d Document) bool { return strconv.FormatBool(d.Retracted) == value }, true
	case "has_abstract":
		return func(d Document) bool { return strconv.FormatBool(d.Abstract != "") == value }, true
	case "title_and_abstract.search", "title.search", "default.search":
		return func(d Document) bool {
			in := []field{{d.Title, 1}}
			if name != "title.search" {
				in = append(in, field{d.Abstract, 1})
			}
			q := terms(value)
			_, matched := score(in, q)
			return every(matched, len(q))
		}, true
	}
	return nil, false
}

func (*openAlex) sort(docs []Document, by string, searched bool) string {
	if by == "" {
		return ""
	}
	name, direction, _ := strings.Cut(by, ":")
	sorts := map[string]func(a, b Document) int{
		"publication_date": func(a, b Document) int { return strings.Compare(a.Published, b.Published) },
		"publication_year": func(a, b Document) int { return a.published().Year() - b.published().Year() },
		"cited_by_count":   func(a, b Document) int { return a.Citations - b.Citations },
		"display_name":     func(a, b Document) int { return strings.Compare(a.Title, b.Title) },
	}
	switch cmp := sorts[name]; {
	case cmp != nil:
		slices.SortStableFunc(docs, func(a, b Document) int {
			if direction == "desc" {
				return cmp(b, a)
			}
			return cmp(a, b)
		})
	case name == "relevance_score" && searched: // the order a search has anyway
	case name == "relevance_score":
		return "Must include a search query (such as ?search=example or /filter=display_name.search:example) in order to sort by relevance_score."
	default:
		return name + " is not a valid sort field."
	}
	return ""
}

func (o *openAlex) work(d Document) m {
	landing := "https://doi.org/" + d.doi()
	if d.in(Web) {
		landing = o.s.pageURL(d)
	}
	location := m{"is_oa": d.in(ArXiv), "landing_page_url": landing, "pdf_url": nil, "source": nil, "license": nil, "version": "publishedVersion", "is_accepted": true, "is_published": true}
	var best any
	access := m{"is_oa": false, "oa_status": "closed", "oa_url": nil, "any_repository_has_fulltext": false}
	if d.in(ArXiv) {
		id, _ := d.version()
		pdf := "https://arxiv.org/pdf/" + id
		best = m{"is_oa": true, "landing_page_url": "http://arxiv.org/abs/" + id, "pdf_url": pdf, "source": m{"display_name": "arXiv (Cornell University)", "type": "repository"}, "license": "cc-by", "version": "submittedVersion"}
		access = m{"is_oa": true, "oa_status": "green", "oa_url": pdf, "any_repository_has_fulltext": true}
	}
	authorships := []m{}
	for i, name := range d.Authors {
		position := "middle"
		switch i {
		case 0:
			position = "first"
		case len(d.Authors) - 1:
			position = "last"
		}
		authorships = append(authorships, m{
			"author_position": position, "raw_author_name": name, "institutions": []m{}, "countries": []string{}, "is_corresponding": i == 0,
			"author": m{"id": fmt.Sprintf("https://openalex.org/A%d", 5000000000+Document{ID: name}.hash("author")%99999999), "display_name": name, "orcid": nil},
		})
	}
	id := fmt.Sprintf("https://openalex.org/W%d", 2000000000+d.hash("work")%2399999999)
	return m{
		"id": id, "doi": "https://doi.org/" + d.doi(), "title": d.Title, "display_name": d.Title, "publication_year": d.published().Year(),
		"publication_date": d.Published, "ids": m{"openalex": id, "doi": "https://doi.org/" + d.doi()}, "language": d.Lang, "type": "article",
		"authorships": authorships, "cited_by_count": d.Citations, "is_retracted": d.Retracted, "is_paratext": false,
		"abstract_inverted_index": inverted(d.Abstract), "primary_location": location, "best_oa_location": best, "open_access": access,
		"locations_count": 1, "referenced_works": []string{}, "related_works": []string{}, "updated_date": d.updated().Format("2006-01-02T15:04:05.000000"),
	}
}

// inverted is an abstract as the service may pass it on.
func inverted(abstract string) any {
	words := strings.Fields(abstract)
	if len(words) == 0 {
		return nil
	}
	index := map[string][]int{}
	for i, w := range words {
		index[w] = append(index[w], i)
	}
	return index
}

func usd(credits int) string { return strconv.FormatFloat(float64(credits)/10000, 'f', -1, 64) }

func (*openAlex) limited(why string, wait, left int) reply {
	return object(http.StatusTooManyRequests, m{
		"error": "Rate limit exceeded", "message": why, "retryAfter": wait, "costUsd": 0.001, "dailyRemainingUsd": float64(left) / 10000, "prepaidRemainingUsd": 0,
		"creditsRequired": 10, "creditsRemaining": left, "onetimeCreditsRemaining": 0,
	}).with("Retry-After", strconv.Itoa(wait), "X-Ratelimit-Limit", strconv.Itoa(openAlexCredit), "X-Ratelimit-Remaining", strconv.Itoa(left),
		"X-Ratelimit-Limit-Usd", "1", "X-Ratelimit-Remaining-Usd", usd(left), "X-Ratelimit-Credits-Required", "10", "X-Ratelimit-Cost-Required-Usd", "0.001",
		"X-Ratelimit-Reset", strconv.Itoa(openAlexWait))
}

func (*openAlex) error(status int, name, why string) reply {
	return object(status, m{"error": name, "message": why})
}
