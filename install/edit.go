package install

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tailscale/hujson"
)

// handler is one command in a host's configuration.
type handler struct {
	Type    string   `json:"type"`
	Command string   `json:"command"`
	Exec    string   `json:"exec"`
	Args    []string `json:"args"`
}

func (h handler) ours() bool {
	argv := h.argv()
	return len(argv) > 0 && isOurs(argv[0])
}

func (h handler) argv() []string {
	switch {
	case h.Exec != "":
		return append([]string{h.Exec}, h.Args...)
	case h.Args != nil:
		return append([]string{h.Command}, h.Args...)
	}
	return unshell(h.Command)
}

// group is an element of an event's list: a handler itself (Cursor, Copilot), or a matcher with handlers.
type group struct {
	handler
	Matcher string    `json:"matcher"`
	Hooks   []handler `json:"hooks"`
}

// document is a configuration that may hold comments.
type document struct {
	text   []byte
	value  hujson.Value
	events map[string][]group
	odd    []string // events whose value is not what the host documents
	off    bool     // all hooks are switched off
}

func parse(path string, text []byte) (*document, error) {
	d := &document{text: text}
	if len(strings.TrimSpace(string(text))) == 0 {
		text = []byte("{}\n")
	}
	v, err := hujson.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("read %s: it is not valid JSON, comments allowed: %s: mend it first; it was not changed", path, strings.TrimPrefix(err.Error(), "hujson: "))
	}
	d.value = v
	standard := v.Clone()
	standard.Standardize()
	var top struct {
		Hooks map[string]json.RawMessage `json:"hooks"`
		Off   bool                       `json:"disableAllHooks"`
	}
	if err := json.Unmarshal(standard.Pack(), &top); err != nil {
		return nil, fmt.Errorf("read %s: its hooks are not what this host documents, an object with a list for each event: mend it first; it was not changed", path)
	}
	d.off = top.Off
	d.events = map[string][]group{}
	for name, raw := range top.Hooks {
		var list []group
		if err := json.Unmarshal(raw, &list); err != nil {
			d.odd = append(d.odd, name) // not a list of hooks; not ours to touch
			continue
		}
		d.events[name] = list
	}
	return d, nil
}

// found is one registration of ours.
type found struct {
	event string
	argv  []string
	guard bool
	every bool // no matcher limits it
	// where it stands
	index, inner int
}

func (d *document) ours() []found {
	var out []found
	add := func(event string, g group, h handler, i, j int) {
		if h.ours() {
			argv := h.argv()
			out = append(out, found{event, argv, slices.Contains(argv, "--guard"), g.Matcher == "" || g.Matcher == "*", i, j})
		}
	}
	for event, list := range d.events {
		for i, g := range list {
			add(event, g, g.handler, i, -1)
			for j, h := range g.Hooks {
				add(event, g, h, i, j)
			}
		}
	}
	slices.SortFunc(out, func(a, b found) int {
		if c := strings.Compare(a.event, b.event); c != 0 {
			return c
		}
		if a.index != b.index {
			return b.index - a.index // from the end, so that removing one does not move the next
		}
		return b.inner - a.inner
	})
	return out
}

type op struct {
	Op    string          `json:"op"`
	Path  string          `json:"path"`
	Value json.RawMessage `json:"value,omitempty"`
}

