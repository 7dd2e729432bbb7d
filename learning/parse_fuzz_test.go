package learning

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// Whatever a model writes: no panic, no empty or broken field, and nothing captured that the reply does not hold.
func FuzzParseReply(f *testing.F) {
	for _, s := range []string{
		"[LEARN] a: b c d\nMistake: x\n  more\nCorrection: y", "- **[LEARN] CI/CD: use it**\r\n  Skill: s", "```\n[LEARN] a: b\n```", "> [LEARN] a: b",
		"<!--\n[LEARN] a: b\n-->\n[LEARN] 测试：不要 睡眠", "[LEARN] category: rule", "1. [LEARN] .NET: x\n   Wiki: w\n\n\tcode", "`a\n[LEARN] b: c`", "[LEARN] a: **b\n__c__",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, reply string) {
		blocks := ParseReply(reply)
		if n := strings.Count(reply, Mark); len(blocks) > n {
			t.Fatalf("%d blocks from %d marks", len(blocks), n)
		}
		seen := map[string]bool{}
		for _, b := range blocks {
			if b.Category == "" || b.Rule == "" {
				t.Fatalf("empty head: %+v", b)
			}
			if utf8.ValidString(reply) {
				for _, s := range []string{b.Category, b.Rule, b.Mistake, b.Correction, b.Skill, b.Wiki} {
					if !utf8.ValidString(s) {
						t.Fatalf("invalid UTF-8 from a valid reply: %q", s)
					}
					if strings.ContainsAny(s, "\r\n") {
						t.Fatalf("a field spans lines: %q", s)
					}
				}
			}
			if seen[NormaliseRule(b.Rule)] {
				t.Fatalf("one rule twice: %q", b.Rule)
			}
			seen[NormaliseRule(b.Rule)] = true
		}
	})
}
