package optimizer

import (
	"errors"
	"testing"
)

func TestParseReflectionMendsWhatModelsDo(t *testing.T) {
	patch := `{"op": "add", "anchor": "a", "payload": "say \"{x}\""}`
	for name, c := range map[string]struct {
		reply    string
		patches  int
		repaired bool
	}{
		"plain":                          {`{"reasoning": "r", "patches": [` + patch + `]}`, 1, false},
		"no patches is an answer":        {`{"reasoning": "nothing to do", "patches": []}`, 0, false},
		"a fence":                        {"```json\n{\"reasoning\": \"r\", \"patches\": [" + patch + "]}\n```", 1, true},
		"prose before and after":         {"Here {is} it:\n{\"patches\": [" + patch + "]}\nHope it helps!", 1, true},
		"trailing commas":                {`{"patches": [` + patch + `,],}`, 1, true},
		"truncated in the second patch":  {`{"reasoning": "r", "patches": [` + patch + `, {"op": "add", "anch`, 1, true},
		"truncated behind a whole patch": {`{"reasoning": "r", "patches": [` + patch, 1, true},
		"an upper-case op":               {`{"patches": [{"op": " ADD ", "anchor": "a", "payload": "b"}]}`, 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := ParseReflection(c.reply)
			if err != nil || len(r.Patches) != c.patches || r.Repaired != c.repaired {
				t.Fatalf("got %+v, %v", r, err)
			}
			if c.patches > 0 && r.Patches[0].Op != Add {
				t.Errorf("op %q", r.Patches[0].Op)
			}
		})
	}
}

func TestParseReflectionFailsInsteadOfGuessing(t *testing.T) {
	for _, reply := range []string{
		"", "I can not do that.", "{}", `{"reasoning": "r"}`, `{"patches": null}`, `{"patches": "none"}`, `{"patches": [{"op": 3}]}`, `{"patches": [{"op": "add", "anchor": "tru`, `[{"op": "add"}]`, "```json\n{\n```",
	} {
		if r, err := ParseReflection(reply); !errors.Is(err, ErrReply) {
			t.Errorf("%q: got %+v, %v", reply, r, err)
		}
	}
}

func FuzzParseReflection(f *testing.F) {
	for _, s := range []string{`{"patches": [{"op": "add", "anchor": "a", "payload": "b"}]}`, "```json\n{\"patches\": [],}\n```", `{"patches": [{"op": "x"`, `{"a": "{\"patches\": []}"}`, "{{{[[["} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, reply string) {
		r, err := ParseReflection(reply)
		if err != nil && !errors.Is(err, ErrReply) {
			t.Fatalf("an error of another kind: %v", err)
		}
		if err == nil && len(r.Patches) > maxPatches {
			t.Fatalf("%d patches", len(r.Patches))
		}
	})
}
