package fetch

import (
	"context"
	"encoding/base64"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"whetstone/source"
)

// github asks GitHub's search and reads READMEs (docs.github.com/rest/search, /rest/repos/contents and
// /rest/using-the-rest-api/rate-limits-for-the-rest-api, as of 2026-11).
type github struct{ c *client }

func (g github) Declare() source.Declaration { return g.c.decl }

// repositories whose READMEs are read for one seed.
const readmes = 3

func (g github) Fetch(ctx context.Context, q source.Query) ([]source.Document, error) {
	words := keywords(q.Text, 5)
	if len(words) == 0 {
		return nil, source.Errorf(source.BadQuery, "github", "no words to search for in %q", q.Text)
	}
	got, err := g.get(ctx, "/search/repositories", url.Values{"q": {short(strings.Join(words, " ")+" in:name,description,readme", 250)}, "per_page": {strconv.Itoa(min(max(q.Limit, 1), readmes))}})
	if err != nil {
		return nil, err
	}
	var found struct {
		Items []struct {
			FullName    string `json:"full_name"`
			HTMLURL     string `json:"html_url"`
			Description string `json:"description"`
			PushedAt    string `json:"pushed_at"`
			Archived    bool   `json:"archived"`
			Owner       struct {
				Login string `json:"login"`
			} `json:"owner"`
		} `json:"items"`
		Total *int `json:"total_count"`
	}
	if err := g.c.decode(got, &found); err != nil {
		return nil, err
	}
	if found.Total == nil {
		return nil, source.Errorf(source.Malformed, "github", "the answer has no total_count")
	}
	var out []source.Document
	for _, r := range found.Items {
		d := source.Document{URL: r.HTMLURL, Title: r.FullName, Fetcher: "github"}
		if owner, _, ok := strings.Cut(r.FullName, "/"); ok {
			d.Authors = []string{owner}
		}
		if len(r.PushedAt) >= 10 {
			d.Published = r.PushedAt[:10]
		}
		readme, err := g.readme(ctx, r.FullName)
		if e, ok := source.AsError(err); ok && e.Kind == source.NotFound {
			err = nil // a repository without one is described by its description
		}
		if err != nil {
			return out, err
		}
		d.Text = strings.TrimSpace(r.Description+"\n\n"+readme) + "\n"
		if strings.TrimSpace(d.Text) != "" {
			out = append(out, d)
		}
	}
	return out, nil
}

func (g github) readme(ctx context.Context, repo string) (string, error) {
	owner, name, ok := strings.Cut(repo, "/")
	if !ok {
		return "", source.Errorf(source.Malformed, "github", "%q is no repository", short(repo, 60))
	}
	got, err := g.get(ctx, "/repos/"+url.PathEscape(owner)+"/"+url.PathEscape(name)+"/readme", nil)
	if err != nil {
		return "", err
	}
	var r struct {
		Encoding string `json:"encoding"`
		Content  string `json:"content"`
	}
	if err := g.c.decode(got, &r); err != nil {
		return "", err
	}
	if r.Encoding != "base64" {
		return r.Content, nil
	}
	b, err := base64.StdEncoding.DecodeString(strings.ReplaceAll(r.Content, "\n", ""))
	if err != nil {
		return "", source.Errorf(source.Malformed, "github", "a README is not the base64 it says it is")
	}
	return strings.ToValidUTF8(string(b), "\ufffd"), nil
}

func (g github) get(ctx context.Context, path string, q url.Values) (answer, error) {
	h := http.Header{"Accept": {"application/vnd.github+json"}, "X-Github-Api-Version": {"2022-11-28"}}
	if g.c.key != "" {
		h.Set("Authorization", "Bearer "+g.c.key)
	}
	got, err := g.c.ask(ctx, http.MethodGet, path, q, h, nil)
	if err != nil || got.status == http.StatusOK {
		return got, err
	}
	return got, g.refusal(got)
}

// refusal tells the two limits, which both come as 403 or 429, from a lack of permission.
func (g github) refusal(a answer) error {
	message := apiMessage(a.body)
	e := g.c.statusError(a, message)
	if a.status != http.StatusForbidden && a.status != http.StatusTooManyRequests {
		return e
	}
	switch {
	case a.header.Get("X-Ratelimit-Remaining") == "0":
		e.Kind = source.RateLimited
		if reset, err := strconv.ParseInt(a.header.Get("X-Ratelimit-Reset"), 10, 64); err == nil && e.RetryAfter == 0 {
			e.RetryAfter = max(time.Unix(reset, 0).Sub(g.c.now()), time.Second)
		}
	case a.header.Get("Retry-After") != "" || strings.Contains(strings.ToLower(message), "secondary rate limit") || a.status == http.StatusTooManyRequests:
		e.Kind = source.RateLimited
		if a.header.Get("Retry-After") == "" {
			e.RetryAfter = time.Minute // documented as the least where nothing is said
		}
	}
	if message == "" {
		e.Err = errors.New("GitHub refuses the request")
	}
	return e
}
