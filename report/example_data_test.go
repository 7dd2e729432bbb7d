package report

import (
	"fmt"
	"testing"
	"time"

	"whetstone/run"
)

// hostile is text that would run, load, close or turn around, if any of it were let.
const hostile = `</script><script>window.pwned=1</script><img src="http://evil.example/x.png" onerror="window.pwned=2">"'` + "\u202e\u2066\u200b\U000e0041\x1b[31m`" + `{{.Policy}}<!--`

// example is a run with everything a report shows.
func example(t testing.TB) Data {
	t.Helper()
	started := time.Date(2026, 3, 4, 5, 6, 0, 0, time.FixedZone("east", 8*3600))
	ended := started.Add(17*time.Minute + 3*time.Second)
	proposal := "/home/somebody/skills/SKILL.md.proposed"
	d := Data{
		Name: "go-testing", Description: "Write Go tests that read as sentences: table tests, golden files, no sleeps and no network.",
		Started: started, Ended: &ended, Version: "0.4.0",
		Result: run.Result{
			RunID: "r_5f2c91", WorkflowID: "optimize/go-testing", Skill: "go-testing", Provider: "anthropic:claude-sonnet-4-5", Judge: "openai:gpt-5-mini", Mode: "judge", Goal: "improve", Outcome: run.Accepted, StoppedReason: "patience",
			Learnings: run.Counts{Train: 14, Selection: 8, Test: 6}, Baseline: run.Scores{Selection: f(0.375), Test: f(0.417)}, Final: run.Scores{Selection: f(0.792), Test: f(0.722)},
			Interval: iv(0.208, 0.625), TestInterval: iv(0.083, 0.528), Epochs: 2, Steps: 6, Accepted: 2, Rejected: 3, Indecisive: 1, Patches: run.PatchCounts{Proposed: 9, Applied: 2, Refused: 5},
			Calls: 412, SpentUSD: 1.8342, BudgetUSD: 3, HashBefore: "9c1f0e6b7d2a4458a1b0c9d8e7f60512", HashAfter: "41d0aa97c3be5f6210ffeeddccbbaa99", Delivered: "staged",
			Path: "/home/somebody/skills/SKILL.md", ProposalPath: &proposal, Why: "2 of 6 candidate(s) accepted: staged beside /home/somebody/skills/SKILL.md", Measures: "whether the skill would lead an agent to the expected behaviour, as one model judges it",
			Notes: []string{"the sealed test of this manifest has been read once before", "proposer and judge are of different providers"}, EstimateUSD: []float64{1.52, 2.4},
		},
		Params: &run.Params{SkillPath: "/home/somebody/skills/SKILL.md", Seed: 42, Epochs: 2, BatchSize: 8, Minibatch: 3, LR: 4, MinLR: 2, MaxAdds: 3, MaxDeletes: 2, MaxReplace: 3, Trials: 3, Alpha: 0.05, BudgetUSD: 3, MaxCalls: 2000, TimeoutSec: 3600, Patience: 5, MaxTokens: 6000, Deliver: "stage"},
		Steps: []run.Step{
			{Epoch: 1, Step: 1, Outcome: "accepted", Reason: "p 0.0031 within the 0.0042 this look may spend", Parent: "9c1f0e6b7d2a", Candidate: "77aa10bb33cc44dd", Parent01: f(0.375), Cand01: f(0.625), P: f(0.0031), Alpha: f(0.0042)},
			{Epoch: 1, Step: 2, Outcome: "rejected", Reason: "the gain may be chance: p 0.2130 is above the 0.0042 this look may spend", Candidate: "0011223344556677", Parent01: f(0.583), Cand01: f(0.667), P: f(0.213), Alpha: f(0.0042)},
			{Epoch: 1, Step: 2, Try: 1, Outcome: "rejected", Reason: "no held-out item changed", Candidate: "8899aabbccddeeff", Parent01: f(0.625), Cand01: f(0.625), P: f(1), Alpha: f(0.0042)},
			{Epoch: 1, Step: 3, Outcome: "indecisive", Reason: "2 of 8 items have no usable verdict, so there is no score to compare", Candidate: "5566778899aabbcc", Parent01: f(0.583), Alpha: f(0.0042)},
			{Epoch: 2, Step: 4, Outcome: "empty", Reason: "no patch was found to try"},
			{Epoch: 2, Step: 5, Outcome: "rejected", Reason: "an item fell by more than half, twice", Candidate: "ccddeeff00112233", Parent01: f(0.667), Cand01: f(0.5), P: f(0.91), Alpha: f(0.0042), Replayed: true},
			{Epoch: 2, Step: 6, Outcome: "accepted", Reason: "p 0.0019 within the 0.0042 this look may spend", Candidate: "41d0aa97c3be5f62", Parent01: f(0.625), Cand01: f(0.792), P: f(0.0019), Alpha: f(0.0042)},
		},
		Curve: []Point{
			{Step: 1, Parent: f(0.375), Candidate: f(0.625), Interval: iv(0.083, 0.417), Outcome: "accepted"},
			{Step: 2, Parent: f(0.583), Candidate: f(0.667), Interval: iv(-0.083, 0.25), Outcome: "rejected"},
			{Step: 2, Try: 1, Parent: f(0.625), Candidate: f(0.625), Interval: iv(-0.125, 0.125), Outcome: "rejected"},
			{Step: 3, Parent: f(0.583), Outcome: "indecisive"},
			{Step: 4, Outcome: "empty"},
			{Step: 5, Parent: f(0.667), Candidate: f(0.5), Interval: iv(-0.375, 0.042), Outcome: "rejected"},
			{Step: 5, Try: 1, Parent: f(0.667), Candidate: f(0.458), Outcome: "triaged"},
			{Step: 6, Parent: f(0.625), Candidate: f(0.792), Interval: iv(0.042, 0.292), Outcome: "accepted"},
		},
		Patches: []run.PatchRecord{
			{Step: 1, Key: "k1", Op: "replace", Anchor: "- Name tests well.", Payload: "- Name a subtest as a sentence about behaviour: \"an empty file has no rows\".\n- Do not name it after the function it calls.", Support: 3, Items: []string{"i_01", "i_04", "i_07"}, State: "accepted", Reason: "p 0.0031"},
			{Step: 6, Key: "k2", Op: "add", Payload: "## Waiting\n\nWait for a condition with a deadline. Never sleep for a fixed time.\n", Support: 2, Items: []string{"i_02"}, State: "accepted"},
			{Step: 2, Op: "delete", Anchor: "- Prefer short tests.", Support: 1, State: "rejected", Reason: "the gain may be chance: p 0.2130 is above the 0.0042 this look may spend"},
			{Step: 5, Op: "add", Anchor: "## Golden files", Payload: "Use `-update` to write them.", Support: 1, State: "rejected", Reason: "the gain may be chance: p 0.4000 is above the 0.0042 this look may spend"},
			{Step: 2, Op: "replace", Anchor: "- Mock everything.", Payload: "- Prefer a fake that keeps the contract.", Support: 1, State: "refused", Reason: "anchor_missing"},
			{Step: 3, Op: "add", Anchor: Withheld, Payload: Withheld, Support: 1, State: "refused", Reason: "anchor_missing: not in the body"},
			{Step: 3, Op: "delete", Anchor: "<!-- whetstone:keep -->", Support: 1, State: "refused", Reason: "protected"},
			{Step: 4, Op: "add", Payload: "- Run tests in parallel.", Support: 1, State: "clipped", Reason: "clipped: 3 adds a step"},
		},
		Spend: []run.Spend{
			{Stage: "reflect", Calls: 18, NanoUSD: 612_300_000, Input: 148_211, Output: 21_540, Cached: 96_000},
			{Stage: "judge", Calls: 391, NanoUSD: 1_209_900_000, Input: 1_842_009, Output: 88_120, Cached: 1_204_000, Estimated: 12, Unknown: 1},
			{Stage: "match", Calls: 3, NanoUSD: 12_000_000, Input: 4_100, Output: 310},
		},
		Diff: "--- /home/somebody/skills/SKILL.md\n+++ /home/somebody/skills/SKILL.md\n@@ -4,6 +4,7 @@\n # Go tests\n \n-- Name tests well.\n+- Name a subtest as a sentence about behaviour: \"an empty file has no rows\".\n+- Do not name it after the function it calls.\n - Prefer table tests.\n \n ## Golden files\n@@ -21,2 +22,5 @@\n --- a rule, no header\n The end.\n+## Waiting\n+\n+Wait for a condition with a deadline. Never sleep for a fixed time.\n",
		Baselines: []Baseline{
			{Name: "no change", What: "the skill as it was", Selection: f(0.375), Test: f(0.417), Interval: iv(0.083, 0.528), On: OnTest},
			{Name: "append all learnings", What: "every correction as a list at the end", Selection: f(0.708), Test: f(0.583), Interval: iv(-0.056, 0.306), On: OnTest, SpentUSD: 0.31, Calls: 66},
			{Name: "one-shot rewrite", What: "one call that rewrites the whole body", Selection: f(0.542), Interval: iv(0.042, 0.458), On: OnSelection, SpentUSD: 0.42, Calls: 68, Note: "the sealed test was not read for it"},
		},
		Advice: []string{"Edits that name a concrete failure were accepted; general advice was not. Keep payloads under two lines.", "Look at waiting and timeouts: three items fail in every trial."},
	}
	prompts := []string{"The subtest is called \"case 3\".", "A test waits with time.Sleep(2 * time.Second) for the server.", "The test asks a server on the network.", "并发测试里共享了一个变量，没有加锁。", "Golden files were edited by hand.", "An error is compared by its text."}
	expect := []string{"Name it as a sentence about behaviour.", "Wait for a condition with a deadline.", "Use httptest.", "每个子测试用自己的变量。", "Write them with -update.", "Use errors.Is."}
	changes := [][2]*float64{{f(0), f(1)}, {f(1. / 3), f(1)}, {f(1), f(1)}, {f(2. / 3), f(1. / 3)}, {nil, f(1)}, {f(0), f(2. / 3)}}
	for i := range 18 {
		d.Items = append(d.Items, ItemRow{ID: fmt.Sprintf("i_%02d", i+1), Kind: "llm", Category: []string{"naming", "waiting", "network"}[i%3], Side: []string{"train", "selection", "test"}[i/6], Prompt: prompts[i%6], Expected: expect[i%6], Weight: 1 + float64(i%4)/2, Before: changes[i%6][0], After: changes[i%6][1], BeforeTrials: 3, AfterTrials: 3, Cluster: fmt.Sprintf("c_%d", i/2)})
	}
	d.Items[4].Prompt, d.Items[4].Expected, d.Items[4].BeforeTrials = Withheld, Withheld, 0
	return d
}

