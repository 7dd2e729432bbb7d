package sandbox

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

// isolate starts the command in namespaces of its own. User: the others need no privilege then. Network: it has no
// interface that is up, not even loopback. Process: the command is its first process, and the kernel kills all others
// with it, also those that left its process group.
func isolate(cmd *exec.Cmd) {
	uid, gid := os.Geteuid(), os.Getegid()
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET | syscall.CLONE_NEWPID,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: gid, HostID: gid, Size: 1}},
		Setpgid:     true,
		Pdeathsig:   syscall.SIGKILL,
	}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}

// killRest has nothing to do: the process namespace ended with its first process.
func killRest(*exec.Cmd) {}

// available starts a program that does nothing, since only that tells a kernel's refusal from a program's fault: both
// come back as the same error of one call.
func available(ctx context.Context) error {
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", ":")
	if _, err := os.Stat("/bin/sh"); err != nil {
		nothing, err := exec.LookPath("true")
		if err != nil {
			return &IsolationError{"there is neither /bin/sh nor true to try it with", "install a shell"}
		}
		cmd = exec.CommandContext(ctx, nothing)
	}
	cmd.Env = []string{}
	isolate(cmd)
	cmd.SysProcAttr.Pdeathsig = 0 // this goroutine does not keep its thread
	if err := cmd.Run(); err != nil {
		return &IsolationError{
			fmt.Sprintf("the kernel refuses user and network namespaces (%s)", err),
			"allow them (sysctl user.max_user_namespaces, kernel.unprivileged_userns_clone=1, kernel.apparmor_restrict_unprivileged_userns=0; in a container, its security profile), or leave items of kind command out",
		}
	}
	return nil
}
