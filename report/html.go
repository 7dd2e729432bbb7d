package report

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
)

//go:embed report.html.tmpl
var document string

//go:embed report.css
var style string

//go:embed report.js
var script string

// HTML renders a run as one file that needs nothing else: no network, no font, no script but its own. A content security
// policy admits that script and that style sheet by their hashes alone. Equal data make equal bytes; times are shown in
// UTC, and of paths only the last element. It fails where its own template does, and never for what d holds.
func HTML(d Data) ([]byte, error) {
	t, err := template.New("report").Funcs(template.FuncMap{
		"score": Score, "change": Change, "short": short, "plus": difference, "whisker": whisker, "mark": mark, "list": list, "odds": odds, "count": grouped,
	}).Parse(document)
	if err != nil {
		return nil, fmt.Errorf("render the report: %w", err)
	}
	var b bytes.Buffer
	if err := t.Execute(&b, newPage(d)); err != nil {
		return nil, fmt.Errorf("render the report: %w", err)
	}
	return visible(b.Bytes()), nil
}

// policy closes everything but the two texts of this package. Style attributes fall under it too, so the template has none.
func policy() string {
	return fmt.Sprintf("default-src 'none'; style-src '%s'; script-src '%s'; base-uri 'none'; form-action 'none'", hash(style), hash(script))
}

func hash(s string) string {
	sum := sha256.Sum256([]byte(s))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}
