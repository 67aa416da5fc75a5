package openapi

import (
	"fmt"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"pgregory.net/rapid"

	"assay/qaoa"
)

// argument returns the schema that a tool has for a parameter with the schema
// s, and the findings.
func argument(t *testing.T, version, s, schemas string, opt Options) (schema string, findings []string) {
	t.Helper()
	data := doc(version, `"/a":{"get":{"parameters":[{"name":"p","in":"query","schema":`+s+`}]}}`, `"schemas":{`+schemas+`}`)
	tools, found, err := Tools([]byte(data), opt)
	if err != nil {
		t.Fatal(err)
	}
	v, err := tools[0].Parameters.Value()
	if err != nil {
		t.Fatal(err)
	}
	properties, _ := v.Get("properties")
	p, _ := properties.Get("p")
	for _, f := range found {
		findings = append(findings, string(f.Code)+" "+f.Path)
	}
	return string(p.JSON()), findings
}

func TestSchemas(t *testing.T) {
	const here = "/paths/~1a/get/parameters/0/schema"
	tests := []struct {
		name, version, schema, schemas string
		want, findings                 string
	}{
		{"what is not OpenAPI's stays, in order", "3.1", `{"pattern":"^a","type":["string","null"],"x-y":1,"xml":{},"maxLength":5,"default":{"$ref":"x","x-a":1},"$comment":"c"}`, ``, `{"pattern":"^a","type":["string","null"],"maxLength":5,"default":{"$ref":"x","x-a":1}}`, ""},
		{"properties may be called like keywords", "3.1", `{"type":"object","properties":{"xml":{"xml":{}},"$ref":{"type":"string"},"x-a":{},"nullable":true}}`, ``, `{"type":"object","properties":{"xml":{},"$ref":{"type":"string"},"x-a":{},"nullable":{}}}`, ""},
		{"references are put in place at every depth", "3.1", `{"type":"array","items":{"anyOf":[{"$ref":"#/components/schemas/A"},{"not":{"$ref":"#/components/schemas/A~1B%20C"}}]},"$defs":{}}`, `"A":{"type":"string"},"A/B C":{"$ref":"#/components/schemas/A"}`, `{"type":"array","items":{"anyOf":[{"type":"string"},{"not":{"type":"string"}}]}}`, ""},
		{"what stands beside a reference counts in 3.1", "3.1", `{"$ref":"#/components/schemas/A","description":"mine","maxLength":5}`, `"A":{"type":"string","description":"its","maxLength":9}`, `{"type":"string","description":"mine","maxLength":5}`, ""},
		{"of it only the description counts in 3.0", "3.0.0", `{"$ref":"#/components/schemas/A","description":"mine","maxLength":5}`, `"A":{"type":"string","maxLength":9}`, `{"type":"string","maxLength":9,"description":"mine"}`, ""},
		{"a schema within itself is cut", "3.1", `{"$ref":"#/components/schemas/N"}`, `"N":{"type":"object","description":"a node","properties":{"v":{},"next":{"$ref":"#/components/schemas/N","description":"the next one"}}}`, `{"type":"object","description":"a node","properties":{"v":{},"next":{"type":"object","description":"the next one"}}}`, "recursive_schema /components/schemas/N/properties/next"},
		{"schemas within each other are cut", "3.1", `{"$ref":"#/components/schemas/A"}`, `"A":{"type":"object","properties":{"b":{"$ref":"#/components/schemas/B"}}},"B":{"type":"array","items":{"$ref":"#/components/schemas/A"}}`, `{"type":"object","properties":{"b":{"type":"array","items":{"type":"object"}}}}`, "recursive_schema /components/schemas/B/items"},
		{"a reference to itself", "3.1", `{"$ref":"#/components/schemas/A"}`, `"A":{"$ref":"#/components/schemas/A"}`, `{}`, "recursive_schema /components/schemas/A"},
		{"the whole document", "3.1", `{"$ref":"#"}`, ``, `{}`, "recursive"},
		{
			"references that lead nowhere", "3.1", `{"anyOf":[{"$ref":"#/components/schemas/X"},{"$ref":"#/components/schemas/A/allOf/7"},{"$ref":"#A"},{"$ref":"http://h/s.json"},{"$ref":"s.json#/A","type":"string"},{"$dynamicRef":"#A","type":"object"},{"$ref":"#/%zz"}]}`, `"A":{"allOf":[]}`, `{"anyOf":[{},{},{},{},{"type":"string"},{"type":"object"},{}]}`,
			"dangling_ref " + here + "/anyOf/0 dangling_ref " + here + "/anyOf/1 unsupported_ref " + here + "/anyOf/2 remote_ref " + here + "/anyOf/3 remote_ref " + here + "/anyOf/4 unsupported_ref " + here + "/anyOf/5 dangling_ref " + here + "/anyOf/6",
		},
		{"allOf is merged", "3.1", `{"allOf":[{"$ref":"#/components/schemas/A"},{"type":"object","properties":{"b":{"type":"integer"}},"required":["b"]}],"description":"both","properties":{"c":{}}}`, `"A":{"type":"object","title":"A","required":["a"],"properties":{"a":{"type":"string"}}}`, `{"type":"object","title":"A","required":["a","b"],"properties":{"a":{"type":"string"},"b":{"type":"integer"},"c":{}},"description":"both"}`, ""},
		{"allOf within allOf", "3.1", `{"allOf":[{"allOf":[{"minimum":1},{"minimum":2}]},{"maximum":9}]}`, ``, `{"minimum":2,"maximum":9}`, ""},
		{"allOf of parts that contradict each other", "3.1", `{"type":"string","allOf":[{"pattern":"a"},{"pattern":"b"}]}`, ``, `{"type":"string","allOf":[{"pattern":"a"},{"pattern":"b"}]}`, "allof_unmerged " + here + "/allOf"},
		{"allOf beside what contradicts it", "3.1", `{"type":"string","allOf":[{"type":"integer"}]}`, ``, `{"type":"string","allOf":[{"type":"integer"}]}`, "allof_unmerged " + here + "/allOf"},
		{"nullable", "3.0.3", `{"type":"string","nullable":true,"enum":["a",null]}`, ``, `{"type":["string","null"],"enum":["a",null]}`, ""},
		{"nullable beside allOf", "3.0.3", `{"allOf":[{"$ref":"#/components/schemas/A"}],"nullable":true}`, `"A":{"type":"object","properties":{}}`, `{"type":["object","null"],"properties":{}}`, ""},
		{"nullable beside oneOf", "3.0.3", `{"oneOf":[{"type":"string"},{"type":"integer"}],"nullable":true}`, ``, `{"oneOf":[{"type":"string"},{"type":"integer"},{"type":"null"}]}`, ""},
		{"nullable without a type, and not", "3.0.3", `{"anyOf":[{"nullable":true},{"type":"string","nullable":false}]}`, ``, `{"anyOf":[{},{"type":"string"}]}`, ""},
		{"exclusive bounds of 3.0", "3.0.3", `{"minimum":1.0,"exclusiveMinimum":true,"maximum":5,"exclusiveMaximum":false}`, ``, `{"exclusiveMinimum":1.0,"maximum":5}`, ""},
		{"exclusive bounds of 3.1", "3.1", `{"minimum":1,"exclusiveMinimum":2}`, ``, `{"minimum":1,"exclusiveMinimum":2}`, ""},
		{"boolean schemas", "3.1", `{"properties":{"a":true,"b":false},"additionalProperties":false,"items":true}`, ``, `{"properties":{"a":{},"b":{"not":{}}},"additionalProperties":false,"items":true}`, ""},
		{"schemas that are none", "3.1", `{"properties":[],"anyOf":{},"items":5,"not":"x","prefixItems":[7]}`, ``, `{"properties":{},"anyOf":[],"items":{},"not":{},"prefixItems":[{}]}`, "bad_schema " + here + "/properties bad_schema " + here + "/anyOf bad_schema " + here + "/items bad_schema " + here + "/not bad_schema " + here + "/prefixItems/0"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, findings := argument(t, tt.version, tt.schema, tt.schemas, Options{})
			if tt.findings == "recursive" { // the document is no schema, and what it is made of is not of interest
				if got == "" {
					t.Error("have no schema")
				}
				return
			}
			if got != tt.want {
				t.Errorf("have\n%s\nwant\n%s", got, tt.want)
			}
			if have := strings.Join(findings, " "); have != tt.findings {
				t.Errorf("have findings %q, want %q", have, tt.findings)
			}
		})
	}
}

