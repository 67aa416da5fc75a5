package qaoa_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"assay/qaoa"
)

const full = `{"schema":"qaoa/1","id":"demo/1","source":{"name":"demo","file":"a/b.json","index":3,"split":"test"},` +
	`"tools":[{"name":"f","description":"Does <f> & é.","parameters":{"type":"object","properties":{"b":{"type":"number"},"a":{"default":1.0}}},"category":"search","domain":"travel"},{"name":"f","description":""}],` +
	`"turns":[{"query":"Hi","steps":[{"calls":[{"name":"f","arguments":{"b":1.0,"a":9007199254740993}},{"name":"g"}],"observations":["","two"]},{"calls":[{"name":"f","arguments":["x"]}]}],"answer":"Ho"},{"query":"","steps":[],"answer":""}],` +
	`"system":"Be kind.","meta":{"k":[1e5]}}`

func TestRecordBytesSurvive(t *testing.T) {
	rec, err := qaoa.DecodeRecord([]byte(full))
	if err != nil {
		t.Fatal(err)
	}
	if got := string(qaoa.AppendRecord(nil, rec)); got != full {
		t.Errorf("AppendRecord(DecodeRecord(x)) = %s\nwant x = %s", got, full)
	}
	if got, want := rec.Turns[0].Steps[0].Calls[0].Arguments, qaoa.JSON(`{"b":1.0,"a":9007199254740993}`); got != want {
		t.Errorf("arguments = %s, want %s", got, want)
	}
}

func TestDecodeRecordErrors(t *testing.T) {
	const turns = `"turns":[{"query":"q","steps":[{"calls":[{"name":"f"}]}]}]`
	tests := []struct{ name, in, path, msg string }{
		{"not an object", `[]`, "", "want an object, have an array"},
		{"cut off", `{"id":"a",`, "", "the text ends before the value does"},
		{"text after it", `{"id":"a",` + turns + `} x`, "", "want the end of the element"},
		{"no id", `{` + turns + `}`, "", `want a member "id"`},
		{"empty id", `{"id":"",` + turns + `}`, "/id", "want an id"},
		{"id of a wrong type", `{"id":7,` + turns + `}`, "/id", "want a string, have the number 7"},
		{"no turns", `{"id":"a"}`, "", `want a member "turns"`},
		{"empty turns", `{"id":"a","turns":[]}`, "/turns", "want at least one turn"},
		{"turns null", `{"id":"a","turns":null}`, "/turns", "want an array, have null"},
		{"no query", `{"id":"a","turns":[{"steps":[]}]}`, "/turns/0", `want a member "query"`},
		{"query null", `{"id":"a","turns":[{"query":null}]}`, "/turns/0/query", "want a string, have null"},
		{"empty step", `{"id":"a","turns":[{"query":"","steps":[{"calls":[]}]}]}`, "/turns/0/steps/0", "want at least one call"},
		{"call without name", `{"id":"a","turns":[{"query":"","steps":[{"calls":[{"arguments":{}}]}]}]}`, "/turns/0/steps/0/calls/0", `want a member "name"`},
		{"name of a wrong type", `{"id":"a","turns":[{"query":"","steps":[{"calls":[{"name":["f"]}]}]}]}`, "/turns/0/steps/0/calls/0/name", "want a string, have an array"},
		{"observation of a wrong type", `{"id":"a","turns":[{"query":"","steps":[{"calls":[{"name":"f"}],"observations":[{}]}]}]}`, "/turns/0/steps/0/observations/0", "want a string, have an object"},
		{"parameters of a wrong type", `{"id":"a","tools":[{"name":"f","parameters":"x"}],` + turns + `}`, "/tools/0/parameters", `want an object, have "x"`},
		{"index below zero", `{"id":"a","source":{"index":-1},` + turns + `}`, "/source/index", "want a whole number of at least 0, have -1"},
		{"unknown member", `{"id":"a","turn":1,` + turns + `}`, "/turn", "unknown member; want schema, id"},
		{"other version", `{"schema":"qaoa/2","id":"a",` + turns + `}`, "/schema", `want "qaoa/1", have "qaoa/2"`},
		{"raw call in gold", `{"id":"a","turns":[{"query":"","steps":[{"calls":[{"raw":"x"}]}]}]}`, "/turns/0/steps/0/calls/0/raw", "unknown member"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := qaoa.DecodeRecord([]byte(tt.in))
			qe, ok := errors.AsType[*qaoa.Error](err)
			if !ok {
				t.Fatalf("error is %v (%T), want a *qaoa.Error", err, err)
			}
			if !strings.Contains(qe.Msg, tt.msg) || (tt.path != "" && qe.Path != tt.path) {
				t.Errorf("error at %q: %s; want %q: …%s…", qe.Path, qe.Msg, tt.path, tt.msg)
			}
		})
	}
}

