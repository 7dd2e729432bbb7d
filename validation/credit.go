package validation

import "math"

// Credited is the word on a part of a refused bundle.
type Credited struct {
	Keep    bool
	Harmful bool    // a single edit that clearly loses
	Gain    float64 // weighted items won, less those lost
}

// Credit decides whether a part of a refused bundle is kept, from one trial of both sides. A part of several edits must show a
// gain as clear as triage asks for, since a good edit may hide a bad one; a single edit any gain. Neither may lose most of the
// items that fell under the whole bundle. What has no verdict is not kept.
func Credit(parent, part Measured, fell map[string]bool, single bool) Credited {
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
		if fell[it.ID] && q < p {
			lost++
		}
	}
	sigma := math.Sqrt(spread)
	c.Keep = c.Gain > 0 && (single || c.Gain >= triageSigmas*sigma) && (lost == 0 || 2*lost < len(fell))
	c.Harmful = single && c.Gain < 0 && -c.Gain >= triageSigmas*sigma
	return c
}
