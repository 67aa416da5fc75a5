//go:build !unix

package mcp

import "os/exec"

// inGroup does nothing where there are no process groups.
func inGroup(*exec.Cmd) {}

// terminate ends cmd: there is no way to ask.
func terminate(cmd *exec.Cmd) { _ = cmd.Process.Kill() }

// kill ends cmd.
func kill(cmd *exec.Cmd) { _ = cmd.Process.Kill() }
