package activities

import (
	"context"
	"errors"

	"whetstone/claim"
	"whetstone/model"
	"whetstone/research"
	"whetstone/wiki"
)

const (
	extractTokens = 3000
	docsPerPrompt = 8
)

// ExtractClaims looks for claims in what the sources said to a seed. With a model, the model chooses and phrases them and
// every quotation is looked up in its source; what can not be found there is dropped. Without one, or where the model's
// answer is of no use, sentences are chosen by extraction.
func (a *Activities) ExtractClaims(ctx context.Context, in ExtractClaimsIn) (ExtractClaimsOut, error) {
	defer beat(ctx)()
	if a.killed() {
		return ExtractClaimsOut{Stopped: StopKillFile}, nil
	}
	if found, _, ok, err := a.o.Store.Found(ctx, in.Job.RunID, in.SeedID); err != nil || ok {
		return ExtractClaimsOut{Found: len(found)}, err
	}
	seed, err := a.o.Store.Seed(ctx, in.SeedID)
	if err != nil {
		return ExtractClaimsOut{}, err
	}
	docs, err := a.documents(ctx, in.Job, in.SeedID)
	if err != nil {
		return ExtractClaimsOut{}, err
	}
	var found []claim.Found
	var questions []string
	extract := true
	if in.Job.Settings.Provider != model.Offline && len(docs) > 0 {
		found, questions, err = a.askForClaims(ctx, in, seed, docs)
		if reason, ok := stopReason(err); ok {
			return ExtractClaimsOut{Stopped: reason}, nil
		}
		if errors.Is(err, model.ErrNotRecorded) {
			return ExtractClaimsOut{}, InputError("%w", err)
		}
		if me, ok := model.AsError(err); ok && me.Retryable() && attemptsLeft(ctx) {
			return ExtractClaimsOut{}, translate(err)
		}
		extract = err != nil || len(found) == 0
		if err != nil {
			kind := string(model.Malformed)
			if me, ok := model.AsError(err); ok {
				kind = string(me.Kind)
			} else if !errors.Is(err, research.ErrReply) {
				return ExtractClaimsOut{}, err
			}
			if err := a.o.Store.PutAnswer(ctx, in.Job.RunID, in.SeedID, claim.Answer{Fetcher: "model", Kind: kind, Error: err.Error()}); err != nil {
				return ExtractClaimsOut{}, err
			}
		}
	}
	if extract {
		found = research.Select(seed.Text, docs, research.DefaultLimits)
	}
	return ExtractClaimsOut{Found: len(found)}, a.o.Store.PutFound(ctx, in.Job.RunID, in.SeedID, found, questions)
}

// askForClaims asks the model, with one repair where its answer is no JSON.
func (a *Activities) askForClaims(ctx context.Context, in ExtractClaimsIn, seed claim.Seed, docs []research.Text) ([]claim.Found, []string, error) {
	w, err := a.o.Store.Wiki(ctx, in.Job.Wiki)
	if err != nil {
		return nil, nil, err
	}
	ref, err := model.ParseRef(in.Job.Settings.Provider)
	if err != nil {
		return nil, nil, InputError("%w", err)
	}
	if len(docs) > docsPerPrompt {
		docs = docs[:docsPerPrompt]
	}
	messages := research.ExtractMessages(wiki.FlavorOf(w.Flavor).Prompt, seed.Text, docs, research.DefaultLimits.Total)
	for repair := range 2 {
		reply, err := a.complete(ctx, call{
			job: in.Job.job(), ref: ref, stage: "extract", site: in.SeedID, repair: repair, private: in.Job.Settings.Private,
			req: model.Request{Ref: ref, Stage: "extract", Messages: messages, MaxTokens: extractTokens},
		})
		if err != nil {
			return nil, nil, err
		}
		found, questions, _, err := research.ParseExtract(reply.Text, docs, research.DefaultLimits.Total)
		if err == nil {
			return found, questions, nil
		}
		messages = append(messages, model.Message{Role: "assistant", Content: reply.Text}, model.Message{Role: "user", Content: "That is not the JSON object asked for. Answer with the object only."})
	}
	return nil, nil, research.ErrReply
}
