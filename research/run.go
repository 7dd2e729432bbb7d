package research

import (
	"math"

	"whetstone/claim"
)

// Halt names why a run ended. They are wire names.
type Halt string

// The halts. Those after QueueEmpty are not in a wiki's own course.
const (
	Budget     Halt = "budget"
	MaxPages   Halt = "max_pages"
	MaxDepth   Halt = "max_depth"
	Converged  Halt = "converged"
	QueueEmpty Halt = "queue_empty"
	KillFile   Halt = "kill_file"
	Disabled   Halt = "disabled"
	Private    Halt = "private"
	Stopped    Halt = "stopped"
	WallClock  Halt = "wall_clock"
	Delayed    Halt = "delayed" // every seed that is left waits for a source for longer than the run does
	MaxCalls   Halt = "max_calls"
)

// Convergence: so many pages in a row with less than this share of new claims.
const (
	ConvergedPages = 3
	ConvergedShare = 0.05
	NoveltyWindow  = 3 // pages that a page is compared with
)

// Novelty is the share of a page's claims that the pages of the window do not state. It is measured against the previous
// pages only: against all pages every wiki converges, and against the page's own older version every amendment would.
func Novelty(found []string, previous [][]string) float64 {
	if len(found) == 0 {
		return 0
	}
	fresh := 0
	for _, f := range found {
		known := false
		for _, page := range previous {
			for _, o := range page {
				if Duplicate(f, o) {
					known = true
					break
				}
			}
			if known {
				break
			}
		}
		if !known {
			fresh++
		}
	}
	return float64(fresh) / float64(len(found))
}

// HasConverged reports whether the last pages of a run brought nothing new. novelties are in the order of the pages.
func HasConverged(novelties []float64) bool {
	if len(novelties) < ConvergedPages {
		return false
	}
	for _, n := range novelties[len(novelties)-ConvergedPages:] {
		if n >= ConvergedShare {
			return false
		}
	}
	return true
}

// Confidence is how much a claim can be relied on, from 0 to 1: a half for one source, closing a part of the gap for each
// further source that says the same, taking a part away for each claim that contradicts it. It counts independent
// sources, it does not weigh them. A claim that lost its support has none.
func Confidence(c claim.Claim) float64 {
	if c.Unsupported {
		return 0
	}
	sources := map[string]bool{c.Span.SourceID: true}
	for _, s := range c.Supports {
		sources[s.SourceID] = true
	}
	v := 1 - 0.5*math.Pow(0.6, float64(len(sources)-1))
	v *= math.Pow(0.7, float64(len(c.Contradicts)))
	return math.Round(v*100) / 100
}
