package guard

import (
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

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
