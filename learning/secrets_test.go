package learning

import (
	"bufio"
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// secret is one of the seeded secrets: the text around it and what must not remain. A "~" stands in each, so that no scanner
// takes the file for a leak.
type secret struct {
	ID     string `json:"id"`
	Kind   string `json:"kind"`
	Text   string `json:"text"`
	Secret string `json:"secret"`
}

func secrets(t *testing.T) []secret {
	t.Helper()
	f, err := os.Open("testdata/secrets.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []secret
	sc := bufio.NewScanner(f)
	sc.Buffer(nil, 1<<20)
	for sc.Scan() {
		var s secret
		if err := json.Unmarshal([]byte(strings.ReplaceAll(sc.Text(), "~", "")), &s); err != nil {
			t.Fatal(err)
		}
		out = append(out, s)
	}
	return out
}

func TestSecretsAreRedacted(t *testing.T) {
	missed := 0
	for _, s := range secrets(t) {
		got, _ := Redact(s.Text)
		for _, line := range strings.Split(s.Secret, "\n") {
			if strings.HasPrefix(line, "-----") || len(strings.TrimSpace(line)) < 4 {
				continue
			}
			if strings.Contains(got, line) {
				missed++
				t.Errorf("%s %s: %q", s.ID, s.Kind, got)
				break
			}
		}
	}
	t.Logf("%d missed", missed)
}

// TestShapesAreFoundWithoutLookingEverywhere compares the search around telling words with a search in the whole text.
func TestShapesAreFoundWithoutLookingEverywhere(t *testing.T) {
	var all strings.Builder
	for i, s := range secrets(t) {
		all.WriteString(strings.Repeat("Some words of a reply that hold nothing.\n", i%7))
		all.WriteString(s.Text + "\n")
	}
	text := all.String()
	for i := range shapes {
		sh := &shapes[i]
		if sh.kind == "cookie" { // it is one only beside the word
			continue
		}
		want, n := sh.apply(text, nil)
		got, m := sh.apply(text, sh.where(lowered(text)))
		if got != want || n != m {
			t.Errorf("%s %d: %d found, want %d", sh.kind, i, m, n)
		}
	}
}

func TestAVeryLongLineIsRedactedInTime(t *testing.T) {
	line := strings.Repeat(`{"token": "abc", "name": "x"},`, 40000) + `"password": "hT7#kLq92!xZ"`
	got, n := Redact(line)
	if n["assignment"] != 1 || strings.Contains(got, "hT7#kLq92!xZ") {
		t.Errorf("%v: %s", n, got[len(got)-60:])
	}
}

func BenchmarkRedact(b *testing.B) {
	t, err := os.ReadFile("../README.md")
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(t)))
	for b.Loop() {
		Redact(string(t))
	}
}
