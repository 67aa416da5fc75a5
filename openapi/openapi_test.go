package openapi

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"assay/qaoa"
)

// doc returns a document with these paths and components, each the text of the
// members of a JSON object.
func doc(version, paths, components string) string {
	return fmt.Sprintf(`{"openapi":%q,"info":{"title":"t","version":"1"},"paths":{%s},"components":{%s}}`, version, paths, components)
}

// show returns the tools and the findings of a document, a line each.
func show(t *testing.T, data string, opt Options) string {
	t.Helper()
	tools, findings, err := Tools([]byte(data), opt)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, tool := range tools {
		fmt.Fprintf(&b, "%s|%s|%s\n", tool.Name, strings.ReplaceAll(tool.Description, "\n", "⏎"), tool.Parameters)
	}
	for _, f := range findings {
		fmt.Fprintf(&b, "%s %s\n", f.Code, f.Path)
	}
	return b.String()
}

const none = `{"type":"object","properties":{}}`

func TestOperations(t *testing.T) {
	tests := []struct {
		name, paths string
		opt         Options
		want        string
	}{
		{"one tool for each operation, in the order of the document", `"/b":{"post":{"operationId":"zeta"},"get":{"operationId":"alpha"}},"/a":{"x-y":1,"summary":"s","delete":{"operationId":"mid"}}`, Options{}, "zeta||" + none + "\nalpha||" + none + "\nmid|s|" + none},
		{"a name of method and path", `"/pets/{petId}/photos.json":{"get":{"parameters":[{"name":"petId","in":"path","required":true}]}}`, Options{}, `get_pets_petId_photos_json||{"type":"object","properties":{"petId":{}},"required":["petId"]}`},
		{"names that are taken", `"/a":{"get":{"operationId":"f"},"put":{"operationId":"f"},"post":{"operationId":"f_2"},"head":{"operationId":"f"}}`, Options{}, "f||" + none + "\nf_2||" + none + "\nf_2_2||" + none + "\nf_3||" + none + "\nrenamed /paths/~1a/put\nrenamed /paths/~1a/post\nrenamed /paths/~1a/head"},
		{"names that servers refuse make one finding", `"/a":{"get":{"operationId":"repos/list é"},"put":{"operationId":"a.b"}}`, Options{}, "repos/list é||" + none + "\na.b||" + none + "\nunsafe_name /paths/~1a/get/operationId"},
		{"names made clean", `"/a":{"get":{"operationId":"repos/list é"},"put":{"operationId":"repos.list_é"},"post":{"operationId":"` + strings.Repeat("x", 70) + `"},"head":{"operationId":"` + strings.Repeat("x", 80) + `"}}`, Options{CleanNames: true}, "repos_list__||" + none + "\nrepos_list___2||" + none + "\n" + strings.Repeat("x", 64) + "||" + none + "\n" + strings.Repeat("x", 62) + "_2||" + none + "\nrenamed /paths/~1a/put\nrenamed /paths/~1a/head"},
		{"summary and description", `"/a":{"get":{"operationId":"f","summary":" Get. ","description":"It gets a thing.\n"}}`, Options{}, "f|Get.⏎It gets a thing.|" + none},
		{"a summary that the description begins with", `"/a":{"get":{"operationId":"f","summary":"It gets.","description":"It gets a thing."}}`, Options{}, "f|It gets a thing.|" + none},
		{"the path's description if there is no other", `"/a":{"description":"Things","get":{"operationId":"f"}}`, Options{}, "f|Things|" + none},
		{"deprecated ones are marked", `"/a":{"get":{"operationId":"f","summary":"S","deprecated":true}}`, Options{}, "f|[deprecated] S|" + none},
		{"deprecated ones are left out", `"/a":{"get":{"operationId":"f","deprecated":true},"put":{"operationId":"g"}}`, Options{SkipDeprecated: true}, "g||" + none + "\ndeprecated /paths/~1a/get"},
		{"operations and paths that are none", `"/a":{"get":5},"/b":[]`, Options{}, "bad_operation /paths/~1a/get\nbad_operation /paths/~1b"},
		{"a path behind a reference", `"/a":{"$ref":"#/paths/~1b"},"/b":{"get":{"operationId":"f"}}`, Options{}, "f||" + none + "\nf_2||" + none + "\nrenamed /paths/~1b/get"},
		{"a path in another document", `"/a":{"$ref":"other.yaml#/paths/a"},"/b":{"get":{"operationId":"f"}}`, Options{}, "f||" + none + "\nremote_ref /paths/~1a"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := show(t, doc("3.1.0", tt.paths, ""), tt.opt); got != tt.want+"\n" {
				t.Errorf("have\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

func TestParameters(t *testing.T) {
	const components = `"parameters":{"Lim":{"name":"limit","in":"query","description":"How many","schema":{"type":"integer","description":"a number","maximum":50}}},
		"requestBodies":{"Pet":{"required":true,"content":{"text/plain":{},"application/json; charset=utf-8":{"schema":{"type":"object","required":["name"],"properties":{"name":{"type":"string"},"id":{"type":"integer"}}}}}}},
		"securitySchemes":{"key":{"type":"apiKey","in":"header","name":"X-Key"},"other":{"$ref":"#/components/securitySchemes/key"}}`
	tests := []struct {
		name, operation, want string
	}{
		{
			"all places in the order of the document", `"parameters":[{"name":"q","in":"query","schema":{"type":"string"}},{"name":"h","in":"header","required":true,"schema":{}},{"name":"c","in":"cookie","schema":{"type":"boolean"}}]`,
			`{"type":"object","properties":{"id":{"type":"string"},"q":{"type":"string"},"h":{},"c":{"type":"boolean"}},"required":["id","h"]}`,
		},
		{
			"the operation's takes the place of the path's", `"parameters":[{"name":"id","in":"path","required":true,"schema":{"type":"integer"}}]`,
			`{"type":"object","properties":{"id":{"type":"integer"}},"required":["id"]}`,
		},
		{
			"the same name in another place", `"parameters":[{"name":"id","in":"query","schema":{"type":"integer"}}]`,
			"{\"type\":\"object\",\"properties\":{\"id\":{\"type\":\"string\"},\"query_id\":{\"type\":\"integer\"}},\"required\":[\"id\"]}\nrenamed_argument /paths/~1p~1{id}/post/parameters/0",
		},
		{
			"a reference, whose description wins over that of the schema", `"parameters":[{"$ref":"#/components/parameters/Lim"}]`,
			`{"type":"object","properties":{"id":{"type":"string"},"limit":{"type":"integer","description":"How many","maximum":50}},"required":["id"]}`,
		},
		{
			"a parameter with a content", `"parameters":[{"name":"filter","in":"query","content":{"application/json":{"schema":{"type":"object","properties":{"a":{}}}}}}]`,
			`{"type":"object","properties":{"id":{"type":"string"},"filter":{"type":"object","properties":{"a":{}}}},"required":["id"]}`,
		},
		{
			"a deprecated parameter", `"parameters":[{"name":"q","in":"query","deprecated":true,"schema":{"type":"string"}}]`,
			`{"type":"object","properties":{"id":{"type":"string"},"q":{"type":"string","deprecated":true}},"required":["id"]}`,
		},
		{
			"keys and headers of the protocol are left out", `"parameters":[{"name":"x-key","in":"header"},{"name":"Accept","in":"header"},{"name":"X-Key","in":"query"}]`,
			"{\"type\":\"object\",\"properties\":{\"id\":{\"type\":\"string\"},\"X-Key\":{}},\"required\":[\"id\"]}\nsecurity_left_out /paths/~1p~1{id}/post/parameters/0",
		},
		{
			"parameters that are none", `"parameters":[5,{"name":"a"},{"in":"query"},{"name":"a","in":"body"},{"$ref":"#/nowhere"},{"$ref":"http://h/x"}]`,
			"{\"type\":\"object\",\"properties\":{\"id\":{\"type\":\"string\"}},\"required\":[\"id\"]}\nbad_parameter /paths/~1p~1{id}/post/parameters/0\nbad_parameter /paths/~1p~1{id}/post/parameters/1\nbad_parameter /paths/~1p~1{id}/post/parameters/2\nbad_parameter /paths/~1p~1{id}/post/parameters/3\ndangling_ref /paths/~1p~1{id}/post/parameters/4\nremote_ref /paths/~1p~1{id}/post/parameters/5",
		},
		{"a list that is none", `"parameters":{}`, "{\"type\":\"object\",\"properties\":{\"id\":{\"type\":\"string\"}},\"required\":[\"id\"]}\nbad_parameter /paths/~1p~1{id}/post/parameters"},
		{
			"the members of a body, one with a name that is taken", `"requestBody":{"$ref":"#/components/requestBodies/Pet"}`,
			"{\"type\":\"object\",\"properties\":{\"id\":{\"type\":\"string\"},\"name\":{\"type\":\"string\"},\"body_id\":{\"type\":\"integer\"}},\"required\":[\"id\",\"name\"]}\nrenamed_argument /components/requestBodies/Pet/content/application~1json; charset=utf-8/schema/properties/id",
		},
		{
			"a body that need not be", `"requestBody":{"content":{"application/json":{"schema":{"required":["a"],"properties":{"a":{"type":"string"}},"additionalProperties":false}}}}`,
			`{"type":"object","properties":{"id":{"type":"string"},"a":{"type":"string"}},"required":["id"],"additionalProperties":false}`,
		},
		{
			"a body that is a list", `"requestBody":{"required":true,"description":"All of them","content":{"application/json":{"schema":{"type":"array","items":{"type":"string"}}}}}`,
			`{"type":"object","properties":{"id":{"type":"string"},"body":{"type":"array","items":{"type":"string"},"description":"All of them"}},"required":["id","body"]}`,
		},
		{
			"a body of several shapes", `"requestBody":{"content":{"application/json":{"schema":{"type":"object","properties":{"a":{}},"oneOf":[{"required":["a"]},{}]}}}}`,
			`{"type":"object","properties":{"id":{"type":"string"},"body":{"type":"object","properties":{"a":{}},"oneOf":[{"required":["a"]},{}]}},"required":["id"]}`,
		},
		{
			"read-only members are left out", `"requestBody":{"required":true,"content":{"application/vnd.x+json":{"schema":{"type":"object","required":["a","b"],"properties":{"a":{"readOnly":true},"b":{"type":"object","properties":{"c":{"readOnly":true},"d":{}}}}}}}}`,
			`{"type":"object","properties":{"id":{"type":"string"},"b":{"type":"object","properties":{"d":{}}}},"required":["id","b"]}`,
		},
		{
			"a form", `"requestBody":{"content":{"multipart/form-data":{"schema":{"type":"object","properties":{"file":{"type":"string","format":"binary"}}}}}}`,
			"{\"type\":\"object\",\"properties\":{\"id\":{\"type\":\"string\"},\"file\":{\"type\":\"string\",\"format\":\"binary\"}},\"required\":[\"id\"]}\nother_body /paths/~1p~1{id}/post/requestBody/content/multipart~1form-data",
		},
		{
			"a text", `"requestBody":{"content":{"text/plain":{}}}`,
			"{\"type\":\"object\",\"properties\":{\"id\":{\"type\":\"string\"},\"body\":{\"type\":\"string\"}},\"required\":[\"id\"]}\nother_body /paths/~1p~1{id}/post/requestBody/content/text~1plain",
		},
		{"a body that is none", `"requestBody":[]`, "{\"type\":\"object\",\"properties\":{\"id\":{\"type\":\"string\"}},\"required\":[\"id\"]}\nbad_parameter /paths/~1p~1{id}/post/requestBody"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			paths := `"/p/{id}":{"parameters":[{"name":"id","in":"path","required":true,"schema":{"type":"string"}}],"post":{"operationId":"f",` + tt.operation + `}}`
			if got, want := show(t, doc("3.0.3", paths, components), Options{}), "f||"+tt.want+"\n"; got != want {
				t.Errorf("have\n%s\nwant\n%s", got, want)
			}
		})
	}
}

func TestUndeclaredVariables(t *testing.T) {
	got := show(t, doc("3.0.3", `"/a/{x}/{y}{z}":{"get":{"operationId":"f","parameters":[{"name":"y","in":"path"},{"name":"x","in":"query"}]}}`, ""), Options{})
	want := `f||{"type":"object","properties":{"y":{},"x":{},"path_x":{"type":"string"},"z":{"type":"string"}},"required":["y","path_x","z"]}
undeclared /paths/~1a~1{x}~1{y}{z}/get
renamed_argument /paths/~1a~1{x}~1{y}{z}/get
`
	if got != want {
		t.Errorf("have\n%s\nwant\n%s", got, want)
	}
}

func TestYAMLAndJSONAreAlike(t *testing.T) {
	const yaml = `
openapi: 3.0.3
paths:
  /a:
    get: &get
      operationId: f
      parameters:
      - {name: n, in: query, schema: {type: integer, minimum: 1.0, nullable: true}}
    put:
      <<: *get
      operationId: g
`
	json := doc("3.0.3", `"/a":{"get":{"operationId":"f","parameters":[{"name":"n","in":"query","schema":{"type":"integer","minimum":1.0,"nullable":true}}]},"put":{"operationId":"g","parameters":[{"name":"n","in":"query","schema":{"type":"integer","minimum":1.0,"nullable":true}}]}}`, "")
	if y, j := show(t, yaml, Options{}), show(t, json, Options{}); y != j || !strings.Contains(y, `{"type":["integer","null"],"minimum":1.0}`) {
		t.Errorf("YAML makes\n%s\nJSON makes\n%s", y, j)
	}
}

func TestOtherDocuments(t *testing.T) {
	tests := []struct{ name, data, want string }{
		{"Swagger 2", `{"swagger":"2.0","paths":{}}`, "convert it to OpenAPI 3 first"},
		{"no version", `{"paths":{}}`, "have none"},
		{"another version", `{"openapi":"4.0"}`, `have string "4.0"`},
		{"a number as the version of YAML", "openapi: 31\n", "have number 31"},
		{"a list", `- a`, "have none"},
		{"a text", `hello`, "have none"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tools, _, err := Tools([]byte(tt.data), Options{})
			if tools != nil || !errors.Is(err, ErrNotOpenAPI) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("have %d tools and error %v, want %v with %q", len(tools), err, ErrNotOpenAPI, tt.want)
			}
		})
	}
	if _, _, err := Tools(make([]byte, 100), Options{MaxBytes: 50}); err == nil || !strings.Contains(err.Error(), "at most 50 bytes") {
		t.Errorf("a large document: have error %v", err)
	}
	if tools, findings, err := Tools([]byte("openapi: 3.1\n"), Options{}); err != nil || tools != nil || findings != nil {
		t.Errorf("a document without paths: have %v, %v, %v", tools, findings, err)
	}
}

func ExampleTools() {
	tools, findings, err := Tools([]byte(`
openapi: 3.1.0
paths:
  /cities/{city}/weather:
    get:
      summary: The weather of a city
      parameters:
        - {name: city, in: path, required: true, schema: {type: string}}
        - {name: days, in: query, schema: {type: integer, maximum: 7}}
`), Options{})
	for _, t := range tools {
		fmt.Println(string(qaoa.AppendTool(nil, t)))
	}
	fmt.Println(findings, err)
	// Output:
	// {"name":"get_cities_city_weather","description":"The weather of a city","parameters":{"type":"object","properties":{"city":{"type":"string"},"days":{"type":"integer","maximum":7}},"required":["city"]}}
	// [] <nil>
}
