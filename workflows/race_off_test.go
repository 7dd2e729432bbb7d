//go:build !race

package workflows

const racing = false
