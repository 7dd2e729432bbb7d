package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"whetstone/hook/host"
	"whetstone/install"
)

func (a *app) hookCmd() *cobra.Command {
	cmd := &cobra.Command{Use: "hook", Short: "Register the hook with your coding agents", Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	cmd.AddCommand(a.hookInstallCmd(), a.hookUninstallCmd(), a.hookStatusCmd())
	return cmd
}

// hookFlags are shared by the commands.
type hookFlags struct {
	hosts   []string
	project bool
	binary  string
}

func (h *hookFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringSliceVar(&h.hosts, "host", nil, "claude, codex, cursor, gemini, copilot, opencode; several with commas")
	cmd.Flags().BoolVar(&h.project, "project", false, "for the project in this folder, not for all of your work")
	cmd.Flags().StringVar(&h.binary, "binary", "", "the whetstone-hook to register (default: the one beside starter, or the one in PATH)")
}

func (a *app) hookOptions(h hookFlags, guards bool) ([]install.Options, error) {
	user := a.getenv("HOME")
	if user == "" {
		var err error
		if user, err = os.UserHomeDir(); err != nil {
			return nil, fmt.Errorf("find your home folder: %w", err)
		}
	}
	for _, name := range h.hosts {
		if !slices.Contains(host.Names(), name) {
			return nil, usage("--host %s: want one of %s", name, strings.Join(host.Names(), ", "))
		}
	}
	project := ""
	if h.project {
		var err error
		if project, err = os.Getwd(); err != nil {
			return nil, fmt.Errorf("find this folder: %w", err)
		}
	}
	homeDir := ""
	if a.home != "" {
		var err error
		if homeDir, err = filepath.Abs(a.home); err != nil {
			return nil, fmt.Errorf("find the home folder: %w", err)
		}
	}
	var out []install.Options
	for _, name := range h.hosts {
		out = append(out, install.Options{Host: name, Project: project, User: user, Binary: h.binary, Guards: guards, Home: homeDir})
	}
	return out, nil
}

// findBinary finds whetstone-hook: as told, beside this program, or in PATH.
func findBinary(told string) (string, error) {
	name := "whetstone-hook"
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	if told != "" {
		return filepath.Abs(told)
	}
	if self, err := os.Executable(); err == nil {
		if real, err := filepath.EvalSymlinks(self); err == nil {
			self = real
		}
		beside := filepath.Join(filepath.Dir(self), name)
		if _, err := os.Stat(beside); err == nil {
			return beside, nil
		}
	}
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		if p := filepath.Join(dir, name); dir != "" {
			if info, err := os.Stat(p); err == nil && info.Mode().IsRegular() {
				return filepath.Abs(p)
			}
		}
	}
	return "", usage("whetstone-hook is neither beside this program nor in PATH: build it with `make build`, or name it with --binary")
}

func (a *app) hookInstallCmd() *cobra.Command {
	var h hookFlags
	var guards bool
	cmd := &cobra.Command{
		Use: "install --host NAME", Short: "Register the hook; doing it again changes nothing", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if len(h.hosts) == 0 {
				return usage("which agent? --host %s", strings.Join(host.Names(), ", "))
			}
			var err error
			if h.binary, err = findBinary(h.binary); err != nil {
				return err
			}
			list, err := a.hookOptions(h, guards)
			if err != nil {
				return err
			}
			return a.eachHost(list, func(o install.Options) (install.Result, error) { return install.Install(o) }, "registered", "is registered already", false)
		},
	}
	h.add(cmd)
	cmd.Flags().BoolVar(&guards, "guards", false, "also deny destructive git commands, edits of secrets and the like (docs/hook.md)")
	return cmd
}

func (a *app) hookUninstallCmd() *cobra.Command {
	var h hookFlags
	cmd := &cobra.Command{
		Use: "uninstall --host NAME", Short: "Take the hook out again", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if len(h.hosts) == 0 {
				return usage("which agent? --host %s", strings.Join(host.Names(), ", "))
			}
			list, err := a.hookOptions(h, false)
			if err != nil {
				return err
			}
			return a.eachHost(list, install.Uninstall, "taken out", "was not registered", true)
		},
	}
	h.add(cmd)
	return cmd
}

func (a *app) eachHost(list []install.Options, f func(install.Options) (install.Result, error), did, nothing string, taken bool) error {
	var results []install.Result
	var errs []error
	for _, o := range list {
		r, err := f(o)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		results = append(results, r)
	}
	if a.json {
		if results == nil {
			results = []install.Result{}
		}
		if err := a.printJSON(results); err != nil {
			return err
		}
	} else {
		for _, r := range results {
			what := did
			if !r.Changed {
				what = nothing
			}
			if err := a.print("%s: %s in %s\n", r.Host, what, r.Path); err != nil {
				return err
			}
			if r.Backup != "" {
				a.note("  the file as it was is kept in %s", r.Backup)
			}
			switch {
			case r.Rules == "":
			case taken:
				a.note("  the lines that told the agent how a correction is kept were taken out of %s", r.Rules)
			default:
				a.note("  %s tells the agent how a correction is kept", r.Rules)
			}
			for _, n := range r.Notes {
				a.note("  %s", n)
			}
		}
	}
	return errors.Join(errs...)
}

func (a *app) hookStatusCmd() *cobra.Command {
	var h hookFlags
	cmd := &cobra.Command{
		Use: "status", Short: "Prove that the hook is live, of this version, and registered once", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			asked := len(h.hosts) > 0
			if !asked {
				h.hosts = host.Names()
			}
			list, err := a.hookOptions(h, false)
			if err != nil {
				return err
			}
			out := []install.Status{}
			bad := false
			for _, o := range list {
				s := install.Look(cmd.Context(), o, buildVersion())
				if !s.Installed && len(s.Problems) == 0 && !asked {
					continue
				}
				bad = bad || asked && !s.Installed || len(s.Problems) > 0
				out = append(out, s)
			}
			if a.json {
				if err := a.printJSON(out); err != nil {
					return err
				}
			} else if err := a.printStatus(out); err != nil {
				return err
			}
			if bad {
				return &exitError{code: exitFailed}
			}
			return nil
		},
	}
	h.add(cmd)
	return cmd
}

func (a *app) printStatus(list []install.Status) error {
	if len(list) == 0 {
		return a.print("the hook is registered with no agent: `starter hook install --host NAME`\n")
	}
	for _, s := range list {
		if err := a.print("%s\n", statusLine(s)); err != nil {
			return err
		}
		for _, p := range s.Problems {
			if err := a.print("  %s\n", p); err != nil {
				return err
			}
		}
	}
	return nil
}

func statusLine(s install.Status) string {
	if !s.Installed {
		return s.Host + ": not registered in " + s.Path
	}
	line := s.Host + ": registered in " + s.Path + " for " + strings.Join(s.Events, ", ")
	if s.Guards {
		line += ", with guards"
	}
	if s.Live {
		line += "; it answers (" + s.Version + ")"
	} else {
		line += "; it does not answer"
	}
	return line
}

func buildVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "unknown"
}
