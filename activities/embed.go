package activities

import (
	"context"
	"errors"
	"strings"
	"unicode/utf8"

	"whetstone/claim"
	"whetstone/model"
	"whetstone/wiki/folder"
)

const (
	chunkRunes = 900
	embedBatch = 64
)

// EmbedPages brings the vectors of a wiki's pages up to date: every page is cut into chunks, and chunks whose content has
// no vector of the model yet are sent in batches through the ledger. What did not change is not paid for again; what
// changed does not stay stale; there is no limit on pages.
func (a *Activities) EmbedPages(ctx context.Context, in EmbedPagesIn) (EmbedPagesOut, error) {
	defer beat(ctx)()
	out, err := a.embedPages(ctx, in.Job)
	if reason, ok := stopReason(err); ok {
		out.Stopped = reason
		return out, nil
	}
	return out, translate(err)
}

func (a *Activities) embedPages(ctx context.Context, job ResearchJob) (EmbedPagesOut, error) {
	var out EmbedPagesOut
	ref, err := model.ParseRef(job.Settings.Embedding)
	if err != nil {
		return out, InputError("%w", err)
	}
	if job.Settings.Private && (a.o.Locals == nil || !a.o.Locals.Local(ref)) {
		return out, InputError("the wiki is private and %s leaves this machine", ref)
	}
	w, err := a.o.Store.Wiki(ctx, job.Wiki)
	if err != nil {
		return out, err
	}
	d, err := folder.Open(w.Root)
	if err != nil {
		return out, InputError("%w", err)
	}
	defer func() { _ = d.Close() }()
	pages, err := a.o.Store.Pages(ctx, w.Slug)
	if err != nil {
		return out, err
	}
	texts := map[string]string{}
	var missing []string
	for _, p := range pages {
		if p.State == claim.Removed {
			if err := a.o.Store.SetChunks(ctx, w.Slug, p.ID, nil); err != nil {
				return out, err
			}
			continue
		}
		text, ok, err := d.Read(p.Path)
		if err != nil || !ok {
			continue
		}
		out.Pages++
		var hashes []string
		for _, c := range Chunks(p.Title, text) {
			h := claim.Hash(c)
			hashes = append(hashes, h)
			texts[h] = c
		}
		out.Chunks += len(hashes)
		if err := a.o.Store.SetChunks(ctx, w.Slug, p.ID, hashes); err != nil {
			return out, err
		}
		m, err := a.o.Store.MissingVectors(ctx, ref.String(), hashes)
		if err != nil {
			return out, err
		}
		missing = append(missing, m...)
	}
	for len(missing) > 0 {
		batch := missing[:min(embedBatch, len(missing))]
		missing = missing[len(batch):]
		if err := a.embed(ctx, job, ref, batch, texts); err != nil {
			return out, err
		}
		out.Embedded += len(batch)
		out.Calls++
	}
	return out, nil
}

// embed sends one batch. Vectors are kept before the call is settled, so that a paid batch is never asked for again.
func (a *Activities) embed(ctx context.Context, job ResearchJob, ref model.Ref, hashes []string, texts map[string]string) error {
	if a.killed() {
		return stopped{StopKillFile}
	}
	price, err := a.price(ref, job.job().Params)
	if err != nil {
		return InputError("price %s: %w", ref, err)
	}
	inputs := make([]string, len(hashes))
	for i, h := range hashes {
		inputs[i] = texts[h]
	}
	most := model.MostEmbedded(inputs)
	makers := a.o.Embedders
	if job.Settings.Private {
		makers, _ = a.o.PrivateModels.(Embedders)
	}
	if makers == nil {
		return InputError("use %s: no embedding models here", ref)
	}
	client, err := makers.Embedder(ref)
	if err != nil {
		return InputError("use %s: %w", ref, err)
	}
	key := claim.Hash(strings.Join(append([]string{"embed", job.RunID, ref.String()}, hashes...), "\x00"))
	booked, err := a.o.Store.Reserve(ctx, model.Booking{Key: key, RunID: job.RunID, Stage: "embed", Ref: ref, Reserve: price.Cost(model.Usage{Input: most}), Tokens: most, Budget: model.FromUSD(job.Settings.BudgetUSD), Calls: job.Settings.MaxCalls})
	switch {
	case errors.Is(err, model.ErrBudget):
		return stopped{StopBudget}
	case errors.Is(err, model.ErrCalls):
		return stopped{StopCalls}
	case err != nil:
		return err
	case booked.Reply != nil:
		return nil // its vectors were kept before it was settled
	}
	callCtx, cancel := context.WithTimeout(ctx, a.o.CallTimeout)
	defer cancel()
	reply, err := client.Embed(callCtx, model.EmbedRequest{Ref: ref, Texts: inputs})
	keep := context.WithoutCancel(ctx)
	if err != nil {
		return errors.Join(err, a.o.Store.Release(keep, key, booked.Attempt, mayBeBilled(err), err.Error()))
	}
	if err := a.o.Store.PutVectors(keep, ref.String(), hashes, reply.Vectors); err != nil {
		return err
	}
	return a.o.Store.Settle(keep, key, booked.Attempt, price.Cost(reply.Usage), model.Reply{Finish: "stop", Usage: reply.Usage})
}

// Chunks cuts a page into pieces for embedding, at paragraphs where it can. Each begins with the page's title, so that a
// piece says what it is about; footnotes are left out.
func Chunks(title, text string) []string {
	if rest, ok := strings.CutPrefix(text, "---\n"); ok {
		if _, body, ok := strings.Cut(rest, "\n---\n"); ok {
			text = body
		}
	}
	if i := strings.Index(text, "\n[^1]: "); i >= 0 {
		text = text[:i]
	}
	var out []string
	var b strings.Builder
	n := 0
	flush := func() {
		if s := strings.TrimSpace(b.String()); s != "" {
			out = append(out, title+"\n\n"+s)
		}
		b.Reset()
		n = 0
	}
	for _, p := range strings.Split(text, "\n\n") {
		for r := []rune(strings.TrimSpace(p)); len(r) > 0; {
			piece := r[:min(len(r), chunkRunes)]
			r = r[len(piece):]
			if n > 0 && n+len(piece) > chunkRunes {
				flush()
			}
			b.WriteString(string(piece) + "\n\n")
			n += utf8.RuneCountInString(string(piece))
		}
	}
	flush()
	return out
}
