package bfcl

import (
	"strings"
	"testing"
	"testing/fstest"

	"assay/convert"
	"assay/qaoa"
)

func TestCategory(t *testing.T) {
	for file, want := range map[string]string{
		"data/BFCL_v3_simple.json":                "simple",
		"BFCL_v3_live_parallel_multiple.json":     "live_parallel_multiple",
		"BFCL_v3_multi_turn_long_context.json.gz": "multi_turn_long_context",
		"BFCL_v4_simple_python.json":              "simple",
		"BFCL_v4_simple_java.json":                "java",
		"BFCL_v4_simple_javascript.json.zst":      "javascript",
		"BFCL_v4_multiple.json":                   "multiple",
		"simple.json":                             "",
		"BFCL_v3.json":                            "",
		"stdin":                                   "",
	} {
		if got := category(file); got != want {
			t.Errorf("category(%q) = %q, want %q", file, got, want)
		}
	}
}

func TestFirstAlternatives(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"the first of several", `{"a":[1,2]}`, `{"a":1}`},
		{"a parameter that may be left out", `{"a":["",1],"b":[1,""]}`, `{"b":1}`},
		{"a parameter that must be left out", `{"a":[""]}`, `{}`},
		{"no alternative at all", `{"a":[]}`, `{}`},
		{"null is a value", `{"a":[null]}`, `{"a":null}`},
		{"the text of a number", `{"a":[1.0],"b":[1e-07]}`, `{"a":1.0,"b":1e-07}`},
		{"a list is one value", `{"a":[[1,2],[2,1]]}`, `{"a":[1,2]}`},
		{"an empty list is one value", `{"a":[[],[1]]}`, `{"a":[]}`},
		{"an object has alternatives of its own", `{"a":[{"x":[1,2],"y":["",3],"z":[{"w":[4]}]}]}`, `{"a":{"x":1,"z":{"w":4}}}`},
		{"objects in a list as well", `{"a":[[{"x":[1]},{"x":[2,3]}]]}`, `{"a":[{"x":1},{"x":2}]}`},
		{"a bare value in an object", `{"a":[{"x":true}]}`, `{"a":{"x":true}}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			v, err := qaoa.ParseValue(tt.in)
			if err != nil {
				t.Fatal(err)
			}
			if got := string(firstAlternatives(v).JSON()); got != tt.want {
				t.Errorf("firstAlternatives(%s) = %s, want %s", tt.in, got, tt.want)
			}
		})
	}
}

func TestOpenErrors(t *testing.T) {
	const simple, multi = "d/BFCL_v3_simple.json", "d/BFCL_v3_multi_turn_base.json"
	file := func(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s)} }
	answer := file(`{"id":"a","ground_truth":[]}`)
	tests := []struct {
		name string
		fs   fstest.MapFS
		in   convert.Input
		want string
	}{
		{"no answers", fstest.MapFS{}, convert.Input{Files: []string{simple}}, "fetch the folder possible_answer"},
		{
			"no tools of classes",
			fstest.MapFS{"d/possible_answer/BFCL_v3_multi_turn_base.json": answer},
			convert.Input{Files: []string{multi}},
			"fetch the folder multi_turn_func_doc",
		},
		{
			"an answer without an id",
			fstest.MapFS{"d/possible_answer/BFCL_v3_simple.json": file(`{}`)},
			convert.Input{Files: []string{simple}},
			"BFCL_v3_simple.json:1: /id",
		},
		{
			"two answers with an id",
			fstest.MapFS{"d/possible_answer/BFCL_v3_simple.json": file("{\"id\":\"a\"}\n{\"id\":\"a\"}\n")},
			convert.Input{Files: []string{simple}},
			`"a" was there before`,
		},
		{
			"an answer that is no object",
			fstest.MapFS{"d/possible_answer/BFCL_v3_simple.json": file("7\n")},
			convert.Input{Files: []string{simple}},
			"possible_answer/BFCL_v3_simple.json",
		},
		{"a broken tool", fstest.MapFS{
			"d/possible_answer/BFCL_v3_multi_turn_base.json": answer,
			"d/multi_turn_func_doc/math_api.json":            file(`{"name":""}`),
		}, convert.Input{Files: []string{multi}}, "math_api.json:1"},
		{"an unknown rule", fstest.MapFS{}, convert.Input{Options: convert.Options{Language: "l3"}}, "want one of l1, l2, cjk, off"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.in.FS = tt.fs
			if _, err := Source.Open(t.Context(), tt.in); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("have %v, want an error with %q", err, tt.want)
			}
		})
	}
}

func TestLanguageRules(t *testing.T) {
	fs := fstest.MapFS{"possible_answer/BFCL_v3_simple.json": &fstest.MapFile{Data: []byte(`{"id":"a","ground_truth":[{"f":{"x":["ц"]}}]}`)}}
	tests := []struct{ name, rule, query, function, want string }{
		{"English with a Russian gold call", "", "plain", "plain", "gold calls"},
		{"a Greek function", "l1", "plain", "ε", "functions"},
		{"a Greek query", "l1", "ε", "plain", "messages"},
		{"a Finnish name", "l2", "Käärijä", "plain", "user's messages"},
		{"a Greek function does not matter", "l2", "plain", "ε", ""},
		{"Russian is not Chinese", "cjk", "ц", "ц", ""},
		{"Chinese is", "cjk", "plain", "桌", "functions"},
		{"no rule", "off", "桌", "ц", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in := convert.Input{FS: fs, Files: []string{"BFCL_v3_simple.json"}, Options: convert.Options{Language: tt.rule}}
			f, err := Source.Open(t.Context(), in)
			if err != nil {
				t.Fatal(err)
			}
			data := `{"id":"a","question":[[{"role":"user","content":"` + tt.query + `"}]],"function":[{"name":"f","description":"` + tt.function + `"}]}`
			recs, rejs := f(convert.Element{Pos: qaoa.Pos{File: "BFCL_v3_simple.json"}, Data: []byte(data)})
			if tt.want == "" {
				if len(recs) != 1 {
					t.Fatalf("have rejects %v, want a record", rejs)
				}
				return
			}
			if len(rejs) != 1 || rejs[0].Code != convert.NonEnglish || !strings.Contains(rejs[0].Detail, tt.want) {
				t.Errorf("have %v, want non_english for the %s", rejs, tt.want)
			}
		})
	}
}
