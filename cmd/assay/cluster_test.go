//go:build unix

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/goccy/go-yaml"

	"assay/eval"
	"assay/model/modeltest"
)

const clusterDocs = "../../docs/cluster/"

// tasks runs the n tasks of an array as processes at the same time.
func tasks(t *testing.T, n int, command func(i int) *exec.Cmd) {
	t.Helper()
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			cmd := command(i)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("task %d: %v\n%s", i, err, out)
			}
		})
	}
	wg.Wait()
}

// wantWhole merges the parts in dir, and compares with a run on one machine.
func wantWhole(t *testing.T, gold, dir string, flags ...string) {
	t.Helper()
	parts, err := filepath.Glob(filepath.Join(dir, "shard-*"))
	if err != nil {
		t.Fatal(err)
	}
	all, whole := filepath.Join(dir, "all"), filepath.Join(t.TempDir(), "whole")
	assay(t, append([]string{"runs", "merge", all}, parts...)...)
	assay(t, append([]string{"run", gold, "--out", whole}, flags...)...)
	var data [2][]byte
	for i, d := range []string{all, whole} {
		if data[i], err = os.ReadFile(filepath.Join(d, eval.PredictionsFile)); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(data[0], data[1]) || len(data[0]) == 0 {
		t.Errorf("the joined predictions differ from those of one machine:\n%s\nwant\n%s", data[0], data[1])
	}
}

// The batch script of the docs, with the environment that Slurm gives it.
func TestSlurmScript(t *testing.T) {
	const n = 4
	s := modeltest.NewServer(t, numberedAnswer)
	gold, out := numberedGold(t, 25), t.TempDir()
	tasks(t, n, func(i int) *exec.Cmd {
		cmd := exec.CommandContext(t.Context(), "sh", clusterDocs+"slurm.sbatch")
		cmd.Env = append(os.Environ(), fmt.Sprint("SLURM_ARRAY_TASK_ID=", i), fmt.Sprint("SLURM_ARRAY_TASK_COUNT=", n),
			"DATA="+gold, "OUT="+out, "MODEL=openai/"+modeltest.ModelName, "BASE_URL="+s.URL+"/v1")
		return cmd
	})
	wantWhole(t, gold, out, "--model", "openai/"+modeltest.ModelName, "--base-url", s.URL+"/v1")
	// A part that is submitted again alone finds its folder, and nothing to do.
	asked := len(s.Requests())
	for _, env := range []struct {
		shards string
		ok     bool
	}{{"SHARDS=4", true}, {"SHARDS=", false}} {
		cmd := exec.CommandContext(t.Context(), "sh", clusterDocs+"slurm.sbatch")
		cmd.Env = append(os.Environ(), "SLURM_ARRAY_TASK_ID=0", "SLURM_ARRAY_TASK_COUNT=1", env.shards, "FLAGS=--skip-probes",
			"DATA="+gold, "OUT="+out, "MODEL=openai/"+modeltest.ModelName, "BASE_URL="+s.URL+"/v1")
		if talk, err := cmd.CombinedOutput(); (err == nil) != env.ok {
			t.Errorf("%s: %v\n%s", env.shards, err, talk)
		}
	}
	if n := len(s.Requests()); n != asked {
		t.Errorf("%d requests for a part that is done", n-asked)
	}
}

// The manifest of the docs is what an indexed Job is, and its command line does
// what the docs say.
func TestKubernetesManifest(t *testing.T) {
	data, err := os.ReadFile(clusterDocs + "kubernetes.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var job struct {
		APIVersion string `yaml:"apiVersion"`
		Kind       string
		Spec       struct {
			CompletionMode           string `yaml:"completionMode"`
			Completions, Parallelism int
			Template                 struct {
				Spec struct {
					RestartPolicy string `yaml:"restartPolicy"`
					Containers    []struct {
						Name          string
						Command, Args []string
						VolumeMounts  []struct {
							MountPath string `yaml:"mountPath"`
						} `yaml:"volumeMounts"`
					}
				}
			}
		}
	}
	if err := yaml.Unmarshal(data, &job); err != nil {
		t.Fatal(err)
	}
	pod := job.Spec.Template.Spec
	if job.APIVersion != "batch/v1" || job.Kind != "Job" || job.Spec.CompletionMode != "Indexed" || pod.RestartPolicy != "Never" || len(pod.Containers) != 1 {
		t.Fatalf("no indexed job: %+v", job)
	}
	c := pod.Containers[0]
	if want := fmt.Sprintf("--shard=$(JOB_COMPLETION_INDEX)/%d", job.Spec.Completions); !slices.Contains(c.Args, want) {
		t.Errorf("arguments %q, want %s", c.Args, want)
	}
	s := modeltest.NewServer(t, numberedAnswer)
	gold, out := numberedGold(t, 25), t.TempDir()
	tasks(t, job.Spec.Completions, func(i int) *exec.Cmd {
		var args []string
		for _, a := range c.Args {
			a = strings.NewReplacer("$(JOB_COMPLETION_INDEX)", fmt.Sprint(i), "/data/hybrid.jsonl", gold, "/runs/qwen3", out, "openai/qwen3-8b", "openai/"+modeltest.ModelName).Replace(a)
			if strings.HasPrefix(a, "--base-url=") {
				a = "--base-url=" + s.URL + "/v1"
			}
			args = append(args, a)
		}
		return exec.CommandContext(t.Context(), c.Command[0], args...)
	})
	wantWhole(t, gold, out, "--model", "openai/"+modeltest.ModelName, "--base-url", s.URL+"/v1")
}
