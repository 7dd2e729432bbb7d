package guard

import (
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// removed answers for a name that is taken away with all that it holds: our own store, and the folders of a person's keys.
func (s *shell) removed(word string) {
	word = s.at(word)
	if word == "" || strings.Contains(word, hole) {
		return
	}
	dir, base := path.Split(strings.ReplaceAll(word, "\\", "/"))
	for _, k := range s.g.treasures() {
		if k.dir == "" {
			continue
		}
		inside := under(path.Clean(filepath.ToSlash(k.dir)), s.g.abs(word))
		if strings.ContainsAny(base, "*?[") {
			// A pattern that matches a folder above it, or everything in it.
			parent := s.g.abs(dir)
			if rest, ok := strings.CutPrefix(strings.ToLower(path.Clean(filepath.ToSlash(k.dir))), strings.ToLower(strings.TrimSuffix(parent, "/"))+"/"); ok {
				first, _, _ := strings.Cut(rest, "/")
				hit, err := path.Match(strings.ToLower(base), first)
				inside = err == nil && hit && (strings.HasPrefix(base, ".") || !strings.HasPrefix(first, "."))
			}
			inside = inside || strings.EqualFold(parent, path.Clean(filepath.ToSlash(k.dir))) && strings.Trim(base, "*") == ""
		}
		if inside {
			s.say(Verdict{Deny, k.rule, word + " holds " + k.what})
		}
	}
}

type treasure struct{ dir, rule, what string }

func (g *Guard) treasures() []treasure {
	list := []treasure{{g.o.Store, "store-file", "Whetstone's own files"}}
	if g.o.User != "" {
		list = append(list, treasure{path.Join(filepath.ToSlash(g.o.User), ".ssh"), "private-key", "private keys"}, treasure{path.Join(filepath.ToSlash(g.o.User), ".gnupg"), "private-key", "private keys"})
	}
	return list
}

// find answers for what find does with what it finds: the names that it looks for stand for the files.
func (s *shell) find(args []string) {
	var from, names []string
	for i, a := range args {
		if strings.HasPrefix(a, "-") || a == "(" || a == "!" {
			break
		}
		from = append(from, args[i])
	}
	for i, a := range args {
		if slices.Contains([]string{"-name", "-iname", "-path", "-ipath", "-wholename"}, a) && i+1 < len(args) {
			names = append(names, strings.TrimPrefix(args[i+1], "*/"))
		}
	}
	if len(names) == 0 {
		names = from
	}
	if slices.Contains(args, "-delete") {
		for _, n := range names {
			s.target(n)
			s.removed(n)
		}
	}
	for i, a := range args {
		if !slices.Contains([]string{"-exec", "-execdir", "-ok", "-okdir"}, a) || i+1 >= len(args) {
			continue
		}
		end := slices.IndexFunc(args[i+1:], func(x string) bool { return x == ";" || x == "+" })
		if end < 0 {
			end = len(args) - i - 1
		}
		argv := args[i+1 : i+1+end]
		if !slices.ContainsFunc(argv, func(x string) bool { return strings.Contains(x, "{}") }) {
			s.command(argv, stdin{}, false)
			continue
		}
		for _, n := range names[:min(len(names), 20)] {
			each := make([]string, len(argv))
			for j, x := range argv {
				each[j] = strings.ReplaceAll(x, "{}", n)
			}
			s.command(each, stdin{}, false)
		}
		if len(names) == 0 {
			s.command(argv, stdin{}, false)
		}
	}
}

// afterHost is the command that ssh is given, without its options and the host.
func afterHost(args []string) []string {
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case strings.HasPrefix(a, "-") && len(a) == 2 && strings.Contains("bcDEeFIiJLlmOopQRSWw", a[1:]):
			i++
		case strings.HasPrefix(a, "-"):
		default:
			return args[i+1:]
		}
	}
	return nil
}