// poisoned is the same with hostile text wherever a text can stand.
func poisoned(t testing.TB) Data {
	t.Helper()
	d := example(t)
	d.Name, d.Description, d.Version = hostile, hostile, hostile
	r := &d.Result
	for _, s := range []*string{&r.RunID, &r.WorkflowID, &r.Skill, &r.Provider, &r.Judge, &r.Mode, &r.Goal, &r.StoppedReason, &r.Why, &r.Measures, &r.HashBefore, &r.Delivered} {
		*s = hostile
	}
	r.Notes, d.Advice = append(r.Notes, hostile), append(d.Advice, hostile)
	d.Params.Fallback = []string{hostile}
	d.Steps = append(d.Steps, run.Step{Step: 7, Outcome: hostile, Reason: hostile, Candidate: hostile})
	d.Patches = append(d.Patches, run.PatchRecord{Op: hostile, Anchor: hostile, Payload: hostile, Items: []string{hostile}, State: "accepted"}, run.PatchRecord{Op: "add", Payload: hostile, State: hostile, Reason: hostile})
	d.Curve = append(d.Curve, Point{Step: 7, Label: hostile, Candidate: f(2), Parent: f(1), Interval: iv(-5, 5), Outcome: hostile})
	d.Items = append(d.Items, ItemRow{ID: hostile, Kind: hostile, Category: hostile, Side: hostile, Prompt: hostile, Expected: hostile, Cluster: hostile})
	d.Spend = append(d.Spend, run.Spend{Stage: hostile})
	d.Diff += hostile + "\n@@ -1 +1 @@\n-" + hostile + "\n+" + hostile + "\n@@ x\n@@\n@@ -a,b +c,d @@\n"
	d.Baselines = append(d.Baselines, Baseline{Name: hostile, What: hostile, Note: hostile, On: hostile})
	return d
}