func TestBounds(t *testing.T) {
	deep := strings.Repeat(`{"type":"array","items":`, 50) + `{"type":"string"}` + strings.Repeat(`}`, 50)
	got, findings := argument(t, "3.1", deep, "", Options{MaxDepth: 3})
	if want := `{"type":"array","items":{"type":"array","items":{"type":"array","items":{"type":"array","items":{"type":"array"}}}}}`; got != want || len(findings) != 1 || !strings.HasPrefix(findings[0], "schema_too_large ") {
		t.Errorf("a deep schema: have %s and %v, want %s", got, findings, want)
	}
	// Each of 60 schemas holds the next one twice: 2^60 if nothing stops it.
	var schemas []string
	for i := range 60 {
		schemas = append(schemas, fmt.Sprintf(`"S%d":{"type":"object","properties":{"a":{"$ref":"#/components/schemas/S%d"},"b":{"$ref":"#/components/schemas/S%d"}}}`, i, i+1, i+1))
	}
	schemas = append(schemas, `"S60":{}`)
	got, findings = argument(t, "3.1", `{"$ref":"#/components/schemas/S0"}`, strings.Join(schemas, ","), Options{MaxSchema: 10_000, MaxDepth: 100})
	if len(got) > 40_000 || len(findings) == 0 {
		t.Errorf("a schema that grows: have %d bytes and findings %v", len(got), findings)
	}
	got, findings = argument(t, "3.1", `{"type":"string","enum":["`+strings.Repeat("x", 5000)+`"],"title":"t"}`, "", Options{MaxSchema: 1000})
	if got != `{"type":"string","title":"t"}` || len(findings) != 1 {
		t.Errorf("a large enum: have %.100s and %v", got, findings)
	}
	many := strings.TrimSuffix(strings.Repeat(`{"minimum":1},`, 500), ",")
	if _, findings = argument(t, "3.1", `{"allOf":[`+many+`]}`, "", Options{}); len(findings) != 1 {
		t.Errorf("an allOf of 500 parts: have %v, want that it is not merged", findings)
	}
	chain := `"A0":{"name":"q","in":"query"}`
	for i := range 40 {
		chain += fmt.Sprintf(`,"A%d":{"$ref":"#/components/parameters/A%d"}`, i+1, i)
	}
	tools, found, err := Tools([]byte(doc("3.1", `"/a":{"get":{"parameters":[{"$ref":"#/components/parameters/A40"},{"$ref":"#/components/parameters/A3"}]}}`, `"parameters":{`+chain+`}`)), Options{})
	if err != nil || len(found) != 1 || !strings.Contains(string(tools[0].Parameters), `"q"`) {
		t.Errorf("a chain of references: have %v, %v, %v", tools, found, err)
	}
}