func TestErrorNamesThePlace(t *testing.T) {
	err := &qaoa.Error{Pos: qaoa.Pos{File: "a.jsonl", Line: 4, Index: 2}, Path: "/id", Msg: "want a string, have null"}
	if got, want := err.Error(), "a.jsonl:4: record 2: /id: want a string, have null"; got != want {
		t.Errorf("Error() = %q, want %q", got, want)
	}
	if got, want := (qaoa.Pos{File: "a.json", Index: 2}).String(), "a.json#2"; got != want {
		t.Errorf("Pos.String() = %q, want %q", got, want)
	}
}

func TestDecodePrediction(t *testing.T) {
	call := func(name, args string) qaoa.Call { return qaoa.Call{Name: name, Arguments: qaoa.JSON(args)} }
	tests := []struct {
		name, in string
		want     qaoa.Prediction
	}{
		{
			"turns", `{"id":"a","repeat":2,"turns":[{"steps":[{"calls":[{"name":"f","arguments":{"x":1.0}}]}],"answer":"ok"}],"usage":{}}`,
			qaoa.Prediction{ID: "a", Repeat: 2, Turns: []qaoa.Turn{{Steps: []qaoa.Step{{Calls: []qaoa.Call{call("f", `{"x":1.0}`)}}}, Answer: "ok"}}},
		},
		{"no turn at all", `{"id":"a","turns":[]}`, qaoa.Prediction{ID: "a", Turns: []qaoa.Turn{}}},
		{"a turn without steps", `{"id":"a","turns":[{}]}`, qaoa.Prediction{ID: "a", Turns: []qaoa.Turn{{}}}},
		{"plain calls", `{"id":"a","calls":[{"name":"f"}]}`, qaoa.Prediction{ID: "a", Turns: []qaoa.Turn{{Steps: []qaoa.Step{{Calls: []qaoa.Call{call("f", "")}}}}}}},
		{"plain calls, none", `{"id":"a","calls":[]}`, qaoa.Prediction{ID: "a", Turns: []qaoa.Turn{{}}}},
		{
			"calls that did not parse", `{"id":"a","calls":[{"raw":"f("},null,{"name":5},"x"]}`,
			qaoa.Prediction{ID: "a", Turns: []qaoa.Turn{{Steps: []qaoa.Step{{Calls: []qaoa.Call{{Raw: "f("}, {Raw: "null"}, {Raw: `{"name":5}`}, {Raw: `"x"`}}}}}}},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := qaoa.DecodePrediction([]byte(tt.in))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			again, err := qaoa.DecodePrediction(qaoa.AppendPrediction(nil, got))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(got, again); diff != "" {
				t.Errorf("written and read again: -want +got:\n%s", diff)
			}
		})
	}
	for _, in := range []string{`{"turns":[]}`, `{"id":"a"}`, `{"id":"a","turns":{}}`, `{"id":"a","repeat":-1,"turns":[]}`} {
		if _, err := qaoa.DecodePrediction([]byte(in)); err == nil {
			t.Errorf("DecodePrediction(%s) succeeded", in)
		}
	}
}

