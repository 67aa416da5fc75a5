package sealtools

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"assay/convert"
	"assay/qaoa"
)

func TestEachPlaceholder(t *testing.T) {
	tests := []struct {
		name, in string
		want     []string
	}{
		{"a value", `{"a":"API_call_0"}`, []string{"API_call_0"}},
		{"inside of a text, twice", `{"a":"from API_call_12 to API_call_3."}`, []string{"API_call_12", "API_call_3"}},
		{"in lists and objects", `{"a":["API_call_1",{"b":"API_call_2"}]}`, []string{"API_call_1", "API_call_2"}},
		{"without a number", `{"a":"API_call_ API_call_x"}`, nil},
		{"a key is none", `{"API_call_1":1}`, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			v, err := qaoa.ParseValue(tt.in)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			eachPlaceholder(v, func(name string) { got = append(got, name) })
			if !slices.Equal(got, tt.want) {
				t.Errorf("placeholders of %s: have %q, want %q", tt.in, got, tt.want)
			}
		})
	}
}

func TestWhereToolsAreLookedFor(t *testing.T) {
	const tool = `{"api_name":"f","api_description":"","parameters":{},"required":[]}`
	const record = `{"id":"x","query":"q","calling":[{"api":"f","parameters":{}}]}`
	dir := t.TempDir()
	for name, text := range map[string]string{"tool.jsonl": tool, "old/test_in_domain.jsonl": record, "mine.jsonl": tool} {
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	tests := []struct {
		name string
		in   convert.Input
		ok   bool
	}{
		{"the folder above", convert.Input{FS: os.DirFS(dir), Files: []string{"old/test_in_domain.jsonl"}}, true},
		{"the folder above the root, when a file is named", convert.Input{Root: filepath.Join(dir, "old"), FS: os.DirFS(filepath.Join(dir, "old")), Files: []string{"test_in_domain.jsonl"}}, true},
		{"a list by name", convert.Input{FS: fstest.MapFS{}, Files: []string{"a/b.jsonl"}, Options: convert.Options{Tools: filepath.Join(dir, "mine.jsonl")}}, true},
		{"no list", convert.Input{FS: fstest.MapFS{}, Files: []string{"a/b.jsonl"}}, false},
		{"a list that is not there", convert.Input{FS: fstest.MapFS{}, Files: []string{"a/b.jsonl"}, Options: convert.Options{Tools: filepath.Join(dir, "none.jsonl")}}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f, err := Source.Open(t.Context(), tt.in)
			if !tt.ok {
				if err == nil || !strings.Contains(err.Error(), ".jsonl") {
					t.Errorf("have %v, want an error that names the list", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			recs, rejs := f(convert.Element{Pos: qaoa.Pos{File: tt.in.Files[0]}, Data: []byte(record)})
			if len(recs) != 1 || len(recs[0].Tools) != 1 {
				t.Errorf("have %v and %v, want a record with a tool", recs, rejs)
			}
		})
	}
}

func TestToolTwiceIsAnError(t *testing.T) {
	fs := fstest.MapFS{"tool.jsonl": &fstest.MapFile{Data: []byte("{\"api_name\":\"f\"}\r\n{\"api_name\":\"f\"}\r\n")}}
	_, err := Source.Open(t.Context(), convert.Input{FS: fs, Files: []string{"test_in_domain.jsonl"}})
	if err == nil || !strings.Contains(err.Error(), `tool.jsonl:2: "f" was there before`) {
		t.Errorf("have %v, want the place of the second", err)
	}
}
