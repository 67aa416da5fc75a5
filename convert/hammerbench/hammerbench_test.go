package hammerbench

import (
	"os"
	"path/filepath"
	"testing"

	"assay/convert"
	"assay/convert/converttest"
	"assay/qaoa"
)

func TestSource(t *testing.T) { converttest.Run(t, Source, "testdata/hammerbench") }

func TestTypeOf(t *testing.T) {
	tests := []struct {
		name, id, file string
		kind           string
		index          int
	}{
		{"an id of the hub", "ST-Perfect_41_0", "single-turn.json", "ST-Perfect", 41},
		{"an id before the name of the file", "SO_case1_12_3", "ST_Perfect.json", "SO-case1", 12},
		{"the name of a file", "", "en/single-turn/ST_External.json", "ST-External", 7},
		{"a compressed file", "", "ST_Imperfect.json.zst", "ST-Imperfect", 7},
		{"a twin", "", "ir_ST_Perfect.json", "ir-ST-Perfect", 7},
		{"dialogues", "", "HammerBench_mQsA.json", "mQsA", 7},
		{"an id without numbers", "ST_Perfect_x", "a.json", "", 7},
		{"neither", "", "single-turn.json", "", 7},
		{"an id of numbers only", "1_2", "a.json", "", 7},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			v := qaoa.ObjectValue()
			if tt.id != "" {
				v = qaoa.ObjectValue(qaoa.Member{Name: "id", Value: qaoa.StringValue(tt.id)})
			}
			kind, index := typeOf(v, qaoa.Pos{File: tt.file, Index: 7})
			if kind != tt.kind || index != tt.index {
				t.Errorf("typeOf(%q in %s) = %q, %d, want %q, %d", tt.id, tt.file, kind, index, tt.kind, tt.index)
			}
		})
	}
}

// balance converts paths and returns the summary.
func balance(t *testing.T, opt convert.Options, paths ...string) convert.Summary {
	t.Helper()
	inputs, _, err := convert.Find(Source, paths)
	if err != nil {
		t.Fatal(err)
	}
	var sum convert.Summary
	for o, err := range convert.Run(t.Context(), Source, inputs, convert.RunOptions{Options: opt}) {
		if err != nil {
			t.Fatal(err)
		}
		sum.Add(o)
	}
	if err := sum.Check(); err != nil {
		t.Error(err)
	}
	return sum
}

func TestNamedFiles(t *testing.T) {
	const raw = "testdata/hammerbench/raw/"
	tests := []struct {
		name, file, language string
		converted            int
		code                 convert.Code
	}{
		{"dialogues", "en/multi-turn/HammerBench_Based.json", "", 0, convert.MultiTurnSlotFilling},
		{"Chinese", "zh/single-turn/ST_Perfect.json", "", 0, convert.NonEnglish},
		{"Chinese on demand", "zh/single-turn/ST_Perfect.json", "off", 1, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			sum := balance(t, convert.Options{Language: tt.language}, raw+tt.file)
			if sum.Converted != tt.converted || tt.code != "" && sum.Codes[tt.code] != 1 {
				t.Errorf("%s: have %+v, want %d records or the code %s", tt.file, sum, tt.converted, tt.code)
			}
		})
	}
	if _, err := Source.Open(t.Context(), convert.Input{Options: convert.Options{Language: "l9"}}); err == nil {
		t.Error("an unknown language rule opens")
	}
}

func TestRealFiles(t *testing.T) {
	dir := filepath.Join("..", "..", "..", "shared", "data", "raw", "hammerbench")
	if _, err := os.Stat(dir); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("no ../shared/data: %v", err)
		}
		t.Skip("no ../shared/data: put a checkout of MadeAgents/HammerBench beside the project as ../shared/data/raw/hammerbench")
	}
	sum := balance(t, convert.Options{}, dir)
	if sum.Read != 600 || sum.Converted != 300 || sum.Codes[convert.IrrelevantType] != 300 {
		t.Errorf("the folder: have %+v, want 300 of 600 converted and 300 of an irrelevant type", sum)
	}
	sum = balance(t, convert.Options{Profile: convert.Strict}, dir)
	if sum.Converted != 200 || sum.Codes[convert.MissingRequired] != 100 {
		t.Errorf("the folder, strictly: have %+v, want 200 converted and the 100 without values rejected", sum)
	}
	for file, code := range map[string]convert.Code{
		"data/en/multi-turn/HammerBench_sQmA.json": convert.MultiTurnSlotFilling,
		"data/en/multi-turn/HammerBench_IS.json":   convert.MultiTurnSlotFilling,
		"data/zh/single-turn/ST_Perfect.json":      convert.NonEnglish,
	} {
		if sum := balance(t, convert.Options{}, filepath.Join(dir, file)); sum.Read != 100 || sum.Codes[code] != 100 {
			t.Errorf("%s: have %+v, want 100 times %s", file, sum, code)
		}
	}
	if sum := balance(t, convert.Options{Language: "off"}, filepath.Join(dir, "data/zh/single-turn/ST_Perfect.json")); sum.Converted != 100 {
		t.Errorf("Chinese without a rule: have %+v, want 100 converted", sum)
	}
}

// TestRealGoldenCall compares with the record that the authors of the paper
// published.
func TestRealGoldenCall(t *testing.T) {
	file := filepath.Join("..", "..", "..", "shared", "data", "raw", "hammerbench", "data", "en", "single-turn", "ST_External.json")
	if _, err := os.Stat(file); err != nil {
		const how = "no ../shared/data: put a checkout of MadeAgents/HammerBench beside the project as ../shared/data/raw/hammerbench"
		if os.Getenv("CI") == "true" {
			t.Fatal(how)
		}
		t.Skip(how)
	}
	inputs, _, err := convert.Find(Source, []string{file})
	if err != nil {
		t.Fatal(err)
	}
	const id = "hammerbench/single-turn_0008_ST-External"
	for o, err := range convert.Run(t.Context(), Source, inputs, convert.RunOptions{}) {
		if err != nil {
			t.Fatal(err)
		}
		for _, rec := range o.Records {
			if rec.ID != id {
				continue
			}
			got := string(qaoa.AppendCall(nil, rec.Turns[0].Steps[0].Calls[0]))
			want := `{"name":"Navigation.TrafficViolations.reportAccident","arguments":{"location":"Changan Street","plate_number":"Beijing C98765"}}`
			if got != want {
				t.Errorf("%s:\nhave %s\nwant %s", id, got, want)
			}
			return
		}
	}
	t.Errorf("no record %s", id)
}
