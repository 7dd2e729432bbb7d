package sandbox

import (
	"context"
	"os"
	"os/exec"
	"syscall"
)

const (
	sandboxExec = "/usr/bin/sandbox-exec"
	profile     = "(version 1)(allow default)(deny network*)"
)

// isolate has sandbox-exec take the network away (sockets of the file system among it) before it becomes the command.
func isolate(cmd *exec.Cmd) {
	cmd.Args = append([]string{sandboxExec, "-p", profile, cmd.Path}, cmd.Args[1:]...)
	cmd.Path = sandboxExec
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}

// killRest ends what the command has left running in its group.
func killRest(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }

func available(ctx context.Context) error {
	remedy := "leave items of kind command out"
	if _, err := os.Stat(sandboxExec); err != nil {
		return &IsolationError{sandboxExec + " is not there", remedy}
	}
	if err := exec.CommandContext(ctx, sandboxExec, "-p", profile, "/usr/bin/true").Run(); err != nil {
		return &IsolationError{sandboxExec + " does not work: " + err.Error(), remedy + ", or run outside of another sandbox"}
	}
	return nil
}
