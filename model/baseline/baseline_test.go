package baseline_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"assay/model"
	"assay/model/baseline"
	"assay/qaoa"
	"assay/toolcall"
)

func newBaseline(t testing.TB, name string) *baseline.Baseline {
	t.Helper()
	b, err := baseline.New(name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// play leads the conversation of one turn to its end, and returns the steps
// and the answer.
func play(t testing.TB, b *baseline.Baseline, c model.Case, turn int) ([]qaoa.Step, string) {
	t.Helper()
	req := model.Request{Case: &c, Turn: turn, Messages: []model.Message{{Role: model.User, Content: c.Record.Turns[turn].Query}}}
	var steps []qaoa.Step
	for range 100 {
		reply, err := b.Chat(context.Background(), req)
		if err != nil {
			t.Fatal(err)
		}
		got := toolcall.Parse(reply.Text, toolcall.Options{Strict: true})
		if len(got.Calls) == 0 {
			if got.Class != toolcall.ClassAbstained {
				t.Fatalf("last reply %q is %s", reply.Text, got.Class)
			}
			return steps, got.Answer
		}
		steps = append(steps, qaoa.Step{Calls: got.Calls})
		req.Messages = append(req.Messages, model.Message{Role: model.Assistant, Content: reply.Text}, model.Message{Role: model.User, Content: model.ToolResponse + "\n</tool_response>"})
	}
	t.Fatal("no end after 100 requests")
	return nil, ""
}

func TestGoldReplaysEveryStep(t *testing.T) {
	text := rapid.OneOf(rapid.SampledFrom([]string{"", "</tool_call>", "<think>x", "{", "a\nb"}), rapid.String())
	call := rapid.Custom(func(t *rapid.T) qaoa.Call {
		arg := qaoa.Quote(text.Draw(t, "value"))
		args := rapid.SampledFrom([]qaoa.JSON{"", "{}", `[1,"a"]`, `{"b":1.0,"a":{"x":[null]}}`, `{"v":` + arg + `}`}).Draw(t, "arguments")
		return qaoa.Call{Name: "f" + qaoa.Quote(text.Draw(t, "name")).Text(), Arguments: args}
	})
	rapid.Check(t, func(rt *rapid.T) {
		rec := qaoa.Record{ID: "r", Turns: []qaoa.Turn{{Query: "q", Answer: "first"}, {Query: "q", Answer: "done"}}}
		for range rapid.IntRange(0, 4).Draw(rt, "steps") {
			rec.Turns[1].Steps = append(rec.Turns[1].Steps, qaoa.Step{Calls: rapid.SliceOfN(call, 1, 3).Draw(rt, "calls")})
		}
		steps, answer := play(t, newBaseline(t, baseline.Gold), model.Case{Record: rec}, 1)
		if d := cmp.Diff(rec.Turns[1].Steps, steps); d != "" || answer != "done" {
			rt.Fatalf("answer %q, steps (-gold +played):\n%s", answer, d)
		}
	})
}

func TestGoldAnswers(t *testing.T) {
	for answer, want := range map[string]string{
		"":                            "",
		"It is 5.":                    "It is 5.",
		`{"a": [1]}`:                  `{"a": [1]}`,
		"<tool_call>x":                "", // would be read as a call
		`{"name":"f","arguments":{}}`: `{"name":"f","arguments":{}}`,
	} {
		rec := qaoa.Record{Turns: []qaoa.Turn{{Query: "q", Answer: answer}}}
		if steps, got := play(t, newBaseline(t, baseline.Gold), model.Case{Record: rec}, 0); got != want || steps != nil {
			t.Errorf("answer %q is played as %q with %d steps", answer, got, len(steps))
		}
	}
}

func TestNativeMode(t *testing.T) {
	rec := qaoa.Record{Turns: []qaoa.Turn{{Query: "q", Answer: "a", Steps: []qaoa.Step{{Calls: []qaoa.Call{{Name: "f", Arguments: "[1]"}}}}}}}
	reply, err := newBaseline(t, baseline.Gold).Chat(t.Context(), model.Request{Case: &model.Case{Record: rec}, Tools: []qaoa.Tool{}})
	if err != nil || reply.Text != "" || reply.Finish != "tool_calls" || !slices.Equal(reply.Calls, rec.Turns[0].Calls()) {
		t.Errorf("Chat = %+v, %v", reply, err)
	}
}

var weather = qaoa.Tool{Name: "get_weather", Description: "Returns the weather forecast of a city.", Parameters: `{"type":"object","properties":{
	"city":{"type":"string"},"days":{"type":"integer"},"units":{"type":"string","enum":["metric","imperial"]},"lang":{"type":"string"}},"required":["city","days"]}`}

var mail = qaoa.Tool{Name: "send_email", Description: "Sends an e-mail to somebody.", Parameters: `{"type":"object","properties":{
	"subject":{"type":"string"},"recipient_email":{"type":"string"}},"required":["recipient_email","subject"]}`}

var area = qaoa.Tool{Name: "triangle_area", Description: "Calculates the area of a triangle from base and height.", Parameters: `{"type":"object","properties":{
	"base":{"type":"number"},"height":{"type":"number"},"unit":{"type":"string","default":"cm"}},"required":["height","base","unit"]}`}

func short(calls []qaoa.Call) string {
	var out []string
	for _, c := range calls {
		out = append(out, c.Name+string(c.Arguments))
	}
	return strings.Join(out, " ")
}

func TestLexical(t *testing.T) {
	tools := []qaoa.Tool{mail, weather, area}
	tests := []struct{ name, query, want string }{
		{"a name and a number", "What will the weather be in New York for 3 days?", `get_weather{"city":"New York","days":3}`},
		{"an enum value that is mentioned", "Weather forecast for Oslo, 2 days, in metric units", `get_weather{"city":"Oslo","days":2,"units":"metric"}`},
		{"numbers by the names of parameters", "Area of a triangle with base 5.50 and height 1,200?", `triangle_area{"base":5.50,"height":1200,"unit":"cm"}`},
		{"numbers by the names, other order", "Area of a triangle with height 7 and base 9", `triangle_area{"base":9,"height":7,"unit":"cm"}`},
		{"an address and a quotation", `Send an email to bo@example.com with the subject "Lunch today".`, `send_email{"subject":"Lunch today","recipient_email":"bo@example.com"}`},
		{"two requests", "What is the weather forecast for Oslo for 3 days? Then calculate the area of a triangle with base 2 and height 3.", `get_weather{"city":"Oslo","days":3} triangle_area{"base":2,"height":3,"unit":"cm"}`},
		{"nothing to find", "", `send_email{"subject":"","recipient_email":""}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			rec := qaoa.Record{Tools: tools, Turns: []qaoa.Turn{{Query: tt.query}}}
			steps, _ := play(t, newBaseline(t, baseline.Lexical), model.Case{Record: rec}, 0)
			if got := short(steps[0].Calls); got != tt.want || len(steps) != 1 {
				t.Errorf("%q: %s in %d steps, want %s", tt.query, got, len(steps), tt.want)
			}
		})
	}
}

func TestArgumentForms(t *testing.T) {
	tests := []struct{ name, props, query, want string }{
		{"numbers into an array", `"xs":{"type":"array","items":{"type":"integer"}}`, "Sum of 1, 2 and 3", `{"xs":[1,2,3]}`},
		{"names into an array", `"xs":{"type":"array","items":{"type":"string"}}`, "flights of Anna Lee and Bob", `{"xs":["Anna Lee","Bob"]}`},
		{"enum in an array", `"xs":{"type":"array","items":{"enum":["red","green"]}}`, "paint it green", `{"xs":["green"]}`},
		{"no item", `"xs":{"type":"array","items":{"type":"string"}}`, "the blue whale", `{"xs":["blue whale"]}`},
		{"nested object", `"o":{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`, "all 7 of them", `{"o":{"n":7}}`},
		{"date", `"start_date":{"type":"string"}`, "from 2024-03-01 on in Paris", `{"start_date":"2024-03-01"}`},
		{"date in words", `"date":{"type":"string"}`, "on March 3rd, 2024 in Paris", `{"date":"March 3rd, 2024"}`},
		{"time", `"time":{"type":"string"}`, "wake me at 7:30 am", `{"time":"7:30 am"}`},
		{"link", `"url":{"type":"string"}`, "open https://example.com/a?b=1 now", `{"url":"https://example.com/a?b=1"}`},
		{"code", `"flight_code":{"type":"string"}`, "status of LH-454 today", `{"flight_code":"LH-454"}`},
		{"negative number", `"t":{"type":"number"}`, "it is -3.5 degrees", `{"t":-3.5}`},
		{"integer from a fraction", `"t":{"type":"integer"}`, "about 003.9", `{"t":3}`},
		{"default of an enum", `"e":{"enum":["x","y"],"default":"y"}`, "hello there", `{"e":"y"}`},
		{"first of an enum", `"e":{"enum":["x","y"]}`, "hello there", `{"e":"x"}`},
		{"boolean", `"b":{"type":"boolean"}`, "hello there", `{"b":true}`},
		{"several types", `"n":{"type":["integer","null"]}`, "take 4", `{"n":4}`},
		{"search phrase", `"query":{"type":"string"}`, "Please find me cheap hotels near the old town", `{"query":"cheap hotels near old town"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			v, err := qaoa.ParseValue("{" + tt.props + "}")
			if err != nil {
				t.Fatal(err)
			}
			schema := qaoa.JSON(`{"type":"object","properties":{` + tt.props + `},"required":[` + string(qaoa.Quote(v.Members[0].Name)) + `]}`)
			rec := qaoa.Record{Tools: []qaoa.Tool{{Name: "f", Parameters: schema}}, Turns: []qaoa.Turn{{Query: tt.query}}}
			steps, _ := play(t, newBaseline(t, baseline.First), model.Case{Record: rec}, 0)
			if got := string(steps[0].Calls[0].Arguments); got != tt.want {
				t.Errorf("%q: %s, want %s", tt.query, got, tt.want)
			}
		})
	}
}

func TestRandomIsUniformAndRepeatable(t *testing.T) {
	rec := qaoa.Record{Tools: []qaoa.Tool{mail, weather, area, {Name: "d"}}, Turns: []qaoa.Turn{{Query: "one two 3"}, {Query: "one two 3"}}}
	b := newBaseline(t, baseline.Random)
	counts := map[string]int{}
	const n = 2000
	for i := range n {
		rec.ID = fmt.Sprint(i)
		steps, _ := play(t, b, model.Case{Record: rec, Seed: 1}, 0)
		counts[steps[0].Calls[0].Name]++
		if i < 50 {
			again, _ := play(t, b, model.Case{Record: rec, Seed: 1}, 0)
			if d := cmp.Diff(steps, again); d != "" {
				t.Fatalf("the same request twice:\n%s", d)
			}
		}
	}
	// Chi-square with 3 degrees of freedom: 16.27 is passed once in a thousand
	// seeds, and this one is fixed.
	chi := 0.0
	for _, c := range counts {
		d := float64(c) - n/4
		chi += d * d / (n / 4)
	}
	if len(counts) != 4 || chi > 16.27 {
		t.Errorf("counts %v, chi-square %.2f", counts, chi)
	}
	// Each of seed, record, repeat and turn changes the draw.
	rec.ID = "x"
	draws := func(c model.Case, turn int, change func(*model.Case, int)) string {
		var out []string
		for i := range 20 {
			change(&c, i)
			steps, _ := play(t, b, c, turn)
			out = append(out, steps[0].Calls[0].Name)
		}
		return strings.Join(out, " ")
	}
	base := model.Case{Record: rec, Seed: 7}
	for name, change := range map[string]func(*model.Case, int){
		"seed":   func(c *model.Case, i int) { c.Seed = uint64(i) },
		"record": func(c *model.Case, i int) { c.Record.ID = fmt.Sprint(i) },
		"repeat": func(c *model.Case, i int) { c.Repeat = i },
	} {
		if got := strings.Fields(draws(base, 0, change)); len(slices.Compact(slices.Sorted(slices.Values(got)))) < 2 {
			t.Errorf("%s does not change the draw: %v", name, got)
		}
	}
	byID := func(c *model.Case, i int) { c.Record.ID = fmt.Sprint(i) }
	if draws(base, 0, byID) == draws(base, 1, byID) {
		t.Error("the turn does not change the draw")
	}
}

// TestLexicalBeatsRandom makes 200 cases of 20 tools, whose queries share only
// some words with the text of the right tool.
func TestLexicalBeatsRandom(t *testing.T) {
	topics := strings.Fields("weather hotel flight restaurant recipe stock movie song taxi train museum translation calendar mail photo invoice parcel doctor lottery football")
	verbs := strings.Fields("search book cancel rate list")
	var tools []qaoa.Tool
	for _, topic := range topics {
		tools = append(tools, qaoa.Tool{Name: topic + "_service", Description: "Everything about a " + topic + ".", Parameters: `{"type":"object","properties":{"place":{"type":"string"}},"required":["place"]}`})
	}
	right := map[string]int{}
	for i := range 200 {
		topic := topics[i%len(topics)]
		rec := qaoa.Record{ID: fmt.Sprint(i), Tools: tools, Turns: []qaoa.Turn{{Query: fmt.Sprintf("I want to %s a nice %s near Old Harbour number %d", verbs[i%len(verbs)], topic, i)}}}
		for _, name := range []string{baseline.Lexical, baseline.Random, baseline.First} {
			steps, _ := play(t, newBaseline(t, name), model.Case{Record: rec, Seed: 1}, 0)
			if len(steps[0].Calls) == 1 && steps[0].Calls[0].Name == topic+"_service" {
				right[name]++
			}
		}
	}
	// random: binomial with p = 1/20, so 30 of 200 are six standard deviations
	// off; first: exactly one topic in 20.
	if right[baseline.Lexical] < 190 || right[baseline.Random] > 30 || right[baseline.First] != 10 {
		t.Errorf("right tools of 200: %v", right)
	}
}

func TestNoTools(t *testing.T) {
	rec := qaoa.Record{Turns: []qaoa.Turn{{Query: "hi"}}}
	for _, name := range baseline.Names() {
		if steps, answer := play(t, newBaseline(t, name), model.Case{Record: rec}, 0); steps != nil || answer != "" {
			t.Errorf("%s: %d steps, answer %q", name, len(steps), answer)
		}
	}
}

func TestBadRequests(t *testing.T) {
	c := &model.Case{Record: qaoa.Record{Turns: []qaoa.Turn{{}}}}
	for name, req := range maps.All(map[string]model.Request{"no case": {}, "no such turn": {Case: c, Turn: 1}, "turn below 0": {Case: c, Turn: -1}}) {
		_, err := newBaseline(t, baseline.First).Chat(t.Context(), req)
		if fail, ok := errors.AsType[*model.Error](err); !ok || fail.Class != model.ClassRequest {
			t.Errorf("%s: %v", name, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := newBaseline(t, baseline.First).Chat(ctx, model.Request{Case: c}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if b, err := baseline.New("golden"); err == nil || b != nil || !strings.Contains(err.Error(), "want one of first, gold, lexical, random") {
		t.Errorf("New(golden) = %v, %v", b, err)
	}
}

// FuzzFill holds that no query and no schema makes a baseline panic, and that
// the arguments are always one JSON object.
func FuzzFill(f *testing.F) {
	f.Add("Weather in Oslo for 3 days", string(weather.Parameters))
	f.Add("\"x\" 1,2 ﬀ İ A1 a@b.c 7:30", `{"properties":{"a":{"type":"array","items":{"type":"array"}},"b":{"enum":[1,null]}},"required":["a","b",3]}`)
	f.Add("", `[]`)
	f.Fuzz(func(t *testing.T, query, schema string) {
		params, err := qaoa.Compact(schema)
		if err != nil {
			return
		}
		rec := qaoa.Record{Tools: []qaoa.Tool{{Name: "f", Parameters: params}}, Turns: []qaoa.Turn{{Query: query}}}
		for _, name := range []string{baseline.Lexical, baseline.Random, baseline.First} {
			reply, err := newBaseline(t, name).Chat(context.Background(), model.Request{Case: &model.Case{Record: rec}, Tools: rec.Tools})
			if err != nil || len(reply.Calls) == 0 {
				t.Fatalf("%s: %+v, %v", name, reply, err)
			}
			for _, c := range reply.Calls {
				if j, err := qaoa.Compact(c.Arguments); err != nil || j != c.Arguments || j.Kind() != qaoa.Object {
					t.Fatalf("%s: arguments %q: %v", name, c.Arguments, err)
				}
			}
		}
	})
}

// A query must not cost more than its length, whatever it holds.
func TestHostileQueries(t *testing.T) {
	tools := []qaoa.Tool{{Name: "f", Parameters: `{"properties":{"xs":{"type":"array","items":{"type":"integer"}},"s":{"type":"array","items":{"type":"string"}}},"required":["xs","s"]}`}}
	for _, unit := range []string{"1 ", "A b ", `"x" `, "and find ", "a@b.c ", "x. ", "ﬀ", "\xff", "İ"} {
		rec := qaoa.Record{Tools: tools, Turns: []qaoa.Turn{{Query: strings.Repeat(unit, 1<<20/len(unit))}}}
		for _, name := range []string{baseline.Lexical, baseline.Random, baseline.First} {
			if steps, _ := play(t, newBaseline(t, name), model.Case{Record: rec}, 0); len(steps) != 1 {
				t.Errorf("%q: %d steps", unit, len(steps))
			}
		}
	}
}

func BenchmarkLexical(b *testing.B) {
	var tools []qaoa.Tool
	for i := range 7 {
		for _, t := range []qaoa.Tool{weather, mail, area} {
			t.Name += fmt.Sprint(i)
			tools = append(tools, t)
		}
	}
	rec := qaoa.Record{Tools: tools[:20], Turns: []qaoa.Turn{{Query: "What is the weather forecast for Oslo for 3 days? Then calculate the area of a triangle with base 2 and height 3."}}}
	m := newBaseline(b, baseline.Lexical)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := m.Chat(b.Context(), model.Request{Case: &model.Case{Record: rec}}); err != nil {
			b.Fatal(err)
		}
	}
}

func ExampleNew() {
	b, err := baseline.New(baseline.Lexical)
	if err != nil {
		fmt.Println(err)
		return
	}
	rec := qaoa.Record{
		Tools: []qaoa.Tool{{Name: "get_weather", Parameters: `{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}`}},
		Turns: []qaoa.Turn{{Query: "How is the weather in Oslo?"}},
	}
	reply, err := b.Chat(context.Background(), model.Request{Case: &model.Case{Record: rec}})
	fmt.Println(reply.Text, err)
	// Output:
	// <tool_call>
	// {"name":"get_weather","arguments":{"city":"Oslo"}}
	// </tool_call> <nil>
}

// In a guided flow a baseline gives one call a slot, the same ones as in a free
// flow, and then none.
func TestSlots(t *testing.T) {
	rec := qaoa.Record{
		ID:    "x",
		Tools: []qaoa.Tool{{Name: "f"}, {Name: "g"}},
		Turns: []qaoa.Turn{{Query: "q", Answer: "done", Steps: []qaoa.Step{
			{Calls: []qaoa.Call{{Name: "f", Arguments: `{"a":1}`}, {Name: "g"}}},
			{Calls: []qaoa.Call{{Name: "f", Arguments: `{"a":2}`}}},
		}}},
	}
	b, err := baseline.New(baseline.Gold)
	if err != nil {
		t.Fatal(err)
	}
	for slot, want := range []string{
		`<tool_call>` + "\n" + `{"name":"f","arguments":{"a":1}}` + "\n</tool_call>",
		`<tool_call>` + "\n" + `{"name":"g"}` + "\n</tool_call>",
		`<tool_call>` + "\n" + `{"name":"f","arguments":{"a":2}}` + "\n</tool_call>",
		"<answer>done</answer>",
	} {
		got, err := b.Chat(t.Context(), model.Request{Case: &model.Case{Record: rec}, Slot: slot + 1})
		if err != nil || got.Text != want {
			t.Errorf("slot %d: %q, %v; want %q", slot+1, got.Text, err, want)
		}
	}
	for _, name := range baseline.Names() {
		b, err := baseline.New(name)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := b.Chat(t.Context(), model.Request{Case: &model.Case{Record: rec}, Slot: 100}); err != nil || strings.Contains(got.Text, "<tool_call>") {
			t.Errorf("%s: slot 100: %q, %v; want no call", name, got.Text, err)
		}
	}
}
