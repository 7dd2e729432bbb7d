package guard

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

const (
	unresolved = "unresolved"
	visible    = "what can be seen of the command names a guarded act"
	// hole stands for what is not known before the command runs.
	hole = "\x00"
	// soft marks a value that is only a default: right for a file, not enough for a command word.
	soft = "\x01"
	// depth bounds scripts within scripts.
	maxDepth = 8
)

// shell follows a script without running it: assignments of literal values are remembered, so that g=git; $g push -f is
// read as what it is.
type shell struct {
	g     *Guard
	vars  map[string]string
	funcs map[string]*syntax.Stmt
	dir   string // where the script stands after its cd commands; a hole where that is not known
	depth int
	steps *int
	v     Verdict
}

// Bounds of what is followed. A script beyond them is denied: nobody writes such a one to be understood.
const (
	maxSteps  = 20000    // commands
	maxValue  = 64 << 10 // bytes of a variable
	maxParens = 60       // brackets in a row: the parser takes exponential time over some of them
	maxScript = 1 << 20  // bytes
)

func (g *Guard) newShell() *shell {
	return &shell{g: g, vars: g.known(), funcs: map[string]*syntax.Stmt{}, dir: filepath.ToSlash(g.o.Dir), steps: new(int)}
}

func (g *Guard) script(src string) Verdict { return g.newShell().run(src) }

// inside is a shell within this one: it knows what this one knows, and where it stands.
func (s *shell) inside() *shell {
	return &shell{g: s.g, vars: s.vars, funcs: s.funcs, dir: s.dir, depth: s.depth + 1, steps: s.steps}
}

func (g *Guard) known() map[string]string {
	return map[string]string{"HOME": g.o.User, "PWD": g.o.Dir, "WHETSTONE_HOME": g.o.Store}
}

func (g *Guard) argv(argv []string) Verdict {
	s := g.newShell()
	s.command(argv, stdin{}, false)
	return s.v
}

func (s *shell) say(v Verdict) { s.v = s.v.stronger(v) }

func (s *shell) run(src string) Verdict {
	if s.depth > maxDepth {
		s.say(Verdict{Ask, unresolved, "scripts within scripts, too deep to be followed"})
		return s.v
	}
	if len(src) > maxScript || nested(src) {
		s.say(Verdict{Deny, unresolved, "the command is too long or too deeply nested to be followed"})
		return s.v
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(src), "")
	if err != nil {
		reason := "the command can not be parsed"
		if namesAct(src) {
			reason = visible + ", but it can not be parsed"
		}
		s.say(Verdict{Ask, unresolved, reason})
		return s.v
	}
	for _, st := range file.Stmts {
		s.stmt(st, stdin{})
	}
	return s.v
}

// inner runs a script that a command was given.
func (s *shell) inner(src string) { s.say(s.inside().run(src)) }

// nested reports whether brackets are nested deeper than anybody writes them.
func nested(src string) bool {
	open := 0
	for i := range len(src) {
		switch src[i] {
		case '(', '{', '`':
			if open++; open > maxParens {
				return true
			}
		case ' ', '\t', '$', '"':
		default:
			open = 0
		}
	}
	return false
}

// stdin is what a command reads: the literal text of a here-document, or the output of another command.
type stdin struct {
	text  string
	known bool
	piped bool
}

func (s *shell) stmt(st *syntax.Stmt, in stdin) {
	if st == nil {
		return
	}
	if *s.steps++; *s.steps > maxSteps {
		s.say(Verdict{Deny, unresolved, "the command has too many parts to be followed"})
		return
	}
	var outs []string
	for _, r := range st.Redirs {
		switch r.Op {
		case syntax.RdrOut, syntax.AppOut, syntax.RdrClob, syntax.RdrAll, syntax.AppAll, syntax.RdrInOut, syntax.DplOut:
			for _, t := range s.words(r.Word) {
				if r.Op == syntax.DplOut && strings.Trim(t, "0123456789-") == "" {
					continue // >&2
				}
				outs = append(outs, t)
			}
		case syntax.Hdoc, syntax.DashHdoc:
			in = stdin{known: true}
			if r.Hdoc != nil {
				in.text = s.text(r.Hdoc)
			}
			s.substitutions(r.Hdoc)
		case syntax.WordHdoc:
			in = stdin{text: strings.Join(s.words(r.Word), " "), known: true}
			s.substitutions(r.Word)
		}
		s.substitutions(r.Word)
	}
	for _, o := range outs {
		s.target(o)
	}
	toFile := slices.ContainsFunc(outs, func(o string) bool { return o != "/dev/null" && !strings.HasPrefix(o, "/dev/std") })
	if toFile && in.known {
		s.say(secrets(in.text))
	}
	s.cmd(st.Cmd, in, toFile)
}

