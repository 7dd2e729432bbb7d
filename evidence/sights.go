package evidence

import "whetstone/validation"

// Sights sums up what a look has seen so far, item by item.
func (l Look) Sights(read Verdicts) ([]validation.Sight, error) {
	at := make(map[string]int, len(l.Held))
	out := make([]validation.Sight, len(l.Held))
	for i, it := range l.Held {
		at[it.ID] = i
		out[i].Item, out[i].Weight = it.ID, it.Weight
	}
	before, err := read(l.ParentStage, l.Parent)
	if err != nil {
		return nil, err
	}
	for _, v := range before {
		if i, ok := at[v.Item]; ok && v.State != validation.Pass {
			out[i].Failing = true
		}
	}
	for _, stage := range []string{validation.StageTriage, validation.StageMain, validation.StageAgain} {
		seen := [2][]validation.Verdict{}
		for side, hash := range []string{l.Parent, l.Candidate} {
			if seen[side], err = read(l.Site(stage), hash); err != nil {
				return nil, err
			}
		}
		// A process may have died in the middle of a trial: a base trial counts once both sides of all items have it.
		whole := l.Trials
		if stage == validation.StageMain {
			whole = l.wholeTrials(seen)
		}
		for side, vs := range seen {
			for _, v := range vs {
				i, ok := at[v.Item]
				if !ok {
					continue
				}
				var into *validation.Tally
				switch {
				case stage == validation.StageTriage:
					into = &out[i].Triage[side]
				case stage == validation.StageAgain:
					into = &out[i].Again[side]
				case v.Trial >= l.Trials:
					into = &out[i].Further[side]
				case v.Trial < whole:
					into = &out[i].Main[side]
				default:
					continue
				}
				into.N++
				switch v.State {
				case validation.Pass:
					into.Pass++
				case validation.Missing:
					into.Missing++
				}
			}
		}
	}
	return out, nil
}

// wholeTrials is how many base trials are recorded for every item on both sides.
func (l Look) wholeTrials(seen [2][]validation.Verdict) int {
	n := make([]int, l.Trials)
	for _, vs := range seen {
		for _, v := range vs {
			if v.Trial < l.Trials {
				n[v.Trial]++
			}
		}
	}
	for t, count := range n {
		if count < 2*len(l.Held) {
			return t
		}
	}
	return l.Trials
}
