package optimizer

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"whetstone/internal/jsonmend"
)

// answer reads the one JSON object that a reply is, by the rules of ParseReflection: prose around it, a Markdown fence and
// trailing commas are mended, and a missing last brace, after which nothing was left to say. whole says what the object
// lacks, "" for nothing. Anything else is ErrReply.
func answer[T any](reply string, whole func(T) string) (T, error) {
	text := strings.TrimSpace(strings.TrimPrefix(reply, "\ufeff"))
	v, last := decodeAnswer(text, whole)
	if last == nil {
		return v, nil
	}
	for _, candidate := range jsonmend.Objects(text) {
		for _, mended := range []string{candidate, jsonmend.DropTrailingCommas(candidate), jsonmend.DropTrailingCommas(candidate + "}")} {
			v, err := decodeAnswer(mended, whole)
			if err == nil {
				return v, nil
			}
			last = err
		}
	}
	var none T
	return none, fmt.Errorf("%w: %w", ErrReply, last)
}

func decodeAnswer[T any](s string, whole func(T) string) (T, error) {
	var v T
	dec := json.NewDecoder(strings.NewReader(s))
	if err := dec.Decode(&v); err != nil {
		return v, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return v, errors.New("there is text after it")
	}
	if lacks := whole(v); lacks != "" {
		return v, errors.New(lacks)
	}
	return v, nil
}
