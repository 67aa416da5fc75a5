//go:build e2e

package e2e

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// slurmPrograms are what a cluster of one node needs, from the Debian packages
// slurm-wlm and munge.
var slurmPrograms = []string{"munged", "slurmctld", "slurmd", "sbatch", "sinfo"}

// slurmConf is a cluster of one node that needs no systemd, no cgroups and no
// database. The verbs are folder, host, and two ports.
const slurmConf = `ClusterName=e2e
SlurmctldHost=%[2]s(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=%[1]s/munge.sock
CredType=cred/munge
SlurmctldPort=%[3]d
SlurmdPort=%[4]d
StateSaveLocation=%[1]s/state
SlurmdSpoolDir=%[1]s/spool
SlurmctldPidFile=%[1]s/slurmctld.pid
SlurmdPidFile=%[1]s/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/builtin
SchedulerParameters=batch_sched_delay=0,sched_interval=1
ReturnToService=2
MpiDefault=none
SlurmdParameters=config_overrides
NodeName=%[2]s NodeAddr=127.0.0.1 CPUs=4 State=UNKNOWN
PartitionName=e2e Nodes=%[2]s Default=YES MaxTime=INFINITE State=UP
`

// A daemon is a program that runs in the foreground until the test is over.
func daemon(t *testing.T, env []string, name string, args ...string) *bytes.Buffer {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), env...)
	log := &bytes.Buffer{}
	cmd.Stdout, cmd.Stderr = log, log
	if runtime.GOOS == "linux" {
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		kill := time.AfterFunc(10*time.Second, func() { _ = cmd.Process.Kill() })
		_ = cmd.Wait() // ended by a signal
		kill.Stop()
		if t.Failed() {
			t.Logf("%s said:\n%s", name, log)
		}
	})
	return log
}

// freePort returns a port of loopback that nobody listens on.
func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// startSlurm starts a cluster of this machine and returns the environment of
// its clients.
func startSlurm(t *testing.T) []string {
	t.Helper()
	for _, p := range slurmPrograms {
		if _, err := exec.LookPath(p); err != nil {
			t.Skipf("no %s here: apt-get install slurm-wlm munge; the same script runs as plain processes in ./cmd/assay", p)
		}
	}
	if os.Getuid() != 0 {
		t.Skip("the daemons of Slurm want root; the same script runs as plain processes in ./cmd/assay")
	}
	dir, err := os.MkdirTemp("", "assay-slurm") // paths of sockets must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	for _, sub := range []string{"munge", "state", "spool"} {
		if err := os.Mkdir(filepath.Join(dir, sub), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	key := make([]byte, 1024)
	_, _ = rand.Read(key) // never fails
	if err := os.WriteFile(dir+"/munge/key", key, 0o400); err != nil {
		t.Fatal(err)
	}
	daemon(t, nil, "munged", "--foreground", "--force", "--key-file="+dir+"/munge/key", "--socket="+dir+"/munge.sock",
		"--pid-file="+dir+"/munge/pid", "--log-file="+dir+"/munge/log", "--seed-file="+dir+"/munge/seed")
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	host, _, _ = strings.Cut(host, ".")
	conf := filepath.Join(dir, "slurm.conf")
	if err := os.WriteFile(conf, fmt.Appendf(nil, slurmConf, dir, host, freePort(t), freePort(t)), 0o644); err != nil {
		t.Fatal(err)
	}
	env := []string{"SLURM_CONF=" + conf}
	await(t, "munged", func() bool { _, err := os.Stat(dir + "/munge.sock"); return err == nil })
	daemon(t, env, "slurmctld", "-D")
	daemon(t, env, "slurmd", "-D")
	await(t, "the node", func() bool {
		cmd := exec.Command("sinfo", "--noheader", "--format=%t")
		cmd.Env = append(os.Environ(), env...)
		out, err := cmd.Output()
		return err == nil && strings.TrimSpace(string(out)) == "idle"
	})
	return env
}

// await returns when ready does.
func await(t *testing.T, what string, ready func() bool) {
	t.Helper()
	for range 240 {
		if ready() {
			return
		}
		time.Sleep(250 * time.Millisecond)
	}
	t.Fatalf("%s was not ready within a minute", what)
}

// The batch script of the docs as a real job array against the real server:
// joined, the parts are the run of one machine.
func TestSlurmArray(t *testing.T) {
	env := startSlurm(t)
	gold, out := goldFile(t, numbered(24)), filepath.Join(t.TempDir(), "runs")
	if err := os.MkdirAll(out, 0o755); err != nil {
		t.Fatal(err)
	}
	script, err := filepath.Abs("../docs/cluster/slurm.sbatch")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "sbatch", "--wait", "--array=0-3", "--output="+out+"/task-%a.log", "--export=ALL", script)
	cmd.Env = append(append(os.Environ(), env...), "NO_PROXY=127.0.0.1", "ASSAY="+setting(t, "ASSAY_E2E_BIN"), "DATA="+gold, "OUT="+out,
		"MODEL=ollama/tiny", "BASE_URL="+server(t), "CONCURRENCY=2")
	if talk, err := cmd.CombinedOutput(); err != nil {
		logs, _ := filepath.Glob(out + "/task-*.log")
		for _, l := range logs {
			data, _ := os.ReadFile(l)
			talk = append(talk, data...)
		}
		t.Fatalf("sbatch: %v\n%s", err, talk)
	}
	var parts []string
	for i := range 4 {
		parts = append(parts, fmt.Sprintf("%s/shard-%d", out, i))
	}
	all := filepath.Join(out, "all")
	mustAssay(t, nil, append([]string{"runs", "merge", all}, parts...)...)
	whole, _ := mustAsk(t, gold, "ollama/tiny")
	_, got := predictions(t, all)
	if _, want := predictions(t, whole); !bytes.Equal(got, want) {
		t.Error("the joined predictions differ from those of one machine")
	}
	if a, b := score(t, all, gold), score(t, whole, gold); a != b {
		t.Errorf("scores %+v, want %+v", a, b)
	}
}

