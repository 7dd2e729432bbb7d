package activities

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"whetstone/claim"
	"whetstone/research"
	"whetstone/wiki"
	"whetstone/wiki/folder"
)

const (
	candidates   = 40
	followUps    = 4
	maxConflicts = 5 // of one new claim
	// mostContradicted is the number of contradictions after which a claim gets no more.
	mostContradicted = 8
)

// SettleSeed compares what a seed brought with the whole wiki, stores what is new in one transaction, and renders the pages
// that this changes. It can be repeated at any point: the transaction happens once, pages are functions of what it stored.
func (a *Activities) SettleSeed(ctx context.Context, in SettleSeedIn) (SettleSeedOut, error) {
	defer beat(ctx)()
	w, err := a.o.Store.Wiki(ctx, in.Job.Wiki)
	if err != nil {
		return SettleSeedOut{}, err
	}
	d, err := folder.Open(w.Root)
	if err != nil {
		return SettleSeedOut{}, InputError("%w", err)
	}
	defer func() { _ = d.Close() }()
	seed, err := a.o.Store.Seed(ctx, in.SeedID)
	if err != nil {
		return SettleSeedOut{}, err
	}
	if seed.Status == claim.Active {
		var x claim.Settlement
		if in.Verify {
			x, err = a.checkClaims(ctx, in, seed)
		} else {
			x, err = a.compare(ctx, in, seed, w)
		}
		if err != nil {
			return SettleSeedOut{}, err
		}
		if err := a.o.Store.SettleSeed(ctx, x, research.Confidence); err != nil {
			return SettleSeedOut{}, err
		}
	}
	if err := a.shelf.RenderDirty(ctx, d, w); err != nil {
		return SettleSeedOut{}, err
	}
	if seed, err = a.o.Store.Seed(ctx, in.SeedID); err != nil {
		return SettleSeedOut{}, err
	}
	spent, calls, err := a.o.Store.Spent(ctx, in.Job.RunID)
	out := SettleSeedOut{Page: seed.PageID != "" && !in.Verify, Found: seed.Found, New: seed.New, Failed: seed.Status == claim.Failed, Spent: spent.USD(), Calls: calls}
	if seed.Novelty != nil {
		out.Novelty = *seed.Novelty
	}
	return out, err
}

// compare sorts what was found into what is new, what is known, and what contradicts.
func (a *Activities) compare(ctx context.Context, in SettleSeedIn, seed claim.Seed, w claim.Wiki) (claim.Settlement, error) {
	x := claim.Settlement{RunID: in.Job.RunID, Seed: seed}
	found, questions, _, err := a.o.Store.Found(ctx, in.Job.RunID, seed.ID)
	if err != nil {
		return x, err
	}
	x.Seed.Found = len(found)
	if len(found) == 0 {
		x.Seed.Status, x.Seed.Why = claim.Failed, "no source states anything about it"
		if why, err := a.complaints(ctx, in.Job.RunID, seed.ID); err != nil {
			return x, err
		} else if why != "" {
			x.Seed.Why += " (" + why + ")"
		}
		return x, nil
	}
	page, exists, err := a.pageFor(ctx, w, seed)
	if err != nil {
		return x, err
	}
	x.Seed.Status = claim.Done
	if exists && page.State == claim.Removed {
		x.Seed.Why = "a person removed its page: it stays removed"
		return x, nil
	}
	texts := make([]string, len(found))
	for i, f := range found {
		texts[i] = f.Text
		if err := a.sort(ctx, &x, f, page, w.Slug); err != nil {
			return x, err
		}
	}
	previous, err := a.o.Store.PreviousFound(ctx, in.Job.RunID, page.ID, research.NoveltyWindow)
	if err != nil {
		return x, err
	}
	novelty := 1.0
	if len(previous) > 0 {
		novelty = research.Novelty(texts, previous)
	}
	x.Seed.Novelty, x.Seed.New, x.Seed.Supports, x.Seed.Conflicts = &novelty, len(x.Claims), len(x.Supports), len(x.Contradictions)
	if len(x.Claims) == 0 && !exists {
		novelty = 0 // whatever the window holds: it brought nothing
		x.Seed.Why = fmt.Sprintf("nothing new: the wiki states all %d claim(s) already", len(found))
		return x, nil
	}
	x.Page, x.Seed.PageID = &page, page.ID
	if seed.Parent != "" {
		// The page it follows from mentions the topic and can link to it now.
		if parent, err := a.o.Store.Seed(ctx, seed.Parent); err == nil && parent.PageID != "" {
			x.Dirty = append(x.Dirty, parent.PageID)
		}
	}
	x.Dirty = append(x.Dirty, page.ID)
	x.FollowUps, err = a.followUps(ctx, seed, w.Slug, texts, questions)
	return x, err
}

