package fetch

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"whetstone/source"
)

func TestWhatASourceSaidIsSaidAgain(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "rec")
	q := source.Query{Text: "leader election", Limit: 5, URLs: []string{"https://example.org/a"}, Paths: []string{"/here"}}
	docs := []source.Document{{URL: "https://example.org/a", Title: "A", Text: "text", Fetcher: "web", Authors: []string{"N"}, Snippet: true}}
	key := "gh" + "p_V63mJi5WuZLJLG7ztuCSbeZABD6E4oly0EBB"
	failed := &source.Error{Kind: source.RateLimited, Fetcher: "web", Status: 429, Err: errors.New("slow down, " + key)}
	for _, x := range []struct {
		docs []source.Document
		err  error
	}{{nil, failed}, {docs, nil}} {
		if err := Record(dir, "web", q, x.docs, x.err); err != nil {
			t.Fatal(err)
		}
	}
	// What is not the source's failure, such as a run that was stopped, is not its answer.
	if err := Record(dir, "web", q, nil, context.Canceled); err != nil {
		t.Fatal(err)
	}
	var r Replayers
	q.Paths = []string{"/elsewhere"} // another machine
	_, err := r.Answer(dir, "web", q)
	e, ok := source.AsError(err)
	if !ok || e.Kind != source.RateLimited || e.Status != 429 || !e.Retryable() || strings.Contains(err.Error(), key) {
		t.Errorf("%v", err)
	}
	for range 3 { // the last answer stands from then on
		got, err := r.Answer(dir, "web", q)
		if err != nil || !reflect.DeepEqual(got, docs) {
			t.Errorf("%+v, %v", got, err)
		}
	}
	for name, other := range map[string]source.Query{"another text": {Text: "x", Limit: 5, URLs: q.URLs}, "other pages": {Text: q.Text, Limit: 5}} {
		if _, err := r.Answer(dir, "web", other); !errors.Is(err, source.ErrNotRecorded) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := r.Answer(dir, "arxiv", q); !errors.Is(err, source.ErrNotRecorded) {
		t.Errorf("another source: %v", err)
	}
	if err := os.WriteFile(tapeFile(dir, tapeName("web", q), 1), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Answer(dir, "web", q); !errors.Is(err, source.ErrNotRecorded) || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("a damaged one: %v", err)
	}
}

// fixed is a source that counts.
type fixed struct {
	d     source.Declaration
	asked int
}

func (f *fixed) Declare() source.Declaration { return f.d }
func (f *fixed) Fetch(context.Context, source.Query) ([]source.Document, error) {
	f.asked++
	return nil, nil
}

func TestOnlyWhatStaysHereAndIsFreeIsAskedWhereQuestionsAreShown(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		d     source.Declaration
		asked int
	}{
		"here":             {source.Declaration{Name: "local"}, 1},
		"elsewhere":        {source.Declaration{Name: "arxiv", Remote: true}, 0},
		"here, at a price": {source.Declaration{Name: "mine", CostUSD: 0.01}, 0},
	} {
		f, shown := &fixed{d: c.d}, 0
		_, err := Shown{f, func(string, source.Query) { shown++ }}.Fetch(t.Context(), source.Query{Text: "x"})
		e, _ := source.AsError(err)
		if f.asked != c.asked || shown != 1-c.asked || (err == nil) != (c.asked == 1) || e != nil && (e.Kind != source.Blocked || e.Retryable()) {
			t.Errorf("%s: asked %d, shown %d, %v", name, f.asked, shown, err)
		}
	}
}