func (s *shell) stmts(list []*syntax.Stmt, in stdin) {
	for _, st := range list {
		s.stmt(st, in)
	}
}

func (s *shell) cmd(c syntax.Command, in stdin, toFile bool) {
	switch c := c.(type) {
	case nil:
	case *syntax.CallExpr:
		for _, a := range c.Assigns {
			s.assign(a)
		}
		for _, w := range c.Args {
			s.substitutions(w)
		}
		if len(c.Args) > 0 {
			var argv []string
			for _, w := range c.Args {
				argv = append(argv, s.words(w)...)
			}
			for i, a := range argv {
				if i == 0 && strings.Contains(a, soft) {
					a = hole
				}
				argv[i] = strings.ReplaceAll(a, soft, "")
			}
			s.command(argv, in, toFile)
		}
	case *syntax.DeclClause:
		for _, a := range c.Args {
			s.assign(a)
		}
	case *syntax.BinaryCmd:
		if c.Op != syntax.Pipe && c.Op != syntax.PipeAll {
			s.stmt(c.X, in)
			s.stmt(c.Y, in)
			return
		}
		dir := s.dir // each side of a pipe is a shell of its own
		s.stmt(c.X, in)
		s.dir = dir
		out := s.output(c.X, in)
		s.stmt(c.Y, out)
		s.dir = dir
	case *syntax.Block:
		s.stmts(c.Stmts, in)
	case *syntax.Subshell:
		dir := s.dir
		s.stmts(c.Stmts, in)
		s.dir = dir
	case *syntax.IfClause:
		for i := c; i != nil; i = i.Else {
			s.stmts(i.Cond, in)
			s.stmts(i.Then, in)
		}
	case *syntax.WhileClause:
		s.stmts(c.Cond, in)
		s.stmts(c.Do, in)
	case *syntax.ForClause:
		if it, ok := c.Loop.(*syntax.WordIter); ok {
			var values []string
			for _, w := range it.Items {
				s.substitutions(w)
				values = append(values, s.words(w)...)
			}
			if len(values) == 0 {
				values = []string{hole}
			}
			for _, v := range values[:min(len(values), 32)] { // the body is read once for each value
				s.vars[it.Name.Value] = v
				s.stmts(c.Do, in)
			}
			return
		}
		s.stmts(c.Do, in)
	case *syntax.CaseClause:
		s.substitutions(c.Word)
		for _, it := range c.Items {
			s.stmts(it.Stmts, in)
		}
	case *syntax.FuncDecl:
		s.funcs[c.Name.Value] = c.Body
		s.stmt(c.Body, in)
	case *syntax.TimeClause:
		s.stmt(c.Stmt, in)
	case *syntax.CoprocClause:
		s.stmt(c.Stmt, in)
	default:
		s.substitutions(c)
	}
}

func (s *shell) assign(a *syntax.Assign) {
	if a.Value == nil {
		return
	}
	s.substitutions(a.Value)
	if a.Name != nil {
		v := strings.Join(s.fields(a.Value, false), " ")
		if len(v) > maxValue {
			v = hole
		}
		s.vars[a.Name.Value] = v
	}
}

// substitutions follows commands inside a word: $(...), `...`, <(...).
func (s *shell) substitutions(n syntax.Node) {
	if n == nil || n == (*syntax.Word)(nil) {
		return
	}
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst:
			dir := s.dir
			s.stmts(n.Stmts, stdin{})
			s.dir = dir
			return false
		case *syntax.ProcSubst:
			dir := s.dir
			s.stmts(n.Stmts, stdin{})
			s.dir = dir
			return false
		}
		return true
	})
}

