package guard

import (
	"slices"
	"strings"
)

// git answers for a git command. Aliases that the command line itself defines count as what they name.
func (s *shell) git(args []string) {
	aliases := map[string]string{}
	for len(args) > 0 {
		a := args[0]
		switch {
		case (a == "-C" || a == "--git-dir" || a == "--work-tree" || a == "--namespace" || a == "--exec-path" || a == "--super-prefix" || a == "--config-env") && len(args) > 1:
			args = args[2:]
		case a == "-c" && len(args) > 1:
			if k, v, ok := strings.Cut(args[1], "="); ok && strings.HasPrefix(strings.ToLower(k), "alias.") {
				aliases[strings.ToLower(k[len("alias."):])] = v
			}
			args = args[2:]
		case strings.HasPrefix(a, "-"):
			args = args[1:]
		default:
			s.subcommand(a, args[1:], aliases)
			return
		}
	}
}

func (s *shell) subcommand(name string, args []string, aliases map[string]string) {
	if v, ok := aliases[strings.ToLower(name)]; ok && s.depth < maxDepth {
		if script, ok := strings.CutPrefix(v, "!"); ok {
			s.inner(script)
			return
		}
		words := strings.Fields(v)
		if len(words) > 0 {
			s.depth++
			s.subcommand(words[0], append(words[1:], args...), aliases)
			s.depth--
		}
		return
	}
	switch name {
	case "push":
		s.push(args)
	case "reset":
		if has(args, "", "--hard", 4) {
			s.say(Verdict{Deny, "reset-hard", "git reset --hard throws changes away"})
		}
	case "clean":
		if has(args, "f", "--force", 4) && !has(args, "n", "--dry-run", 4) {
			s.say(Verdict{Deny, "clean", "git clean -f deletes files that git does not know"})
		}
	case "branch":
		if has(args, "D", "", 0) || has(args, "d", "--delete", 5) && has(args, "f", "--force", 4) {
			s.say(Verdict{Deny, "branch-delete", "git branch -D deletes a branch that may not be merged"})
		}
	case "mv":
		s.copying("mv", args)
	case "checkout", "restore":
		// With paths, it overwrites them; whether the first word is a branch or a path, git decides by looking.
		plain, flags := split(args)
		for _, p := range plain {
			if strings.Contains(p, ".") && !(name == "restore" && slices.Contains(flags, "--staged") && !slices.Contains(flags, "--worktree")) {
				s.target(p)
			}
		}
	case "submodule":
		if i := slices.Index(args, "foreach"); i >= 0 {
			rest := args[i+1:]
			for len(rest) > 0 && strings.HasPrefix(rest[0], "-") {
				rest = rest[1:]
			}
			s.inner(strings.Join(rest, " "))
		}
	case "rebase":
		for i, a := range args {
			if (a == "-x" || a == "--exec") && i+1 < len(args) {
				s.inner(args[i+1])
			} else if c, ok := strings.CutPrefix(a, "--exec="); ok {
				s.inner(c)
			}
		}
	case "bisect":
		if len(args) > 1 && args[0] == "run" {
			s.command(args[1:], stdin{}, false)
		}
	case "filter-branch":
		for i, a := range args {
			if strings.HasSuffix(a, "-filter") && i+1 < len(args) {
				s.inner(args[i+1])
			}
		}
	case "rm":
		plain, flags := split(args)
		for _, f := range flags {
			if f == "--cached" || f == "-n" || f == "--dry-run" {
				return
			}
		}
		for _, p := range plain {
			s.target(p)
		}
	}
}

func (s *shell) push(args []string) {
	lease, force := false, false
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case a == "-o" || a == "--push-option" || a == "--receive-pack" || a == "--exec" || a == "--repo":
			i++
		case strings.HasPrefix(a, "--force-with-lease"):
			lease = true
		case strings.HasPrefix(a, "--force-if-includes"):
		case a == "--force" || a == "--mirror":
			force = true
		case a == "--delete" || len(a) >= 5 && strings.HasPrefix("--delete", a):
			s.say(Verdict{Deny, "branch-delete", "git push --delete deletes a branch of the remote"})
		case strings.HasPrefix(a, "-") && !strings.HasPrefix(a, "--"):
			force = force || strings.Contains(a, "f")
			if strings.Contains(a, "d") {
				s.say(Verdict{Deny, "branch-delete", "git push -d deletes a branch of the remote"})
			}
		}
	}
	plain, _ := split(args)
	for _, ref := range plain {
		switch {
		case strings.HasPrefix(ref, "+") && !lease:
			force = true
		case strings.HasPrefix(ref, ":") && len(ref) > 1:
			s.say(Verdict{Deny, "branch-delete", "git push " + ref + " deletes a branch of the remote"})
		}
	}
	if force {
		s.say(Verdict{Deny, "force-push", "a forced push overwrites what others pushed: use --force-with-lease"})
	}
}

// has looks for a short option, alone or combined, and a long one, which git lets people shorten to minimum characters.
func has(args []string, short, long string, minimum int) bool {
	for _, a := range args {
		switch {
		case a == "--":
			return false
		case strings.HasPrefix(a, "--"):
			if long != "" && len(a) >= minimum && strings.HasPrefix(long, a) && len(a) > 2 {
				return true
			}
		case strings.HasPrefix(a, "-") && short != "" && strings.Contains(a[1:], short):
			return true
		}
	}
	return false
}
