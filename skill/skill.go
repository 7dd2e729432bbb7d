// Package skill reads and recomposes SKILL.md files: an optional byte order mark, YAML frontmatter between "---" lines,
// and a Markdown body. It owns the rule that frontmatter is never changed by a byte; it writes no files and judges no
// content. Every refusal is one of the errors below, wrapped with what was found.
package skill

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
)

// Reasons a file is not a skill file.
var (
	ErrEmpty         = errors.New("the file is empty")
	ErrNotUTF8       = errors.New("the file is not valid UTF-8")
	ErrNUL           = errors.New("the file contains a NUL byte, so it is not text")
	ErrNoFrontmatter = errors.New("the file has no YAML frontmatter (a first line of ---)")
	ErrUnclosed      = errors.New("the frontmatter is not closed by a line of ---")
	ErrYAML          = errors.New("the frontmatter is not valid YAML")
	ErrTooLarge      = errors.New("the file is too large for a skill")
)

// MaxBytes bounds what is read as a skill at all: a file beyond it is something else.
const MaxBytes = 4 << 20

// BOM is the UTF-8 byte order mark.
const BOM = "\ufeff"

// File is a parsed skill file. Head + Body is the file, byte for byte.
type File struct {
	Head        string // byte order mark, frontmatter and its closing delimiter line; "" for a plain file without one
	Body        string // everything after Head
	Name        string // frontmatter name, "" if absent
	Description string // frontmatter description, "" if absent
	// Categories are the learning categories the skill claims: metadata.whetstone-categories, a list or one string.
	Categories []string
}

// Options changes what Parse accepts.
type Options struct {
	Plain bool // accept a file without frontmatter; all of it is body then
}

// Parse splits data. It fails with one of the package's errors.
func Parse(data []byte, o Options) (*File, error) {
	if len(data) > MaxBytes {
		return nil, fmt.Errorf("%w (%d bytes, at most %d)", ErrTooLarge, len(data), MaxBytes)
	}
	if i := bytes.IndexByte(data, 0); i >= 0 {
		return nil, fmt.Errorf("%w (byte %d)", ErrNUL, i)
	}
	if !utf8.Valid(data) {
		return nil, fmt.Errorf("%w (first bad byte at %d)", ErrNotUTF8, firstInvalid(data))
	}
	if len(bytes.TrimSpace(data)) == 0 && !o.Plain {
		return nil, fmt.Errorf("%w: %w", ErrEmpty, ErrNoFrontmatter)
	}
	text := string(data)
	start := 0
	if strings.HasPrefix(text, BOM) {
		start = len(BOM)
	}
	first, next := cutLine(text, start)
	if strings.TrimRight(first, " \t") != "---" {
		if o.Plain {
			return &File{Head: text[:start], Body: text[start:]}, nil
		}
		return nil, ErrNoFrontmatter
	}
	for pos := next; pos < len(text); {
		line, after := cutLine(text, pos)
		if strings.TrimRight(line, " \t") == "---" {
			f := &File{Head: text[:after], Body: text[after:]}
			if err := f.readYAML(text[next:pos]); err != nil {
				return nil, err
			}
			return f, nil
		}
		pos = after
	}
	return nil, ErrUnclosed
}

// Hash is the SHA-256 of a text in hexadecimal: the name under which texts are stored.
func Hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// Text is the whole file.
func (f *File) Text() string { return f.Head + f.Body }

// WithBody is the whole file with another body. A file that ends in its closing delimiter line without a line ending has
// an empty body; a first body then begins on a line of its own and, like the file before it, ends without an ending.
func (f *File) WithBody(body string) string {
	if body == "" || f.Head == "" || f.Head == BOM || strings.HasSuffix(f.Head, "\n") || strings.HasSuffix(f.Head, "\r") {
		return f.Head + body
	}
	eol := "\n"
	if strings.Contains(f.Head, "\r\n") {
		eol = "\r\n"
	}
	return f.Head + eol + strings.TrimRight(body, "\r\n")
}

func (f *File) readYAML(src string) error {
	// A line is put before it, so that positions in messages are those of the file. goccy/go-yaml takes "\r\n" but reports positions off by the carriage returns; the meaning is the same without.
	src = strings.ReplaceAll(src, "\r\n", "\n")
	if strings.TrimSpace(src) == "" {
		return nil
	}
	var top map[string]any
	if err := yaml.Unmarshal([]byte("\n"+src), &top); err != nil {
		return fmt.Errorf("%w: %s", ErrYAML, yaml.FormatError(err, false, false))
	}
	f.Name, _ = top["name"].(string)
	f.Name = strings.TrimSpace(f.Name)
	f.Description, _ = top["description"].(string)
	f.Description = strings.TrimSpace(f.Description)
	if meta, ok := top["metadata"].(map[string]any); ok {
		switch v := meta["whetstone-categories"].(type) {
		case string:
			f.Categories = []string{v}
		case []any:
			for _, c := range v {
				if s, ok := c.(string); ok {
					f.Categories = append(f.Categories, s)
				}
			}
		}
	}
	return nil
}

// cutLine returns the line that begins at pos, without its ending, and where the next one begins.
func cutLine(text string, pos int) (string, int) {
	i := strings.IndexAny(text[pos:], "\r\n")
	if i < 0 {
		return text[pos:], len(text)
	}
	end := pos + i + 1
	if text[pos+i] == '\r' && end < len(text) && text[end] == '\n' {
		end++
	}
	return text[pos : pos+i], end
}

func firstInvalid(data []byte) int {
	for i := 0; i < len(data); {
		r, n := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return len(data)
}
