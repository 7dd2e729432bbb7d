// Package whetstone holds the one file that must be compiled in from the module's root: temporal-dev.yaml, the
// configuration of the embedded Temporal server. It owns nothing else, does nothing, and cannot fail.
package whetstone

import _ "embed"

// TemporalDevYAML is temporal-dev.yaml as it was when the program was built.
//
//go:embed temporal-dev.yaml
var TemporalDevYAML []byte
