package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goccy/go-json"

	"assay/model/modeltest"
	"assay/qaoa"
	"assay/taxonomy"
)

// sorter plays a model that sorts tools by the length of their names, in a
// fence, and says nonsense of those that hold "odd".
func sorter(r modeltest.Request) modeltest.Reply {
	var items []string
	n := 0
	for line := range strings.Lines(r.Messages[1].Content) {
		v, err := qaoa.ParseValue(line)
		if err != nil {
			return modeltest.Reply{Status: 400, Text: err.Error()}
		}
		n++
		name, _ := v.Get("name")
		category := string(taxonomy.Categories()[len(name.Text)%6])
		if strings.Contains(name.Text, "odd") {
			category = "sorting"
		}
		items = append(items, fmt.Sprintf(`{"n":%d,"category":%q,"domain":%q}`, n, category, taxonomy.Domains()[len(name.Text)%13]))
	}
	return modeltest.Reply{Text: "```json\n[" + strings.Join(items, ",") + "]\n```", Reasoning: "hm"}
}

// toolPool writes a pool of n tools.
func toolPool(t *testing.T, n int) string {
	t.Helper()
	var b strings.Builder
	for i := range n {
		name := fmt.Sprintf("tool_%s%d", strings.Repeat("x", i%9), i)
		if i == 7 {
			name = "odd_one"
		}
		fmt.Fprintf(&b, `{"name":%q,"description":"Searches flights, number %d."}`+"\n", name, i)
	}
	path := filepath.Join(t.TempDir(), "pool.jsonl")
	if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestClassifyByModel(t *testing.T) {
	pool := toolPool(t, 30)
	dir := t.TempDir()
	var first []byte
	for _, kind := range []string{"openai", "ollama"} {
		for _, workers := range []string{"1", "4"} {
			s := modeltest.NewServer(t, sorter)
			base := s.URL
			if kind == "openai" {
				base += "/v1"
			}
			out := filepath.Join(dir, kind+workers)
			_, talk := assay(t, "tools", "classify", pool, "-o", out, "--by", kind+"/"+modeltest.ModelName, "--base-url", base, "--workers", workers, "--batch", "5", "--tries", "2")
			if !strings.Contains(talk, "30 tools: 29 labelled by "+kind+"/"+modeltest.ModelName+", 1 without a usable answer") ||
				!strings.Contains(talk, `no label: odd_one: category: want one of`) {
				t.Errorf("%s: %s", kind, talk)
			}
			if n := len(s.Requests()); n != 7 {
				t.Errorf("%s: %d questions, want 6 about batches and one about the odd one", kind, n)
			}
			data, err := os.ReadFile(out)
			if err != nil {
				t.Fatal(err)
			}
			data = bytes.ReplaceAll(data, []byte(kind+"/"), nil)
			if first == nil {
				first = data
			}
			if !bytes.Equal(data, first) || bytes.Count(data, []byte(`"labelled_by":"`+modeltest.ModelName)) != 29 {
				t.Errorf("%s with %s workers wrote other bytes:\n%s", kind, workers, data)
			}
		}
	}
}

func TestClassifyResumes(t *testing.T) {
	pool := toolPool(t, 20)
	dir := t.TempDir()
	labels := filepath.Join(dir, "labels.jsonl")
	classify := func(s *modeltest.Server, out string) (int, string) {
		var stdout, stderr bytes.Buffer
		code := run(context.Background(), []string{
			"tools", "classify", pool, "-o", filepath.Join(dir, out), "--by", "openai/" + modeltest.ModelName,
			"--base-url", s.URL + "/v1", "--batch", "4", "--retries", "0", "--labels", labels,
		}, stdio{strings.NewReader(""), &stdout, &stderr})
		return code, stderr.String()
	}
	broken := modeltest.NewServer(t, func(r modeltest.Request) modeltest.Reply {
		if r.N == 1 {
			return modeltest.Reply{Status: 401, Text: "no more"}
		}
		return sorter(r)
	})
	if code, talk := classify(broken, "a"); code != exitBackend || !strings.Contains(talk, "no more") {
		t.Fatalf("exit code %d: %s", code, talk)
	}
	if _, err := os.Stat(filepath.Join(dir, "a")); err == nil {
		t.Error("a half of a pool was written")
	}
	s := modeltest.NewServer(t, sorter)
	if code, talk := classify(s, "a"); code != exitOK {
		t.Fatalf("exit code %d: %s", code, talk)
	}
	// 16 tools are left: four batches, and the odd one twice more.
	if n := len(s.Requests()); n != 6 {
		t.Errorf("%d questions after the first call answered one, want 6", n)
	}
	again := modeltest.NewServer(t, sorter)
	if code, talk := classify(again, "b"); code != exitOK {
		t.Fatalf("exit code %d: %s", code, talk)
	}
	if n := len(again.Requests()); n != 3 {
		t.Errorf("%d questions at the third call, want 3 about the odd one", n)
	}
	a, _ := os.ReadFile(filepath.Join(dir, "a"))
	if b, _ := os.ReadFile(filepath.Join(dir, "b")); len(a) == 0 || !bytes.Equal(a, b) {
		t.Error("the third call wrote other bytes")
	}
}

// TestTwoClassifiersOnRealTools puts the embedded classifier against a model,
// which a script plays, on a real list: all tools are compared, each once.
func TestTwoClassifiersOnRealTools(t *testing.T) {
	list := filepath.Join(realData(t), "seal-tools", "Seal-Tools_Dataset", "tool.jsonl")
	s := modeltest.NewServer(t, sorter)
	dir := t.TempDir()
	other, report := filepath.Join(dir, "model.jsonl"), filepath.Join(dir, "report.json")
	assay(t, "tools", "classify", list, "-o", other, "--by", "openai/"+modeltest.ModelName, "--base-url", s.URL+"/v1", "--batch", "100", "--workers", "2")
	assay(t, "tools", "classify", list, "-o", filepath.Join(dir, "out.jsonl"), "--agree", other, "--report", report)
	var got struct {
		Tools, Labelled, Unmatched int
		Agreement                  taxonomy.Agreement
	}
	data, err := os.ReadFile(report)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	a := got.Agreement
	if got.Tools != 4076 || got.Labelled != 4076 || a.Category.N+a.Category.Missing+got.Unmatched != 4076 || a.Category.N < 4000 {
		t.Errorf("%d tools, %d compared, %d without a label, %d not found", got.Tools, a.Category.N, a.Category.Missing, got.Unmatched)
	}
	sum := 0
	for _, row := range a.Domain.Counts {
		for _, n := range row {
			sum += n
		}
	}
	if sum != a.Domain.N || a.Second != "openai/"+modeltest.ModelName {
		t.Errorf("the table holds %d tools, want %d; columns are %q", sum, a.Domain.N, a.Second)
	}
	// The script knows nothing of tools, so nothing but chance is left.
	if k := a.Category.Kappa; k == nil || *k < -0.1 || *k > 0.1 {
		t.Errorf("kappa %v against labels by the length of a name, want about 0", k)
	}
}
