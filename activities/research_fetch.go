package activities

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"whetstone/claim"
	"whetstone/learning"
	"whetstone/model"
	"whetstone/research"
	"whetstone/source"
	"whetstone/wiki/folder"
)

const (
	docsPerSource = 5
	maxDocument   = 400 << 10 // bytes of one document that are kept
	fetchAge      = 24 * time.Hour
	// patience is the longest a single fetch waits for a source; a longer wait delays the seed instead.
	patience = 2 * time.Minute
)

// FetchSeed asks one source about one seed and keeps what it says as snapshots. What was asked within its age limit is not
// asked again. Failures that may pass are left to Temporal to repeat; one that stays is recorded and comes back as a value.
func (a *Activities) FetchSeed(ctx context.Context, in FetchSeedIn) (FetchSeedOut, error) {
	defer beat(ctx)()
	if ans, ok, err := a.o.Store.Answer(ctx, in.Job.RunID, in.SeedID, in.Fetcher); err != nil {
		return FetchSeedOut{}, err
	} else if ok && ans.Kind == "" {
		return FetchSeedOut{Docs: len(ans.Docs)}, nil
	}
	out, err := a.fetchSeed(ctx, in)
	if reason, ok := stopReason(err); ok {
		return FetchSeedOut{Stopped: reason}, nil
	}
	e, ok := source.AsError(err)
	if err == nil || !ok {
		return out, err
	}
	if e.Retryable() && e.RetryAfter <= patience && attemptsLeft(ctx) {
		return FetchSeedOut{}, temporal.NewApplicationErrorWithOptions(e.Error(), TypeSource, temporal.ApplicationErrorOptions{NextRetryDelay: e.RetryAfter, Details: []any{string(e.Kind)}})
	}
	out.Kind, out.RetryAfter, out.Retryable = string(e.Kind), e.RetryAfter, e.Retryable()
	prior, _, perr := a.o.Store.Answer(ctx, in.Job.RunID, in.SeedID, in.Fetcher)
	if perr != nil {
		return FetchSeedOut{}, perr
	}
	return out, a.o.Store.PutAnswer(ctx, in.Job.RunID, in.SeedID, claim.Answer{Fetcher: in.Fetcher, Docs: prior.Docs, Kind: string(e.Kind), Error: e.Error()})
}

// FetchAttempts is how often Temporal makes one fetch.
const FetchAttempts = 4

// TypeSource is a fetch that failed.
const TypeSource = "Source"

func attemptsLeft(ctx context.Context) bool {
	return activity.IsActivity(ctx) && activity.GetInfo(ctx).Attempt < FetchAttempts
}

func (a *Activities) fetchSeed(ctx context.Context, in FetchSeedIn) (FetchSeedOut, error) {
	if a.killed() {
		return FetchSeedOut{}, stopped{StopKillFile}
	}
	seed, err := a.o.Store.Seed(ctx, in.SeedID)
	if err != nil {
		return FetchSeedOut{}, err
	}
	w, err := a.o.Store.Wiki(ctx, in.Job.Wiki)
	if err != nil {
		return FetchSeedOut{}, err
	}
	f, err := a.o.Sources.Fetcher(in.Fetcher, in.Job.Settings.Private)
	if err != nil {
		return FetchSeedOut{}, source.Errorf(source.Blocked, in.Fetcher, "%w", err)
	}
	decl := f.Declare()
	if in.Job.Settings.Private && decl.Remote {
		return FetchSeedOut{}, source.Errorf(source.Blocked, in.Fetcher, "the wiki is private")
	}
	q, err := a.question(ctx, in, seed, w)
	if err != nil {
		return FetchSeedOut{}, err
	}
	key := claim.Hash(fmt.Sprintf("%q", append([]string{w.Slug, in.Fetcher, q.Text, fmt.Sprint(q.Limit)}, q.URLs...)))
	s := in.Job.Settings
	if s.Replay != "" {
		decl.CostUSD = 0 // nobody is paid for reading
	}
	if (decl.Remote || decl.CostUSD > 0) && s.Replay == "" {
		// A check asks again: the point is what the source says now.
		age := fetchAge
		if in.Verify {
			age = time.Hour
		}
		if docs, ok, err := a.o.Store.Fetch(ctx, key, a.o.Now().Add(-age)); err != nil {
			return FetchSeedOut{}, err
		} else if ok {
			if err := a.recordKept(ctx, in, q, docs); err != nil {
				return FetchSeedOut{}, err
			}
			return FetchSeedOut{Docs: len(docs)}, a.o.Store.PutAnswer(ctx, in.Job.RunID, in.SeedID, claim.Answer{Fetcher: in.Fetcher, Docs: docs})
		}
	}
	done, err := a.payFetch(ctx, in, decl)
	if err != nil {
		return FetchSeedOut{}, err
	}
	docs, ferr := a.consult(ctx, in, f, q)
	if errors.Is(ferr, source.ErrNotRecorded) {
		return FetchSeedOut{}, InputError("%w", ferr)
	}
	keep := context.WithoutCancel(ctx)
	fetched, err := a.o.Store.PutDocuments(keep, w.Slug, docs)
	if err != nil {
		return FetchSeedOut{}, err
	}
	e, isSource := source.AsError(ferr)
	if ferr != nil && !isSource {
		return FetchSeedOut{}, errors.Join(ferr, done(keep, ferr))
	}
	ans := claim.Answer{Fetcher: in.Fetcher, Docs: fetched}
	if ferr != nil {
		ans.Kind, ans.Error = string(e.Kind), e.Error()
	}
	if ferr == nil || len(fetched) > 0 {
		if err := a.o.Store.PutAnswer(keep, in.Job.RunID, in.SeedID, ans); err != nil {
			return FetchSeedOut{}, err
		}
	}
	if ferr == nil && (decl.Remote || decl.CostUSD > 0) && s.Replay == "" {
		if err := a.o.Store.PutFetch(keep, key, w.Slug, fetched); err != nil {
			return FetchSeedOut{}, err
		}
	}
	// Settled last: what is paid for is kept by then, so that it is never paid for again.
	if err := done(keep, ferr); err != nil {
		return FetchSeedOut{}, errors.Join(ferr, err)
	}
	return FetchSeedOut{Docs: len(fetched)}, ferr
}

