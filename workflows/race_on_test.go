//go:build race

package workflows

// racing says that the race detector is on: SQLite in Go is some ten times slower under it, and the long tests are cut down.
const racing = true
