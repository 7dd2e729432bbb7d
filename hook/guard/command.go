package guard

import (
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"whetstone/internal/late"
)

// wrappers start another command. The value lists the options that take an argument of their own.
var wrappers = map[string]string{
	"sudo": "ugCDhpRrTtU", "doas": "uC", "command": "", "builtin": "", "exec": "a", "env": "uCS", "nohup": "", "nice": "n", "ionice": "cn", "time": "fo", "timeout": "ks",
	"xargs": "IiLnPsdEa", "setsid": "", "stdbuf": "ioe", "busybox": "", "chronic": "", "unbuffer": "", "caffeinate": "tw", "flock": "wE", "then": "", "do": "", "parallel": "jNS",
	"strace": "eopsaESuP", "ltrace": "eopsau", "taskset": "", "chroot": "", "runuser": "ugG", "unshare": "", "firejail": "", "doppler": "", "op": "", "dotenv": "ef", "rlwrap": "", "numactl": "", "chrt": "", "prlimit": "",
}

var shells = map[string]bool{"sh": true, "bash": true, "zsh": true, "dash": true, "ksh": true, "ash": true, "fish": true, "mksh": true}

// command answers for one simple command whose words are expanded as far as they are known.
func (s *shell) command(argv []string, in stdin, toFile bool) {
	for len(argv) > 0 {
		name := argv[0]
		if strings.Contains(name, hole) {
			reason := "the command word is only known when it runs"
			if namesAct(strings.Join(argv[1:], " ")) {
				reason = visible + ", and its command word is only known when it runs"
			}
			s.say(Verdict{Ask, unresolved, reason})
			return
		}
		name = strings.TrimSuffix(path.Base(strings.ReplaceAll(name, `\`, "/")), ".exe")
		values, isWrapper := wrappers[name]
		if !isWrapper {
			s.program(name, argv[1:], in, toFile)
			return
		}
		argv = s.unwrap(name, values, argv[1:])
		if (name == "xargs" || name == "parallel") && len(argv) > 0 { // what it reads becomes arguments
			more := []string{hole}
			if in.known {
				more = strings.Fields(in.text)
			}
			argv = append(slices.Clone(argv), more...)
		}
	}
}

// unwrap skips a wrapper's own options and gives the command that it starts.
func (s *shell) unwrap(name, values string, argv []string) []string {
	for len(argv) > 0 {
		a := argv[0]
		switch {
		case a == "--":
			return argv[1:]
		case name == "env" && (a == "-S" || a == "--split-string") && len(argv) > 1:
			s.inner(strings.Join(argv[1:], " "))
			return nil
		case name == "command" && (a == "-v" || a == "-V"):
			return nil // it only tells where the command is
		case strings.HasPrefix(a, "--"):
			argv = argv[1:]
		case strings.HasPrefix(a, "-") && len(a) > 1:
			argv = argv[1:]
			if strings.IndexByte(values, a[len(a)-1]) >= 0 && len(a) == 2 && len(argv) > 0 {
				argv = argv[1:]
			}
		case (name == "env" || name == "sudo") && assignment().MatchString(a):
			argv = argv[1:]
		case name == "timeout" || name == "flock" || name == "chroot" || name == "taskset":
			if name == "flock" && len(argv) > 2 && (argv[1] == "-c" || argv[1] == "--command") {
				s.inner(argv[2])
				return nil
			}
			return argv[1:] // how long, which file, where, on what
		default:
			return argv
		}
	}
	return argv
}

var assignment = late.Regexp(`^[A-Za-z_][A-Za-z0-9_]*=`)

// program answers for a program with its arguments.
func (s *shell) program(name string, args []string, in stdin, toFile bool) {
	plain, flags := split(args)
	switch {
	case name == "git":
		s.git(args)
	case shells[name]:
		s.interpreter(args, in)
	case name == "cd" || name == "pushd":
		s.cd(plain)
	case name == "popd":
		s.dir = hole
	case s.funcs[name] != nil && s.depth < maxDepth:
		sub := s.inside()
		sub.vars = maps.Clone(s.vars)
		sub.vars["@"], sub.vars["*"] = strings.Join(args, " "), strings.Join(args, " ")
		for i, a := range args[:min(len(args), 9)] {
			sub.vars[strconv.Itoa(i+1)] = a
		}
		sub.stmt(s.funcs[name], in)
		s.say(sub.v)
	case name == "su" || name == "script":
		for i, a := range args {
			if (a == "-c" || a == "--command") && i+1 < len(args) {
				s.inner(args[i+1])
			}
		}
	case name == "trap" && len(plain) > 1:
		s.inner(plain[0])
	case name == "watch":
		if words := withoutValues(args, "n", "-interval"); len(words) > 0 {
			s.inner(strings.Join(words, " "))
		}
	case name == "ssh":
		if words := afterHost(args); len(words) > 0 {
			s.inner(strings.Join(words, " "))
		}
	case name == "sponge" || name == "ed" || name == "ex" || name == "patch":
		for _, p := range plain {
			s.target(p)
		}
	case name == "sort":
		for i, a := range args {
			if a == "-o" && i+1 < len(args) {
				s.target(args[i+1])
			} else if f, ok := strings.CutPrefix(a, "--output="); ok {
				s.target(f)
			}
		}
	case name == "yq" || name == "awk" || name == "gawk":
		inPlace := name == "yq" && slices.ContainsFunc(flags, func(f string) bool { return f == "-i" || f == "--inplace" || f == "-yi" }) ||
			name != "yq" && slices.Contains(args, "inplace")
		for _, p := range plain {
			if inPlace {
				s.target(p)
			}
		}
	case name == "sqlite3":
		if !slices.Contains(flags, "-readonly") && len(plain) > 0 && s.g.o.Store != "" {
			if at := s.at(plain[0]); !strings.Contains(at, hole) && under(s.g.abs(at), s.g.o.Store) {
				s.target(plain[0])
			}
		}
	case name == "eval":
		text := strings.Join(args, " ")
		if strings.Contains(text, hole) {
			reason := "eval of what is only known when it runs"
			if namesAct(text) {
				reason = visible + ", in an eval"
			}
			s.say(Verdict{Ask, unresolved, reason})
			return
		}
		s.inner(text)
	case name == "rm" || name == "unlink" || name == "shred" || name == "rmdir" || name == "touch":
		for _, p := range plain {
			s.target(p)
			if name == "rm" || name == "rmdir" {
				s.removed(p)
			}
		}
	case name == "tee":
		for _, p := range plain {
			s.target(p)
		}
		if in.known && len(plain) > 0 {
			s.say(secrets(in.text))
		}
	case name == "truncate":
		for _, p := range withoutValues(args, "s", "r", "-size", "-reference") {
			s.target(p)
		}
	case name == "dd":
		for _, a := range args {
			if f, ok := strings.CutPrefix(a, "of="); ok {
				s.target(f)
			}
		}
	case name == "sed" || name == "gsed":
		if !slices.ContainsFunc(flags, func(f string) bool {
			return strings.HasPrefix(f, "--in-place") || !strings.HasPrefix(f, "--") && strings.Contains(f, "i")
		}) {
			return
		}
		files := withoutValues(args, "e", "f", "-expression", "-file")
		if !slices.ContainsFunc(flags, func(f string) bool {
			return f == "-e" || f == "-f" || strings.HasPrefix(f, "--expression") || strings.HasPrefix(f, "--file")
		}) && len(files) > 0 {
			files = files[1:] // the script
		}
		for _, f := range files {
			s.target(f)
		}
	case name == "perl" || name == "ruby":
		if slices.ContainsFunc(flags, func(f string) bool { return !strings.HasPrefix(f, "--") && strings.Contains(f, "i") }) {
			for _, f := range withoutValues(args, "e", "pe", "ne", "pie", "pi.bak -e") {
				s.target(f)
			}
		}
	case name == "cp" || name == "mv" || name == "install" || name == "ln" || name == "rsync":
		s.copying(name, args)
	case name == "curl" || name == "wget":
		for i, a := range args {
			if (a == "-o" || a == "--output" || a == "-O" && name == "wget" || a == "--output-document") && i+1 < len(args) {
				s.target(args[i+1])
			}
		}
	case name == "find" || name == "fd":
		s.find(args)
	case name == "apply_patch":
		text := in.text
		if len(plain) > 0 {
			text = plain[0]
		}
		for _, w := range patchWrites(text) {
			s.target(w.path)
			s.say(secrets(w.text))
		}
	case (name == "echo" || name == "printf") && toFile:
		s.say(secrets(strings.Join(args, " ")))
	}
}

// interpreter answers for a shell that is started: its -c text, the script it reads from standard input, or a file, which is
// an ordinary command.
func (s *shell) interpreter(args []string, in stdin) {
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case !strings.HasPrefix(a, "-") && !strings.HasPrefix(a, "+"):
			return // a script
		case strings.HasPrefix(a, "--"):
			continue
		case a == "-o" || a == "-O" || a == "+o" || a == "+O":
			i++
		case strings.HasPrefix(a, "-") && !strings.Contains(a, "c") && strings.HasSuffix(a, "o"):
			i++ // -euo pipefail
		case strings.Contains(a, "c"):
			for i+1 < len(args) && strings.HasPrefix(args[i+1], "-") {
				i++
			}
			if i+1 >= len(args) {
				return
			}
			if text := args[i+1]; !strings.Contains(text, hole) {
				s.inner(text)
			} else {
				s.partly(text)
			}
			return
		case strings.Contains(a, "s"):
			i = len(args)
		}
	}
	switch {
	case in.known && strings.Contains(in.text, hole):
		s.partly(in.text)
	case in.known:
		s.inner(in.text)
	case in.piped:
		s.say(Verdict{Ask, unresolved, "a shell is fed with what another command prints"})
	}
}

// partly answers for a script of which only parts are known: what is known is read, and the rest must be asked for where it
// could be a command word.
func (s *shell) partly(text string) {
	const name = "__whetstone_unknown"
	sub := s.inside()
	s.say(sub.run(strings.ReplaceAll(text, hole, "$"+name)))
}

// copying answers for programs whose last argument is where they write to.
func (s *shell) copying(name string, args []string) {
	into := ""
	var plain []string
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case (a == "-t" || a == "--target-directory") && i+1 < len(args):
			into = args[i+1]
			i++
		case strings.HasPrefix(a, "--target-directory="):
			into = strings.TrimPrefix(a, "--target-directory=")
		case name == "install" && (a == "-m" || a == "-o" || a == "-g" || a == "--mode" || a == "--owner" || a == "--group"):
			i++
		case strings.HasPrefix(a, "-") && len(a) > 1:
		default:
			plain = append(plain, a)
		}
	}
	if into == "" {
		if len(plain) < 2 {
			return
		}
		into, plain = plain[len(plain)-1], plain[:len(plain)-1]
	}
	s.target(into)
	for _, from := range plain {
		if name == "mv" {
			s.target(from) // it is gone afterwards
			s.removed(from)
		}
		if strings.HasSuffix(into, "/") || into == "." || into == ".." || len(plain) > 1 {
			s.target(strings.TrimSuffix(into, "/") + "/" + path.Base(from))
		}
	}
}

// split tells plain arguments from options; after "--" all are plain.
func split(args []string) (plain, flags []string) {
	for i, a := range args {
		switch {
		case a == "--":
			return append(plain, args[i+1:]...), flags
		case strings.HasPrefix(a, "-") && len(a) > 1:
			flags = append(flags, a)
		default:
			plain = append(plain, a)
		}
	}
	return plain, flags
}

// withoutValues gives the plain arguments, without those that belong to an option.
func withoutValues(args []string, options ...string) []string {
	var out []string
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case a == "--":
			return append(out, args[i+1:]...)
		case strings.HasPrefix(a, "-") && len(a) > 1:
			if slices.Contains(options, a[1:]) || !strings.HasPrefix(a, "--") && len(a) > 2 && slices.Contains(options, a[len(a)-1:]) && a[len(a)-1] == 'e' {
				i++
			}
		default:
			out = append(out, a)
		}
	}
	return out
}

// namesAct looks for guarded acts in a text that can not be read as a command.
var act = late.Regexp(`push\b.*(\s-\w*f|\s--force(\s|$)|\s\+\S|\s:\S|\s--delete|\s-d\b)|reset\b.*\s--hard|clean\b.*(\s-\w*f|\s--force)|branch\b.*\s-\w*D|(^|[\s/'"=>])\.env(rc|\.|\b)|\.git/|id_rsa|id_ed25519`)

func namesAct(text string) bool { return act().MatchString(text) }
