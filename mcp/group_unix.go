//go:build unix

package mcp

import (
	"os/exec"
	"syscall"
)

// inGroup makes cmd the leader of a process group of its own: what it starts
// can be ended with it, and a Ctrl-C in the terminal does not end it before we
// are done with it.
func inGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
}

// terminate asks the group of cmd to end.
func terminate(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }

// kill ends the group of cmd.
func kill(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
