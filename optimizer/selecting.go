package optimizer

import (
	"fmt"
	"math"
)

// Limits is the edit budget of one step.
type Limits struct {
	Patches  int // L(t), see EditBudget
	Bytes    int // changed bytes of all edits together; 0 is no limit
	Adds     int
	Deletes  int
	Replaces int
	// MaxBody bounds the body after the step, in bytes; a body that is over it already may only shrink. 0 is no limit.
	MaxBody int
	// MaxReference is the same for each reference of a package.
	MaxReference int
}

// EditBudget is the learning rate of step t (from 0) of total steps: how many patches may be applied, falling from
// most to least along half a cosine, as SGDR (Loshchilov and Hutter 2017) anneals a learning rate.
func EditBudget(t, total, most, least int) int {
	if total < 1 {
		total = 1
	}
	l := float64(least) + float64(most-least)*(1+math.Cos(math.Pi*float64(t)/float64(total)))/2
	return max(least, int(math.Round(l)))
}

// Select takes edits in their order while the limits hold. The rest is clipped: good enough, but not this step.
func Select(d *Doc, edits []Edit, lim Limits) (taken []Edit, clipped []Refused) {
	return selectWithin(map[string]int{"": len(d.Body)}, edits, lim)
}

// selectWithin is Select where size holds the bytes of each file's body. It changes size.
func selectWithin(size map[string]int, edits []Edit, lim Limits) (taken []Edit, clipped []Refused) {
	byOp := map[Op]int{Add: lim.Adds, Delete: lim.Deletes, Replace: lim.Replaces}
	bytes := 0
	for _, e := range edits {
		delta := len(e.Text) - (e.End - e.Start)
		file, most := e.Patch.File, lim.MaxBody
		if file != "" {
			most = lim.MaxReference
		}
		switch {
		case len(taken) >= lim.Patches:
			clipped = append(clipped, Refused{e.Patch, Clipped, fmt.Sprintf("the step takes %d patches", lim.Patches)})
		case byOp[e.Op] == 0:
			clipped = append(clipped, Refused{e.Patch, Clipped, fmt.Sprintf("the step takes no more patches of op %s", e.Op)})
		case lim.Bytes > 0 && bytes+e.Changed() > lim.Bytes:
			clipped = append(clipped, Refused{e.Patch, Clipped, fmt.Sprintf("the step changes at most %d bytes", lim.Bytes)})
		case most > 0 && delta > 0 && size[file]+delta > most:
			clipped = append(clipped, Refused{e.Patch, TooLarge, fmt.Sprintf("the body may have %d bytes at most", most)})
		default:
			taken = append(taken, e)
			byOp[e.Op]--
			bytes += e.Changed()
			size[file] += delta
		}
	}
	return taken, clipped
}
