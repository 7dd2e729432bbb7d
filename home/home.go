// Package home says where Whetstone keeps its state and what the files there are called. It creates folders and nothing
// else.
package home

import (
	"fmt"
	"os"
	"path/filepath"
)

// Dir is a home folder.
type Dir string

// Find chooses the home: the flag's value if given, else WHETSTONE_HOME, else ~/.whetstone.
func Find(flag string, getenv func(string) string) (Dir, error) {
	for _, d := range []string{flag, getenv("WHETSTONE_HOME")} {
		if d != "" {
			abs, err := filepath.Abs(d)
			if err != nil {
				return "", fmt.Errorf("find home %s: %w", d, err)
			}
			return Dir(abs), nil
		}
	}
	user := getenv("HOME")
	if user == "" {
		var err error
		if user, err = os.UserHomeDir(); err != nil {
			return "", fmt.Errorf("find home: %w: set WHETSTONE_HOME", err)
		}
	}
	return Dir(filepath.Join(user, ".whetstone")), nil
}

// Create makes the home and its folders, readable by the person only. A home that exists with a wider mode keeps its
// files closed anyway: each is created 0600.
func (d Dir) Create() error {
	for _, p := range []string{string(d), d.Spool()} {
		if err := os.MkdirAll(p, 0o700); err != nil {
			return fmt.Errorf("create home: %w: choose another folder with --home or WHETSTONE_HOME", err)
		}
	}
	return nil
}

// Database is data.db.
func (d Dir) Database() string { return filepath.Join(string(d), "data.db") }

// Spool holds captures that could not reach the database.
func (d Dir) Spool() string { return filepath.Join(string(d), "spool") }

// KillFile stops every run while it exists.
func (d Dir) KillFile() string { return filepath.Join(string(d), "STOP") }

// Config is config.yaml.
func (d Dir) Config() string { return filepath.Join(string(d), "config.yaml") }

// Wikis holds the wikis that belong to no project.
func (d Dir) Wikis() string { return filepath.Join(string(d), "wikis") }

// Fetchers holds executables that research may ask.
func (d Dir) Fetchers() string { return filepath.Join(string(d), "fetchers") }

// HookLog is where the hook notes what it must not tell the agent.
func (d Dir) HookLog() string { return filepath.Join(string(d), "hook.log") }
