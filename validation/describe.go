package validation

import (
	"fmt"
	"strings"
)

// Describe says in words what an item expects, for a model that is to bring it about.
func Describe(it Item) string {
	var asks string
	switch it.Kind {
	case KindContains:
		asks = fmt.Sprintf("the text contains %q", it.Pattern)
	case KindNotContains:
		asks = fmt.Sprintf("the text does not contain %q", it.Pattern)
	case KindRegex:
		asks = fmt.Sprintf("the text matches the regular expression %s", it.Pattern)
	case KindSection:
		asks = fmt.Sprintf("the text has a section %q that says something", strings.TrimLeft(it.Section, "# "))
	case KindCommand:
		asks = "the check " + strings.Join(it.Command, " ") + " succeeds"
	default:
		return it.Expected
	}
	if it.Expected != "" {
		return it.Expected + " (" + asks + ")"
	}
	return asks
}
