//go:build unix

package fetch

import (
	"os/exec"
	"syscall"
)

// ownGroup puts an executable into a process group of its own, so that what it started is stopped with it.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
