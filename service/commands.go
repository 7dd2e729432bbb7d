package service

import (
	"context"
	"fmt"
	"strings"
	"time"

	"whetstone/sandbox"
)

// CanRunCommands tells why items of kind command can not be run on this machine.
func (s *Service) CanRunCommands() error { return sandbox.Available() }

// commands lets items of kind command run in the sandbox.
type commands struct{}

func (commands) Available() error { return sandbox.Available() }

// Check runs one command. Its last line of output is the reason.
func (commands) Check(ctx context.Context, command []string, files map[string]string, timeout time.Duration) (passed bool, why string, err error) {
	r, err := sandbox.Run(ctx, sandbox.Spec{Argv: command, Files: files, Timeout: timeout})
	if err != nil {
		return false, "", err
	}
	if r.TimedOut {
		return false, fmt.Sprintf("it was stopped after %v", timeout), nil
	}
	lines := strings.Split(strings.TrimSpace(r.Output), "\n")
	return r.Exit == 0, fmt.Sprintf("exit %d: %s", r.Exit, lines[len(lines)-1]), nil
}
