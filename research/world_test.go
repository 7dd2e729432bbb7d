package research

import (
	"testing"

	"whetstone/internal/fakesource"
)

// In a world of some seven hundred claims, a quarter of a million pairs, the planted contradictions are found and little
// else is: most of what is reported must be one. The table of what was planted is in internal/fakesource/testdata.
func TestContradictionsInAWorldAreFewAndTrue(t *testing.T) {
	planted := map[[2]string]bool{
		{"raft-election-timeouts", "harborlog"}: true, {"raft-pre-vote", "raft-disruptive-servers"}: true, {"raft-read-leases", "leases-without-clocks"}: true, {"bench-harborlog-2025", "bench-independent"}: true,
		{"raft-snapshots", "tidewater-operations"}: true, {"raft-membership-joint", "raft-membership-bug"}: true, {"raft-cluster-size", "tidewater-faq"}: true, {"raft-batching", "larkspur-tuning"}: true,
		{"yunshan-huancun", "yunshan-shice"}: true, {"huancun-yizhixing-xianggeng", "huancun-zangdu-fenxi"}: true, {"bulong-guolvqi", "huancun-chuantou"}: true,
	}
	// Further documents say what one side of the third says.
	for _, d := range []string{"harborlog", "raft-clock-assumptions", "raft-linearizable-reads"} {
		planted[[2]string{d, "leases-without-clocks"}] = true
	}
	type claim struct {
		doc string
		st  Statement
	}
	var all []claim
	for _, d := range fakesource.Default().Documents {
		for _, s := range Sentences(d.Abstract + "\n\n" + d.Body) {
			if Stands(s) {
				all = append(all, claim{d.ID, Read(s.Text)})
			}
		}
	}
	found, wrong := map[[2]string]bool{}, map[[2]string]bool{}
	for i := range all {
		for j := i + 1; j < len(all); j++ {
			if all[i].doc == all[j].doc || !SameMatter(all[i].st, all[j].st) {
				continue
			}
			if yes, why := Contradict(all[i].st, all[j].st); yes {
				key := [2]string{all[i].doc, all[j].doc}
				if planted[key] || planted[[2]string{key[1], key[0]}] {
					found[key] = true
				} else {
					wrong[key] = true
					t.Logf("not planted (%s): %s\n  %s", why, all[i].st.text, all[j].st.text)
				}
			}
		}
	}
	t.Logf("%d claims: %d of %d planted pairs found, %d others", len(all), len(found), len(planted), len(wrong))
	if len(found) < 8 || len(wrong) > len(found)/2 {
		t.Errorf("%d of %d planted pairs found, %d others", len(found), len(planted), len(wrong))
	}
}