// genRecord draws any record that the native form can hold.
func genRecord(t *rapid.T) qaoa.Record {
	text := rapid.StringOf(rapid.RuneFrom([]rune("ab 1\"\\\n\t<>&é中😀{}[]:,\x00")))
	value := rapid.SampledFrom([]qaoa.JSON{"", "{}", `{"a":1.0,"b":[true,null,"é"]}`, `{"z":9007199254740993,"a":1e-07}`, `["x"]`, `"text"`, "null"})
	object := rapid.SampledFrom([]qaoa.JSON{"", "{}", `{"type":"object","properties":{"a":{"type":"string"}}}`})
	call := rapid.Custom(func(t *rapid.T) qaoa.Call {
		return qaoa.Call{Name: text.Draw(t, "name"), Arguments: value.Draw(t, "arguments")}
	})
	step := rapid.Custom(func(t *rapid.T) qaoa.Step {
		s := qaoa.Step{Calls: rapid.SliceOfN(call, 1, 3).Draw(t, "calls")}
		if rapid.Bool().Draw(t, "observed") {
			s.Observations = rapid.SliceOfN(text, len(s.Calls), len(s.Calls)).Draw(t, "observations")
			if strings.Join(s.Observations, "") == "" {
				s.Observations = nil
			}
		}
		return s
	})
	turn := rapid.Custom(func(t *rapid.T) qaoa.Turn {
		steps := rapid.SliceOfN(step, 0, 3).Draw(t, "steps")
		if len(steps) == 0 {
			steps = nil
		}
		return qaoa.Turn{Query: text.Draw(t, "query"), Steps: steps, Answer: text.Draw(t, "answer")}
	})
	tool := rapid.Custom(func(t *rapid.T) qaoa.Tool {
		return qaoa.Tool{
			Name: text.Draw(t, "name"), Description: text.Draw(t, "description"), Parameters: object.Draw(t, "parameters"),
			Category: text.Draw(t, "category"), Domain: text.Draw(t, "domain"), Origin: text.Draw(t, "origin"),
		}
	})
	tools := rapid.SliceOfN(tool, 0, 3).Draw(t, "tools")
	if len(tools) == 0 {
		tools = nil
	}
	return qaoa.Record{
		ID:     "x" + text.Draw(t, "id"),
		Source: qaoa.Source{Name: text.Draw(t, "source"), File: text.Draw(t, "file"), Index: rapid.IntRange(0, 9).Draw(t, "index"), Split: "train"},
		Tools:  tools,
		Turns:  rapid.SliceOfN(turn, 1, 3).Draw(t, "turns"),
	}
}

func TestNativeRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rec := genRecord(t)
		rec.System = "s"
		rec.Meta = `{"a":1}`
		line := qaoa.AppendRecord(nil, rec)
		got, err := qaoa.DecodeRecord(line)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(rec, got); diff != "" {
			t.Fatalf("-want +got:\n%s", diff)
		}
		if strings.Contains(string(line), "\n") {
			t.Fatal("a record is more than one line")
		}
	})
}

func TestInterchangeRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rec := genRecord(t)
		got, err := qaoa.DecodeInterchange(qaoa.AppendInterchange(nil, rec))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(rec, got); diff != "" {
			t.Fatalf("-want +got:\n%s", diff)
		}
	})
}

func FuzzDecode(f *testing.F) {
	f.Add(full)
	f.Add(`{"conversations":[{"from":"human","value":"q"},{"from":"function_call","value":"{\"name\":\"f\",\"arguments\":{}}"},{"from":"observation","value":"o"},{"from":"gpt","value":""}],"tools":"[]","properties":{"id":"a","turn_1_steps":[1]}}`)
	f.Fuzz(func(t *testing.T, s string) {
		if rec, err := qaoa.DecodeRecord([]byte(s)); err == nil {
			line := qaoa.AppendRecord(nil, rec)
			again, err := qaoa.DecodeRecord(line)
			if err != nil {
				t.Fatalf("%s\ndoes not read back: %v", line, err)
			}
			if diff := cmp.Diff(rec, again); diff != "" {
				t.Fatal(diff)
			}
			qaoa.Validate(rec)
			qaoa.ShapeOf(rec)
		}
		if rec, err := qaoa.DecodeInterchange([]byte(s)); err == nil {
			if _, err := qaoa.DecodeInterchange(qaoa.AppendInterchange(nil, rec)); err != nil {
				t.Fatalf("interchange does not read back: %v", err)
			}
		}
		_, _ = qaoa.DecodePrediction([]byte(s))
		_, _ = qaoa.DecodeInterchangePrediction([]byte(s))
	})
}

func BenchmarkDecodeRecord(b *testing.B) {
	b.SetBytes(int64(len(full)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := qaoa.DecodeRecord([]byte(full)); err != nil {
			b.Fatal(err)
		}
	}
}