// consult asks a source, or the recording of one, and records what it says where that is wanted.
func (a *Activities) consult(ctx context.Context, in FetchSeedIn, f source.Fetcher, q source.Query) ([]source.Document, error) {
	s := in.Job.Settings
	rec, ok := a.o.Sources.(SourceRecorders)
	if (s.Replay != "" || s.Record != "") && !ok {
		return nil, InputError("this process can not record")
	}
	if s.Replay != "" {
		docs, err := rec.ReplaySource(s.Replay, in.Fetcher, q)
		return tidyDocuments(docs), err
	}
	docs, err := f.Fetch(ctx, q)
	docs = tidyDocuments(docs) // before anything is kept
	if s.Record != "" {
		_ = rec.RecordSource(s.Record, in.Fetcher, q, docs, err) // what can not be written down is used all the same
	}
	return docs, err
}

// recordKept writes down what a source said a while ago, where it is not asked again.
func (a *Activities) recordKept(ctx context.Context, in FetchSeedIn, q source.Query, kept []claim.Fetched) error {
	rec, ok := a.o.Sources.(SourceRecorders)
	if in.Job.Settings.Record == "" || !ok {
		return nil
	}
	docs := make([]source.Document, 0, len(kept))
	for _, k := range kept {
		s, err := a.o.Store.Source(ctx, k.SourceID)
		if err != nil {
			return err
		}
		text, err := a.o.Store.Text(ctx, k.Snapshot)
		if err != nil {
			return err
		}
		docs = append(docs, source.Document{URL: s.URL, Title: k.Title, Text: text, Authors: s.Authors, Published: s.Published, Fetcher: s.Fetcher, Snippet: k.Snippet, Retracted: k.Retracted})
	}
	_ = rec.RecordSource(in.Job.Settings.Record, in.Fetcher, q, docs, nil)
	return nil
}

// expandHome replaces a leading ~/ by the person's home folder.
func expandHome(p string) string {
	if rest, ok := strings.CutPrefix(p, "~/"); ok {
		if h, err := os.UserHomeDir(); err == nil {
			return filepath.Join(h, rest)
		}
	}
	return p
}

// question is what a source is asked for a seed.
func (a *Activities) question(ctx context.Context, in FetchSeedIn, seed claim.Seed, w claim.Wiki) (source.Query, error) {
	q := source.Query{Text: seed.Text, Limit: docsPerSource}
	if in.Fetcher == "local" {
		d, err := folder.Open(w.Root)
		if err != nil {
			return q, source.Errorf(source.Unavailable, "local", "the wiki's folder can not be opened")
		}
		defer func() { _ = d.Close() }()
		cfg, err := d.Config()
		if err != nil {
			return q, source.Errorf(source.Blocked, "local", "%w", err)
		}
		q.Paths = []string{w.Root}
		for _, p := range cfg.Research.Paths {
			p = expandHome(p)
			if !filepath.IsAbs(p) {
				p = filepath.Join(w.Root, p)
			}
			q.Paths = append(q.Paths, p)
		}
	}
	if slices.Contains(in.Job.Settings.Readers, in.Fetcher) {
		q.URLs = addressesIn(seed.Text)
		answers, err := a.o.Store.Answers(ctx, in.Job.RunID, in.SeedID)
		if err != nil {
			return q, err
		}
		// In the order in which the sources are asked, not in the order in which they answered.
		for _, name := range in.Job.Settings.Fetchers {
			for _, ans := range answers {
				if ans.Fetcher != name {
					continue
				}
				for _, doc := range ans.Docs {
					if !doc.Snippet {
						continue
					}
					s, err := a.o.Store.Source(ctx, doc.SourceID)
					if err != nil {
						return q, err
					}
					if !slices.Contains(q.URLs, s.URL) {
						q.URLs = append(q.URLs, s.URL)
					}
				}
			}
		}
	}
	return q, nil
}

