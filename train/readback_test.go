package train

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"assay/qaoa"
)

func rowOf(id string) row {
	return row{id: id, turns: []qaoa.Turn{{Query: "q", Steps: []qaoa.Step{{Calls: []qaoa.Call{{Name: "f", Arguments: `{"a":"b"}`}}}}}}}
}

// A shard that was changed after it was written is never taken for good.
func TestReadBackFindsDamage(t *testing.T) {
	lines := []string{string(renderLlama(rowOf("1"), false)) + "\n", string(renderLlama(rowOf("2"), false)) + "\n"}
	good := lines[0] + lines[1]
	tests := []struct{ name, text, want string }{
		{"as written", good, ""},
		{"a value was changed", strings.Replace(good, `\"b\"`, `\"c\"`, 1), "not what was written"},
		{"rows in another order", lines[1] + lines[0], "not what was written"},
		{"a row is gone", lines[0], "(1 rows) is not what was written (2 rows)"},
		{"a row too many", good + lines[0], "(3 rows)"},
		{"cut off", good[:len(good)-5], "row 1: reading back"},
		{"a role was changed", strings.Replace(good, `"gpt"`, `"human"`, 1), "row 0: reading back: /conversations/3: want human or observation at odd places"},
	}
	for _, tt := range tests {
		for _, c := range []Container{JSONL, Gzip, Zstd} {
			t.Run(tt.name+" as "+string(c), func(t *testing.T) {
				var sh spooled
				for _, id := range []string{"1", "2"} {
					d := rowOf(id).digest()
					sh.rows++
					if _, err := sh.chain.Write(d[:]); err != nil {
						t.Fatal(err)
					}
				}
				from, to := filepath.Join(t.TempDir(), "spool"), filepath.Join(t.TempDir(), "shard")
				if err := os.WriteFile(from, []byte(tt.text), 0o666); err != nil {
					t.Fatal(err)
				}
				if err := pack(from, to, &ShardOptions{Format: LlamaFactory, Container: c}); err != nil {
					t.Fatal(err)
				}
				f, err := sh.readBack(t.Context(), to, &ShardOptions{Format: LlamaFactory, Container: c})
				if tt.want == "" {
					if err != nil || f.Rows != 2 {
						t.Errorf("readBack = %+v, %v", f, err)
					}
				} else if err == nil || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("err = %v, want one with %q", err, tt.want)
				}
			})
		}
	}
}

func TestParseRowRefuses(t *testing.T) {
	const head, tail = `{"id":"x","conversations":[`, `],"system":"","tools":"[]"}`
	human, answer := `{"from":"human","value":"q"}`, `{"from":"gpt","value":"<answer></answer>"}`
	call := func(value string) string { return `{"from":"function_call","value":` + string(qaoa.Quote(value)) + `}` }
	observation := func(value string) string { return `{"from":"observation","value":` + string(qaoa.Quote(value)) + `}` }
	two := `[{"name":"f","arguments":{}},{"name":"g","arguments":{}}]`
	tests := []struct{ name, in, want string }{
		{"an odd number of messages", head + human + tail, "even number"},
		{"no messages", head + tail, "even number"},
		{"two questions", head + human + "," + human + tail, "/conversations/1"},
		{"an answer first", head + answer + "," + human + tail, "/conversations/0"},
		{"a question where an observation belongs", head + human + "," + call(`{"name":"f","arguments":{}}`) + "," + human + "," + answer + tail, "/conversations/2: want an observation"},
		{"an observation of nothing", head + observation("x") + "," + answer + tail, "want an observation after"},
		{"a call that is no JSON", head + human + "," + call(`f()`) + tail, "/conversations/1: not JSON"},
		{"arguments in a string", head + human + "," + call(`{"name":"f","arguments":"{}"}`) + tail, "call 0: want a name and an object"},
		{"a call without arguments", head + human + "," + call(`{"name":"f"}`) + tail, "call 0"},
		{"a call without a name", head + human + "," + call(`[{"name":"f","arguments":{}},{"arguments":{}}]`) + tail, "call 1"},
		{"a thought in a call", head + human + "," + call(`{"name":"<think>","arguments":{}}`) + tail, "would cut"},
		{"an answer without tags", head + human + `,{"from":"gpt","value":"hi"}` + tail, "/conversations/1: want an answer in its tags"},
		{"a message without a value", head + human + `,{"from":"gpt"}` + tail, "/conversations/1"},
		{"one observation for two calls", head + human + "," + call(two) + "," + observation(`["a"]`) + "," + answer + tail, "want 2 observations, have 1"},
		{"observations that are no array", head + human + "," + call(two) + "," + observation(`a`) + "," + answer + tail, "JSON array"},
		{"no system", `{"id":"x","conversations":[` + human + "," + answer + `],"tools":"[]"}`, "columns system and tools"},
		{"tools that are no JSON", `{"id":"x","conversations":[` + human + "," + answer + `],"system":"","tools":"x"}`, "/tools: not JSON"},
		{"a tool without parameters", `{"id":"x","conversations":[` + human + "," + answer + `],"system":"","tools":"[{\"name\":\"f\"}]"}`, "/tools/0/parameters"},
		{"a tool without a name", `{"id":"x","conversations":[` + human + "," + answer + `],"system":"","tools":"[{}]"}`, "/tools/0: want a name"},
		{"no JSON", `{"id":`, "not JSON"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := parseLlama([]byte(tt.in), false); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("err = %v, want one with %q", err, tt.want)
			}
		})
	}
}

