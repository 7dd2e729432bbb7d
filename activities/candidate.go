package activities

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"whetstone/optimizer"
	"whetstone/run"
)

// stepBytes bounds the bytes that the edits of one step change together.
const stepBytes = 6000

// Propose aggregates what a step's minibatches proposed, selects within the edit budget, and records what became of
// every patch.
func (a *Activities) Propose(ctx context.Context, in ProposeIn) (ProposeOut, error) {
	defer beat(ctx)()
	p := in.Job.Params
	replies, err := a.o.Store.Reflections(ctx, in.Job.RunID, in.Step)
	if err != nil {
		return ProposeOut{}, err
	}
	var proposals []optimizer.Patch
	for _, r := range replies {
		var ps []optimizer.Patch
		if err := json.Unmarshal([]byte(r), &ps); err != nil {
			return ProposeOut{}, fmt.Errorf("read a reflection of step %d: %w", in.Step, err)
		}
		proposals = append(proposals, ps...)
	}
	set, err := a.packageSet(ctx, in.Hash)
	if err != nil {
		return ProposeOut{}, err
	}
	edits, refused := set.Aggregate(proposals)
	edits, repeats, err := a.dropRejected(ctx, in, edits)
	if err != nil {
		return ProposeOut{}, err
	}
	refused = append(refused, repeats...)
	if p.Goal == "adopt" {
		kept := edits[:0:0]
		for _, e := range edits {
			if len(e.Patch.Items) == 0 && e.Op != optimizer.Delete {
				refused = append(refused, optimizer.Refused{Patch: e.Patch, Reason: optimizer.Unmatched, Detail: "it names no correction that it answers"})
				continue
			}
			kept = append(kept, e)
		}
		edits = kept
	}
	if p.Rank && len(edits) > in.Patches {
		edits, err = a.rankEdits(ctx, in, set, edits)
		if reason, ok := stopReason(err); ok {
			return ProposeOut{Stopped: reason}, nil
		}
		if err != nil {
			return ProposeOut{}, translate(err)
		}
	}
	taken, clipped := set.Select(edits, optimizer.Limits{
		Patches: in.Patches, Bytes: stepBytes, Adds: p.MaxAdds, Deletes: p.MaxDeletes, Replaces: p.MaxReplace, MaxBody: p.MaxTokens * BytesPerToken,
		MaxReference: ReferenceTokens * BytesPerToken,
	})
	out := ProposeOut{Proposed: len(proposals), Refused: len(refused)}
	var records []run.PatchRecord
	for _, e := range taken {
		out.Keys = append(out.Keys, e.Key)
		records = append(records, record(in, e.Key, e.Patch, e.Support, "selected", ""))
	}
	for _, r := range refused {
		records = append(records, record(in, "", r.Patch, 1, "refused", reasonText(r)))
	}
	for _, r := range clipped {
		records = append(records, record(in, "", r.Patch, 1, "clipped", reasonText(r)))
	}
	return out, a.o.Store.PutPatches(ctx, in.Job.RunID, in.Step, records)
}

func record(in ProposeIn, key string, p optimizer.Patch, support int, state, reason string) run.PatchRecord {
	return run.PatchRecord{RunID: in.Job.RunID, Step: in.Step, Key: key, Op: string(p.Op), Anchor: p.Anchor, Payload: p.Payload, Support: support, Items: p.Items, State: state, Reason: reason, File: p.File}
}

func reasonText(r optimizer.Refused) string {
	if r.Detail == "" {
		return string(r.Reason)
	}
	return string(r.Reason) + ": " + r.Detail
}

// dropRejected leaves out edits that this run has seen refused alone, under this very parent: trying them again would end
// the same way, and others get their place. Refusals of other runs are replayed where they are met, but do not change what
// is selected: the same command on the same content must end the same.
func (a *Activities) dropRejected(ctx context.Context, in ProposeIn, edits []optimizer.Edit) (kept []optimizer.Edit, refused []optimizer.Refused, err error) {
	if !in.Job.Params.Has(run.PartMemory) {
		return edits, nil, nil
	}
	manifest, err := a.manifest(ctx, in.Job)
	if err != nil {
		return nil, nil, err
	}
	seen, err := a.o.Store.RefusedHere(ctx, in.Job.RunID)
	if err != nil {
		return nil, nil, err
	}
	harmful, err := a.o.Store.Harmful(ctx, in.Job.Params.SkillKey, manifest, judgeName(in.Job))
	if err != nil {
		return nil, nil, err
	}
	for _, e := range edits {
		reason, found := seen[optimizer.BundleKey(in.Hash, []string{e.Key}, manifest, judgeName(in.Job))]
		if !found {
			reason, found = harmful[e.Key]
		}
		if found {
			refused = append(refused, optimizer.Refused{Patch: e.Patch, Reason: optimizer.RepeatRejected, Detail: reason})
			continue
		}
		kept = append(kept, e)
	}
	return kept, refused, nil
}

