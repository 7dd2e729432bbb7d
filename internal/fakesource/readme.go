package fakesource

import (
	"fmt"
	"strings"
)

// readme is a README as projects write them: badges, a table of contents, code and links around the text.
func readme(d Document) string {
	_, name, _ := strings.Cut(d.repo(), "/")
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n", d.Title)
	fmt.Fprintf(&b, "[![CI](https://github.com/%[1]s/actions/workflows/ci.yml/badge.svg)](https://github.com/%[1]s/actions/workflows/ci.yml)\n", d.repo())
	fmt.Fprintf(&b, "[![Go Reference](https://pkg.go.dev/badge/github.com/%[1]s.svg)](https://pkg.go.dev/github.com/%[1]s)\n", d.repo())
	fmt.Fprintf(&b, "![License](https://img.shields.io/badge/license-%s-blue)\n\n", strings.ReplaceAll(d.License, "-", "--"))
	if d.Abstract != "" {
		fmt.Fprintf(&b, "> %s\n\n", d.Abstract)
	}
	b.WriteString("- [Install](#install)\n- [Usage](#usage)\n- [License](#license)\n\n")
	for _, p := range d.paragraphs() {
		if p.Heading {
			fmt.Fprintf(&b, "## %s\n\n", p.Text)
			continue
		}
		fmt.Fprintf(&b, "%s\n\n", p.Text)
	}
	fmt.Fprintf(&b, "## Install\n\n```sh\ngo install github.com/%s/cmd/%s@latest\n```\n\n", d.repo(), name)
	fmt.Fprintf(&b, "## Usage\n\n```go\n// Open a node and wait until it has joined.\nnode, err := %[1]s.Open(ctx, \"data\")\nif err != nil {\n\treturn err\n}\ndefer node.Close()\n```\n\n", strings.ReplaceAll(name, "-", ""))
	fmt.Fprintf(&b, "See the [documentation](https://%s.example.org/docs) and the [changelog](CHANGELOG.md). Found a bug? Open an [issue](https://github.com/%s/issues).\n\n", name, d.repo())
	if d.License != "" {
		fmt.Fprintf(&b, "## License\n\nReleased under the [%s](LICENSE).\n", d.License)
	}
	return b.String()
}
