package activities

import (
	"reflect"
	"testing"
	"time"

	"whetstone/claim"
	"whetstone/run"
	"whetstone/source"
)

// tape keeps what is recorded of sources.
type tape struct {
	Sources
	docs []source.Document
}

func (t *tape) RecordSource(_, _ string, _ source.Query, docs []source.Document, _ error) error {
	t.docs = append(t.docs, docs...)
	return nil
}

func (t *tape) ReplaySource(string, string, source.Query) ([]source.Document, error) {
	return nil, source.ErrNotRecorded
}

// What a source said within a day is not asked for again; a recording holds it all the same.
func TestAKeptAnswerIsRecordedAsTheSourceGaveIt(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	if err := p.store.AddWiki(t.Context(), claim.Wiki{Slug: "raft", Title: "Raft", Flavor: "research", Root: t.TempDir(), CreatedAt: time.Now()}); err != nil {
		t.Fatal(err)
	}
	docs := []source.Document{{URL: "https://example.org/a", Title: "A", Text: "Raft elects a leader.", Authors: []string{"N"}, Published: "2020", Fetcher: "arxiv", Snippet: true}}
	kept, err := p.store.PutDocuments(t.Context(), "raft", docs)
	if err != nil {
		t.Fatal(err)
	}
	rec := &tape{}
	p.a.o.Sources = rec
	in := FetchSeedIn{Fetcher: "arxiv", Job: ResearchJob{Wiki: "raft"}}
	if err := p.a.recordKept(t.Context(), in, source.Query{}, kept); err != nil || len(rec.docs) != 0 {
		t.Errorf("without --record: %+v, %v", rec.docs, err)
	}
	in.Job.Settings = run.ResearchSettings{Record: "rec"}
	if err := p.a.recordKept(t.Context(), in, source.Query{}, kept); err != nil || !reflect.DeepEqual(rec.docs, docs) {
		t.Errorf("%+v, %v", rec.docs, err)
	}
}
