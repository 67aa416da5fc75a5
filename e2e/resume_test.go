//go:build e2e

package e2e

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// concurrency of the runs that are cut off, and what the gate lets through
// before it shuts: each record takes two requests.
const (
	workers = 3
	passed  = 25
)

// runArgs is one run of 40 records, whose every request passes a gate.
func runArgs(file, dir string) []string {
	return []string{"run", file, "--out", dir, "--model", "ollama/tiny", "--temperature", "0", "--concurrency", strconv.Itoa(workers), "--retries", "0"}
}

// uninterrupted returns the predictions of a run that nobody disturbs.
func uninterrupted(t *testing.T, file string) (data []byte, requests int) {
	t.Helper()
	g := newGate(t, -1)
	dir := filepath.Join(t.TempDir(), "whole")
	mustAssay(t, ollamaAt(g.URL), runArgs(file, dir)...)
	_, data = predictions(t, dir)
	if n := bytes.Count(data, []byte("\n")); n != 40 {
		t.Fatalf("%d predictions, want 40", n)
	}
	return data, g.requests()
}

// startAndHold starts a run through a gate that shuts, and returns once every
// worker stands at it and everything that was answered is in the journal.
func startAndHold(t *testing.T, file, dir string) (g *gate, cmd *exec.Cmd, stderr *bytes.Buffer) {
	t.Helper()
	g = newGate(t, passed)
	cmd, _, stderr = command(t, ollamaAt(g.URL), runArgs(file, dir)...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it has ended unless the test failed
		_ = cmd.Wait()
	})
	g.await(t, workers)
	// The reply to the last request has gone out, but the process may not
	// have written it down yet.
	want := len(g.markers(true))
	deadline := time.After(20 * time.Second)
	for {
		data, err := os.ReadFile(filepath.Join(dir, "journal.jsonl"))
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		if bytes.Count(data, []byte("\n")) >= want {
			return g, cmd, stderr
		}
		select {
		case <-deadline:
			t.Fatalf("the journal holds %d lines, want one for each of %d answered records", bytes.Count(data, []byte("\n")), want)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// resume runs args again through an open gate and checks that the result is
// that of an uninterrupted run, and that no record in done is asked again.
func resume(t *testing.T, args []string, dir string, done []string, want []byte, wantRequests int) {
	t.Helper()
	g := newGate(t, -1)
	mustAssay(t, ollamaAt(g.URL), args...)
	if _, got := predictions(t, dir); !bytes.Equal(got, want) {
		t.Error("predictions.jsonl differs from that of an uninterrupted run")
	}
	for _, id := range done {
		if n := g.times(id); n > 0 {
			t.Errorf("record %s was finished and was asked %d times more", id, n)
		}
	}
	if got, want := g.requests(), wantRequests-2*len(done); got != want {
		t.Errorf("the resumed run made %d requests, want %d", got, want)
	}
	// A finished run has nothing left to ask.
	g = newGate(t, -1)
	mustAssay(t, ollamaAt(g.URL), args...)
	if n := g.requests(); n > 0 {
		t.Errorf("a finished run made %d requests", n)
	}
}

func TestResumeAfterKill(t *testing.T) {
	file := goldFile(t, numbered(40))
	want, requests := uninterrupted(t, file)
	dir := filepath.Join(t.TempDir(), "run")
	g, cmd, _ := startAndHold(t, file, dir)
	if err := cmd.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // "signal: killed"
	done := g.markers(true)
	if len(done) == 0 {
		t.Fatal("nothing was finished before the kill")
	}
	resume(t, runArgs(file, dir), dir, done, want, requests)
}

func TestResumeAfterInterrupt(t *testing.T) {
	file := goldFile(t, numbered(40))
	want, requests := uninterrupted(t, file)
	dir := filepath.Join(t.TempDir(), "run")
	g, cmd, stderr := startAndHold(t, file, dir)
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	close(g.open)  // what is in flight may finish
	_ = cmd.Wait() // the exit code is looked at next
	if code := cmd.ProcessState.ExitCode(); code != 130 {
		t.Errorf("exit code %d, want 130\n%s", code, stderr)
	}
	// What was in flight has been finished, so everything asked is done.
	done := g.markers(false)
	if len(done) == 40 {
		t.Error("the interrupt came to nothing: all records were asked")
	}
	if out := stderr.String(); !strings.Contains(out, "resume") || !strings.Contains(out, "--out "+dir) {
		t.Errorf("stderr does not say how to resume:\n%s", out)
	}
	resume(t, runArgs(file, dir), dir, done, want, requests)
}

func TestOtherSettingsDoNotShareAFolder(t *testing.T) {
	file := goldFile(t, numbered(2))
	dir := filepath.Join(t.TempDir(), "run")
	env := ollamaAt(server(t))
	mustAssay(t, env, runArgs(file, dir)...)
	_, before := predictions(t, dir)
	o := assay(t, env, append(runArgs(file, dir), "--seed", "99")...)
	if o.code == 0 || !strings.Contains(o.stderr, "seed") {
		t.Errorf("exit code %d, want a refusal that names the seed\n%s", o.code, o.stderr)
	}
	if _, after := predictions(t, dir); !bytes.Equal(before, after) {
		t.Error("the refused run changed the predictions")
	}
}
