package fakesource

// The search qualifiers of https://docs.github.com/en/search-github/searching-on-github/searching-for-repositories, as of
// 2026-11, as far as a research tool would use them.

import (
	"slices"
	"strconv"
	"strings"
)

type githubQuery struct {
	words     string
	in        []string
	filters   [][2]string
	operators int
}

var githubFilters = []string{"language", "stars", "archived", "topic", "license", "user", "org", "pushed", "created"}

func parseGitHub(q string) githubQuery {
	var ask githubQuery
	var words []string
	for _, w := range strings.Fields(q) {
		key, value, ok := strings.Cut(w, ":")
		switch {
		case w == "AND" || w == "OR" || w == "NOT":
			ask.operators++
		case ok && key == "in":
			ask.in = append(ask.in, strings.Split(value, ",")...)
		case ok && slices.Contains(githubFilters, strings.TrimPrefix(key, "-")):
			ask.filters = append(ask.filters, [2]string{key, strings.Trim(value, `"`)})
		default:
			words = append(words, w)
		}
	}
	ask.words = strings.Join(words, " ")
	return ask
}

// fields are the parts the words have to be in.
func (a githubQuery) fields(d Document) []field {
	_, name, _ := strings.Cut(d.repo(), "/")
	all := map[string]field{
		"name": {name, 4}, "description": {d.Abstract, 2}, "topics": {strings.Join(d.Topics, " "), 2}, "readme": {d.Title + "\n" + d.Body, 1},
	}
	in := a.in
	if len(in) == 0 {
		in = []string{"name", "description", "topics"}
	}
	var fields []field
	for _, part := range in {
		fields = append(fields, all[part])
	}
	return fields
}

func (a githubQuery) accepts(d Document) bool {
	for _, f := range a.filters {
		key, not := strings.CutPrefix(f[0], "-")
		if meets(d, key, f[1]) == not {
			return false
		}
	}
	return true
}

func meets(d Document, key, want string) bool {
	owner, _, _ := strings.Cut(d.repo(), "/")
	switch key {
	case "language":
		return strings.EqualFold(d.Code, want)
	case "topic":
		return slices.Contains(d.Topics, strings.ToLower(want))
	case "license":
		return strings.EqualFold(d.License, want)
	case "archived":
		return strconv.FormatBool(d.Archived) == want
	case "user", "org":
		return strings.EqualFold(owner, want)
	case "stars":
		return within(want, func(bound string) int {
			n, _ := strconv.Atoi(bound)
			return d.Stars - n
		})
	case "pushed":
		return within(want, func(bound string) int { return strings.Compare(d.Published, bound) })
	default:
		return within(want, func(bound string) int {
			return strings.Compare(d.published().AddDate(-2, 0, 0).Format("2006-01-02"), bound)
		})
	}
}

// within reads >n, >=n, <n, <=n, n..m and n; cmp compares the document's value with a bound.
func within(want string, cmp func(string) int) bool {
	if from, to, ok := strings.Cut(want, ".."); ok {
		return (from == "*" || cmp(from) >= 0) && (to == "*" || cmp(to) <= 0)
	}
	for _, op := range []struct {
		sign string
		ok   func(int) bool
	}{
		{">=", func(n int) bool { return n >= 0 }},
		{"<=", func(n int) bool { return n <= 0 }},
		{">", func(n int) bool { return n > 0 }},
		{"<", func(n int) bool { return n < 0 }},
	} {
		if bound, found := strings.CutPrefix(want, op.sign); found {
			return op.ok(cmp(bound))
		}
	}
	return cmp(want) == 0
}
