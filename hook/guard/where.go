package guard

import (
	"path"
	"path/filepath"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// target answers for a word that names a file about to be changed.
func (s *shell) target(word string) {
	word = s.at(strings.ReplaceAll(word, soft, ""))
	switch {
	case word == "" || strings.HasPrefix(word, "/dev/"):
	case strings.Contains(word, hole):
		// Only the last names may be known: $DIR/.env.
		if i := strings.LastIndex(word, hole); strings.Contains(word[i:], "/") {
			rest := strings.TrimPrefix(strings.ReplaceAll(word[i+len(hole):], "\\", "/"), "/")
			if _, after, ok := strings.Cut(rest, "/"); ok && !strings.HasPrefix(word[i+len(hole):], "/") {
				rest = after // the first name is known in part only
			}
			if rest != "" {
				s.say(s.g.file(rest))
			}
		}
	case strings.ContainsAny(word, "*?["):
		s.say(s.g.globbed(word))
	default:
		s.say(s.g.file(word))
	}
}

// at is a file's name from where the script stands.
func (s *shell) at(word string) string {
	slashed := strings.ReplaceAll(word, "\\", "/")
	if word == "" || path.IsAbs(slashed) || strings.HasPrefix(word, "~") || strings.HasPrefix(word, hole) || filepath.VolumeName(word) != "" || s.dir == filepath.ToSlash(s.g.o.Dir) {
		return word
	}
	if s.dir == hole {
		return hole + "/" + slashed
	}
	joined := path.Join(s.dir, slashed)
	if strings.HasSuffix(slashed, "/") {
		joined += "/" // what is copied there keeps its name
	}
	return joined
}

// cd follows a change of the folder.
func (s *shell) cd(plain []string) {
	switch {
	case len(plain) == 0:
		s.dir = filepath.ToSlash(s.g.o.User)
	case len(plain) > 1 || plain[0] == "-" || strings.ContainsAny(plain[0], hole+"*?["):
		s.dir = hole
	default:
		to := strings.ReplaceAll(plain[0], "\\", "/")
		switch {
		case to == "~":
			s.dir = filepath.ToSlash(s.g.o.User)
		case strings.HasPrefix(to, "~/"):
			s.dir = path.Join(filepath.ToSlash(s.g.o.User), to[2:])
		case strings.HasPrefix(to, "~"):
			s.dir = hole
		case path.IsAbs(to) || filepath.VolumeName(to) != "":
			s.dir = path.Clean(to)
		case s.dir != hole:
			s.dir = path.Join(s.dir, to)
		}
	}
}

// output is what a command prints, where that can be told from its words: echo, printf, and cat of a here-document.
func (s *shell) output(st *syntax.Stmt, in stdin) stdin {
	unknown := stdin{piped: true}
	if b, ok := st.Cmd.(*syntax.BinaryCmd); ok && (b.Op == syntax.Pipe || b.Op == syntax.PipeAll) && len(st.Redirs) == 0 {
		return s.output(b.Y, s.output(b.X, in))
	}
	call, ok := st.Cmd.(*syntax.CallExpr)
	if !ok {
		return unknown
	}
	for _, r := range st.Redirs {
		switch r.Op {
		case syntax.Hdoc, syntax.DashHdoc:
			in = stdin{known: true}
			if r.Hdoc != nil {
				in.text = s.text(r.Hdoc)
			}
		case syntax.WordHdoc:
			in = stdin{text: strings.Join(s.words(r.Word), " "), known: true}
		default:
			return unknown
		}
	}
	var argv []string
	for _, w := range call.Args {
		argv = append(argv, s.words(w)...)
	}
	if len(argv) == 0 {
		return unknown
	}
	plain, flags := split(argv[1:])
	switch argv[0] {
	case "echo":
		return stdin{text: unescape(strings.Join(plain, " ")), known: true, piped: true}
	case "printf":
		if len(plain) == 0 {
			return unknown
		}
		format := strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\\`, `\`).Replace(plain[0])
		if len(plain) == 1 && !strings.Contains(format, "%") {
			return stdin{text: format, known: true, piped: true}
		}
		if strings.Trim(strings.ReplaceAll(format, "%s", ""), " \n") == "" {
			return stdin{text: strings.Join(plain[1:], "\n"), known: true, piped: true}
		}
	case "cat":
		if in.known && len(plain) == 0 && len(flags) == 0 || in.known && len(plain) == 1 && plain[0] == "-" {
			in.piped = true
			return in
		}
	}
	return unknown
}
