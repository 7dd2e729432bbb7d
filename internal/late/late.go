// Package late makes regular expressions when they are first needed: the hook is a process of a few milliseconds, and most of
// its calls need none of them.
package late

import (
	"regexp"
	"sync"
)

// Regexp returns what compiles expr once and panics where it is not valid, as regexp.MustCompile does; a test that calls it
// finds that out.
func Regexp(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}
