package ollama_test

import (
	"fmt"
	"strings"
	"testing"

	"assay/model"
	"assay/model/ollama"
	"assay/qaoa"
)

func TestSchemaLoss(t *testing.T) {
	c, err := ollama.New(ollama.Config{Model: "m"})
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct{ name, schema, want string }{ // want: pointers, "!" before those that are refused
		{"no schema", ``, ""},
		{"nothing is lost", `{"type":"object","properties":{"a":{"type":["string","null"],"description":"d","enum":["x",1]},"b":{"type":"array","items":{"minimum":1}}},"required":["a"],"$defs":{"x":{"minimum":1}}}`, ""},
		{"at the top", `{"type":"object","title":"T","additionalProperties":false,"properties":{}}`, "/title /additionalProperties"},
		{"of a property", `{"type":"object","properties":{"a":{"type":"integer","minimum":0,"default":3}}}`, "/properties/a/minimum /properties/a/default"},
		{"deep inside", `{"type":"object","properties":{"a":{"type":"object","properties":{"b":{"anyOf":[{"type":"string"},{"const":1}]}}}}}`, "/properties/a/properties/b/anyOf/1/const"},
		{"a reference", `{"type":"object","properties":{"a":{"$ref":"#/$defs/x"}}}`, "/properties/a/$ref"},
		{"a name with a slash", `{"type":"object","properties":{"a/b":{"pattern":"x"}}}`, "/properties/a~1b/pattern"},
		{"a list of types at the top is refused", `{"type":["object"],"properties":{}}`, "!/type"},
		{"a schema that is no object", `{"type":"object","properties":{"a":true}}`, "!/properties/a"},
		{"required as a text", `{"type":"object","properties":{"a":{"type":"string","required":"true"}}}`, "!/properties/a/required"},
		{"a number among required", `{"type":"object","required":["a",1]}`, "!/required"},
		{"enum as a text", `{"type":"object","properties":{"a":{"enum":"x"}}}`, "!/properties/a/enum"},
		{"a description that is no text", `{"type":"object","properties":{"a":{"description":["x"]}}}`, "!/properties/a/description"},
		{"properties as a list", `{"type":"object","properties":[]}`, "!/properties"},
		{"anyOf as an object", `{"type":"object","properties":{"a":{"anyOf":{}}}}`, "!/properties/a/anyOf"},
		{"a type that is a number", `{"type":"object","properties":{"a":{"type":1}}}`, "!/properties/a/type"},
		{"null is nothing", `{"type":null,"properties":null,"required":null}`, ""},
		{"a list for a schema", `[]`, "!"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, l := range c.SchemaLoss(qaoa.Tool{Name: "f", Parameters: qaoa.JSON(tt.schema)}) {
				mark := ""
				if l.Refused {
					mark = "!"
				}
				got = append(got, mark+l.Path)
				if l.Keyword != "" && !strings.HasSuffix(strings.ReplaceAll(l.Path, "~1", "/"), l.Keyword) {
					t.Errorf("loss %+v: the keyword is not the end of the path", l)
				}
			}
			if strings.Join(got, " ") != tt.want {
				t.Errorf("SchemaLoss(%s) = %q, want %q", tt.schema, got, tt.want)
			}
		})
	}
}

func FuzzSchemaLoss(f *testing.F) {
	f.Add(`{"type":"object","properties":{"a":{"anyOf":[{"type":"string"}],"default":1}}}`)
	f.Add(`{"properties":{"a":{"properties":{"b":[]}}}}`)
	c, err := ollama.New(ollama.Config{Model: "m"})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, schema string) {
		j, err := qaoa.Compact(schema)
		if err != nil {
			return
		}
		for _, l := range c.SchemaLoss(qaoa.Tool{Parameters: j}) {
			if l.Path == "" && !l.Refused {
				t.Errorf("loss without a place in %s", j)
			}
		}
	})
}

var _ model.SchemaHolder = (*ollama.Client)(nil)

func ExampleClient_SchemaLoss() {
	c, err := ollama.New(ollama.Config{Model: "qwen3:8b"})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, l := range c.SchemaLoss(qaoa.Tool{Name: "f", Parameters: `{"type":"object","properties":{"n":{"type":"integer","default":3}}}`}) {
		fmt.Println(l.Path, l.Refused)
	}
	// Output: /properties/n/default false
}
