package guard

import (
	"path/filepath"
	"slices"
	"strings"

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
