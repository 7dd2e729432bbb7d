package validation

import "math"

// Credited is the word on a part of a refused bundle.
type Credited struct {
	Keep    bool
	Harmful bool    // a single edit that clearly loses
	More    bool    // another trial of both sides may tell more; Keep is not known yet
	Gain    float64 // weighted items won, less those lost
}

// The constants of credit, in standard deviations of the gain. They were chosen on other seeds than those its figures are
// measured on, see docs/optimizer.md.
const (
	partSigmas  = 1.6 // a part of several edits is kept as it is, since a good edit may hide a bad one
	winSigmas   = 1.0 // a single edit is kept
	loseSigmas  = 2.0 // a single edit is dropped, and remembered as harmful
	doubtSigmas = 0.4 // a single edit that is not clear after the last trial is kept unless it loses by more than this
	// creditTrials is how often a single edit is measured at most. A part of several edits is measured once: where that is not
	// clear, its parts tell more than another trial.
	creditTrials = 3
)

// CreditTrials is how often a single edit may be measured on so many of the held-out items, where the gate has so many trials: as
// often as lets a bundle of four edits end within twice what a plain look costs, even if every part of it is measured to the end.
func CreditTrials(screened, held, trials int) int {
	n := creditTrials
	for ; n > 1; n-- {
		halves, singles, parent := 2, 4*n, n // measured once each, n times each, and once for all of them
		if (halves+singles+parent)*screened <= 2*2*trials*held {
			break
		}
	}
	return n
}

// Credit decides whether a part of a refused bundle is kept, from as many trials of the part as trials says, of at most most. The
// parent may have more verdicts than the part. In doubt a single edit is kept: the gate has the last word on what is kept together, and
// an edit that is dropped here is lost. No part may lose most of the items that fell under the whole bundle, by as much as the
// gate's own veto asks for. What has no verdict is not kept.
func Credit(parent, part Measured, fell map[string]bool, single bool, trials, most int) Credited {
	var c Credited
	var spread float64
	lost := 0
	for _, it := range parent.Items {
		p, okP := parent.Rate(it.ID)
		q, okQ := part.Rate(it.ID)
		if !okP || !okQ {
			return Credited{}
		}
		d := it.Weight * (q - p)
		c.Gain += d
		spread += d * d
		if fell[it.ID] && p-q > VetoFall {
			lost++
		}
	}
	sigma := math.Sqrt(spread)
	loses := lost > 0 && 2*lost >= len(fell)
	switch {
	case sigma == 0: // nothing has changed
	case !single:
		c.Keep = !loses && c.Gain >= partSigmas*sigma
	case c.Gain <= -loseSigmas*sigma:
		c.Harmful = true
	case c.Gain >= winSigmas*sigma && !loses:
		c.Keep = true
	case trials < most:
		c.More = true
	default:
		c.Keep = !loses && c.Gain >= -doubtSigmas*sigma
	}
	return c
}
