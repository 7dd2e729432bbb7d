package activities

import (
	"context"
	"fmt"

	"whetstone/claim"
	"whetstone/research"
)

// checkClaims looks again at the claims of a page: those that a person worded differently, those that are old, or all. A
// claim is verified where a source says it now; it loses its support where its own source was read again and no longer
// does; it stays as it was where no source was heard. What a source says against it becomes a claim of its own.
func (a *Activities) checkClaims(ctx context.Context, in SettleSeedIn, seed claim.Seed) (claim.Settlement, error) {
	x := claim.Settlement{RunID: in.Job.RunID, Seed: seed}
	x.Seed.Status = claim.Done
	docs, err := a.documents(ctx, in.Job, seed.ID)
	if err != nil {
		return x, err
	}
	heard := map[string]research.Text{}
	for _, d := range docs {
		heard[d.SourceID] = d
	}
	ids := make([]string, len(seed.Claims))
	edited := map[string]string{}
	for i, t := range seed.Claims {
		ids[i] = t.ID
		edited[t.ID] = t.Text
	}
	claims, err := a.o.Store.ClaimsByID(ctx, ids)
	if err != nil {
		return x, err
	}
	counts := struct{ verified, gone, unknown int }{}
	for _, c := range claims {
		text := c.Text
		if edited[c.ID] != "" {
			text = edited[c.ID]
		}
		own, read := heard[c.Span.SourceID]
		stands := false
		if read {
			_, _, stands = research.Locate(own.Body, c.Span.Quote)
		}
		if edited[c.ID] != "" {
			// A person's wording stands where a quotation says it.
			stands = research.Duplicate(text, c.Span.Quote) || research.Duplicate(text, c.Text)
		}
		said, against := mentions(text, docs)
		for _, s := range said {
			if s.SourceID != c.Span.SourceID {
				x.Supports = append(x.Supports, claim.Support{ClaimID: c.ID, Span: s})
			}
		}
		for _, f := range against {
			n := claim.Claim{ID: claim.ID(c.Wiki, f.Text, f.Span.SourceID), Wiki: c.Wiki, PageID: c.PageID, Text: f.Text, Span: f.Span}
			n.Confidence = research.Confidence(n)
			x.Claims = append(x.Claims, n)
			x.Contradictions = append(x.Contradictions, claim.Contradiction{A: c.ID, B: n.ID, Why: "a source says otherwise"})
		}
		switch {
		case stands || len(said) > 0:
			x.Verified = append(x.Verified, c.ID)
			counts.verified++
		case read && len(c.Supports) == 0:
			x.Unsupported = append(x.Unsupported, c.ID)
			counts.gone++
		default:
			counts.unknown++
		}
	}
	x.Seed.Found, x.Seed.New, x.Seed.Conflicts = len(claims), len(x.Claims), len(x.Contradictions)
	x.Seed.Why = fmt.Sprintf("%d claim(s) verified, %d no longer supported, %d not heard of", counts.verified, counts.gone, counts.unknown)
	return x, nil
}

// mentions finds the sentences that say a claim, and those that say the opposite.
func mentions(text string, docs []research.Text) (said []claim.Span, against []claim.Found) {
	mine := research.Read(text)
	for _, d := range docs {
		for _, s := range research.Sentences(d.Body) {
			span := claim.Span{SourceID: d.SourceID, Snapshot: d.Snapshot, Start: s.Start, End: s.End, Quote: d.Body[s.Start:s.End]}
			if research.Duplicate(s.Text, text) {
				said = append(said, span)
				break
			}
			if len(against) < 2 {
				if other := research.Read(s.Text); research.SameMatter(mine, other) && research.Stands(s) {
					if yes, _ := research.Contradict(mine, other); !yes {
						continue
					}
					against = append(against, claim.Found{Text: s.Text, Span: span})
				}
			}
		}
	}
	return said, against
}
