package acebench

import (
	"strings"
	"testing"
	"testing/fstest"

	"assay/convert"
	"assay/qaoa"
)

func TestWithoutNumber(t *testing.T) {
	for in, want := range map[string]string{
		"lamp_1": "lamp", "lamp_12": "lamp", "lamp_1_2": "lamp_1", "lamp1": "lamp1", "lamp_": "lamp_", "12": "12", "": "",
	} {
		if got := withoutNumber(in); got != want {
			t.Errorf("withoutNumber(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestLanguage(t *testing.T) {
	const name = "data_normal_single_turn_single_function.json"
	answer := &fstest.MapFile{Data: []byte(`{"id":"a","ground_truth":{"f":{}}}`)}
	tests := []struct{ name, root, dir, rule, question, want string }{
		{"English", "x", "data_en/", "", "Hi", "a"},
		{"a Chinese word in English", "x", "data_en/", "", "Translate 你好", "a"},
		{"Chinese in the English half", "x", "data_en/", "", "订一张桌子 A", "non_english"},
		{"the Chinese half", "x", "data_zh/", "", "Hi", "non_english"},
		{"a named file of the Chinese half", "x/data_zh", "", "", "Hi", "non_english"},
		{"the Chinese half on demand", "x", "data_zh/", "off", "订", "zh_a"},
		{"a rule", "x", "data_en/", "l2", "Käthe", "non_english"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f, err := Source.Open(t.Context(), convert.Input{
				Root: tt.root, FS: fstest.MapFS{tt.dir + "possible_answer/" + name: answer}, Files: []string{tt.dir + name},
				Options: convert.Options{Language: tt.rule},
			})
			if err != nil {
				t.Fatal(err)
			}
			recs, rejs := f(convert.Element{Pos: qaoa.Pos{File: tt.dir + name}, Data: []byte(`{"id":"a","question":"` + tt.question + `","function":[]}`)})
			got := ""
			if len(recs) == 1 {
				got = recs[0].ID
			} else if len(rejs) == 1 {
				got = string(rejs[0].Code)
			}
			if got != tt.want {
				t.Errorf("have %q, want %q", got, tt.want)
			}
		})
	}
}

func TestOpenErrors(t *testing.T) {
	files := []string{"data_special_incomplete.json"}
	for name, tt := range map[string]struct {
		in   convert.Input
		want string
	}{
		"no answers":      {convert.Input{FS: fstest.MapFS{}, Files: files}, "fetch the folder possible_answer"},
		"an unknown rule": {convert.Input{FS: fstest.MapFS{}, Options: convert.Options{Language: "x"}}, "want one of l1, l2, cjk, off"},
		"an id that repeats": {convert.Input{Files: files, FS: fstest.MapFS{
			"possible_answer/data_special_incomplete.json": &fstest.MapFile{Data: []byte("{\"id\":\"a\"}\n{\"id\":\"a\"}\n")},
		}}, "data_special_incomplete.json:2: /id"},
	} {
		if _, err := Source.Open(t.Context(), tt.in); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: have %v, want an error with %q", name, err, tt.want)
		}
	}
}

func TestRefuse(t *testing.T) {
	for category, want := range map[string]convert.Code{
		"normal_atom_bool": "", "special_incomplete": "", "agent_multi_turn": convert.NeedsUserTurns,
		"agent_multi_step": convert.InvalidCategory, "special_error_param": convert.InvalidCategory,
		"special_irrelevant": convert.IrrelevantType, "other": convert.InvalidCategory, "": convert.InvalidCategory,
	} {
		rej := refuse(category)
		if (rej == nil) != (want == "") || rej != nil && rej.Code != want {
			t.Errorf("refuse(%q) = %v, want %q", category, rej, want)
		}
	}
}