// addressesIn lists the web addresses in a seed: a person may name a page.
func addressesIn(text string) []string {
	var out []string
	for _, w := range strings.Fields(text) {
		w = strings.Trim(w, "<>()[]\"',;")
		if strings.HasPrefix(w, "https://") || strings.HasPrefix(w, "http://") {
			out = append(out, w)
		}
	}
	return out
}

// payFetch books a fetch that costs money, and returns what settles it. A fetch that brought an answer is paid; one that
// was refused before it was answered is not; where nobody knows, it counts as paid.
func (a *Activities) payFetch(ctx context.Context, in FetchSeedIn, d source.Declaration) (func(context.Context, error) error, error) {
	if d.CostUSD <= 0 {
		return func(context.Context, error) error { return nil }, nil
	}
	key := claim.Hash(strings.Join([]string{"fetch", in.Job.RunID, in.SeedID, in.Fetcher}, "\x00"))
	cost := model.FromUSD(d.CostUSD)
	booked, err := a.o.Store.Reserve(ctx, model.Booking{Key: key, RunID: in.Job.RunID, Stage: "fetch", Ref: model.Ref{Provider: in.Fetcher, Model: "search"}, Reserve: cost, Budget: model.FromUSD(in.Job.Settings.BudgetUSD), Calls: in.Job.Settings.MaxCalls})
	switch {
	case errors.Is(err, model.ErrBudget):
		return nil, stopped{StopBudget}
	case errors.Is(err, model.ErrCalls):
		return nil, stopped{StopCalls}
	case err != nil:
		return nil, err
	case booked.Reply != nil:
		return nil, fmt.Errorf("%s was paid for this seed already and its answer is lost", in.Fetcher)
	}
	return func(ctx context.Context, ferr error) error {
		if ferr == nil {
			return a.o.Store.Settle(ctx, key, booked.Attempt, cost, model.Reply{Finish: "stop"})
		}
		spent := true
		if e, ok := source.AsError(ferr); ok && e.Status >= 400 && e.Status < 500 || ok && e.Kind == source.Blocked {
			spent = false
		}
		return a.o.Store.Release(ctx, key, booked.Attempt, spent, ferr.Error())
	}, nil
}

// tidyDocuments takes secrets and control characters out of what was fetched, and bounds it, before anything is kept.
func tidyDocuments(docs []source.Document) []source.Document {
	out := make([]source.Document, 0, len(docs))
	for _, d := range docs {
		d.Text, _ = learning.Redact(cleanText(d.Text))
		d.Title, _ = learning.Redact(oneLine(d.Title, 300))
		for i := range d.Authors {
			d.Authors[i] = oneLine(d.Authors[i], 100)
		}
		if len(d.Text) > maxDocument {
			d.Text = strings.ToValidUTF8(d.Text[:maxDocument], "")
		}
		if strings.TrimSpace(d.Text) != "" {
			out = append(out, d)
		}
	}
	return out
}

// cleanText keeps line breaks and tabs and drops other control characters.
func cleanText(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r == 0x7f || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 || r == 0xfeff {
			return -1
		}
		return r
	}, strings.ToValidUTF8(strings.ReplaceAll(s, "\r\n", "\n"), "\ufffd"))
}

func oneLine(s string, n int) string {
	s = strings.Join(strings.Fields(cleanText(s)), " ")
	if len(s) > n {
		s = strings.ToValidUTF8(s[:n], "")
	}
	return s
}

// documents loads what the sources said to a seed, in the order in which they are asked. Where the page itself was read,
// its excerpt is left out.
func (a *Activities) documents(ctx context.Context, job ResearchJob, seedID string) ([]research.Text, error) {
	answers, err := a.o.Store.Answers(ctx, job.RunID, seedID)
	if err != nil {
		return nil, err
	}
	var out []research.Text
	seen := map[string]int{}
	for _, name := range job.Settings.Fetchers {
		for _, ans := range answers {
			if ans.Fetcher != name {
				continue
			}
			for _, doc := range ans.Docs {
				if doc.Retracted {
					continue // a withdrawn work supports nothing
				}
				text, err := a.o.Store.Text(ctx, doc.Snapshot)
				if err != nil {
					return nil, err
				}
				t := research.Text{SourceID: doc.SourceID, Snapshot: doc.Snapshot, Title: doc.Title, Body: text, Snippet: doc.Snippet}
				if i, dup := seen[doc.SourceID]; dup {
					if out[i].Snippet && !doc.Snippet {
						out[i] = t
					}
					continue
				}
				seen[doc.SourceID] = len(out)
				out = append(out, t)
			}
		}
	}
	return out, nil
}
