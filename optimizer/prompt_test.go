package optimizer

import (
	"flag"
	"os"
	"strings"
	"testing"

	"whetstone/model"
)

var update = flag.Bool("update", false, "rewrite golden files")

func TestReflectPromptIsTheGoldenOne(t *testing.T) {
	ms := ReflectMessages(ReflectInput{
		Skill: "---\nname: x\n---\n# X\n\n- One.\n", MaxPatches: 8, Goal: "adopt", Advice: "Be brief.",
		Train:      []model.Trajectory{{ID: "i_1", Category: "testing", Prompt: "slept\nin a test", Expected: "Wait on a channel."}},
		Rejections: []Rejection{{Reason: "no held-out item improves", Patches: []Patch{{Op: Add, Anchor: "- One.", Payload: "- Two."}}}},
	})
	golden(t, "testdata/reflect_prompt.golden", ms)
}

// golden compares a prompt with the file that holds it.
func golden(t *testing.T, file string, ms []model.Message) {
	t.Helper()
	var b strings.Builder
	for _, m := range ms {
		b.WriteString("[" + m.Role + "]\n" + m.Content + "\n")
	}
	if *update {
		if err := os.WriteFile(file, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if b.String() != string(want) {
		t.Errorf("the prompt changed (run with -update if it is meant to):\n%s", b.String())
	}
}

func TestReflectPromptStaysWithinItsLayers(t *testing.T) {
	long := strings.Repeat("word ", 2000)
	in := ReflectInput{Skill: "short", MaxPatches: 1, Advice: strings.Repeat("line\n", 5000)}
	for range 50 {
		in.Train = append(in.Train, model.Trajectory{ID: "i", Expected: long})
		in.Rejections = append(in.Rejections, Rejection{Reason: long})
	}
	n := 0
	for _, m := range ReflectMessages(in) {
		n += len(m.Content)
	}
	if most := len(reflectRole) + len(reflectRules) + trajectoryBytes + rejectionBytes + adviceBytes + 1000; n > most {
		t.Errorf("%d bytes, at most %d", n, most)
	}
}
