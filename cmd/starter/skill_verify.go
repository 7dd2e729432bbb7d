package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"whetstone/activities"
	"whetstone/internal/linediff"
	"whetstone/run"
	"whetstone/service"
	"whetstone/skill"
	"whetstone/store"
)

const proposed = ".proposed"

// The states of a file, as `skill verify` and `skill list` name them.
const (
	stateAttested = "attested" // what was delivered last
	stateKept     = "kept"     // some other kept version
	stateEdited   = "edited"   // neither
	stateMissing  = "missing"  // not there
)

// verified is what `skill verify --json` prints.
type verified struct {
	Path     string     `json:"path"`
	Hash     string     `json:"hash"`
	Attested bool       `json:"attested"`
	RunID    string     `json:"run_id"`
	Version  *int       `json:"version"`
	State    string     `json:"state"`
	At       *time.Time `json:"at,omitempty"`      // of the delivery
	Against  *int       `json:"against,omitempty"` // the version that an edited file is compared with
	Added    int        `json:"added,omitempty"`   // lines
	Removed  int        `json:"removed,omitempty"`
	Files    []verified `json:"files,omitempty"` // of a package: every file; the fields above tell of the skill file, but for state and attested, which are of all
}

func (v verified) line() string {
	switch v.State {
	case stateAttested:
		return fmt.Sprintf("%s: attested: delivered by run %s at %s", v.Path, v.RunID, v.At.Local().Format("2006-01-02 15:04:05"))
	case stateKept:
		return fmt.Sprintf("%s: version %d, which is kept, but not what was delivered last", v.Path, *v.Version)
	case stateMissing:
		return v.Path + ": there is no such file"
	}
	s := v.Path + ": not ours: edited since"
	if v.Against != nil {
		s += fmt.Sprintf(" (against version %d: %d line(s) added, %d removed)", *v.Against, v.Added, v.Removed)
	}
	return s
}

func (a *app) skillVerifyCmd() *cobra.Command {
	return &cobra.Command{
		Use: "verify PATH|NAME", Short: "Tell whether a file is what was delivered last (exit 1 where it is not)", Args: cobra.ExactArgs(1),
		Long: "Compares the SHA-256 of the skill file, or of a staged proposal (PATH.proposed), with what is on record: what was delivered there last, or another kept\n" +
			"version, or neither.",
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			return a.with(ctx, func(s *service.Service) error {
				of, part := partOf(strings.TrimSuffix(args[0], proposed))
				path, vs, err := versionsOf(ctx, s, of)
				if err != nil {
					return err
				}
				var v verified
				switch file := activities.PathOf(path, part); {
				case strings.HasSuffix(args[0], proposed):
					v, err = verifyFile(ctx, s, file+proposed, part, vs)
				case part != skill.Main:
					v, err = verifyFile(ctx, s, file, part, vs)
				default:
					v, err = verify(ctx, s, path, vs)
				}
				if err != nil {
					return err
				}
				if a.json {
					err = a.printJSON(v)
				} else {
					err = a.print("%s\n", v.lines())
				}
				if err == nil && !v.Attested {
					return &exitError{code: exitFailed}
				}
				return err
			})
		},
	}
}

// partOf takes a reference of a skill apart into the skill's folder and the file's path in it.
func partOf(arg string) (of, part string) {
	dir, name := filepath.Split(filepath.Clean(arg))
	if dir = filepath.Clean(dir); filepath.Base(dir) == skill.ReferenceDir && exists(filepath.Join(filepath.Dir(dir), skill.Main)) {
		return filepath.Dir(dir), skill.ReferenceDir + "/" + name
	}
	return arg, skill.Main
}

func (v verified) lines() string {
	if len(v.Files) == 0 {
		return v.line()
	}
	var out []string
	for _, f := range v.Files {
		out = append(out, f.line())
	}
	return strings.Join(out, "\n")
}

// verify looks at every file of a skill.
func verify(ctx context.Context, s *service.Service, path string, vs []run.Version) (verified, error) {
	v, err := verifyFile(ctx, s, path, skill.Main, vs)
	if err != nil {
		return v, err
	}
	p, err := versionPackage(ctx, s, vs[0])
	if err != nil || p.Single() {
		return v, err
	}
	order := []string{stateAttested, stateKept, stateEdited, stateMissing}
	all := []verified{v}
	for _, x := range p.Parts[1:] {
		f, err := verifyFile(ctx, s, activities.PathOf(path, x.Path), x.Path, vs)
		if err != nil {
			return v, err
		}
		all = append(all, f)
		v.Attested = v.Attested && f.Attested
		if slices.Index(order, f.State) > slices.Index(order, v.State) {
			v.State = f.State
		}
	}
	v.Files = all
	return v, nil
}

