//go:build unix

package train_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"assay/qaoa"
	"assay/train"
)

// childOut is the variable that makes this test binary the run that is killed:
// it names the output folder.
const childOut = "ASSAY_TEST_KILLED_SHARD"

// killedOptions are those of every run of these tests.
func killedOptions(out string) train.ShardOptions {
	return train.ShardOptions{Out: out, Projection: train.Full, Shards: 3, Workers: 2, Overwrite: true}
}

// TestKilledChild is no test of its own: TestKilledRun starts it. It says when
// the run has taken most records, and waits with the others for its end.
func TestKilledChild(t *testing.T) {
	out := os.Getenv(childOut)
	if out == "" {
		t.Skip("started by TestKilledRun")
	}
	recs := corpus("b", 200)
	_, err := train.Shard(context.Background(), func(yield func(qaoa.Record, error) bool) {
		for i, rec := range recs {
			if i == 150 {
				fmt.Println("\nhalfway")
				_, _ = io.Copy(io.Discard, os.Stdin) // until the other side ends
				os.Exit(3)                           // it died without killing us
			}
			if !yield(rec, nil) {
				return
			}
		}
	}, killedOptions(out))
	t.Fatalf("the run ended: %v", err)
}

// killHalfway starts a run into out, and kills it without a warning when it
// waits for more records.
func killHalfway(t *testing.T, out string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // only if the child hangs
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0], "-test.run=^TestKilledChild$", "-test.count=1")
	cmd.Env = append(os.Environ(), childOut+"="+out)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	halfway, said := false, ""
	for lines := bufio.NewScanner(stdout); !halfway && lines.Scan(); {
		halfway = lines.Text() == "halfway"
		said += lines.Text() + "\n"
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait() // it was killed
	status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus)
	if !halfway || !ok || status.Signal() != syscall.SIGKILL {
		t.Fatalf("the run was not killed halfway: %v\n%s", cmd.ProcessState, said)
	}
}

// A run that is killed leaves no manifest, so nobody takes its folder for whole.
// What a finished run had written there stays as it was. The same command makes
// the bytes of a run that nobody disturbed, but only with leave to overwrite.
func TestKilledRun(t *testing.T) {
	dir := t.TempDir()
	recs := corpus("b", 200)
	whole := filepath.Join(dir, "whole")
	shard(t, killedOptions(whole), recs...)
	want := files(t, whole)
	for _, before := range []string{"a new folder", "the folder of another run"} {
		t.Run(before, func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "out")
			var old map[string]string
			if before != "a new folder" {
				shard(t, killedOptions(out), corpus("a", 40)...)
				old = files(t, out)
			}
			killHalfway(t, out)
			left := files(t, out)
			spools := 0
			for name := range left {
				if strings.HasPrefix(name, ".unfinished/") {
					spools++
					delete(left, name)
				}
			}
			if spools == 0 {
				t.Error("the killed run left nothing unfinished: it was killed too early to show anything")
			}
			if d := cmp.Diff(old, left); d != "" && len(old)+len(left) > 0 {
				t.Errorf("the killed run changed what was published: %s", d)
			}
			if _, err := train.ReadManifest(out); (err == nil) != (old != nil) {
				t.Errorf("the manifest: %v; want one only from the run before", err)
			}
			careful := killedOptions(out)
			careful.Overwrite = false
			if _, err := train.Shard(t.Context(), seqOf(recs...), careful); err == nil || !strings.Contains(err.Error(), "--overwrite") {
				t.Errorf("without leave to overwrite the error is %v", err)
			}
			shard(t, killedOptions(out), recs...)
			if d := cmp.Diff(want, files(t, out)); d != "" {
				t.Errorf("a rerun after the kill makes another folder: %s", d)
			}
		})
	}
}