// TestMergeAllowsWhatBothAllow compares a merged schema with its two parts by
// means of another library: a value is valid for it just if it is for both.
func TestMergeAllowsWhatBothAllow(t *testing.T) {
	valid := func(t *rapid.T, schema qaoa.Value, value any) bool {
		doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(schema.JSON())))
		if err != nil {
			t.Fatal(err)
		}
		c := jsonschema.NewCompiler()
		if err := c.AddResource("x:/s", doc); err != nil {
			t.Fatal(err)
		}
		s, err := c.Compile("x:/s")
		if err != nil {
			t.Fatalf("%s: %v", schema.JSON(), err)
		}
		return s.Validate(value) == nil
	}
	values := []string{`null`, `true`, `1`, `2`, `3.5`, `"a"`, `"ab"`, `"b"`, `[]`, `[1]`, `[1,"a"]`, `[2,2]`, `{}`, `{"p":1}`, `{"p":"a"}`, `{"p":3.5,"q":"a"}`, `{"q":"b","r":1}`}
	merged := 0
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawSchema(t, 2), drawSchema(t, 2)
		both, ok := merge(a, b, rapid.Bool().Draw(t, "over"))
		if !ok {
			return
		}
		merged++
		for _, text := range values {
			value, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
			if err != nil {
				t.Fatal(err)
			}
			if got, want := valid(t, both, value), valid(t, a, value) && valid(t, b, value); got != want {
				t.Fatalf("%s merged with %s is %s, which allows %s: %v, want %v", a.JSON(), b.JSON(), both.JSON(), text, got, want)
			}
		}
	})
	if merged == 0 {
		t.Error("nothing was merged")
	}
}