// verifyFile compares a file, or a proposal, with what was delivered at its path and with the kept versions, latest first. part
// is its place in the package.
func verifyFile(ctx context.Context, s *service.Service, path, part string, vs []run.Version) (verified, error) {
	now, gone, err := present(path)
	if err != nil {
		return verified{}, fmt.Errorf("verify %s: %w", path, err)
	}
	if gone {
		return verified{Path: path, State: stateMissing}, nil
	}
	attested, err := s.Store.Attestations(ctx, path)
	if err != nil {
		return verified{}, err
	}
	v := verified{Path: path, Hash: skill.Hash(now), State: stateEdited}
	texts := make([]string, len(vs))
	for i, x := range vs {
		p, err := versionPackage(ctx, s, x)
		if err != nil {
			return v, err
		}
		texts[i], _ = p.Text(part)
		if v.Version == nil && skill.Hash(texts[i]) == v.Hash {
			v.Version, v.State, v.RunID = &vs[i].N, stateKept, x.RunID
		}
	}
	if len(attested) > 0 && attested[0].Hash == v.Hash {
		v.State, v.Attested, v.RunID, v.At = stateAttested, true, attested[0].RunID, &attested[0].At
	}
	if v.State != stateEdited {
		return v, nil
	}
	last := 0
	for i := range vs {
		if len(attested) > 0 && skill.Hash(texts[i]) == attested[0].Hash {
			last = i
			break
		}
	}
	if texts[last] == store.Withheld {
		return v, nil
	}
	v.Against = &vs[last].N
	v.Added, v.Removed = linediff.Stat(texts[last], now)
	return v, nil
}

// listed is a skill as `skill list --json` gives it.
type listed struct {
	Skill       string      `json:"skill"`
	Path        string      `json:"path"`
	Versions    int         `json:"versions"`
	LastRun     string      `json:"last_run"`
	LastOutcome run.Outcome `json:"last_outcome"`
	LastAt      *time.Time  `json:"last_at"`
	State       string      `json:"state"`  // see verified
	Latest      bool        `json:"latest"` // the file is the latest version that was not only staged
	Proposal    *string     `json:"proposal_path"`
}

func (a *app) skillListCmd() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the skills that were trained from this home", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx := cmd.Context()
			return a.with(ctx, func(s *service.Service) error {
				files, err := s.Store.Skills(ctx)
				if err != nil {
					return err
				}
				out := make([]listed, 0, len(files))
				for _, f := range files {
					l, err := list(ctx, s, f[0], f[1])
					if err != nil {
						return err
					}
					out = append(out, l)
				}
				if a.json {
					return a.printJSON(out)
				}
				if len(out) == 0 {
					return a.print("no skill was trained from this home yet\n")
				}
				w := tabwriter.NewWriter(a.stdout, 0, 4, 2, ' ', 0)
				_, _ = fmt.Fprintln(w, "SKILL\tVERSIONS\tLAST RUN\tOUTCOME\tFILE\tPROPOSAL\tPATH")
				for _, l := range out {
					at, file, proposal := "-", l.State, "-"
					if l.LastAt != nil {
						at = l.LastAt.Local().Format("2006-01-02 15:04")
					}
					if l.Latest {
						file = "latest"
					}
					if l.Proposal != nil {
						proposal = "staged"
					}
					_, _ = fmt.Fprintf(w, "%s\t%d\t%s\t%s\t%s\t%s\t%s\n", printable(l.Skill), l.Versions, at, cmp.Or(string(l.LastOutcome), "-"), file, proposal, printable(l.Path))
				}
				return w.Flush()
			})
		},
	}
}

func list(ctx context.Context, s *service.Service, key, path string) (listed, error) {
	vs, err := s.Store.VersionsAt(ctx, path)
	if err != nil {
		return listed{}, err
	}
	l := listed{Skill: key, Path: path, Versions: len(vs)}
	v, err := verify(ctx, s, l.Path, vs)
	if err != nil {
		return l, err
	}
	l.State = v.State
	for _, x := range vs {
		if x.How != "staged" {
			p, err := versionPackage(ctx, s, x)
			if err != nil {
				return l, err
			}
			now, _, err := inPlace(l.Path, p)
			if err != nil {
				return l, err
			}
			l.Latest = hashOf(now) == x.Hash
			break
		}
	}
	latest, err := versionPackage(ctx, s, vs[0])
	if err != nil {
		return l, err
	}
	for _, x := range latest.Parts {
		if p := activities.PathOf(l.Path, x.Path) + proposed; exists(p) {
			l.Proposal = &p
			break
		}
	}
	switch r, err := s.Store.LastRun(ctx, key, path); {
	case err == nil:
		l.LastRun, l.LastOutcome, l.LastAt = r.ID, r.Outcome, &r.StartedAt
	case !errors.Is(err, store.ErrNotFound):
		return l, err
	}
	return l, nil
}
