package qaoa_test

import (
	"fmt"
	"strings"
	"testing"

	"assay/qaoa"
)

func TestStrategy(t *testing.T) {
	step := func(args, obs string) qaoa.Step {
		s := qaoa.Step{Calls: []qaoa.Call{{Name: "f", Arguments: qaoa.JSON(args)}}}
		if obs != "" {
			s.Observations = []string{obs}
		}
		return s
	}
	two := func(a string, obs string, b string) []qaoa.Step { return []qaoa.Step{step(a, obs), step(b, "")} }
	tests := []struct {
		name  string
		steps []qaoa.Step
		query string
		want  qaoa.Strategy
	}{
		{"an id out of an observation", two(`{}`, `{"id":"AB-12"}`, `{"id":"AB-12"}`), "q", qaoa.Serial},
		{"a number of three digits", two(`{}`, `{"id":789}`, `{"id":789}`), "q", qaoa.Serial},
		{"a number of two digits is not specific", two(`{}`, `{"id":78}`, `{"id":78}`), "q", qaoa.Parallel},
		{"a short plain word is not specific", two(`{}`, `Paris`, `{"city":"Paris"}`), "q", qaoa.Parallel},
		{"a long plain text is specific", two(`{}`, `in Constantinople now`, `{"city":"Constantinople"}`), "q", qaoa.Serial},
		{"thirteen letters are long enough, twelve are not", two(`{}`, `abcdefghijkl`, `{"x":"abcdefghijkl"}`), "q", qaoa.Parallel},
		{"two characters are too short", two(`{}`, `a1`, `{"x":"a1"}`), "q", qaoa.Parallel},
		{"the query has it already", two(`{}`, `{"id":"AB-12"}`, `{"id":"AB-12"}`), "use AB-12 please", qaoa.Parallel},
		{"flanked by a digit", two(`{}`, `{"id":"XAB-12"}`, `{"id":"AB-12"}`), "q", qaoa.Parallel},
		{"flanked once, free later", two(`{}`, `XAB-12 AB-12`, `{"id":"AB-12"}`), "q", qaoa.Serial},
		{"nested leaf", two(`{}`, `AB-12`, `{"a":[{"b":"AB-12"}]}`), "q", qaoa.Serial},
		{"no observations and no references", two(`{}`, ``, `{"id":"AB-12"}`), "q", qaoa.Parallel},
		{"Seal-Tools placeholder", two(`{}`, ``, `{"lot":"API_call_1"}`), "q", qaoa.Serial},
		{"ToolAlpaca placeholder", two(`{}`, ``, `{"id":"${id from search}"}`), "q", qaoa.Serial},
		{"not a placeholder", two(`{}`, ``, `{"id":"API_call_ and ${"}`), "q", qaoa.Parallel},
		{"one step with two calls", []qaoa.Step{{Calls: []qaoa.Call{{Name: "f"}, {Name: "g", Arguments: `{"x":"API_call_0"}`}}}}, "q", qaoa.Parallel},
		{"observation of the same step", []qaoa.Step{step(`{}`, ""), step(`{"id":"AB-12"}`, "AB-12")}, "q", qaoa.Parallel},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			rec := qaoa.Record{Turns: []qaoa.Turn{{Query: tt.query, Steps: tt.steps}}}
			if got := qaoa.ShapeOf(rec).Turns[0].Strategy; got != tt.want {
				t.Errorf("strategy is %q, want %q", got, tt.want)
			}
		})
	}
}

func TestShapeCounts(t *testing.T) {
	c := qaoa.Call{Name: "f"}
	rec := qaoa.Record{Turns: []qaoa.Turn{
		{},
		{Steps: []qaoa.Step{{Calls: []qaoa.Call{c}}}},
		{Steps: []qaoa.Step{{Calls: []qaoa.Call{c, c}}, {Calls: []qaoa.Call{c}}}},
	}}
	shape := qaoa.ShapeOf(rec)
	want := []qaoa.TurnShape{{Hop: qaoa.NoCall}, {Hop: qaoa.SingleHop, Calls: 1, Steps: 1}, {Hop: qaoa.MultiHop, Strategy: qaoa.Parallel, Calls: 3, Steps: 2}}
	if !shape.MultiTurn || fmt.Sprint(shape.Turns) != fmt.Sprint(want) {
		t.Errorf("ShapeOf = %+v, want multi-turn %+v", shape, want)
	}
}

