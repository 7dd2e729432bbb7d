package optimizer

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"whetstone/model"
)

// Budget bounds the layers of a reflecting prompt, in bytes. A layer of 0 has the bound of DefaultBudget.
type Budget struct {
	Skill        int // the file; what does not fit is cut at a line and can be no anchor
	Trajectories int
	Rejections   int
	Advice       int
}

// DefaultBudget bounds all but the file, which is whole.
func DefaultBudget() Budget {
	return Budget{Trajectories: trajectoryBytes, Rejections: rejectionBytes, Advice: adviceBytes}
}

func (b Budget) withDefaults() Budget {
	d := DefaultBudget()
	return Budget{
		Skill: cmp.Or(b.Skill, d.Skill), Trajectories: cmp.Or(b.Trajectories, d.Trajectories),
		Rejections: cmp.Or(b.Rejections, d.Rejections), Advice: cmp.Or(b.Advice, d.Advice),
	}
}

// clipSkill cuts the file at a line and says so.
func clipSkill(text string, n int) string {
	if n <= 0 || len(text) <= n {
		return text
	}
	return clipLines(text, n) + "\n[the file goes on]"
}

// Shrink makes a reflecting input smaller for a model that found the prompt too long. Each level drops more of what was given
// first: 1 the older half of the rejections (at least one), 2 all of them, 3 the less supported half of the trajectories as
// well, of equals those with the higher ids; one always stays. Level 0 drops nothing. dropped tells people what the level took
// beyond the one before it, "" for nothing, so that the next one can be tried at once. ok is false from level 4 on: the
// caller splits the minibatch.
func Shrink(in ReflectInput, level int) (out ReflectInput, dropped string, ok bool) {
	if level > 3 {
		return in, "", false
	}
	n := len(in.Rejections)
	older := (n + 1) / 2
	if level == 1 && older > 0 {
		dropped = fmt.Sprintf("the older %d of %d refused bundles", older, n)
	}
	if level >= 1 {
		in.Rejections = slices.Clone(in.Rejections[:n-older])
	}
	if level == 2 && n > older {
		dropped = fmt.Sprintf("the other %d of %d refused bundles", n-older, n)
	}
	if level >= 2 {
		in.Rejections = nil
	}
	if level == 3 {
		all := len(in.Train)
		in.Train = supported(in.Train, all-all/2)
		if all/2 > 0 {
			dropped = fmt.Sprintf("the less supported %d of %d corrections", all/2, all)
		}
	}
	return in, dropped, true
}

// supported keeps the n best supported trajectories, in the order that they have.
func supported(ts []model.Trajectory, n int) []model.Trajectory {
	order := make([]int, len(ts))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int {
		if ts[i].Support != ts[j].Support {
			return ts[j].Support - ts[i].Support
		}
		return strings.Compare(ts[i].ID, ts[j].ID)
	})
	order = order[:n]
	slices.Sort(order)
	out := make([]model.Trajectory, 0, n)
	for _, i := range order {
		out = append(out, ts[i])
	}
	return out
}
