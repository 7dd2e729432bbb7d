package skill

import (
	"strings"
	"testing"
)

func TestRegions(t *testing.T) {
	open, end := KeepOpen, KeepClose
	for name, c := range map[string]struct {
		body string
		want []string
	}{
		"a region runs from marker to marker":    {"a\n" + open + "\nkept\n" + end + "\nb\n", []string{open + "\nkept\n" + end}},
		"an unclosed region runs to the end":     {"a\n" + open + "\nkept\n", []string{open + "\nkept\n"}},
		"markers in a fence are text":            {"```\n" + open + "\n```\nfree\n", nil},
		"markers in inline code are text":        {"write `" + open + "` to keep\n", nil},
		"a closing marker alone means nothing":   {end + "\nfree\n", nil},
		"two regions are two":                    {open + "x" + end + " free " + open + "y" + end, []string{open + "x" + end, open + "y" + end}},
		"an opening marker inside means nothing": {open + "\n" + open + "\n" + end + "\nfree", []string{open + "\n" + open + "\n" + end}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, r := range Regions(c.body) {
				got = append(got, c.body[r.Start:r.End])
			}
			if strings.Join(got, "|") != strings.Join(c.want, "|") {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestKeyNamesASkillTheSameEverywhere(t *testing.T) {
	for in, want := range map[string]string{"Go Testing": "go-testing", "  go--testing ": "go-testing", "数据库 迁移": "数据库-迁移", "C++/CLI": "c-cli", "!!!": "", "v1.2": "v1.2", "../../etc": "etc"} {
		if got := Key(in); got != want {
			t.Errorf("Key(%q) = %q, want %q", in, got, want)
		}
	}
}

// Any file that parses is recomposed byte for byte, and no body can leak into the head.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"---\nname: a\n---\nbody\n", "\ufeff---\r\nname: b\r\n---\r\nbody", "---\n---", "---\na: [\n---\n", "---\nx: |\n ---\n---\n", "no frontmatter", "---\nname: &x y\nz: *x\n---\n\n"} {
		f.Add([]byte(s), false)
		f.Add([]byte(s), true)
	}
	f.Fuzz(func(t *testing.T, data []byte, plain bool) {
		file, err := Parse(data, Options{Plain: plain})
		if err != nil {
			return
		}
		if file.Text() != string(data) {
			t.Fatalf("head %q and body %q are not the file %q", file.Head, file.Body, data)
		}
		if file.WithBody(file.Body) != string(data) {
			t.Fatalf("recomposing %q gives %q", data, file.WithBody(file.Body))
		}
		again, err := Parse([]byte(file.WithBody("another body\n")), Options{Plain: plain})
		if err != nil || !strings.HasPrefix(again.Head, strings.TrimRight(file.Head, "\r\n")) || again.Name != file.Name {
			t.Fatalf("with another body, head %q became %q (%v)", file.Head, again.Head, err)
		}
	})
}
