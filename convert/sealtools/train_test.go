package sealtools_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"assay/convert"
	"assay/convert/sealtools"
	"assay/filter"
	"assay/qaoa"
)

// convertFile returns what the training source makes of a real file.
func convertFile(t *testing.T, name string, profile convert.Profile) ([]qaoa.Record, convert.Summary) {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("..", "..", "..", "shared", "data", "raw", "seal-tools-train", name))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("no ../shared/data: %v", err)
		}
		t.Skip("no ../shared/data: put the publisher's dev splits and tool.jsonl beside the project, under ../shared/data/raw/seal-tools-train")
	}
	inputs, _, err := convert.Find(sealtools.TrainSource, []string{path})
	if err != nil {
		t.Fatal(err)
	}
	var recs []qaoa.Record
	var sum convert.Summary
	for o, err := range convert.Run(t.Context(), sealtools.TrainSource, inputs, convert.RunOptions{Options: convert.Options{Profile: profile}}) {
		if err != nil {
			t.Fatal(err)
		}
		sum.Add(o)
		recs = append(recs, o.Records...)
	}
	return recs, sum
}

// calls writes the query and the calls of rec.
func calls(rec qaoa.Record) string {
	var b strings.Builder
	b.WriteString(rec.Turns[0].Query)
	for _, c := range rec.Turns[0].Calls() {
		fmt.Fprintf(&b, "\n%s %s", c.Name, c.Arguments)
	}
	return b.String()
}

func TestRealDev(t *testing.T) {
	recs, sum := convertFile(t, "dev.jsonl", convert.Paper)
	if sum.Read != 700 || sum.Converted != 700 {
		t.Errorf("read %d and converted %d, want 700 and 700", sum.Read, sum.Converted)
	}
	easy, nested, filled, schemas, kept := 0, 0, 0, 0, 0
	for _, rec := range recs {
		turn := rec.Turns[0]
		if strings.Contains(string(rec.Meta), `"difficulty":"easy"`) {
			easy++
		}
		if len(turn.Steps) > 1 {
			nested++
		}
		for _, c := range turn.Calls() {
			if !slices.ContainsFunc(rec.Tools, func(tool qaoa.Tool) bool { return tool.Name == c.Name }) {
				t.Errorf("%s: %s is not on offer", rec.ID, c.Name)
			}
		}
		if slices.ContainsFunc(turn.Calls(), func(c qaoa.Call) bool { return c.Arguments == "{}" }) {
			continue
		}
		filled++
		if !slices.ContainsFunc(rec.Tools, func(tool qaoa.Tool) bool { return filter.EmptySchema(tool, filter.Metadata) }) {
			schemas++
		}
		if !slices.ContainsFunc(rec.Tools, filter.ToolTemporal) {
			kept++
		}
	}
	got := []int{easy, nested, filled, schemas, kept}
	if want := []int{200, 28, 629, 628, 307}; !slices.Equal(got, want) {
		t.Errorf("easy, nested, without empty arguments, without empty schema, without a temporal tool: have %v, want %v", got, want)
	}
}

// TestRealForms holds the three forms of the same records against each other.
func TestRealForms(t *testing.T) {
	now, _ := convertFile(t, "dev.jsonl", convert.Paper)
	old, _ := convertFile(t, "dev.old-format.jsonl", convert.Paper)
	prompts, _ := convertFile(t, "dev.finetune.json", convert.Paper)
	if len(old) != len(now) || len(prompts) != len(now) {
		t.Fatalf("%d records, %d in the old form, %d prompts", len(now), len(old), len(prompts))
	}
	count := map[string]int{}
	byID := map[string]qaoa.Record{}
	for _, rec := range now {
		count[calls(rec)]++
		byID[rec.ID] = rec
	}
	for _, rec := range old {
		count[calls(rec)]--
	}
	for key, n := range count {
		if n != 0 {
			t.Errorf("%+d more than in the old form of %s", n, key)
		}
	}
	lacking := 0
	for _, rec := range prompts {
		if want := calls(byID[rec.ID]); calls(rec) != want {
			t.Errorf("%s\nas a prompt %s\nelse        %s", rec.ID, calls(rec), want)
		}
		foreign := func(c qaoa.Call) bool {
			return !slices.ContainsFunc(rec.Tools, func(tool qaoa.Tool) bool { return tool.Name == c.Name })
		}
		if slices.ContainsFunc(rec.Turns[0].Calls(), foreign) {
			lacking++
			continue
		}
		if len(rec.Tools) != 5 {
			t.Errorf("%s: %d tools, want 5", rec.ID, len(rec.Tools))
		}
		for _, tool := range byID[rec.ID].Tools {
			if !slices.Contains(rec.Tools, tool) {
				t.Errorf("%s: the prompt lacks %s as tool.jsonl has it", rec.ID, tool.Name)
			}
		}
	}
	if lacking != 3 { // difficult-228, -241 and -419
		t.Errorf("%d prompts lack a called tool, want 3", lacking)
	}
}

func TestRealStrictly(t *testing.T) {
	for name, want := range map[string]string{"dev.jsonl": "700 map[]", "dev.finetune.json": "697 map[unknown_tool:3]"} {
		_, sum := convertFile(t, name, convert.Strict)
		if got := fmt.Sprint(sum.Converted, sum.Codes); got != want {
			t.Errorf("%s: have %s, want %s", name, got, want)
		}
	}
}

func TestPromptsNeedNoToolList(t *testing.T) {
	open := func(file string) (convert.Func, error) {
		return sealtools.TrainSource.Open(t.Context(), convert.Input{FS: fstest.MapFS{}, Files: []string{file}})
	}
	if _, err := open("x/train.jsonl"); err == nil || !strings.Contains(err.Error(), "tool.jsonl") {
		t.Errorf("JSON lines without a tool list: have %v, want an error that names tool.jsonl", err)
	}
	fn, err := open("x/train.json.gz")
	if err != nil {
		t.Fatal(err)
	}
	recs, rejs := fn(convert.Element{Data: []byte(`{"conversations":[
		{"from":"human","value":"api_list = [{'api_name': 'f', 'api_description': 'F'}]\ntask_instruction = \"Do\"\nOutput:"},
		{"from":"gpt","value":"[{'api': 'f', 'parameters': {}}]"}]}`)})
	if len(recs) != 1 || len(rejs) != 0 {
		t.Errorf("a prompt: have %v and %v, want a record", recs, rejs)
	}
	_, rejs = fn(convert.Element{Data: []byte(`{"query":"Do","calling":[{"api":"f"}]}`)})
	if len(rejs) != 1 || rejs[0].Code != convert.EmptyTools {
		t.Errorf("another form: have %v, want empty_tools", rejs)
	}
}
