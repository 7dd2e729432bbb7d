package store

import (
	"context"
	"database/sql"
	"strings"
	"time"
	"unicode"

	"whetstone/internal/words"
)

// entry is one row of the full-text index.
type entry struct {
	Ref, Wiki, What, Kind, PageID, Title, Summary, Content string
	At                                                     time.Time
}

// putEntry writes an entry, in place of an older one.
func putEntry(ctx context.Context, tx *sql.Tx, e entry) error {
	if _, err := tx.ExecContext(ctx, `DELETE FROM entries WHERE ref = ?`, e.Ref); err != nil {
		return err
	}
	all := e.Title + "\n" + e.Summary + "\n" + e.Content
	_, err := tx.ExecContext(ctx, `INSERT INTO entries (ref, wiki, what, kind, page_id, title, summary, content, parts, cjk, at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		e.Ref, e.Wiki, e.What, e.Kind, e.PageID, e.Title, e.Summary, e.Content, identifierParts(all), cjkTerms(all), stamp(e.At))
	return err
}

// identifierParts cuts camel case into its words, so that "retry count" finds maxRetryCount. Snake case is cut by the
// tokenizer; its words are joined here, so that maxretrycount finds max_retry_count.
func identifierParts(s string) string {
	var out []string
	seen := map[string]bool{}
	add := func(w string) {
		if w = strings.ToLower(w); len(w) > 1 && !seen[w] {
			seen[w] = true
			out = append(out, w)
		}
	}
	for _, w := range strings.FieldsFunc(s, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' }) {
		if words.IsCJK([]rune(w)[0]) {
			continue
		}
		if strings.Trim(w, "_") != w || strings.Contains(w, "_") {
			add(strings.ReplaceAll(w, "_", ""))
		}
		for _, part := range strings.Split(w, "_") {
			if parts := camel(part); len(parts) > 1 {
				for _, p := range parts {
					add(p)
				}
			}
		}
	}
	return strings.Join(out, " ")
}

// camel cuts parseHTTPHeader into parse, HTTP and Header.
func camel(w string) []string {
	rs := []rune(w)
	var out []string
	start := 0
	for i := 1; i < len(rs); i++ {
		lowerUpper := unicode.IsLower(rs[i-1]) && unicode.IsUpper(rs[i])
		acronymEnd := i+1 < len(rs) && unicode.IsUpper(rs[i-1]) && unicode.IsUpper(rs[i]) && unicode.IsLower(rs[i+1])
		digit := unicode.IsDigit(rs[i]) != unicode.IsDigit(rs[i-1])
		if lowerUpper || acronymEnd || digit {
			out = append(out, string(rs[start:i]))
			start = i
		}
	}
	return append(out, string(rs[start:]))
}

// cjkTerms writes runs of CJK characters as bigrams, a lone character as itself, and the last character of a run, so that a
// query of one character finds it by prefix.
func cjkTerms(s string) string {
	var b strings.Builder
	var run []rune
	flush := func() {
		for i := range run {
			if i+1 < len(run) {
				b.WriteString(string(run[i : i+2]))
			} else {
				b.WriteString(string(run[i:]))
			}
			b.WriteByte(' ')
		}
		run = run[:0]
	}
	for _, r := range s {
		if words.IsCJK(r) {
			run = append(run, r)
			continue
		}
		flush()
	}
	flush()
	return b.String()
}