func pointer(parts ...string) string {
	var b strings.Builder
	for _, p := range parts {
		b.WriteString("/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(p))
	}
	return b.String()
}

// removeOurs takes all of our registrations out, and lists and groups that are empty then.
func (d *document) removeOurs() error {
	all := d.ours()
	left := map[string]int{}
	for event, list := range d.events {
		left[event] = len(list)
	}
	inGroup := map[string]int{}
	for event, list := range d.events {
		for i, g := range list {
			inGroup[event+"/"+strconv.Itoa(i)] = len(g.Hooks)
		}
	}
	var ops []op
	for _, f := range all {
		at := f.event + "/" + strconv.Itoa(f.index)
		if f.inner >= 0 && inGroup[at] > 1 {
			inGroup[at]--
			ops = append(ops, op{Op: "remove", Path: pointer("hooks", f.event, strconv.Itoa(f.index), "hooks", strconv.Itoa(f.inner))})
			continue
		}
		left[f.event]--
		if left[f.event] == 0 {
			ops = append(ops, op{Op: "remove", Path: pointer("hooks", f.event)})
		} else {
			ops = append(ops, op{Op: "remove", Path: pointer("hooks", f.event, strconv.Itoa(f.index))})
		}
	}
	if len(ops) == 0 {
		return nil
	}
	if err := d.patch(ops); err != nil {
		return err
	}
	if len(d.events) == 0 && d.has("hooks") {
		return d.patch([]op{{Op: "remove", Path: "/hooks"}})
	}
	return nil
}

func (d *document) has(key string) bool {
	return d.value.Find(pointer(key)) != nil
}

func (d *document) add(o Options) error {
	var ops []op
	for _, e := range entries(o) {
		if slices.Contains(d.odd, e.event) {
			return fmt.Errorf("edit %s: its hooks for %s are not a list: mend that first; nothing was changed", Path(o), e.event)
		}
	}
	if v := d.value.Find("/hooks"); v != nil && strings.TrimSpace(string(v.Pack())) == "null" {
		ops = append(ops, op{Op: "replace", Path: "/hooks", Value: json.RawMessage("{}")})
	}
	if o.Host == "cursor" || o.Host == "copilot" {
		if !d.has("version") {
			ops = append(ops, op{Op: "add", Path: "/version", Value: json.RawMessage("1")})
		}
	}
	if !d.has("hooks") {
		ops = append(ops, op{Op: "add", Path: "/hooks", Value: json.RawMessage("{}")})
	}
	made := map[string]bool{}
	for _, e := range entries(o) {
		if _, ok := d.events[e.event]; !ok && !made[e.event] {
			made[e.event] = true
			ops = append(ops, op{Op: "add", Path: pointer("hooks", e.event), Value: json.RawMessage("[]")})
		}
		ops = append(ops, op{Op: "add", Path: pointer("hooks", e.event, "-"), Value: e.value(o)})
	}
	return d.patch(ops)
}

func (d *document) patch(ops []op) error {
	b, err := json.Marshal(ops)
	if err != nil {
		return err
	}
	if err := d.value.Patch(b); err != nil {
		return fmt.Errorf("edit the configuration: %w", err)
	}
	again, err := parse("the edited configuration", d.value.Pack())
	if err != nil {
		return err
	}
	*d = *again
	return nil
}

// bytes is the document in the form that it had: indented as it was where that is regular, and with its own comments and line
// breaks, each addition on a line of its own, where it is not.
func (d *document) bytes(before []byte) []byte {
	unit := indentOf(before)
	packed := d.value.Pack()
	if len(bytes.TrimSpace(before)) == 0 {
		before = []byte("{}\n")
	}
	if json.Valid(before) {
		var old, now bytes.Buffer
		if json.Indent(&old, bytes.TrimSpace(before), "", unit) == nil && json.Indent(&now, bytes.TrimSpace(packed), "", unit) == nil &&
			(bytes.Equal(bytes.TrimSpace(before), old.Bytes()) || !bytes.Contains(bytes.TrimSpace(before), []byte("\n"))) {
			return append(now.Bytes(), '\n')
		}
	}
	v := d.value.Clone()
	lines(&v, unit)
	return v.Pack()
}

// indentOf is one step of a text's indentation.
func indentOf(text []byte) string {
	for _, line := range bytes.Split(text, []byte("\n")) {
		if rest := bytes.TrimLeft(line, " \t"); len(rest) > 0 && len(rest) < len(line) {
			return string(line[:len(line)-len(rest)])
		}
	}
	return "  "
}

// lines puts what was added to the hooks, which has no white space yet, on lines of its own.
func lines(v *hujson.Value, unit string) {
	hooks := v.Find("/hooks")
	if hooks == nil {
		return
	}
	o, ok := hooks.Value.(*hujson.Object)
	if !ok {
		return
	}
	for i := range o.Members {
		m := &o.Members[i]
		if len(m.Name.BeforeExtra) == 0 {
			m.Name.BeforeExtra = hujson.Extra("\n" + strings.Repeat(unit, 2))
			m.Value.BeforeExtra = hujson.Extra(" ")
		}
		list, ok := m.Value.Value.(*hujson.Array)
		if !ok {
			continue
		}
		for j := range list.Elements {
			if e := &list.Elements[j]; len(e.BeforeExtra) == 0 {
				e.BeforeExtra = hujson.Extra("\n" + strings.Repeat(unit, 3))
			}
		}
		if len(list.AfterExtra) == 0 && len(list.Elements) > 0 {
			list.AfterExtra = hujson.Extra("\n" + strings.Repeat(unit, 2))
		}
	}
	if len(o.AfterExtra) == 0 && len(o.Members) > 0 {
		o.AfterExtra = hujson.Extra("\n" + unit)
	}
}
