package activities

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"whetstone/claim"
	"whetstone/model"
	"whetstone/research"
	"whetstone/run"
	"whetstone/wiki"
	"whetstone/wiki/folder"
)

const (
	councilTokens   = 1200
	councilEvidence = 12
)

// Phases of a council.
const (
	PhaseAnswer    = "answer"
	PhaseRanking   = "ranking"
	PhaseSynthesis = "synthesis"
)

// CouncilJob names the council an activity works for.
type CouncilJob struct {
	RunID      string
	WorkflowID string
	Params     run.CouncilParams
}

func (j CouncilJob) job() Job {
	p := j.Params
	return Job{RunID: j.RunID, WorkflowID: j.WorkflowID, Params: run.Params{BudgetUSD: p.BudgetUSD, MaxCalls: p.MaxCalls, Price: p.Price, PriceOut: p.PriceOut, Record: p.Record, Replay: p.Replay}}
}

// OpenCouncilIn starts a council.
type OpenCouncilIn struct {
	Job       CouncilJob
	StartedAt time.Time
}

// OpenCouncilOut tells that the council may begin.
type OpenCouncilOut struct{}

// AskMemberIn asks one member in one phase.
type AskMemberIn struct {
	Job    CouncilJob
	Member string
	Phase  string
}

// AskMemberOut tells whether it answered.
type AskMemberOut struct {
	Failed  string
	Stopped string
}

// FinishCouncilIn writes the transcript.
type FinishCouncilIn struct {
	Job     CouncilJob
	Stopped string
}

// FinishCouncilOut is the council's result.
type FinishCouncilOut struct {
	Result   run.CouncilResult
	Markdown string
}

// OpenCouncil checks that every member can be asked: its provider is configured, its price known, and for a private wiki
// it runs on this machine.
func (a *Activities) OpenCouncil(ctx context.Context, in OpenCouncilIn) (OpenCouncilOut, error) {
	defer beat(ctx)()
	w, d, cfg, err := a.openWiki(ctx, in.Job.Params.Wiki)
	if err != nil {
		return OpenCouncilOut{}, err
	}
	if err := errors.Join(a.shelf.SyncPages(ctx, d, w.Slug), d.Close()); err != nil {
		return OpenCouncilOut{}, err
	}
	for _, m := range append(slices.Clone(in.Job.Params.Members), in.Job.Params.Chair) {
		// A member without a key fails like one that does not answer; one that must not be asked ends the council.
		if _, err := a.choose(run.ResearchParams{Provider: m, Price: in.Job.Params.Price, Replay: in.Job.Params.Replay}, cfg); err != nil {
			return OpenCouncilOut{}, err
		}
	}
	return OpenCouncilOut{}, a.o.Store.BeginResearch(ctx, in.Job.RunID, w.Slug, in.Job.WorkflowID, "council", in.Job.Params, in.StartedAt)
}

// AskMember asks one member for an answer, a ranking of the others' answers without their names, or the synthesis, and
// keeps what it says. A member that fails is noted with its error, which is never taken for an answer.
func (a *Activities) AskMember(ctx context.Context, in AskMemberIn) (AskMemberOut, error) {
	defer beat(ctx)()
	said, err := a.o.Store.Council(ctx, in.Job.RunID, in.Phase)
	if err != nil {
		return AskMemberOut{}, err
	}
	if s, ok := said[in.Member]; ok && s[1] == "" {
		return AskMemberOut{}, nil
	}
	text, err := a.askMember(ctx, in)
	if reason, ok := stopReason(err); ok {
		return AskMemberOut{Stopped: reason}, nil
	}
	failed := ""
	if err != nil {
		if errors.Is(err, model.ErrNotRecorded) {
			return AskMemberOut{}, InputError("%w", err)
		}
		me, isModel := model.AsError(err)
		if isModel && me.Retryable() && attemptsLeft(ctx) {
			return AskMemberOut{}, translate(err)
		}
		if !isModel && !errors.Is(err, research.ErrReply) && !errors.Is(err, errNoAnswer) {
			return AskMemberOut{}, err
		}
		failed, text = oneLine(err.Error(), 300), ""
	}
	return AskMemberOut{Failed: failed}, a.o.Store.PutCouncil(ctx, in.Job.RunID, in.Member, in.Phase, text, failed)
}

var errNoAnswer = errors.New("it gave no answer")

