package fetch

import (
	"net/netip"
	"slices"
)

type netip4 = netip.Addr

func sorted(s []string) []string {
	s = slices.Clone(s)
	slices.Sort(s)
	return s
}
