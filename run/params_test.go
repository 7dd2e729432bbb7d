package run

import (
	"slices"
	"testing"
)

func TestPartsAreLeftOutByNameAndByDefault(t *testing.T) {
	for _, c := range []struct{ with, without, want []string }{
		{nil, nil, []string{PartSlow}},
		{[]string{PartSlow}, nil, nil},
		{nil, []string{PartMemory, PartCredit, PartMemory}, []string{PartCredit, PartMemory, PartSlow}},
		{nil, []string{PartSlow}, []string{PartSlow}},
		{[]string{PartSlow}, []string{PartMeta}, []string{PartMeta}},
	} {
		if got := Left(c.with, c.without); !slices.Equal(got, c.want) {
			t.Errorf("with %v, without %v: %v, want %v", c.with, c.without, got, c.want)
		}
		p := Params{Without: Left(c.with, c.without)}
		for _, part := range Parts {
			if p.Has(part) == slices.Contains(c.want, part) {
				t.Errorf("with %v, without %v: has %s: %v", c.with, c.without, part, p.Has(part))
			}
		}
	}
}
