//go:build e2e

package e2e

import (
	"bytes"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A run with repeats over two real servers, killed at random moments and begun
// again each time, predicts what a run that nobody disturbs does, byte for byte.
func TestKillAtRandomMoments(t *testing.T) {
	file := goldFile(t, numbered(40))
	args := func(dir string) []string {
		return []string{
			"run", file, "--out", dir, "--model", "openai/tiny-dice", "--base-url", strings.Join(llamacpp(t), ","),
			"--temperature", "1", "--seed", "11", "--repeat", "2", "--concurrency", "auto", "--skip-probes",
		}
	}
	clean := filepath.Join(t.TempDir(), "clean")
	began := time.Now()
	mustAssay(t, nil, args(clean)...)
	whole := time.Since(began)
	_, want := predictions(t, clean)
	rng := rand.New(rand.NewPCG(3, 5))
	kills := 0
	for range 3 {
		dir := filepath.Join(t.TempDir(), "run")
		for range 4 {
			cmd, _, _ := command(t, nil, args(dir)...)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			timer := time.AfterFunc(time.Duration(rng.Int64N(int64(whole/2))), func() { _ = cmd.Process.Kill() })
			if err := cmd.Wait(); err != nil {
				kills++
			}
			timer.Stop()
		}
		mustAssay(t, nil, args(dir)...)
		if _, got := predictions(t, dir); !bytes.Equal(got, want) {
			t.Errorf("after kills the predictions are\n%s\nwant\n%s", got, want)
		}
	}
	if kills == 0 {
		t.Error("no run was killed before its end")
	}
}