func TestDiffAndDigestSeeEverything(t *testing.T) {
	changes := map[string]func(*row){
		"id":        func(r *row) { r.id = "2" },
		"system":    func(r *row) { r.system = "s" },
		"end":       func(r *row) { r.openEnd = true },
		"a tool":    func(r *row) { r.tools = []qaoa.Tool{{Name: "t"}} },
		"a turn":    func(r *row) { r.turns = append(r.turns, qaoa.Turn{Query: "more"}) },
		"query":     func(r *row) { r.turns[0].Query = "p" },
		"answer":    func(r *row) { r.turns[0].Answer = "a" },
		"name":      func(r *row) { r.turns[0].Steps[0].Calls[0].Name = "g" },
		"arguments": func(r *row) { r.turns[0].Steps[0].Calls[0].Arguments = `{"a":1}` },
		"said":      func(r *row) { r.said = []saying{{0, 0, "hm"}} },
		"grouping":  func(r *row) { r.turns[0].Steps = append(r.turns[0].Steps, r.turns[0].Steps[0]) },
	}
	a := rowOf("1")
	if d := diff(a, rowOf("1")); d != "" || a.digest() != rowOf("1").digest() {
		t.Errorf("equal rows differ: %s", d)
	}
	for name, change := range changes {
		b := rowOf("1")
		change(&b)
		if diff(a, b) == "" || a.digest() == b.digest() {
			t.Errorf("another %s is not seen", name)
		}
	}
	x, y := a, a
	x.tools, y.tools = []qaoa.Tool{{Name: "t"}}, []qaoa.Tool{{Name: "u"}}
	if diff(x, y) == "" {
		t.Error("another tool is not seen")
	}
}

func TestScan(t *testing.T) {
	const key = `"properties":`
	tests := []struct {
		name string
		in   qaoa.JSON
		want qaoa.Kind
	}{
		{"at the top", `{"type":"object","properties":{}}`, qaoa.Object},
		{"first", `{"properties":[1],"x":2}`, qaoa.Array},
		{"below only", `{"x":{"properties":{}},"y":["properties"]}`, qaoa.Invalid},
		{"as a value", `{"x":"properties","y":1}`, qaoa.Invalid},
		{"inside of a text", `{"x":"a,\"properties\":{}","y":"\\"}`, qaoa.Invalid},
		{"the first of two", `{"properties":"a","properties":{}}`, qaoa.String},
		{"a longer name", `{"my_properties":{},"properties2":{}}`, qaoa.Invalid},
		{"nothing", `{}`, qaoa.Invalid},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got, deep := scan(tt.in, key); got != tt.want || deep {
				t.Errorf("scan(%s) = %v, %v; want %v", tt.in, got, deep, tt.want)
			}
		})
	}
	for depth, want := range map[int]bool{maxDepth: false, maxDepth + 1: true} {
		j := qaoa.JSON(strings.Repeat("[", depth) + `"]]{{"` + strings.Repeat("]", depth))
		if tooDeep(j) != want {
			t.Errorf("tooDeep of %d levels = %v", depth, !want)
		}
	}
}

// What a parser takes it takes in the form that is written: rendered and read
// again it is the same, or the format refuses it.
func FuzzParseRow(f *testing.F) {
	for i, format := range Formats() {
		r := rowOf("1")
		r.tools = []qaoa.Tool{{Name: "f", Parameters: `{"properties":{}}`}}
		r.turns[0].Steps[0].Observations = []string{"o"}
		for _, c := range []Container{JSONL, Parquet} {
			f.Add(uint8(i), c == Parquet, codecOf(format, c).render(r, false))
		}
	}
	f.Add(uint8(0), false, []byte(`{"id":"x","conversations":[{"from":"human","value":"q"},{"from":"function_call","value":"[]"}],"system":"","tools":"[]"}`))
	f.Add(uint8(5), false, []byte(`{"id":"x","text":"<|im_start|>user\nq<|im_end|>\n<|im_start|>assistant\n\n<tool_call>\n{}\n</tool_call><|im_end|>\n"}`))
	f.Fuzz(func(t *testing.T, format uint8, columns bool, data []byte) {
		container := JSONL
		if columns {
			container = Parquet
		}
		c := codecOf(Formats()[int(format)%len(Formats())], container)
		r, err := c.parse(data, false)
		if err != nil || c.refuse(r) != nil {
			return
		}
		again, err := c.parse(c.render(r, false), false)
		if err != nil {
			t.Fatalf("%q: %v", data, err)
		}
		if d := diff(r, again); d != "" {
			t.Fatalf("%q: %s", data, d)
		}
	})
}