func (a *Activities) askMember(ctx context.Context, in AskMemberIn) (string, error) {
	if a.killed() {
		return "", stopped{StopKillFile}
	}
	question, err := a.o.Store.Text(ctx, in.Job.Params.Question)
	if err != nil {
		return "", err
	}
	evidence, err := a.councilEvidence(ctx, in.Job.Params.Wiki, question)
	if err != nil {
		return "", err
	}
	ref, err := model.ParseRef(in.Member)
	if err != nil {
		return "", InputError("%w", err)
	}
	if ref.Provider != model.Offline && in.Job.Params.Replay == "" {
		if _, err := a.models(in.Job.Params.Private).Client(ref); err != nil {
			return "", fmt.Errorf("%w: %w", errNoAnswer, err)
		}
	}
	c := call{job: in.Job.job(), ref: ref, stage: "council", site: in.Phase + "/" + in.Member, private: in.Job.Params.Private, req: model.Request{Ref: ref, Stage: "council", MaxTokens: councilTokens}}
	switch in.Phase {
	case PhaseAnswer:
		if ref.Provider == model.Offline {
			return research.ExtractiveAnswer(question, evidence), nil
		}
		c.req.Messages = research.AnswerMessages(question, evidence)
	case PhaseRanking, PhaseSynthesis:
		answers, members, err := a.answered(ctx, in.Job)
		if err != nil {
			return "", err
		}
		if in.Phase == PhaseRanking {
			return a.rank(ctx, in, c, question, answers, evidence)
		}
		order, _, _, err := a.count(ctx, in.Job, members)
		if err != nil {
			return "", err
		}
		ranked := make([]string, len(order))
		for i, k := range order {
			ranked[i] = answers[k]
		}
		if ref.Provider == model.Offline {
			return ranked[0], nil
		}
		c.req.Messages = research.SynthesisMessages(question, ranked)
	}
	reply, err := a.complete(ctx, c)
	if err != nil {
		return "", err
	}
	if reply.Finish == "refusal" || reply.Finish == "content_filter" || oneLine(reply.Text, 10) == "" {
		return "", fmt.Errorf("%w (%s)", errNoAnswer, reply.Finish)
	}
	return cleanText(reply.Text), nil
}

// rank asks for a ranking in an order of the ranker's own, with one repair, and keeps it in the common order. The order does not
// depend on the run, so that a recorded council can be replayed.
func (a *Activities) rank(ctx context.Context, in AskMemberIn, c call, question string, answers, evidence []string) (string, error) {
	order := research.Shuffle(len(answers), in.Job.Params.Question, in.Member)
	shown := make([]string, len(answers))
	for i, k := range order {
		shown[i] = answers[k]
	}
	keep := func(ranking []int) string {
		out := make([]string, len(ranking))
		for i, pos := range ranking {
			out[i] = research.Labels(len(answers))[order[pos]]
		}
		return fmt.Sprintf(`{"ranking": %s}`, jsonList(out))
	}
	if c.ref.Provider == model.Offline {
		return keep(research.ExtractiveRanking(question, shown, evidence)), nil
	}
	c.req.Messages, c.req.Task = research.RankMessages(question, shown), &model.RankTask{Labels: research.Labels(len(shown))}
	for repair := range 2 {
		c.repair = repair
		reply, err := a.complete(ctx, c)
		if err != nil {
			return "", err
		}
		ranking, err := research.ParseRanking(reply.Text, len(answers))
		if err == nil {
			return keep(ranking), nil
		}
		if repair == 1 {
			return "", err
		}
		c.req.Messages = append(c.req.Messages, model.Message{Role: "assistant", Content: reply.Text}, model.Message{Role: "user", Content: "That is not the JSON object asked for, with each label once. Answer with the object only."})
	}
	return "", research.ErrReply
}

func jsonList(xs []string) string {
	s := "["
	for i, x := range xs {
		if i > 0 {
			s += ", "
		}
		s += fmt.Sprintf("%q", x)
	}
	return s + "]"
}

// councilEvidence is what the wiki states about a question.
func (a *Activities) councilEvidence(ctx context.Context, slug, question string) ([]string, error) {
	hits, err := a.o.Store.SearchPages(ctx, slug, question, 4*councilEvidence)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, h := range hits {
		id, isClaim := strings.CutPrefix(h.Ref, "claim:")
		if !isClaim || len(out) == councilEvidence {
			continue
		}
		text := h.Text
		cs, err := a.o.Store.ClaimsByID(ctx, []string{id})
		if err != nil {
			return nil, err
		}
		if len(cs) == 1 && len(cs[0].Contradicts) > 0 {
			against, err := a.o.Store.ClaimsByID(ctx, cs[0].Contradicts[:1])
			if err != nil {
				return nil, err
			}
			if len(against) == 1 {
				text += " (the wiki also states against it: " + against[0].Text + ")"
			}
		}
		out = append(out, text)
	}
	return out, nil
}

// answered lists the answers of the members that gave one, in the members' order.
func (a *Activities) answered(ctx context.Context, job CouncilJob) (answers, members []string, err error) {
	said, err := a.o.Store.Council(ctx, job.RunID, PhaseAnswer)
	if err != nil {
		return nil, nil, err
	}
	for _, m := range job.Params.Members {
		if s, ok := said[m]; ok && s[1] == "" && s[0] != "" {
			answers, members = append(answers, s[0]), append(members, m)
		}
	}
	return answers, members, nil
}

