package fakesource

// The arXiv API, https://info.arxiv.org/help/api/user-manual.html, as of 2026-11: GET or POST /api/query answers an Atom
// feed. Since the service was rewritten in November 2025 the feed says "arXiv Query:", its own id and all links are https
// while an entry's id stays http, and the namespaces are declared once. Title and summary are hard-wrapped. A bad
// parameter answers 200 with one entry titled Error; neither query nor ids, or more than 30,000 results, 400 with such an
// entry. The rate limit is 429 with the plain text "Rate exceeded." and no Retry-After.

import (
	"crypto/sha1"
	"encoding/base64"
	"encoding/xml"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
)

const (
	arxivSlice = 2000  // results in one answer, however many are asked for
	arxivMost  = 30000 // results a client may ask for
)

type arxiv struct{ s *Server }

func (*arxiv) key(call) string { return "" }

func (a *arxiv) deny(c call, f Fault) (reply, bool) {
	switch f {
	case RateLimited:
		return text(http.StatusTooManyRequests, "text/plain", "Rate exceeded."), true
	case ErrorEntry:
		return a.refuse(c, http.StatusOK, "start must be an integer", "https://arxiv.org/api/errors#start_must_be_an_integer"), true
	}
	return reply{}, false
}

func (a *arxiv) answer(c call) reply {
	if c.URL.Path != "/api/query" {
		return text(http.StatusNotFound, "text/html", plainPage("404 Not Found"))
	}
	if c.Method == http.MethodPost {
		c.query, _ = url.ParseQuery(string(c.body))
	}
	q := c.query
	var ids []string
	if list := q.Get("id_list"); list != "" {
		ids = strings.Split(list, ",")
	}
	for _, id := range ids {
		if !arxivID.MatchString(id) {
			why := "incorrect id format for " + id
			return a.refuse(c, http.StatusOK, why, "https://arxiv.org/api/errors#"+strings.ReplaceAll(why, " ", "_"))
		}
	}
	start, most, why := 0, 10, ""
	for _, p := range []struct {
		name string
		to   *int
	}{{"max_results", &most}, {"start", &start}} {
		n, ok := number(q.Get(p.name), *p.to)
		switch {
		case !ok:
			why = p.name + " must be an integer"
		case n < 0:
			why = p.name + " must be non-negative"
		}
		if why != "" {
			return a.refuse(c, http.StatusOK, why, "https://arxiv.org/api/errors#"+strings.ReplaceAll(why, " ", "_"))
		}
		*p.to = n
	}
	for name, known := range map[string][]string{
		"sortBy": {"relevance", "lastUpdatedDate", "submittedDate"}, "sortOrder": {"ascending", "descending"},
	} {
		if v := q.Get(name); v != "" && !slices.Contains(known, v) {
			return a.refuse(c, http.StatusOK, name+" must be in: "+strings.Join(known, ", "), "https://arxiv.org/help/api/user-manual#sort")
		}
	}
	if q.Get("search_query") == "" && ids == nil {
		return a.refuse(c, http.StatusBadRequest, "Either a search_query or id_list must be specified for the classic API.", "https://arxiv.org/help/api/user-manual")
	}
	if most > arxivMost {
		return a.refuse(c, http.StatusBadRequest, fmt.Sprintf("max_results must be no more than %d", arxivMost), "https://arxiv.org/help/api/user-manual#paging")
	}
	search := parseArxiv(q.Get("search_query"))
	found := a.find(c, search, ids)
	var b strings.Builder
	for _, d := range page(found, start, min(most, arxivSlice)) {
		entry(&b, d)
	}
	return a.feed(c, http.StatusOK, search.String(), ids, start, most, len(found), b.String())
}

func (a *arxiv) find(c call, search *arxivNode, ids []string) []Document {
	var found []Document
	points := map[string]float64{}
	for _, d := range c.world.of(ArXiv) {
		id, version := d.version()
		if ids != nil && !slices.ContainsFunc(ids, func(asked string) bool { return asked == id || asked == id+"v"+version }) {
			continue
		}
		if p, ok := search.match(d); ok {
			points[d.ID] = p
			found = append(found, d)
		}
	}
	slices.SortStableFunc(found, func(x, y Document) int {
		order := 0
		switch c.query.Get("sortBy") {
		case "submittedDate":
			order = x.published().Compare(y.published())
		case "lastUpdatedDate":
			order = x.updated().Compare(y.updated())
		default:
			if points[x.ID] != points[y.ID] {
				order = 1
				if points[x.ID] < points[y.ID] {
					order = -1
				}
			}
		}
		if c.query.Get("sortOrder") != "ascending" {
			order = -order
		}
		if order == 0 {
			order = strings.Compare(x.ID, y.ID)
		}
		return order
	})
	return found
}

// arxivID is the form of an identifier, new and old, with or without a version.
var arxivID = regexp.MustCompile(`^(\d{4}\.\d{4,5}|[a-z-]+(\.[A-Z]{2})?/\d{7})(v\d+)?$`)

