package optimizer

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

func pairs() []Pair {
	return []Pair{
		{ID: "i_5", Category: "sql", Prompt: "no trial yet", Expected: "x", Before: math.NaN(), After: 1},
		{ID: "i_4", Category: "testing", Prompt: "always right", Expected: "Keep it.", Before: 1, After: 1},
		{ID: "i_3", Category: "testing", Prompt: "as bad as before", Expected: "Close\nwhat you open.", Before: 1. / 3, After: 1. / 3},
		{ID: "i_2", Category: "commits", Prompt: "worse now", Expected: "Write small commits.", Before: 1, After: 0},
		{ID: "i_1", Category: "testing", Prompt: "slept in a test", Expected: "Wait on a channel.", Before: 0, After: 1},
	}
}

func TestSortTellsPairsApart(t *testing.T) {
	ids := func(ps []Pair) (out string) {
		for _, p := range ps {
			out += p.ID + " "
		}
		return out
	}
	improved, regressed, failing, stable := Sort(append(pairs(), Pair{ID: "i_0", Before: .5, After: .75}))
	if got := fmt.Sprint(ids(improved), "|", ids(regressed), "|", ids(failing), "|", ids(stable)); got != "i_0 i_1 |i_2 |i_3 |i_4 " {
		t.Errorf("got %s", got)
	}
}

func TestSlowPromptsAreTheGoldenOnes(t *testing.T) {
	diff := "--- before\n+++ now\n@@ -1 +1 @@\n-- One.\n+- Two.\n"
	golden(t, "testdata/slow_prompt.golden", SlowMessages(SlowInput{Skill: "---\nname: x\n---\n# X\n\n- Two.\n", Block: "- Old.", Diff: diff, Pairs: pairs()}))
	golden(t, "testdata/meta_prompt.golden", MetaMessages(MetaInput{
		Diff: diff, Pairs: pairs(), Advice: "Be brief.",
		Rejections: []Rejection{{Reason: "no held-out item improves", Patches: []Patch{{Op: Add, Anchor: "- One.", Payload: "- Three."}}}},
	}))
}

func TestSlowPromptsStayWithinTheirLayers(t *testing.T) {
	long := strings.Repeat("word ", 300)
	var many []Pair
	var refused []Rejection
	for i := range 100 {
		many = append(many, Pair{ID: fmt.Sprint(i), Expected: long, Before: float64(i % 2), After: float64(i / 2 % 2)})
		refused = append(refused, Rejection{Reason: long})
	}
	lines := strings.Repeat("line\n", 9000)
	size := func(system string, n int) int { return len(system) + n + 1000 }
	slow := SlowMessages(SlowInput{Skill: "short", Block: lines, Diff: lines, Pairs: many})
	if n, most := len(slow[0].Content)+len(slow[1].Content), size(slowRole+slowRules, MaxSlow+diffBytes+4*pairsBytes); n > most {
		t.Errorf("slow: %d bytes, at most %d", n, most)
	}
	meta := MetaMessages(MetaInput{Diff: lines, Pairs: many, Rejections: refused, Advice: lines})
	if n, most := len(meta[0].Content)+len(meta[1].Content), size(metaRole+metaRules, diffBytes+4*pairsBytes+rejectionBytes+adviceBytes); n > most {
		t.Errorf("meta: %d bytes, at most %d", n, most)
	}
}

// What has no field can not leak: a prompt's inputs are train items, the file, and what was refused. A field that is added
// here has to say why it may be in a prompt.
func TestPromptInputsHaveNoFieldForHeldOutItems(t *testing.T) {
	for _, c := range []struct {
		of   any
		want string
	}{
		{SlowInput{}, "Skill Block Diff Pairs"},
		{MetaInput{}, "Diff Pairs Rejections Advice"},
		{ReflectInput{}, "Skill Body Train Rejections MaxPatches Goal Advice Budget References"},
		{Pair{}, "ID Category Prompt Expected Before After"},
	} {
		var got []string
		for i := range reflect.TypeOf(c.of).NumField() {
			got = append(got, reflect.TypeOf(c.of).Field(i).Name)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%T has the fields %s, want %s", c.of, strings.Join(got, " "), c.want)
		}
	}
}

