package toolalpaca

import (
	"testing"

	"assay/qaoa"
)

func TestReplaceReferences(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"a reference", `{"id": ${id from search}}`, `{"id": "${unresolved}"}`},
		{"one in a list", `{"a": [${x}], "b": 1}`, `{"a": ["${unresolved}"], "b": 1}`},
		{"one that swallows a brace", `{"a": ${x, "b": ${y}}`, `{"a": "${unresolved}"}`},
		{"one that does not end", `{"a": ${x`, `{"a": ${x`},
		{"none", `{"a": "$1"}`, `{"a": "$1"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := replaceReferences(tt.in); got != tt.want {
				t.Errorf("replaceReferences(%s) = %s, want %s", tt.in, got, tt.want)
			}
		})
	}
}

func TestReadTool(t *testing.T) {
	tests := []struct{ name, in, description, params string }{
		{
			"a type and a description", "Reads\nParameters: {\"id\": \"Required. integer. Number of it.\"}\nOutput: x", "Reads",
			`{"type":"object","properties":{"id":{"type":"integer","description":"Required. integer. Number of it."}},"required":["id"]}`,
		},
		{
			"no first line", "Parameters: {\"q\": \"string. \"}\nOutput: x", "",
			`{"type":"object","properties":{"q":{"type":"string","description":"string. "}},"required":[]}`,
		},
		{
			"types with brackets", "Reads\nParameters: {\"a\": \"Array[Object{b. c, d}]. A\", \"o\": \"Object{a. b}. O\"}", "Reads",
			`{"type":"object","properties":{"a":{"type":"array","items":{"type":"object"},"description":"Array[Object{b. c, d}]. A"},"o":{"type":"object","description":"Object{a. b}. O"}},"required":[]}`,
		},
		{
			"no type", "Reads\nParameters: {\"a\": \"What it is\"}", "Reads",
			`{"type":"object","properties":{"a":{"description":"What it is"}},"required":[]}`,
		},
		{"no parameters", "Reads", "Reads", `{"type":"object","properties":{},"required":[]}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tool, rej := readTool("f", tt.in)
			if rej != nil {
				t.Fatal(rej)
			}
			want := qaoa.Tool{Name: "f", Description: tt.description, Parameters: qaoa.JSON(tt.params)}
			if tool != want {
				t.Errorf("readTool(%q)\nhave %+v\nwant %+v", tt.in, tool, want)
			}
		})
	}
	if _, rej := readTool("a/b~c", "Reads\nParameters: {broken}"); rej == nil || rej.Path != "/Function_Description/a~1b~0c" {
		t.Errorf("a broken description: have %v", rej)
	}
}
