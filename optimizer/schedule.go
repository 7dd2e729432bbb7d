package optimizer

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
)

// SeedFor derives a stream's seed from the run's seed and names, so that every draw of a run depends on content and seed
// only.
func SeedFor(seed int64, names ...any) uint64 {
	h := sha256.Sum256(fmt.Append(nil, append([]any{seed, "|"}, names...)...))
	return binary.BigEndian.Uint64(h[:8])
}

// Minibatches cuts the whole train set into chunks of size, without replacement, in an order that seed and epoch decide.
// The ids are sorted first, so the order they come in does not matter.
func Minibatches(ids []string, size int, seed int64, epoch int) [][]string {
	if size < 1 {
		size = 1
	}
	shuffled := slices.Clone(ids)
	slices.Sort(shuffled)
	rng := rand.New(rand.NewPCG(SeedFor(seed, "minibatches", epoch), uint64(epoch)))
	rng.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
	return slices.Collect(slices.Chunk(shuffled, size))
}

// StepsPerEpoch is how many steps it takes to see every train item once with so many minibatches a step.
func StepsPerEpoch(items, size, minibatches int) int {
	size, minibatches = max(size, 1), max(minibatches, 1)
	chunks := (items + size - 1) / size
	return (chunks + minibatches - 1) / minibatches
}

// BundleKey names a candidate by what produced it: the parent, the exact set of edits, the items it is measured on and
// the judge. A refusal on file under the key is replayed, unpaid.
func BundleKey(parentHash string, editKeys []string, manifest, judge string) string {
	keys := slices.Clone(editKeys)
	slices.Sort(keys)
	return "b_" + digest(append([]string{parentHash, manifest, judge}, keys...)...)[:32]
}