func TestParseSlowMendsWhatModelsDo(t *testing.T) {
	for name, reply := range map[string]string{
		"plain":               `{"block": "- x\n- {y}", "advice": "a"}`,
		"a fence":             "```json\n{\"block\": \"- x\\n- {y}\", \"advice\": \"a\"}\n```",
		"prose around it":     "Here {it} is: {\"block\": \"- x\\n- {y}\", \"advice\": \"a\"} Done.",
		"a trailing comma":    `{"block": "- x\n- {y}", "advice": "a",}`,
		"the last brace lost": `{"block": "- x\n- {y}", "advice": "a"`,
		"a byte order mark":   "\ufeff" + `{"block": "- x\n- {y}", "advice": "a"}`,
		"a field of its own":  `{"reasoning": "r", "block": "- x\n- {y}", "advice": "a"}`,
	} {
		t.Run(name, func(t *testing.T) {
			text, advice, err := ParseSlow(reply)
			if err != nil || text != "- x\n- {y}" || advice != "a" {
				t.Errorf("got %q, %q, %v", text, advice, err)
			}
		})
	}
	if advice, err := ParseMeta(`Sure: {"advice": " a\nb ",}`); err != nil || advice != "a\nb" {
		t.Errorf("got %q, %v", advice, err)
	}
}

func TestParseSlowFailsInsteadOfGuessing(t *testing.T) {
	for _, reply := range []string{"", "no", "{}", `{"block": "x"}`, `{"advice": "x"}`, `{"block": null, "advice": "x"}`, `{"block": 1, "advice": "x"}`, `{"block": "x", "advice": "tru`, `{"block": "x`, `[{"block": "x", "advice": "y"}`} {
		text, advice, err := ParseSlow(reply)
		if reply == `[{"block": "x", "advice": "y"}` {
			if err != nil || text != "x" {
				t.Errorf("an object in a broken list is an object in prose: %q, %v", text, err)
			}
			continue
		}
		if !errors.Is(err, ErrReply) {
			t.Errorf("%q: got %q, %q, %v", reply, text, advice, err)
		}
	}
	for _, reply := range []string{"", "{}", `{"advice": null}`, `{"advice": ["x"]}`, `{"advice": "tru`} {
		if advice, err := ParseMeta(reply); !errors.Is(err, ErrReply) {
			t.Errorf("%q: got %q, %v", reply, advice, err)
		}
	}
}

func TestAdviceIsCutAtALineOrAWord(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"short":     {"a b", "a b"},
		"lines":     {strings.Repeat("line of text\n", 200), strings.TrimSpace(strings.Repeat("line of text\n", MaxAdvice/13))},
		"one line":  {strings.Repeat("word ", 500), strings.TrimSpace(strings.Repeat("word ", MaxAdvice/5))},
		"one word":  {strings.Repeat("x", 5000), strings.Repeat("x", MaxAdvice)},
		"no spaces": {strings.Repeat("数", 900), strings.Repeat("数", MaxAdvice/3)},
	} {
		t.Run(name, func(t *testing.T) {
			got := clipAdvice(c.in)
			if got != c.want || len(got) > MaxAdvice || !utf8.ValidString(got) {
				t.Errorf("got %d bytes %q", len(got), got)
			}
		})
	}
}

func FuzzParseSlow(f *testing.F) {
	for _, s := range []string{`{"block": "x", "advice": "y"}`, "```json\n{\"block\": \"\", \"advice\": \"y\",}\n```", `{"order": [2, 1]`, `{"advice": "{\"advice\": 1}"}`, "{{{[[["} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, reply string) {
		_, advice, err := ParseSlow(reply)
		if err != nil && !errors.Is(err, ErrReply) || len(advice) > MaxAdvice {
			t.Fatalf("slow: %q, %v", advice, err)
		}
		if advice, err = ParseMeta(reply); err != nil && !errors.Is(err, ErrReply) || len(advice) > MaxAdvice {
			t.Fatalf("meta: %q, %v", advice, err)
		}
		order, err := ParseRank(reply, 3)
		if err != nil && !errors.Is(err, ErrReply) || len(order) > 3 || err == nil && len(order) == 0 {
			t.Fatalf("rank: %v, %v", order, err)
		}
	})
}