// count sums up the rankings of the members' answers.
func (a *Activities) count(ctx context.Context, job CouncilJob, members []string) (order, points []int, ranked map[string]bool, err error) {
	said, err := a.o.Store.Council(ctx, job.RunID, PhaseRanking)
	if err != nil {
		return nil, nil, nil, err
	}
	ranked = map[string]bool{}
	var rankings [][]int
	for _, m := range job.Params.Members {
		s, ok := said[m]
		if !ok || s[1] != "" {
			continue
		}
		r, err := research.ParseRanking(s[0], len(members))
		if err != nil {
			continue
		}
		ranked[m] = true
		rankings = append(rankings, r)
	}
	points, order = research.Borda(len(members), rankings)
	return order, points, ranked, nil
}

// FinishCouncil counts, writes the transcript as a page of the wiki, and closes the record.
func (a *Activities) FinishCouncil(ctx context.Context, in FinishCouncilIn) (FinishCouncilOut, error) {
	defer beat(ctx)()
	p := in.Job.Params
	w, d, _, err := a.openWiki(ctx, p.Wiki)
	if err != nil {
		return FinishCouncilOut{}, err
	}
	defer func() { _ = d.Close() }()
	question, err := a.o.Store.Text(ctx, p.Question)
	if err != nil {
		return FinishCouncilOut{}, err
	}
	t := wiki.Transcript{Title: title(question), Question: question, Answers: map[string]string{}}
	t.Result = run.CouncilResult{RunID: in.Job.RunID, WorkflowID: in.Job.WorkflowID, Wiki: w.Slug, BudgetUSD: p.BudgetUSD, Stopped: in.Stopped}
	spent, calls, err := a.o.Store.Spent(ctx, in.Job.RunID)
	if err != nil {
		return FinishCouncilOut{}, err
	}
	t.Result.SpentUSD, t.Result.Calls = spent.USD(), calls
	said, err := a.o.Store.Council(ctx, in.Job.RunID, PhaseAnswer)
	if err != nil {
		return FinishCouncilOut{}, err
	}
	_, members, err := a.answered(ctx, in.Job)
	if err != nil {
		return FinishCouncilOut{}, err
	}
	order, points, ranked, err := a.count(ctx, in.Job, members)
	if err != nil {
		return FinishCouncilOut{}, err
	}
	for _, name := range p.Members {
		m := run.Member{Name: name, Ranked: ranked[name]}
		s, asked := said[name]
		switch i := slices.Index(members, name); {
		case i >= 0:
			m.Points, m.Place = points[i], slices.Index(order, i)+1
			t.Answers[name] = s[0]
		case asked:
			m.Failed = s[1]
		default:
			m.Failed = "it was not asked: " + in.Stopped
		}
		t.Result.Members = append(t.Result.Members, m)
	}
	syn, err := a.o.Store.Council(ctx, in.Job.RunID, PhaseSynthesis)
	if err != nil {
		return FinishCouncilOut{}, err
	}
	for _, m := range append([]string{p.Chair}, p.Members...) {
		if s, ok := syn[m]; ok && s[1] == "" && s[0] != "" {
			t.Synthesis, t.Result.Chair = s[0], m
			break
		}
	}
	if t.Synthesis == "" && len(order) > 0 {
		t.Synthesis = t.Answers[members[order[0]]]
	}
	if len(members) > 0 {
		if t.Result.Page, err = a.putPage(ctx, d, w, "council", claim.ByCouncil, question, t.Title, wiki.RenderCouncil(t)); err != nil {
			return FinishCouncilOut{}, err
		}
		if err := a.shelf.WriteLists(ctx, d, w); err != nil {
			return FinishCouncilOut{}, err
		}
	}
	return FinishCouncilOut{Result: t.Result, Markdown: wiki.RenderCouncil(t)}, a.o.Store.EndResearch(ctx, in.Job.RunID, orDone(in.Stopped), t.Result)
}

// putPage places a page that is not rendered from claims: a council's or a survey's. The same question has the same page.
func (a *Activities) putPage(ctx context.Context, d *folder.Dir, w claim.Wiki, kind string, origin claim.Origin, topic, heading, text string) (string, error) {
	key := kind + ":" + claim.Key(topic)
	p, exists, err := a.o.Store.PageByKey(ctx, w.Slug, key)
	if err != nil {
		return "", err
	}
	if !exists {
		var lookup error
		slug := wiki.PageSlug(topic, key, func(s string) bool {
			taken, err := a.o.Store.PathTaken(ctx, w.Slug, "wiki/"+kind+"/"+s+".md")
			if err != nil {
				lookup = err
			}
			return taken
		})
		if lookup != nil {
			return "", lookup
		}
		p = claim.Page{ID: claim.ID(w.Slug, "page", key), Wiki: w.Slug, Path: "wiki/" + kind + "/" + slug + ".md", Kind: kind, Title: heading, Key: key, Origin: origin, State: claim.Live, UpdatedAt: a.o.Now()}
		if err := a.o.Store.PutPage(ctx, p); err != nil {
			return "", err
		}
	}
	return p.Path, a.shelf.Place(ctx, d, p, oneLine(heading, 200), text)
}

// orDone is how a run that nothing stopped is on record.
func orDone(stopped string) string {
	if stopped == "" {
		return "done"
	}
	return stopped
}