func ExampleValidate() {
	rec, _ := qaoa.DecodeRecord([]byte(`{"id":"a","tools":[{"name":"book","description":"","parameters":{"type":"object","properties":{"seats":{"type":"integer"},"city":{"type":"string"}},"required":["city"]}}],
		"turns":[{"query":"Two seats","steps":[{"calls":[{"name":"book","arguments":{"seats":"2"}},{"name":"pay"}]}]}]}`))
	for _, f := range qaoa.Validate(rec) {
		fmt.Println(f.Severity, f.Code, f.Path)
	}
	// Output:
	// warning missing_required /turns/0/steps/0/calls/0/arguments
	// warning wrong_type /turns/0/steps/0/calls/0/arguments/seats
	// error unknown_tool /turns/0/steps/0/calls/1/name
}

func TestValidate(t *testing.T) {
	const tool = `"tools":[{"name":"f","description":"","parameters":{"type":"object","properties":{"n":{"type":"integer"},"u":{"type":["string","null"]},"x":{},"a/b":{"type":"array"}}}}]`
	one := func(args string) string {
		return `{"id":"a",` + tool + `,"turns":[{"query":"q","steps":[{"calls":[{"name":"f","arguments":` + args + `}]}]}]}`
	}
	tests := []struct{ name, in, want string }{
		{"clean", one(`{"n":1.0,"u":null,"x":[1],"a/b":[]}`), ""},
		{"a fraction is no integer", one(`{"n":1.5}`), "warning wrong_type /turns/0/steps/0/calls/0/arguments/n"},
		{"an exponent may be one", one(`{"n":1e3}`), ""},
		{"path is escaped", one(`{"a/b":1}`), "warning wrong_type /turns/0/steps/0/calls/0/arguments/a~1b"},
		{"unknown argument", one(`{"m":1}`), "warning unknown_argument /turns/0/steps/0/calls/0/arguments/m"},
		{"arguments are an array", one(`["n"]`), "error bad_arguments /turns/0/steps/0/calls/0/arguments"},
		{"arguments are null", one(`null`), "error bad_arguments /turns/0/steps/0/calls/0/arguments"},
		{"no tools", `{"id":"a","turns":[{"query":"q","steps":[{"calls":[{"name":"f"}]}]}]}`, "error empty_tools /tools"},
		{"no call at all", `{"id":"a",` + tool + `,"turns":[{"query":"q"}]}`, "error no_call /turns"},
		{
			"no query, no call in a turn, a double", `{"id":"a",` + tool + `,"turns":[{"query":" "},{"query":"q","steps":[{"calls":[{"name":"f"},{"name":"f"}]}]}]}`,
			"error no_query /turns/0/query; warning no_call /turns/0/steps; warning duplicate_call /turns/1/steps/0/calls/1",
		},
		{"observations do not fit", `{"id":"a",` + tool + `,"turns":[{"query":"q","steps":[{"calls":[{"name":"f"}],"observations":["a","b"]}]}]}`, "error observation_count /turns/0/steps/0/observations"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			rec, err := qaoa.DecodeRecord([]byte(tt.in))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, f := range qaoa.Validate(rec) {
				got = append(got, fmt.Sprintf("%s %s %s", f.Severity, f.Code, f.Path))
				if f.Detail == "" {
					t.Errorf("%s has no detail", f.Code)
				}
			}
			if s := strings.Join(got, "; "); s != tt.want {
				t.Errorf("findings are %q, want %q", s, tt.want)
			}
			if got := qaoa.Usable(qaoa.Validate(rec)); got != !strings.Contains(tt.want, "error") {
				t.Errorf("Usable = %v with findings %q", got, tt.want)
			}
		})
	}
}
