//go:build race

package store

// raced tells that the race detector slows every statement down by an order of magnitude.
const raced = true
