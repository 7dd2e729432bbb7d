package folder

import (
	"context"
	"slices"
	"strings"

	"whetstone/claim"
	"whetstone/internal/words"
	"whetstone/wiki"
)

// Records is what is known of a wiki's pages; the store satisfies it.
type Records interface {
	PageByPath(ctx context.Context, wiki, path string) (claim.Page, error)
	Claims(ctx context.Context, f claim.Filter) ([]claim.Claim, error)
	Text(ctx context.Context, hash string) (string, error)
	AddSeeds(ctx context.Context, seeds []claim.Seed) (int, error)
	PlacedPage(ctx context.Context, p claim.Page, text string) error
}

// Changed looks at a page that somebody saved, and puts one verify seed for the claims that they changed into the queue,
// once for each change. It returns how many claims changed. It is what a hook's FileChanged event calls: it makes no
// network call.
func (d *Dir) Changed(ctx context.Context, r Records, slug, path string) (int, error) {
	p, err := r.PageByPath(ctx, slug, path)
	if err != nil {
		return 0, err
	}
	text, ok, err := d.Read(path)
	if err != nil || !ok {
		return 0, err
	}
	hash := claim.Hash(text)
	if hash == p.Disk {
		return 0, nil
	}
	var targets []claim.Target
	if p.Generated != "" && p.Generated != hash {
		generated, err := r.Text(ctx, p.Generated)
		if err != nil {
			return 0, err
		}
		claims, err := r.Claims(ctx, claim.Filter{Wiki: slug, PageID: p.ID})
		if err != nil {
			return 0, err
		}
		targets = ChangedClaims(generated, text, claims)
	}
	if len(targets) > 0 {
		var parts []string
		for _, t := range targets {
			parts = append(parts, t.ID, t.Text)
		}
		id := claim.ID(append([]string{slug, "verify", p.ID}, parts...)...)
		if _, err := r.AddSeeds(ctx, []claim.Seed{{ID: id, Wiki: slug, Text: p.Title, Kind: claim.Verify, Origin: "edit", PageID: p.ID, Claims: targets}}); err != nil {
			return 0, err
		}
	}
	p.Disk = hash
	return len(targets), r.PlacedPage(ctx, p, text)
}

// ChangedClaims finds the claims of a generated page whose lines a person worded differently, with what they wrote. A line
// is taken for the new wording of a claim if it carries the same footnotes, or most of the same words. Lines that are gone
// are the person's word that the claim does not belong here, and need no check.
func ChangedClaims(generated, edited string, claims []claim.Claim) []claim.Target {
	old, now := items(generated), items(edited)
	var out []claim.Target
	for _, c := range claims {
		line := "- " + wiki.Escape(c.Text)
		i := slices.IndexFunc(old, func(l string) bool { return strings.HasPrefix(l, line) })
		if i < 0 || slices.Contains(now, old[i]) {
			continue
		}
		notes := old[i][len(line):]
		best, score := "", 0.4
		for _, l := range now {
			if slices.Contains(old, l) {
				continue
			}
			body, refs := splitNotes(l)
			s := words.Jaccard(words.Content(body), words.Content(c.Text))
			if notes != "" && refs == notes {
				s += 0.5
			}
			if s > score {
				best, score = body, s
			}
		}
		if best != "" {
			out = append(out, claim.Target{ID: c.ID, Text: unescape.Replace(best)})
		}
	}
	return out
}

func items(text string) []string {
	var out []string
	for _, l := range strings.Split(text, "\n") {
		if l = strings.TrimRight(l, "\r "); strings.HasPrefix(l, "- ") {
			out = append(out, l)
		}
	}
	return out
}

// splitNotes cuts "- text[^1][^2]" into text and notes.
func splitNotes(l string) (body, notes string) {
	l = strings.TrimPrefix(l, "- ")
	i := strings.Index(l, "[^")
	if i < 0 {
		return l, ""
	}
	return strings.TrimSpace(l[:i]), l[i:]
}

var unescape = strings.NewReplacer(`\\`, `\`, `\[`, "[", `\]`, "]", `\<`, "<", `\*`, "*", `\|`, "|", `\!`, "!", `\&`, "&", `\~`, "~", `\$`, "$", `:\//`, "://", `\_`, "_")
