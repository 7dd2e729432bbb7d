package optimizer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"whetstone/internal/jsonmend"
)

// ErrReply is returned for a reply that is not the JSON object asked for, even after repair. It is a failed call, which
// is not the same as a reply without patches.
var ErrReply = errors.New("the reply is not the JSON object asked for")

// Reflection is a reflecting model's answer.
type Reflection struct {
	Reasoning string  `json:"reasoning"`
	Patches   []Patch `json:"patches"`
	Repaired  bool    `json:"-"` // the JSON had to be mended
}

// maxPatches bounds what is taken from one reply.
const maxPatches = 32

// ParseReflection reads a reply. Prose around the object, a Markdown fence, trailing commas and truncation after a
// complete patch are mended once, without asking the model again; anything else is ErrReply.
func ParseReflection(reply string) (Reflection, error) {
	text := strings.TrimSpace(strings.TrimPrefix(reply, "\ufeff"))
	if r, err := decodeReflection(text); err == nil {
		return r, nil
	}
	last := ErrReply
	for _, candidate := range jsonmend.Objects(text) {
		for _, mended := range []string{candidate, jsonmend.DropTrailingCommas(candidate), closeTruncated(candidate)} {
			r, err := decodeReflection(mended)
			if err == nil {
				r.Repaired = true
				return r, nil
			}
			last = err
		}
	}
	if errors.Is(last, ErrReply) {
		return Reflection{}, last
	}
	return Reflection{}, fmt.Errorf("%w: %w", ErrReply, last)
}

func decodeReflection(s string) (Reflection, error) {
	var raw struct {
		Reasoning string           `json:"reasoning"`
		Patches   *json.RawMessage `json:"patches"`
	}
	dec := json.NewDecoder(strings.NewReader(s))
	if err := dec.Decode(&raw); err != nil {
		return Reflection{}, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return Reflection{}, fmt.Errorf("%w: there is text after it", ErrReply)
	}
	if raw.Patches == nil || bytes.Equal(bytes.TrimSpace(*raw.Patches), []byte("null")) {
		return Reflection{}, fmt.Errorf("%w: it has no list of patches", ErrReply)
	}
	var patches []Patch
	if err := json.Unmarshal(*raw.Patches, &patches); err != nil {
		return Reflection{}, err
	}
	if len(patches) > maxPatches {
		patches = patches[:maxPatches]
	}
	for i := range patches {
		patches[i].Op = Op(strings.ToLower(strings.TrimSpace(string(patches[i].Op))))
	}
	return Reflection{Reasoning: raw.Reasoning, Patches: patches}, nil
}

// closeTruncated cuts a truncated object after its last complete patch and closes it. An object without a complete patch
// stays broken: half an edit is not an edit.
func closeTruncated(s string) string {
	at := strings.Index(s, `"patches"`)
	if at < 0 {
		return s
	}
	open := strings.IndexByte(s[at:], '[')
	if open < 0 {
		return s
	}
	i := at + open + 1
	last := -1
	for i < len(s) {
		for i < len(s) && strings.IndexByte(" \t\r\n,", s[i]) >= 0 {
			i++
		}
		if i >= len(s) || s[i] != '{' {
			break
		}
		end := jsonmend.Matching(s, i)
		if end < 0 {
			break
		}
		i, last = end, end
	}
	if last < 0 {
		return s
	}
	return jsonmend.DropTrailingCommas(s[:last]) + "]}"
}
