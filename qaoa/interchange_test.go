package qaoa_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/qaoa"
)

// conv writes a conversation in a short notation: "h:text", "c:call", "o:text",
// "g:text", "n:" for a null call.
func conv(properties string, messages ...string) []byte {
	var b strings.Builder
	b.WriteString(`{"conversations":[`)
	for i, m := range messages {
		if i > 0 {
			b.WriteByte(',')
		}
		from := map[byte]string{'h': "human", 'c': "function_call", 'o': "observation", 'g': "gpt", 'a': "assistant", 'n': "function_call", 'x': "tool"}[m[0]]
		value := string(qaoa.Quote(m[2:]))
		if m[0] == 'n' {
			value = "null"
		}
		b.WriteString(`{"from":"` + from + `","value":` + value + `}`)
	}
	b.WriteString(`],"system":"","tools":"[{\"name\":\"f\",\"inputSchema\":{\"type\":\"object\"},\"field\":\"\"}]"`)
	if properties != "" {
		b.WriteString(`,"properties":` + properties)
	}
	b.WriteString("}")
	return []byte(b.String())
}

const f1, f2 = `c:{"name": "f", "arguments": {"x": 1}}`, `c:{"name":"f","arguments":{"x":2}}`

func TestDecodeInterchange(t *testing.T) {
	call := func(x string) qaoa.Call { return qaoa.Call{Name: "f", Arguments: qaoa.JSON(`{"x":` + x + `}`)} }
	tests := []struct {
		name string
		in   []byte
		want []qaoa.Turn
	}{
		{
			"each call is a step without sizes", conv("", "h:q", f1, "o:", f2, "o:two", "g:done"),
			[]qaoa.Turn{{Query: "q", Steps: []qaoa.Step{{Calls: []qaoa.Call{call("1")}}, {Calls: []qaoa.Call{call("2")}, Observations: []string{"two"}}}, Answer: "done"}},
		},
		{
			"sizes group calls", conv(`{"id":"a","turn_1_steps":[2]}`, "h:q", f1, "o:", f2, "o:two", "g:"),
			[]qaoa.Turn{{Query: "q", Steps: []qaoa.Step{{Calls: []qaoa.Call{call("1"), call("2")}, Observations: []string{"", "two"}}}}},
		},
		{
			"keys that only look like sizes", conv(`{"turn_steps":[7],"turn_x_steps":"a","turn_1_step":5}`, "h:q", f1, "o:", f2, "a:"),
			[]qaoa.Turn{{Query: "q", Steps: []qaoa.Step{{Calls: []qaoa.Call{call("1")}}, {Calls: []qaoa.Call{call("2")}}}}},
		},
		{
			"labels in every spelling are no shape", conv(`{"turn_1":"single_hop","turn_1_strategy":"serial","turn":"multi-turn","hop":"x","strategy":"y","num_turns":3}`, "h:q", f1, "o:", f2, "a:"),
			[]qaoa.Turn{{Query: "q", Steps: []qaoa.Step{{Calls: []qaoa.Call{call("1")}}, {Calls: []qaoa.Call{call("2")}}}}},
		},
		{
			"an array of calls is one step", conv("", "h:q", `c:[{"name":"f","arguments":{"x":1}},{"name":"f","arguments":{"x":2}}]`, "o:one", "g:"),
			[]qaoa.Turn{{Query: "q", Steps: []qaoa.Step{{Calls: []qaoa.Call{call("1"), call("2")}, Observations: []string{"one", ""}}}}},
		},
		{
			"two turns, the first without a call", conv("", "h:hi", "g:ho", "h:q", f1, "o:x", "g:"),
			[]qaoa.Turn{{Query: "hi", Answer: "ho"}, {Query: "q", Steps: []qaoa.Step{{Calls: []qaoa.Call{call("1")}, Observations: []string{"x"}}}}},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			rec, err := qaoa.DecodeInterchange(tt.in)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, rec.Turns); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if diff := cmp.Diff([]qaoa.Tool{{Name: "f", Parameters: `{"type":"object"}`}}, rec.Tools); diff != "" {
				t.Errorf("tools: -want +got:\n%s", diff)
			}
		})
	}
}