func (a *arxiv) feed(c call, status int, search string, ids []string, start, most, total int, entries string) reply {
	query := fmt.Sprintf("search_query=%s&id_list=%s&start=%d&max_results=%d", search, strings.Join(ids, ","), start, most)
	sum := sha1.Sum([]byte(query))
	self := fmt.Sprintf("https://arxiv.org/api/query?search_query=%s&start=%d&max_results=%d&id_list=%s", url.QueryEscape(search), start, most, url.QueryEscape(strings.Join(ids, ",")))
	var b strings.Builder
	b.WriteString("<?xml version='1.0' encoding='UTF-8'?>\n")
	b.WriteString(`<feed xmlns:opensearch="http://a9.com/-/spec/opensearch/1.1/" xmlns:arxiv="http://arxiv.org/schemas/atom" xmlns="http://www.w3.org/2005/Atom">` + "\n")
	fmt.Fprintf(&b, "  <id>https://arxiv.org/api/%s</id>\n", base64.RawStdEncoding.EncodeToString(sum[:]))
	fmt.Fprintf(&b, "  <title>%s</title>\n", escape("arXiv Query: "+query))
	fmt.Fprintf(&b, "  <updated>%s</updated>\n", c.at.UTC().Format(time.RFC3339))
	fmt.Fprintf(&b, "  <link href=\"%s\" type=\"application/atom+xml\"/>\n", escape(self))
	fmt.Fprintf(&b, "  <opensearch:itemsPerPage>%d</opensearch:itemsPerPage>\n", most)
	fmt.Fprintf(&b, "  <opensearch:totalResults>%d</opensearch:totalResults>\n", total)
	fmt.Fprintf(&b, "  <opensearch:startIndex>%d</opensearch:startIndex>\n", start)
	b.WriteString(entries + "</feed>\n")
	return text(status, "application/atom+xml; charset=utf-8", b.String())
}

func (a *arxiv) refuse(c call, status int, why, link string) reply {
	now := c.at.UTC().Format(time.RFC3339)
	e := fmt.Sprintf("  <entry>\n    <id>%[1]s</id>\n    <title>Error</title>\n    <updated>%[2]s</updated>\n    <link href=\"%[1]s\" rel=\"alternate\" type=\"text/html\"/>\n"+
		"    <summary>%[3]s</summary>\n    <author>\n      <name>arXiv api core</name>\n    </author>\n  </entry>\n", escape(link), now, escape(why))
	return a.feed(c, status, c.query.Get("search_query"), nil, 0, 1, 1, e)
}

func entry(b *strings.Builder, d Document) {
	id, version := d.version()
	id += "v" + version
	categories := d.Categories
	if len(categories) == 0 {
		categories = []string{"cs.DC"}
	}
	fmt.Fprintf(b, "  <entry>\n    <id>http://arxiv.org/abs/%s</id>\n", id)
	fmt.Fprintf(b, "    <title>%s</title>\n", escape(wrap(d.Title, 72, "\n  ")))
	fmt.Fprintf(b, "    <updated>%s</updated>\n", d.updated().Format(time.RFC3339))
	fmt.Fprintf(b, "    <link href=\"https://arxiv.org/abs/%s\" rel=\"alternate\" type=\"text/html\"/>\n", id)
	fmt.Fprintf(b, "    <link href=\"https://arxiv.org/pdf/%s\" rel=\"related\" type=\"application/pdf\" title=\"pdf\"/>\n", id)
	if d.DOI != "" {
		fmt.Fprintf(b, "    <link href=\"https://doi.org/%s\" rel=\"related\" title=\"doi\"/>\n", escape(d.DOI))
	}
	fmt.Fprintf(b, "    <summary>%s</summary>\n", escape(wrap(d.Abstract, 79, "\n")))
	for _, category := range categories {
		fmt.Fprintf(b, "    <category term=\"%s\" scheme=\"http://arxiv.org/schemas/atom\"/>\n", escape(category))
	}
	fmt.Fprintf(b, "    <published>%s</published>\n", d.published().Format(time.RFC3339))
	for _, e := range [][2]string{{"comment", d.Comment}, {"journal_ref", d.Journal}, {"doi", d.DOI}} {
		if e[1] != "" {
			fmt.Fprintf(b, "    <arxiv:%[1]s>%[2]s</arxiv:%[1]s>\n", e[0], escape(wrap(e[1], 79, "\n  ")))
		}
	}
	fmt.Fprintf(b, "    <arxiv:primary_category term=\"%s\"/>\n", escape(categories[0]))
	for _, name := range d.Authors {
		fmt.Fprintf(b, "    <author>\n      <name>%s</name>\n    </author>\n", escape(name))
	}
	b.WriteString("  </entry>\n")
}

// wrap breaks lines at spaces, as the service's records were typed.
func wrap(s string, width int, newline string) string {
	var b strings.Builder
	column := 0
	for i, w := range strings.Fields(s) {
		switch {
		case i == 0:
		case column+1+len(w) > width:
			b.WriteString(newline)
			column = 0
		default:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(w)
		column += len(w)
	}
	return b.String()
}

// escape is for XML text and attributes. Unlike xml.EscapeText it keeps line ends, which is the point of wrap.
func escape(s string) string {
	var b strings.Builder
	for i, line := range strings.Split(s, "\n") {
		if i > 0 {
			b.WriteByte('\n')
		}
		_ = xml.EscapeText(&b, []byte(line))
	}
	return b.String()
}
