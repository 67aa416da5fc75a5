package recipe_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"assay/qaoa"
	"assay/recipe"
	"assay/train"
)

// shards writes a small folder of shards.
func shards(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "it's shards")
	_, err := train.Shard(context.Background(), func(yield func(qaoa.Record, error) bool) {
		yield(qaoa.Record{ID: "a", Turns: []qaoa.Turn{{Query: "q", Answer: "a"}}}, nil)
	}, train.ShardOptions{Out: dir})
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestWriteRefuses(t *testing.T) {
	dir := shards(t)
	good := recipe.Options{Shards: dir, Base: "b/m", Template: "qwen3", Parser: "hermes", Seeds: []uint64{1}, Out: filepath.Join(t.TempDir(), "r")}
	for name, edit := range map[string]func(*recipe.Options){
		"no base":            func(o *recipe.Options) { o.Base = "" },
		"a seed given twice": func(o *recipe.Options) { o.Seeds = []uint64{1, 1} },
		"no seed":            func(o *recipe.Options) { o.Seeds = nil },
		"a line break":       func(o *recipe.Options) { o.Base = "a\nb" },
		"a flag as a name":   func(o *recipe.Options) { o.Base = "--x" },
		"an unknown server":  func(o *recipe.Options) { o.Server = "x" },
		"no shards":          func(o *recipe.Options) { o.Shards = t.TempDir() },
		"a full folder":      func(o *recipe.Options) { o.Out = dir },
	} {
		o := good
		edit(&o)
		if _, err := recipe.Write(o); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
}

// TestTheScriptRunsEachStep runs the script with programs that only note how
// they were called.
func TestTheScriptRunsEachStep(t *testing.T) {
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("bash is not installed; the script is one of bash")
	}
	for _, server := range []recipe.Server{recipe.VLLM, recipe.Ollama} {
		out, bin := filepath.Join(t.TempDir(), "the recipe"), t.TempDir()
		base := "org/it's $(touch hacked) a model"
		_, err := recipe.Write(recipe.Options{Shards: shards(t), Base: base, Template: "qwen3", Parser: "hermes", Server: server, Seeds: []uint64{1, 7}, Out: out})
		if err != nil {
			t.Fatal(err)
		}
		log := filepath.Join(bin, "log")
		note := "#!/bin/sh\necho \"${0##*/} $*\" >>'" + log + "'\n"
		for name, then := range map[string]string{"llamafactory-cli": "", "assay": "", "ollama": "", "curl": "", "vllm": "exec sleep 60\n"} {
			if err := os.WriteFile(filepath.Join(bin, name), []byte(note+then), 0o755); err != nil { //nolint:gosec // a program has to be executable
				t.Fatal(err)
			}
		}
		cmd := exec.Command("bash", filepath.Join(out, "run.sh"), "gold one.jsonl")
		cmd.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "POLL=0")
		if text, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", server, err, text)
		}
		data, err := os.ReadFile(log)
		if err != nil {
			t.Fatal(err)
		}
		got := string(data)
		for _, want := range []string{
			"llamafactory-cli train seed-1.yaml\n", "llamafactory-cli train seed-7.yaml\n", "assay candidates --setting hybrid --k 20 --seed 1 -o hybrid.jsonl gold one.jsonl\n",
			"/" + base + " ", "--calls native --out runs/gt-seed-7 gt.jsonl\n", "assay score runs/hybrid-base\n",
			"assay stats compare --setting hybrid --model trained runs/hybrid-seed-1 runs/hybrid-seed-7 --against runs/hybrid-base\n",
		} {
			if !strings.Contains(got, want) {
				t.Errorf("%s: want %q in\n%s", server, want, got)
			}
		}
		if _, err := os.Stat(filepath.Join(out, "hacked")); err == nil {
			t.Errorf("%s: a name was run", server)
		}
	}
}

// TestPaperValues holds the values of the paper.
func TestPaperValues(t *testing.T) {
	out := filepath.Join(t.TempDir(), "r")
	if _, err := recipe.Write(recipe.Options{Shards: shards(t), Base: "b", Template: "qwen3", Parser: "hermes", Seeds: []uint64{5}, Out: out}); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(out, "seed-5.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"lora_rank: 8\n", "lora_alpha: 16\n", "lora_target: all\n", "num_train_epochs: 1.0\n", "learning_rate: 1.0e-5\n", "warmup_ratio: 0.03\n", "cutoff_len: 8192\n", "bf16: true\n", "gradient_accumulation_steps: 8\n", "per_device_train_batch_size: 1\n", "\nseed: 5\n", "dataset: \"assay\"\n"} {
		if !strings.Contains(string(data), want) {
			t.Errorf("want %q in\n%s", want, data)
		}
	}
}