func TestDecodeInterchangeErrors(t *testing.T) {
	tests := []struct {
		name, path, msg string
		in              []byte
	}{
		{"no conversations", "", `want a member "conversations"`, []byte(`{}`)},
		{"no human", "/conversations/0/from", "want a human message first", conv("", f1)},
		{"nothing", "/conversations", "want at least one human message", conv("")},
		{"unknown speaker", "/conversations/1/from", "want human, function_call, observation or gpt", conv("", "h:q", "x:y")},
		{"call after the answer", "/conversations/2/from", "want a human message after the answer", conv("", "h:q", "g:a", f1)},
		{"observation without a call", "/conversations/1/from", "want an observation only after its call", conv("", "h:q", "o:x")},
		{"call that is no JSON", "/conversations/1/value", "not valid JSON", conv("", "h:q", "c:{f")},
		{"call that is null", "/conversations/1/value", "have null", conv("", "h:q", "n:")},
		{"sizes that do not add up", "/properties/turn_1_steps", "add up to the 1 calls", conv(`{"turn_1_steps":[2]}`, "h:q", f1)},
		{"a size of 0", "/properties/turn_1_steps/0", "at least 1", conv(`{"turn_1_steps":[0,1]}`, "h:q", f1)},
		{"tools that are no JSON", "/tools", "in the JSON text", []byte(`{"conversations":[{"from":"human","value":""}],"tools":"[{"}`)},
		{"tools of a wrong type", "/tools", "want a string, have the number 5", []byte(`{"conversations":[],"tools":5}`)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := qaoa.DecodeInterchange(tt.in)
			qe, ok := errors.AsType[*qaoa.Error](err)
			if !ok {
				t.Fatalf("error is %v (%T), want a *qaoa.Error", err, err)
			}
			if qe.Path != tt.path || !strings.Contains(qe.Msg, tt.msg) {
				t.Errorf("error at %q: %s; want %q: …%s…", qe.Path, qe.Msg, tt.path, tt.msg)
			}
		})
	}
}

func TestDecodeInterchangePrediction(t *testing.T) {
	p, err := qaoa.DecodeInterchangePrediction(conv(`{"id":"a","repeat":1}`, "h:q", "n:", "o:", "c:{oops", "o:", f1, "o:", "g:"))
	if err != nil {
		t.Fatal(err)
	}
	want := qaoa.Prediction{ID: "a", Repeat: 1, Turns: []qaoa.Turn{{Query: "q", Steps: []qaoa.Step{
		{Calls: []qaoa.Call{{Raw: "null"}}}, {Calls: []qaoa.Call{{Raw: "{oops"}}}, {Calls: []qaoa.Call{{Name: "f", Arguments: `{"x":1}`}}},
	}}}}
	if diff := cmp.Diff(want, p); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if _, err := qaoa.DecodeInterchangePrediction(conv("", "h:q")); err == nil {
		t.Error("a prediction without an id was accepted")
	}
}

// TestReleasedRecords reads the records that the paper's authors released.
func TestReleasedRecords(t *testing.T) {
	dir := filepath.Join("..", "..", "shared", "data", "unitoolcall")
	if _, err := os.Stat(dir); err != nil {
		const how = "no ../shared/data beside the project: put the raw files there as CONTRIBUTING.md says"
		if os.Getenv("CI") == "true" {
			t.Fatal(how)
		}
		t.Skip(how)
	}
	tests := []struct {
		file                string
		turns, calls, tools int
		hops                []qaoa.Hop
	}{
		{"test_data_sample.first1.json", 1, 2, 20, []qaoa.Hop{qaoa.MultiHop}},
		{"single_hop_dataset.first1.json", 1, 1, 1, []qaoa.Hop{qaoa.SingleHop}},
		{"multi-hop_dataset.first1.json", 1, 4, 4, []qaoa.Hop{qaoa.MultiHop}},
		{"multi-turn_dataset.first1.json", 3, 9, 3, []qaoa.Hop{qaoa.SingleHop, qaoa.MultiHop, qaoa.MultiHop}},
	}
	for _, tt := range tests {
		t.Run(tt.file, func(t *testing.T) {
			data, err := os.ReadFile(filepath.Join(dir, tt.file))
			if err != nil {
				t.Fatal(err)
			}
			v, err := qaoa.ParseValue(data)
			if err != nil || len(v.Items) != 1 {
				t.Fatalf("want an array of one record: %v", err)
			}
			rec, err := qaoa.DecodeInterchange([]byte(v.Items[0].JSON()))
			if err != nil {
				t.Fatal(err)
			}
			if len(rec.Turns) != tt.turns || len(rec.Calls()) != tt.calls || len(rec.Tools) != tt.tools {
				t.Errorf("%d turns, %d calls, %d tools; want %d, %d, %d", len(rec.Turns), len(rec.Calls()), len(rec.Tools), tt.turns, tt.calls, tt.tools)
			}
			for i, turn := range qaoa.ShapeOf(rec).Turns {
				if turn.Hop != tt.hops[i] {
					t.Errorf("turn %d is %s, want %s", i+1, turn.Hop, tt.hops[i])
				}
			}
		})
	}
}