// pageFor is the page of a seed's topic: the one that exists, or a new one with a file name of its own.
func (a *Activities) pageFor(ctx context.Context, w claim.Wiki, seed claim.Seed) (claim.Page, bool, error) {
	key := claim.Key(seed.Text)
	p, found, err := a.o.Store.PageByKey(ctx, w.Slug, key)
	if err != nil || found {
		return p, found, err
	}
	kind := wiki.FlavorOf(w.Flavor).Kind(seed.PageKind).Name
	var lookup error
	slug := wiki.PageSlug(seed.Text, key, func(s string) bool {
		taken, err := a.o.Store.PathTaken(ctx, w.Slug, "wiki/"+kind+"/"+s+".md")
		if err != nil {
			lookup = err
		}
		return taken
	})
	return claim.Page{ID: claim.ID(w.Slug, "page", key), Wiki: w.Slug, Path: "wiki/" + kind + "/" + slug + ".md", Kind: kind, Title: title(seed.Text), Key: key, Origin: claim.ByResearch, State: claim.Live}, false, lookup
}

// title is a seed's text as a heading: without a question's mark, with a capital.
func title(text string) string {
	t := strings.TrimRight(oneLine(text, 200), " ?？.。")
	if t == "" {
		return oneLine(text, 200)
	}
	r := []rune(t)
	return strings.ToUpper(string(r[:1])) + string(r[1:])
}

// sort decides about one found claim.
func (a *Activities) sort(ctx context.Context, x *claim.Settlement, f claim.Found, page claim.Page, slug string) error {
	known, err := a.o.Store.ClaimCandidates(ctx, slug, f.Text, candidates)
	if err != nil {
		return err
	}
	known = append(known, x.Claims...)
	spans := append([]claim.Span{f.Span}, f.Also...)
	for _, k := range known {
		if !research.Duplicate(k.Text, f.Text) {
			continue
		}
		x.Verified = append(x.Verified, k.ID)
		support(x, k, spans)
		return nil
	}
	c := claim.Claim{ID: claim.ID(slug, f.Text, f.Span.SourceID), Wiki: slug, PageID: page.ID, Text: f.Text, Span: f.Span}
	c.Confidence = research.Confidence(c)
	x.Claims = append(x.Claims, c)
	support(x, c, spans[1:])
	x.Contradictions = append(x.Contradictions, against(c, known)...)
	return nil
}

// support adds spans of further sources to a claim, one for each source.
func support(x *claim.Settlement, c claim.Claim, spans []claim.Span) {
	for _, s := range spans {
		has := func(o claim.Support) bool { return o.ClaimID == c.ID && o.Span.SourceID == s.SourceID }
		if s.SourceID != c.Span.SourceID && !slices.ContainsFunc(x.Supports, has) {
			x.Supports = append(x.Supports, claim.Support{ClaimID: c.ID, Span: s})
		}
	}
}

// against lists the known claims that a new one contradicts.
func against(c claim.Claim, known []claim.Claim) []claim.Contradiction {
	var out []claim.Contradiction
	mine := research.Read(c.Text)
	for _, k := range known {
		// A claim that everything contradicts is one that the detector misreads; more of the same would tell nobody anything,
		// and its page would be rendered for ever.
		if k.Unsupported || k.ID == c.ID || len(out) == maxConflicts || len(k.Contradicts) >= mostContradicted {
			continue
		}
		other := research.Read(k.Text)
		if !research.SameMatter(other, mine) {
			continue
		}
		if yes, why := research.Contradict(other, mine); yes {
			out = append(out, claim.Contradiction{A: k.ID, B: c.ID, Why: why})
		}
	}
	return out
}

// followUps are the seeds that a page raises: a model's questions first, then the noun phrases of its claims.
func (a *Activities) followUps(ctx context.Context, seed claim.Seed, slug string, texts, questions []string) ([]claim.Seed, error) {
	var lookup error
	known := func(key string) bool {
		k, err := a.o.Store.KnownTopic(ctx, slug, key)
		if err != nil {
			lookup = err
		}
		return k
	}
	var topics []string
	for _, q := range questions {
		if !known(claim.Key(q)) && len(topics) < followUps {
			topics = append(topics, q)
		}
	}
	topics = append(topics, research.FollowUps(seed.Text, texts, known, followUps-len(topics))...)
	var out []claim.Seed
	for _, t := range topics {
		out = append(out, claim.Seed{Wiki: slug, Text: t, Kind: claim.Topic, Depth: seed.Depth + 1, Parent: seed.ID, Origin: "followup"})
	}
	return out, lookup
}

// complaints sums up why the sources of a seed said nothing.
func (a *Activities) complaints(ctx context.Context, runID, seedID string) (string, error) {
	answers, err := a.o.Store.Answers(ctx, runID, seedID)
	if err != nil {
		return "", err
	}
	var out []string
	for _, ans := range answers {
		if ans.Kind != "" {
			out = append(out, ans.Fetcher+": "+ans.Kind)
		}
	}
	return strings.Join(out, ", "), nil
}
