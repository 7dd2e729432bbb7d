package skill

import (
	"strings"

	"whetstone/internal/mdblock"
)

// The markers of a region that no patch may touch.
const (
	KeepOpen  = "<!-- whetstone:keep -->"
	KeepClose = "<!-- /whetstone:keep -->"
)

// Region is a protected byte range of a body, markers included. Open tells that it was never closed and therefore runs
// to the end of the body.
type Region struct {
	Start, End int
	Open       bool
}

// Regions finds the protected regions of a body. Markers in code (fenced, indented or inline) are text. A second
// opening marker inside a region means nothing; a closing one outside a region neither.
func Regions(body string) []Region {
	var out []Region
	open := -1
	for _, l := range mdblock.Scan(body) {
		switch l.Kind {
		case mdblock.FenceOpen, mdblock.FenceInside, mdblock.FenceClose, mdblock.IndentedCode:
			continue
		}
		for i := 0; i < len(l.Text); {
			marker := KeepOpen
			if open >= 0 {
				marker = KeepClose
			}
			j := strings.Index(l.Text[i:], marker)
			if j < 0 {
				break
			}
			at := i + j
			i = at + len(marker)
			if mdblock.InCodeSpan(l.Text, at) {
				continue
			}
			if open < 0 {
				open = l.Start + at
			} else {
				out = append(out, Region{Start: open, End: l.Start + i})
				open = -1
			}
		}
	}
	if open >= 0 {
		out = append(out, Region{Start: open, End: len(body), Open: true})
	}
	return out
}
