package guard

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"whetstone/internal/late"
	"whetstone/learning"
)

// file answers for an edit of one file, by its name as written and by what a symbolic link makes of it.
func (g *Guard) file(name string) Verdict {
	abs := g.abs(name)
	v := g.named(abs)
	if g.o.Resolve != nil {
		if real := g.o.Resolve(abs); real != "" && real != abs {
			v = v.stronger(g.named(real))
		}
	}
	return v
}

func (g *Guard) abs(name string) string {
	name = filepath.ToSlash(name)
	if rest, ok := strings.CutPrefix(name, "~/"); ok {
		name = path.Join(filepath.ToSlash(g.o.User), rest)
	}
	if !path.IsAbs(name) && filepath.VolumeName(name) == "" {
		name = path.Join(filepath.ToSlash(g.o.Dir), name)
	}
	return path.Clean(name)
}

// under reports whether a path lies in a folder or is it, ignoring case: on two of three systems that is one file.
func under(p, dir string) bool {
	if dir == "" {
		return false
	}
	p, dir = strings.ToLower(p), strings.ToLower(path.Clean(filepath.ToSlash(dir)))
	return p == dir || strings.HasPrefix(p, strings.TrimSuffix(dir, "/")+"/")
}

var (
	envFile    = late.Regexp(`^\.env(\..*|rc)?$`)
	envSample  = late.Regexp(`^\.env\.(.*\.)?(example|sample|template|dist)$`)
	keyName    = late.Regexp(`^id_(rsa|dsa|ecdsa|ed25519)(_sk)?$|\.(key|p12|pfx)$`)
	keyHeader  = late.Regexp(`-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY`)
	here       = late.Regexp(`@(?:localhost|127\.0\.0\.1|\[::1\]|db|database|postgres|mysql|mariadb|mongo|redis|rabbitmq|host\.docker\.internal)\b`)
	skillsFile = "skill.md"
)

func (g *Guard) named(p string) Verdict {
	base := strings.ToLower(path.Base(p))
	parts := strings.Split(strings.ToLower(p), "/")
	switch {
	case g.o.Store != "" && under(p, g.o.Store) && !under(p, g.o.Store+"/wikis"):
		if under(p, g.o.Store+"/config.yaml") {
			return Verdict{Ask, "store-file", "config.yaml is Whetstone's own configuration"}
		}
		return Verdict{Deny, "store-file", p + " is one of Whetstone's own files"}
	case slices.Contains(parts, ".git"):
		return Verdict{Deny, "git-dir", p + " is inside .git"}
	case envFile().MatchString(base) && !envSample().MatchString(base):
		return Verdict{Deny, "env-file", p + " holds an environment's secrets"}
	case keyName().MatchString(base):
		return Verdict{Deny, "private-key", p + " is a private key by its name"}
	case strings.HasSuffix(base, ".pem"):
		return Verdict{Ask, "private-key", p + " may be a private key"}
	case base == skillsFile && g.o.Training != nil:
		paths, err := g.o.Training()
		if err != nil {
			return Verdict{Deny, "skill-in-run", "it can not be told whether a run is optimizing " + p + ": " + err.Error()}
		}
		for _, t := range paths {
			if strings.EqualFold(path.Clean(filepath.ToSlash(t)), p) || g.o.Resolve != nil && g.o.Resolve(filepath.ToSlash(t)) == p {
				return Verdict{Deny, "skill-in-run", p + " is being optimized by a run just now: wait for it, or stop it with `starter runs stop`"}
			}
		}
	}
	rel := p
	if under(p, g.o.Dir) && len(p) > len(path.Clean(filepath.ToSlash(g.o.Dir))) {
		rel = strings.TrimPrefix(p[len(path.Clean(filepath.ToSlash(g.o.Dir))):], "/")
	}
	for _, re := range g.deny {
		if re.MatchString(rel) || re.MatchString(p) {
			return Verdict{Deny, "pattern", p + " is guarded by the configuration"}
		}
	}
	for _, re := range g.ask {
		if re.MatchString(rel) || re.MatchString(p) {
			return Verdict{Ask, "pattern", p + " is guarded by the configuration"}
		}
	}
	return Verdict{}
}

// samples are names that a pattern of a shell could stand for.
var samples = []string{".env", ".envrc", ".env.local", ".env.production", "id_rsa", "id_ed25519", "id_ecdsa", "id_dsa", "server.key", "a.p12", "a.pfx", "a.pem", ".git"}

// globbed answers for a word with wildcards: for the names that it matches and that are guarded.
func (g *Guard) globbed(word string) Verdict {
	dir, base := path.Split(filepath.ToSlash(word))
	if strings.Trim(base, "*") == "" {
		if dir = strings.TrimSuffix(dir, "/"); dir == "" {
			return Verdict{} // everything here: what is guarded is not meant
		}
		return g.file(dir)
	}
	var v Verdict
	for _, s := range samples {
		if strings.HasPrefix(s, ".") && !strings.HasPrefix(base, ".") {
			continue // as in a shell, * does not match a leading dot
		}
		if ok, err := path.Match(strings.ToLower(base), s); err == nil && ok {
			v = v.stronger(g.file(dir + s))
		}
	}
	return v.stronger(g.file(word))
}

// secrets answers for a text about to be written.
func secrets(text string) Verdict {
	if text == "" {
		return Verdict{}
	}
	if keyHeader().MatchString(text) {
		return Verdict{Deny, "private-key", "the text holds a private key"}
	}
	_, kinds := learning.Redact(text)
	v := Verdict{}
	for kind := range kinds {
		switch kind {
		case "connection-string":
			if here().MatchString(text) { // everybody's password of a database on this machine
				v = v.stronger(Verdict{Ask, "secret-content", "the text looks as if it held a secret (" + kind + ")"})
				continue
			}
			v = v.stronger(Verdict{Deny, "secret-content", "the text holds a secret (" + kind + ")"})
		case "assignment", "cookie", "command-line", "signature":
			v = v.stronger(Verdict{Ask, "secret-content", "the text looks as if it held a secret (" + kind + ")"})
		default:
			v = v.stronger(Verdict{Deny, "secret-content", "the text holds a secret (" + kind + ")"})
		}
	}
	return v
}
