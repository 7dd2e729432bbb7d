package learning

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"
)

// LineError is one line of a JSON Lines file that could not be taken.
type LineError struct {
	Line int // counted from 1
	Err  error
}

func (e LineError) Error() string { return fmt.Sprintf("line %d: %v", e.Line, e.Err) }

// maxLine bounds one line of an import, in bytes.
const maxLine = 1 << 20

// record is a line as it may be written by hand: only category and rule are required, times may be left out.
type record struct {
	ID            string     `json:"id"`
	Status        string     `json:"status"`
	Project       string     `json:"project"`
	Category      string     `json:"category"`
	Rule          string     `json:"rule"`
	Mistake       string     `json:"mistake"`
	Correction    string     `json:"correction"`
	Skill         string     `json:"skill"`
	Skills        []string   `json:"skills"`
	Wiki          string     `json:"wiki"`
	Host          string     `json:"host"`
	Session       string     `json:"session"`
	Observations  int        `json:"observations"`
	TimesInjected int        `json:"times_injected"`
	TimesApplied  int        `json:"times_applied"`
	CreatedAt     *time.Time `json:"created_at"`
	ValidFrom     *time.Time `json:"valid_from"`
	ValidTo       *time.Time `json:"valid_to"`
	Detector      string     `json:"detector"`
	SupersededBy  string     `json:"superseded_by"`
	TimesRecurred int        `json:"times_recurred"`
	// What is worked out from the rest; an import of our own output ignores it.
	Rank    any `json:"rank"`
	Snippet any `json:"snippet"`
	Flag    any `json:"flag"`
}

// ReadJSONL reads learnings, one JSON object a line. Good lines are returned even when others are bad; every bad line is
// reported with its number. The error is for the reading itself. Blank lines and a byte order mark are skipped; an
// unknown field makes a line bad, since a misspelt one would be lost without a word. A status other than approved must
// be written out; an absent one means approved, since a person chose the file.
func ReadJSONL(r io.Reader, now time.Time) ([]Learning, []LineError, error) {
	var (
		out []Learning
		bad []LineError
	)
	br := bufio.NewReaderSize(r, 64<<10)
	for n := 1; ; n++ {
		line, tooLong, err := readLine(br)
		if err != nil && !errors.Is(err, io.EOF) {
			return out, bad, fmt.Errorf("read learnings at line %d: %w", n, err)
		}
		if n == 1 {
			line = bytes.TrimPrefix(line, []byte("\ufeff"))
		}
		switch {
		case tooLong:
			bad = append(bad, LineError{n, fmt.Errorf("longer than %d bytes", maxLine)})
		case len(bytes.TrimSpace(line)) > 0:
			l, lerr := parseRecord(line, now)
			if lerr != nil {
				bad = append(bad, LineError{n, lerr})
			} else {
				out = append(out, l)
			}
		}
		if err != nil {
			return out, bad, nil //nolint:nilerr // io.EOF ends the file
		}
	}
}

func readLine(br *bufio.Reader) (line []byte, tooLong bool, err error) {
	for {
		part, more, err := br.ReadLine()
		if !tooLong {
			line = append(line, part...)
		}
		if len(line) > maxLine {
			line, tooLong = nil, true
		}
		if err != nil || !more {
			return line, tooLong, err
		}
	}
}

// plainJSONError says what is wrong with a line without the decoder's talk of Go types.
func plainJSONError(err error) error {
	var typ *json.UnmarshalTypeError
	var bad *time.ParseError
	switch {
	case errors.As(err, &typ) && typ.Field == "":
		return fmt.Errorf("not a learning: it is an %s, and must be one object", typ.Value)
	case errors.As(err, &typ):
		return fmt.Errorf("not a learning: field %s can not be a %s", typ.Field, typ.Value)
	case errors.As(err, &bad):
		return fmt.Errorf("not a learning: %s is no time; write it as 2026-01-31T12:00:00Z", bad.Value)
	case errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF):
		return errors.New("not a learning: the JSON is cut off")
	}
	return fmt.Errorf("not a learning: %s", strings.TrimPrefix(err.Error(), "json: "))
}

func parseRecord(line []byte, now time.Time) (Learning, error) {
	if !utf8.Valid(line) {
		return Learning{}, errors.New("not valid UTF-8")
	}
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.DisallowUnknownFields()
	var rec record
	if err := dec.Decode(&rec); err != nil {
		return Learning{}, plainJSONError(err)
	}
	if dec.More() {
		return Learning{}, errors.New("more than one JSON value on the line")
	}
	l := Learning{
		ID: rec.ID, Status: Approved, Project: rec.Project, Category: strings.TrimSpace(rec.Category), Rule: strings.TrimSpace(rec.Rule),
		Mistake: strings.TrimSpace(rec.Mistake), Correction: strings.TrimSpace(rec.Correction), Skill: strings.TrimSpace(rec.Skill),
		Skills: rec.Skills, Wiki: strings.TrimSpace(rec.Wiki), Host: rec.Host, Session: rec.Session,
		Observations: max(rec.Observations, 1), TimesInjected: rec.TimesInjected, TimesApplied: rec.TimesApplied, TimesRecurred: rec.TimesRecurred,
		Detector: strings.TrimSpace(rec.Detector), SupersededBy: rec.SupersededBy,
		CreatedAt: now.UTC(), ValidTo: rec.ValidTo,
	}
	if rec.Status != "" {
		st, err := ParseStatus(rec.Status)
		if err != nil {
			return Learning{}, err
		}
		l.Status = st
	}
	if rec.CreatedAt != nil {
		l.CreatedAt = rec.CreatedAt.UTC()
	}
	l.ValidFrom = l.CreatedAt
	if rec.ValidFrom != nil {
		l.ValidFrom = rec.ValidFrom.UTC()
	}
	if rec.TimesApplied < 0 || rec.TimesInjected < 0 || rec.TimesRecurred < 0 || rec.Observations < 0 {
		return Learning{}, errors.New("a counter is negative")
	}
	if l.ValidTo != nil && l.ValidTo.Before(l.ValidFrom) {
		return Learning{}, errors.New("valid_to lies before valid_from")
	}
	if err := l.Validate(); err != nil {
		return Learning{}, err
	}
	return l, nil
}