// words expands a word as far as its values are known: braces, quotes, variables. What is not known is a hole.
func (s *shell) words(w *syntax.Word) []string { return s.fields(w, true) }

func (s *shell) fields(w *syntax.Word, split bool) []string {
	if w == nil {
		return nil
	}
	var out []string
	copied := *w
	for b, err := range expand.BracesSeq(nil, syntaxSplit(&copied)) {
		if err != nil { // more words than anybody writes on purpose: what they are is not known
			return append(out, hole)
		}
		cur, started := "", false
		for _, p := range b.Parts {
			text, quoted := s.part(p)
			if allArguments(p) { // "$@" is as many words as there are arguments
				quoted = false
			}
			if quoted || !split {
				cur, started = cur+text, true
				continue
			}
			pieces := strings.Split(text, " ")
			for i, piece := range pieces {
				if i > 0 && started {
					out = append(out, cur)
					cur, started = "", false
				}
				if piece != "" {
					cur, started = cur+piece, true
				}
			}
		}
		if started {
			out = append(out, cur)
		}
	}
	return out
}

// allArguments reports whether a part is "$@".
func allArguments(p syntax.WordPart) bool {
	q, ok := p.(*syntax.DblQuoted)
	if !ok || len(q.Parts) != 1 {
		return false
	}
	e, ok := q.Parts[0].(*syntax.ParamExp)
	return ok && e.Param != nil && e.Param.Value == "@"
}

func syntaxSplit(w *syntax.Word) *syntax.Word {
	syntax.SplitBraces(w)
	return w
}

// part is the text of a part of a word; quoted means that it is not split at spaces.
func (s *shell) part(p syntax.WordPart) (text string, quoted bool) {
	switch p := p.(type) {
	case *syntax.Lit:
		return unescape(p.Value), true
	case *syntax.SglQuoted:
		if p.Dollar {
			if v, _, err := expand.Format(nil, p.Value, nil); err == nil {
				return v, true
			}
		}
		return p.Value, true
	case *syntax.DblQuoted:
		var b strings.Builder
		for _, q := range p.Parts {
			if l, ok := q.(*syntax.Lit); ok {
				b.WriteString(unescapeQuoted(l.Value))
				continue
			}
			t, _ := s.part(q)
			b.WriteString(t)
		}
		return b.String(), true
	case *syntax.CmdSubst:
		if len(p.Stmts) == 1 {
			if out := s.output(p.Stmts[0], stdin{}); out.known && !strings.Contains(out.text, hole) {
				return soft + strings.TrimRight(out.text, "\n"), false
			}
		}
	case *syntax.ParamExp:
		if p.Param != nil && p.Exp == nil && p.Slice == nil && p.Repl == nil && p.Index == nil && !p.Length && !p.Excl {
			if v, ok := s.vars[p.Param.Value]; ok {
				return v, false
			}
		}
		if p.Exp != nil && p.Exp.Word != nil { // ${X:-git}: one of two values; the written one is looked at
			if v, ok := s.vars[p.Param.Value]; ok && v != "" {
				return v, false
			}
			return soft + strings.Join(s.fields(p.Exp.Word, false), " "), false
		}
	}
	return hole, true
}

func unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			i++
			if s[i] == '\n' {
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// unescapeQuoted knows what a backslash escapes between double quotes.
func unescapeQuoted(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && strings.IndexByte("$`\"\\\n", s[i+1]) >= 0 {
			i++
			if s[i] == '\n' {
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// text is a here-document as far as it is known.
func (s *shell) text(w *syntax.Word) string {
	var b strings.Builder
	for _, p := range w.Parts {
		if l, ok := p.(*syntax.Lit); ok {
			b.WriteString(l.Value)
			continue
		}
		t, _ := s.part(p)
		b.WriteString(t)
	}
	return b.String()
}

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
	return path.Join(s.dir, slashed) + strings.Repeat("/", btoi(strings.HasSuffix(slashed, "/")))
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
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