// What a disk that is full or cannot be written does to a run, on a real file
// system of 64 kB and more.
func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	if err := exec.Command("mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", dir).Run(); err != nil {
		t.Skipf("no file system can be mounted here: %v", err)
	}
	t.Cleanup(func() {
		if err := exec.Command("umount", dir).Run(); err != nil {
			t.Error(err)
		}
	})
	file := goldFile(t, numbered(200))
	run := []string{"run", file, "--out", filepath.Join(dir, "run"), "--model", "baseline/gold"}
	// Too small for the journal, and then for the predictions beside it.
	for _, size := range []string{"64k", "256k"} {
		if out, err := exec.Command("mount", "-o", "remount,size="+size, dir).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		o := assay(t, nil, run...)
		if o.code != 3 || !strings.Contains(o.stderr, "no space left on device") || !strings.Contains(o.stderr, "run the same command again") {
			t.Errorf("exit code %d with %s of disk\n%s", o.code, size, o.stderr)
		}
	}
	if out, err := exec.Command("mount", "-o", "remount,size=16m", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	o := mustAssay(t, nil, run...)
	if !strings.Contains(o.stderr, "resuming") || !strings.Contains(o.stderr, "200 of 200") {
		t.Errorf("with room again:\n%s", o.stderr)
	}
	whole := filepath.Join(t.TempDir(), "whole")
	mustAssay(t, nil, "run", file, "--out", whole, "--model", "baseline/gold")
	_, got := predictions(t, filepath.Join(dir, "run"))
	if _, want := predictions(t, whole); !bytes.Equal(got, want) {
		t.Error("the predictions differ from those of a run with room")
	}
	if out, err := exec.Command("mount", "-o", "remount,ro", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	o = assay(t, nil, run...)
	if o.code != 2 || !strings.Contains(o.stderr, "read-only file system") || !strings.Contains(o.stderr, "a folder that it can write to") {
		t.Errorf("exit code %d for a folder that cannot be written\n%s", o.code, o.stderr)
	}
}
