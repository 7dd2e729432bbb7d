// Package optimizer trains the body of a skill file as text: patches are the gradient, an edit budget is the learning
// rate. It resolves patches to byte ranges, aggregates, ranks, selects and applies them, deals minibatches, holds the pool's
// front and merges its members by section, writes the prompts of reflection, ranking, slow and meta update and reads the
// replies. It is pure; every random choice derives from a seed. A patch that cannot be applied is refused with a Reason and
// the others go on.
package optimizer

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// Op is what a patch does.
type Op string

// The three operations.
const (
	Add     Op = "add"
	Delete  Op = "delete"
	Replace Op = "replace"
)

// Patch is one edit as a reflecting model proposes it. The anchor must occur exactly once, verbatim, in the body; an
// empty anchor appends and is for add only.
type Patch struct {
	Op      Op       `json:"op"`
	Anchor  string   `json:"anchor"`
	Payload string   `json:"payload"`
	Items   []string `json:"items,omitempty"` // ids of the train items the patch answers to, where the model says so
	File    string   `json:"file,omitempty"`  // of the package; "" is the skill file
}

// Reason tells why a patch was not taken.
type Reason string

// The reasons for refusing a patch.
const (
	BadOp           Reason = "bad_op"
	AnchorMissing   Reason = "anchor_missing"
	AnchorAmbiguous Reason = "anchor_ambiguous"
	Protected       Reason = "protected"
	FenceChange     Reason = "fence"
	EmptyPayload    Reason = "empty_payload"
	NoChange        Reason = "no_change"
	AlreadyPresent  Reason = "already_present"
	TooLarge        Reason = "too_large"
	Conflict        Reason = "conflict"
	RepeatRejected  Reason = "repeat_rejected"
	Clipped         Reason = "clipped"
	Unmatched       Reason = "unmatched"
	BadText         Reason = "bad_text"
)

// PatchError is a refused patch.
type PatchError struct {
	Reason Reason
	Detail string
}

func (e *PatchError) Error() string {
	if e.Detail == "" {
		return string(e.Reason)
	}
	return string(e.Reason) + ": " + e.Detail
}

func refuse(r Reason, format string, args ...any) *PatchError {
	return &PatchError{Reason: r, Detail: fmt.Sprintf(format, args...)}
}

// Edit is a patch resolved against one body: bytes Start to End become Text.
type Edit struct {
	Start, End int
	Text       string
	Op         Op
	Patch      Patch
	Support    int // how many proposals say the same
	Key        string
}

// Changed is the number of bytes the edit touches: what it removes and what it inserts.
func (e Edit) Changed() int { return e.End - e.Start + len(e.Text) }

// CanonicalPayload folds what does not make two payloads different: Unicode form and white space. It serves comparison
// only and is never written.
func CanonicalPayload(s string) string {
	return strings.Join(strings.Fields(norm.NFC.String(s)), " ")
}

// key names an edit by what it does to which body text, so that equal proposals meet and a refusal is found again.
func (e Edit) key(body string) string {
	return "p_" + digest(string(e.Op), body[e.Start:e.End], lineBefore(body, e.Start), CanonicalPayload(e.Text))[:20]
}

// lineBefore is the text that stands before an insertion, so that two insertions of one text at two places differ.
func lineBefore(body string, at int) string {
	s := strings.TrimRight(body[:at], "\r\n")
	if i := strings.LastIndexAny(s, "\r\n"); i >= 0 {
		s = s[i+1:]
	}
	return s
}

func digest(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		_, _ = fmt.Fprintf(h, "%d:%s", len(p), p)
	}
	return hex.EncodeToString(h.Sum(nil))
}