// manifest is the hash of what the run's candidates are measured on.
func (a *Activities) manifest(ctx context.Context, job Job) (string, error) {
	r, err := a.o.Store.Run(ctx, job.RunID)
	return r.Manifest, err
}

// judgeName tells refusals by different judges and goals apart.
func judgeName(j Job) string {
	p := j.Params
	name := p.Judge + "/" + p.Goal
	if p.Mode == ModeRollout {
		name += "/" + ModeRollout + "/" + cmp.Or(p.Target, p.Provider)
		if p.Pairwise {
			name += "/pairwise"
		}
	}
	if p.Judge2 != "" {
		name += "/" + p.Judge2
	}
	return name
}

// Build makes a candidate of a parent and some of a step's selected edits. A bundle that was refused before comes back
// as Replayed.
func (a *Activities) Build(ctx context.Context, in BuildIn) (BuildOut, error) {
	defer beat(ctx)()
	manifest, err := a.manifest(ctx, in.Job)
	if err != nil {
		return BuildOut{}, err
	}
	parent := in.Hash
	if in.Against != in.Hash && in.Against != "" {
		parent += "/" + in.Against // the same edits of the same text, compared with another one
	}
	out := BuildOut{Bundle: optimizer.BundleKey(parent, in.Keys, manifest, judgeName(in.Job))}
	text, refusal, err := a.assemble(ctx, in.Job, in.Hash, in.Kind, in.Step, in.Keys)
	if err != nil {
		return BuildOut{}, err
	}
	if refusal != "" {
		out.Refused = refusal
		return out, nil
	}
	if out.Hash, err = a.o.Store.PutText(ctx, text); err != nil {
		return BuildOut{}, err
	}
	if out.Hash == in.Hash {
		out.Refused = "the edits leave the body as it is"
		return out, nil
	}
	r, found, err := a.o.Store.Rejection(ctx, out.Bundle)
	if err != nil {
		return BuildOut{}, err
	}
	if found {
		out.Replayed = r.Reason
	}
	return out, a.o.Store.PutCandidate(ctx, in.Job.RunID, in.Step, in.Try, out.Hash, in.Hash, out.Bundle, in.Keys)
}

// assemble makes the text of a parent and some of a step's selected edits. refusal tells why there is none.
func (a *Activities) assemble(ctx context.Context, job Job, parent, kind string, step int, keys []string) (text, refusal string, err error) {
	set, err := a.packageSet(ctx, parent)
	if err != nil {
		return "", "", err
	}
	if kind == run.KindSlow {
		set = set.Slow()
	}
	edits, refusal, err := a.edits(ctx, job, set, step, keys)
	if err != nil || refusal != "" {
		return "", refusal, err
	}
	bodies, perr := set.Bodies(edits)
	if perr != nil {
		return "", perr.Error(), nil
	}
	if refusal := overCap(job, set, bodies, "the body"); refusal != "" {
		return "", refusal, nil
	}
	return set.Text(bodies), "", nil
}

// overCap says that a file would grow over its cap, "" where none would.
func overCap(job Job, set *optimizer.Set, bodies map[string]string, what string) string {
	for _, file := range slices.Sorted(maps.Keys(bodies)) {
		limit, name := job.Params.MaxTokens*BytesPerToken, what
		if file != "" {
			limit, name = ReferenceTokens*BytesPerToken, file
		}
		if n := len(bodies[file]); n > limit && n >= len(set.Doc(file).Body) {
			return fmt.Sprintf("%s would have %d bytes, over the cap of %d", name, n, limit)
		}
	}
	return ""
}

// edits resolves a step's recorded patches again, by key, against the present parent. refusal tells why one no longer
// fits: an edit that was accepted meanwhile may have changed its place.
func (a *Activities) edits(ctx context.Context, job Job, set *optimizer.Set, step int, keys []string) (out []optimizer.Edit, refusal string, err error) {
	records, err := a.o.Store.Patches(ctx, job.RunID, step)
	if err != nil {
		return nil, "", err
	}
	byKey := map[string]run.PatchRecord{}
	for _, r := range records {
		if r.Key != "" {
			byKey[r.Key] = r
		}
	}
	for _, k := range keys {
		r, ok := byKey[k]
		if !ok {
			return nil, "", fmt.Errorf("build a candidate: step %d has no patch %s", step, k)
		}
		e, perr := set.Resolve(optimizer.Patch{Op: optimizer.Op(r.Op), Anchor: r.Anchor, Payload: r.Payload, Items: r.Items, File: r.File})
		if perr != nil {
			return nil, perr.Error(), nil
		}
		e.Support = r.Support
		out = append(out, e)
	}
	optimizer.SortEdits(out)
	return out, "", nil
}

func (a *Activities) packageSet(ctx context.Context, hash string) (*optimizer.Set, error) {
	text, err := a.o.Store.Text(ctx, hash)
	if err != nil {
		return nil, err
	}
	set, err := optimizer.NewSet(text)
	if err != nil {
		return nil, fmt.Errorf("parse text %.12s: %w", hash, err)
	}
	return set, nil
}