// drawSchema draws a schema of the keywords that merge knows, but for
// additionalProperties, of which it says itself that it does not keep it.
func drawSchema(t *rapid.T, depth int) qaoa.Value {
	pick := func(name string, texts ...string) qaoa.Value {
		v, err := qaoa.ParseValue(rapid.SampledFrom(texts).Draw(t, name))
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	v := qaoa.ObjectValue()
	add := func(name string, value func() qaoa.Value) {
		if rapid.IntRange(0, 3).Draw(t, "has "+name) == 0 {
			v.Members = append(v.Members, qaoa.Member{Name: name, Value: value()})
		}
	}
	add("type", func() qaoa.Value {
		return pick("type", `"string"`, `"integer"`, `"number"`, `"object"`, `"array"`, `["string","null"]`, `["number","object"]`, `["integer","array","object"]`)
	})
	add("enum", func() qaoa.Value { return pick("enum", `[1,"a",null]`, `["a","b"]`, `[1,2,3.5]`, `[{},[1]]`) })
	add("minimum", func() qaoa.Value { return pick("minimum", `1`, `2.0`, `3`) })
	add("exclusiveMaximum", func() qaoa.Value { return pick("exclusiveMaximum", `2`, `3.5`, `1e1`) })
	add("maxLength", func() qaoa.Value { return pick("maxLength", `1`, `2`) })
	add("minItems", func() qaoa.Value { return pick("minItems", `1`, `2`) })
	add("uniqueItems", func() qaoa.Value { return pick("uniqueItems", `true`, `false`) })
	add("pattern", func() qaoa.Value { return pick("pattern", `"^a"`, `"b$"`) })
	add("required", func() qaoa.Value { return pick("required", `["p"]`, `["q","p"]`, `["r"]`) })
	add("title", func() qaoa.Value { return pick("title", `"x"`, `"y"`) })
	if depth > 0 {
		add("properties", func() qaoa.Value {
			p := qaoa.ObjectValue()
			for _, name := range []string{"p", "q"} {
				if rapid.Bool().Draw(t, "has property "+name) {
					p.Members = append(p.Members, qaoa.Member{Name: name, Value: drawSchema(t, depth-1)})
				}
			}
			return p
		})
		add("items", func() qaoa.Value { return drawSchema(t, depth-1) })
		add("anyOf", func() qaoa.Value { return qaoa.ArrayValue(drawSchema(t, 0), drawSchema(t, 0)) })
	}
	return v
}

func FuzzTools(f *testing.F) {
	f.Add([]byte(doc("3.0.3", `"/a/{b}":{"get":{"parameters":[{"name":"p","in":"query","schema":{"allOf":[{"$ref":"#/components/schemas/N"}],"nullable":true}}]}}`, `"schemas":{"N":{"type":"object","properties":{"n":{"$ref":"#/components/schemas/N"}}}}`)))
	f.Add([]byte("openapi: 3.1.0\npaths:\n  /a: &a\n    post:\n      requestBody: {content: {application/json: {schema: {properties: {a: {readOnly: true}}}}}}\n  /b: *a\n  /c: {<<: *a}\n"))
	f.Add([]byte(`{"openapi":"3.1","paths":{"/a":{"$ref":"#/paths/~1a"},"/b":{"get":{"parameters":[{"name":"x","in":"path","schema":{"$ref":"#"}}]}}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		opt := Options{MaxSchema: 4096}
		tools, findings, err := Tools(data, opt)
		if err != nil && (tools != nil || findings != nil) {
			t.Error("an error comes with tools or findings")
		}
		names := map[string]bool{}
		for _, tool := range tools {
			v, err := tool.Parameters.Value()
			if err != nil || names[tool.Name] || tool.Name == "" {
				t.Errorf("tool %q with parameters %s: %v", tool.Name, tool.Parameters, err)
			}
			names[tool.Name] = true
			properties, _ := v.Get("properties")
			required, _ := v.Get("required")
			seen := map[string]bool{}
			for _, p := range properties.Members {
				if seen[p.Name] {
					t.Errorf("property %q twice", p.Name)
				}
				seen[p.Name] = true
			}
			for _, r := range required.Items {
				if !seen[r.Text] {
					t.Errorf("required %q is no property", r.Text)
				}
			}
			// What is cut keeps its title and description, so that it may be
			// somewhat larger.
			if len(tool.Parameters) > 64*opt.MaxSchema {
				t.Errorf("%d bytes of parameters", len(tool.Parameters))
			}
		}
	})
}
