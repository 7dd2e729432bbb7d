package host

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"whetstone/hook"
)

type golden struct {
	Args []string
	In   json.RawMessage
	Want map[string]string
}

type outCase struct {
	Event, Schema string
	Decision      struct{ Context, Message, Permission, Reason string }
	Stdout        json.RawMessage
	Exit          int
}

func read(t *testing.T, path string, into any) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, into); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

func args(list []string) (hostName, event string) {
	for i := 0; i+1 < len(list); i++ {
		switch list[i] {
		case "--host":
			hostName = list[i+1]
		case "--event":
			event = list[i+1]
		}
	}
	return hostName, event
}

// The payloads were written from the hosts' documentation, apart from this code.
func TestEveryHostsPayloadIsReadAsItIsMeant(t *testing.T) {
	n := 0
	for _, h := range Names() {
		files, _ := filepath.Glob("testdata/" + h + "/*.json")
		for _, f := range files {
			n++
			t.Run(strings.TrimPrefix(f, "testdata/"), func(t *testing.T) {
				var g golden
				read(t, f, &g)
				hostName, event := args(g.Args)
				e, err := Parse(g.In, hostName, event)
				if err != nil {
					t.Fatal(err)
				}
				got := map[string]string{}
				for k, v := range map[string]string{
					"host": e.Host, "kind": string(e.Kind), "name": e.Name, "session": e.Session, "turn": e.Turn, "cwd": e.CWD, "prompt": e.Prompt, "reply": e.Reply,
					"transcript": e.Transcript, "source": e.Source, "tool": e.Tool, "tool_use": e.ToolUse, "file": e.File, "agent": e.Agent,
				} {
					if v != "" {
						got[k] = v
					}
				}
				if !reflect.DeepEqual(got, g.Want) {
					t.Errorf("\n got %v\nwant %v", got, g.Want)
				}
			})
		}
	}
	if n < 150 {
		t.Errorf("only %d payloads", n)
	}
}

// What is printed is exactly what the host documents, and passes its strict schema.
func TestEveryAnswerIsInItsHostsSchema(t *testing.T) {
	n := 0
	for _, h := range Names() {
		files, _ := filepath.Glob("testdata/" + h + "/out/*.json")
		for _, f := range files {
			n++
			t.Run(strings.TrimPrefix(f, "testdata/"), func(t *testing.T) {
				var c outCase
				read(t, f, &c)
				e := hook.Event{Host: h, Name: c.Event, Kind: kindOf(h, c.Event)}
				out := Render(e, hook.Decision{Context: c.Decision.Context, Message: c.Decision.Message, Permission: c.Decision.Permission, Reason: c.Decision.Reason})
				if bytes.Equal(bytes.TrimSpace(c.Stdout), []byte("null")) {
					if out != nil {
						t.Errorf("printed %s, want nothing", out)
					}
					return
				}
				var got, want any
				if err := json.Unmarshal(out, &got); err != nil {
					t.Fatalf("printed %q, want %s", out, c.Stdout)
				}
				if err := json.Unmarshal(c.Stdout, &want); err != nil {
					t.Fatal(err)
				}
				if !reflect.DeepEqual(got, want) {
					t.Errorf("printed %s, want %s", out, c.Stdout)
				}
				if bytes.Count(out, []byte("\n")) != 1 || bytes.ContainsRune(out, '\r') {
					t.Errorf("not one line: %q", out)
				}
				name := c.Schema
				if name == "" {
					name = c.Event
				}
				schema := filepath.Join("testdata", h, "schema", name+".schema.json")
				if _, err := os.Stat(schema); err != nil {
					return // an event that the host does not document
				}
				s, err := jsonschema.NewCompiler().Compile(schema)
				if err != nil {
					t.Fatal(err)
				}
				if err := s.Validate(got); err != nil {
					t.Errorf("%s: %v", out, err)
				}
			})
		}
	}
	if n < 200 {
		t.Errorf("only %d answers", n)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"hook_event_name": "Stop", "last_assistant_message": "[LEARN] a: b"}`), "", "")
	f.Add([]byte(`{"sessionId": "s", "toolArgs": "{\"path\": 1}"}`), "copilot", "preToolUse")
	f.Add([]byte(`{"last_assistant_message": null}`), "nobody", "")
	f.Fuzz(func(_ *testing.T, data []byte, hostName, event string) {
		if e, err := Parse(data, hostName, event); err == nil {
			Render(e, hook.Decision{Context: "c", Message: "m", Permission: "deny", Reason: "r"})
		}
	})
}
