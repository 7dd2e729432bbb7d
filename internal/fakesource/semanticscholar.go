package fakesource

// The Semantic Scholar Academic Graph API, https://api.semanticscholar.org/api-docs/graph (paper relevance search), as of
// 2026-11: GET /graph/v1/paper/search. The query is plain text, and a term with a hyphen matches nothing. Without fields only paperId and title come back. limit is at most 100, offset and limit together
// stay below 1,000, and past the last page the answer is 400 although total, which is an estimate, promises more
// (https://github.com/allenai/s2-folks/issues/96). The x-api-key header is optional; a wrong one, or none where one is
// needed, is 403 {"message": "Forbidden"}. 429 has no Retry-After.

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
)

type semanticScholar struct{ s *Server }

func (*semanticScholar) key(c call) string { return c.Header.Get("X-Api-Key") }

func (*semanticScholar) deny(_ call, f Fault) (reply, bool) {
	switch f {
	case RateLimited:
		return object(http.StatusTooManyRequests, m{
			"message": "Too Many Requests. Please wait and try again or apply for a key for higher rate limits. https://www.semanticscholar.org/product/api#api-key-form", "code": "429",
		}), true
	case ServerError:
		return object(http.StatusInternalServerError, m{"message": "Internal Server Error"}), true
	case Unauthorised, Forbidden:
		return object(http.StatusForbidden, m{"message": "Forbidden"}), true
	case NotFound:
		return object(http.StatusNotFound, m{"error": "Requested object not found"}), true
	}
	return reply{}, false
}

const noSuchPage = "Requested data for this limit and/or offset is not available"

func (p *semanticScholar) answer(c call) reply {
	refuse := func(why string) reply { return object(http.StatusBadRequest, m{"error": why}) }
	if c.URL.Path != "/graph/v1/paper/search" || c.Method != http.MethodGet {
		return object(http.StatusNotFound, m{"error": "Requested object not found"})
	}
	q := c.query.Get("query")
	if strings.TrimSpace(q) == "" {
		return refuse("Missing required parameter: 'query'")
	}
	size, sizeOK := number(c.query.Get("limit"), 100)
	from, fromOK := number(c.query.Get("offset"), 0)
	switch {
	case !sizeOK || size < 1:
		return refuse("Unacceptable query params: [limit=" + c.query.Get("limit") + "]")
	case size > 100:
		return refuse("'limit' must be <= 100")
	case !fromOK || from < 0:
		return refuse("Unacceptable query params: [offset=" + c.query.Get("offset") + "]")
	case from+size > 1000:
		return refuse(noSuchPage)
	}
	fields := []string{"title"}
	if f := c.query.Get("fields"); f != "" {
		fields = strings.Split(f, ",")
	}
	var bad []string
	for _, f := range fields {
		if head, _, _ := strings.Cut(strings.TrimSpace(f), "."); !slices.Contains(paperFields, head) {
			bad = append(bad, f)
		}
	}
	if bad != nil {
		return refuse("Unrecognized or unsupported fields: [" + strings.Join(bad, ", ") + "]") //nolint:misspell // as the service spells it
	}
	var found []Document
	// A hyphen makes a term that matches nothing; it is not just left out.
	if plain := strings.Fields(q); !slices.ContainsFunc(plain, func(w string) bool { return strings.Contains(strings.Trim(w, "-"), "-") }) {
		found = rank(c.world.of(SemanticScholar), q, func(d Document) []field { return []field{{d.Title, 4}, {d.Abstract, 2}} }, some)
	}
	found = slices.DeleteFunc(found, func(d Document) bool { return !inYears(d, c.query.Get("year")) })
	if from > 0 && from >= len(found) {
		return refuse(noSuchPage)
	}
	data := []m{}
	for _, d := range page(found, from, size) {
		all, out := p.paper(d), m{"paperId": d.hex("s2")}
		for _, f := range fields {
			head, _, _ := strings.Cut(strings.TrimSpace(f), ".")
			out[head] = all[head]
		}
		data = append(data, out)
	}
	answer := m{"total": len(found) + len(found)/3, "offset": from, "data": data}
	if from+size < len(found) {
		answer["next"] = from + size
	}
	return object(http.StatusOK, answer)
}

var paperFields = []string{
	"paperId", "corpusId", "externalIds", "url", "title", "abstract", "venue", "publicationVenue", "year", "referenceCount", "citationCount",
	"influentialCitationCount", "isOpenAccess", "openAccessPdf", "fieldsOfStudy", "s2FieldsOfStudy", "publicationTypes", "publicationDate",
	"journal", "citationStyles", "authors", "tldr",
}

func (*semanticScholar) paper(d Document) m {
	corpus := d.hash("corpus") % 300000000
	external := m{"CorpusId": corpus}
	pdf := m{"url": "", "status": "CLOSED", "license": nil, "disclaimer": "Notice: The following paper fields have been elided by the publisher: {'abstract'}."}
	if d.in(ArXiv) {
		id, _ := d.version()
		external["ArXiv"], external["DOI"] = id, "10.48550/arXiv."+id
		pdf = m{"url": "https://arxiv.org/pdf/" + id, "status": "GREEN", "license": "CCBY", "disclaimer": "Notice: Paper or abstract available at https://arxiv.org/abs/" + id + "."}
	}
	if d.DOI != "" {
		external["DOI"] = d.DOI
	}
	authors := []m{}
	for _, name := range d.Authors {
		authors = append(authors, m{"authorId": fmt.Sprint(Document{ID: name}.hash("author") % 2000000000), "name": name})
	}
	var abstract any
	if d.Abstract != "" {
		abstract = d.Abstract
	}
	return m{
		"paperId": d.hex("s2"), "corpusId": corpus, "externalIds": external, "url": "https://www.semanticscholar.org/paper/" + d.hex("s2"), "title": d.Title,
		"abstract": abstract, "venue": d.Journal, "publicationVenue": nil, "year": d.published().Year(), "referenceCount": d.hash("references") % 60,
		"citationCount": d.Citations, "influentialCitationCount": d.Citations / 12, "isOpenAccess": pdf["url"] != "", "openAccessPdf": pdf,
		"fieldsOfStudy": []string{"Computer Science"}, "s2FieldsOfStudy": []m{{"category": "Computer Science", "source": "s2-fos-model"}},
		"publicationTypes": []string{"JournalArticle"}, "publicationDate": d.Published, "journal": m{"name": d.Journal}, "citationStyles": nil, "authors": authors, "tldr": nil,
	}
}

// inYears reads 2019, 2016-2020, 2010- and -2015.
func inYears(d Document, want string) bool {
	year := d.published().Format("2006")
	from, to, ok := strings.Cut(want, "-")
	if !ok {
		return want == "" || want == year
	}
	return (from == "" || from <= year) && (to == "" || year <= to)
}
