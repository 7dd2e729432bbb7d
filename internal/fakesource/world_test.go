package fakesource_test

import (
	"slices"
	"strings"
	"testing"
	"unicode"

	"whetstone/internal/fakesource"
)

func TestWorld(t *testing.T) {
	t.Parallel()
	w := fakesource.Default()
	if n := len(w.Documents); n < 55 || n > 70 {
		t.Errorf("%d documents", n)
	}
	known := []string{"arxiv", "github", "wikipedia", "web", "semanticscholar", "openalex"}
	seen := map[string]bool{}
	for _, d := range w.Documents {
		if seen[d.ID] || d.ID == "" || d.Title == "" || len(d.Published) != len("2024-01-01") {
			t.Errorf("%q: a field is missing, or there are two", d.ID)
		}
		seen[d.ID] = true
		if n := len(d.Sources); n < 1 || n > 3 {
			t.Errorf("%s: %d sources", d.ID, n)
		}
		for _, s := range d.Sources {
			if !slices.Contains(known, s) {
				t.Errorf("%s: source %q", d.ID, s)
			}
		}
		words := len(strings.Fields(d.Body))
		if d.Lang == "zh" { // two characters make about a word
			words = strings.Count(strings.Map(func(r rune) rune {
				if unicode.Is(unicode.Han, r) {
					return 'x'
				}
				return -1
			}, d.Body), "x") * 3 / 5
		}
		if words < 120 || words > 300 {
			t.Errorf("%s: %d words", d.ID, words)
		}
	}
}

// Both sides of every contradiction stand where testdata/README.md says.
func TestContradictions(t *testing.T) {
	t.Parallel()
	w := fakesource.Default()
	for _, pair := range [][4]string{
		{"raft-election-timeouts", "Harborlog uses a default election timeout between 150 and 300 milliseconds", "harborlog", "Harborlog uses a default election timeout between 1000 and 2000 milliseconds"},
		{"raft-pre-vote", "The pre-vote phase prevents a partitioned server", "raft-disruptive-servers", "The pre-vote phase does not prevent a partitioned server"},
		{"raft-read-leases", "Lease reads are linearizable only while clock drift between servers stays bounded", "leases-without-clocks", "Lease reads stay linearizable even when clock drift between servers is unbounded"},
		{"bench-harborlog-2025", "Harborlog sustains 42,000 writes per second on three nodes", "bench-independent", "Harborlog sustains 24,000 writes per second on three nodes"},
		{"raft-snapshots", "Snapshots cut the restart time of Tidewater from 95 seconds to 4 seconds", "tidewater-operations", "Snapshots cut the restart time of Tidewater from 95 seconds to 31 seconds"},
		{"raft-membership-joint", "Single-server membership changes are safe without a no-op entry", "raft-membership-bug", "Single-server membership changes are not safe without a no-op entry"},
		{"raft-cluster-size", "A five-server Raft cluster tolerates the failure of two servers", "tidewater-faq", "A five-server Raft cluster tolerates the failure of three servers"},
		{"raft-batching", "raised the throughput of Larkspur by 3.1 times", "larkspur-tuning", "raised the throughput of Larkspur by 1.4 times"},
		{"yunshan-huancun", "云杉缓存的本地缓存命中率达到 92%", "yunshan-shice", "云杉缓存的本地缓存命中率只有 78%"},
		{"huancun-yizhixing-xianggeng", "先更新数据库再删除缓存可以避免并发下的脏读", "huancun-zangdu-fenxi", "先更新数据库再删除缓存不能避免并发下的脏读"},
		{"bulong-guolvqi", "误判率为 1% 的布隆过滤器每个元素约需 9.6 位", "huancun-chuantou", "误判率为 1% 的布隆过滤器每个元素约需 16 位"},
	} {
		for i := 0; i < len(pair); i += 2 {
			if d, ok := w.Find(pair[i]); !ok || !strings.Contains(d.Body, pair[i+1]) {
				t.Errorf("%s does not say %q", pair[i], pair[i+1])
			}
		}
	}
}
