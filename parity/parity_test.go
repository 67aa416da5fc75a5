package parity

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"

	"assay/chat"
	"assay/eval"
	"assay/model"
	"assay/qaoa"
	"assay/tokenizer"
	"assay/train"
)

const system = "Answer with the tools."

var tools = []qaoa.Tool{
	{Name: "get_weather", Description: "Returns the weather of a city", Parameters: `{"type":"object","properties":{"city":{"type":"string","default":"Paris"}},"required":["city"]}`},
	{Name: "get_time", Description: "Returns the time of a place", Parameters: `{"type":"object","properties":{"place":{"type":"string"}}}`},
}

func call(name, args string) qaoa.Call { return qaoa.Call{Name: name, Arguments: qaoa.JSON(args)} }

// records are a plain one, one with parallel calls, one with two steps and one
// with two turns, the second without a call.
func records() []qaoa.Record {
	weather, clock := call("get_weather", `{"city":"Zürich"}`), call("get_time", `{"place":"Lima"}`)
	turn := func(query string, steps ...qaoa.Step) qaoa.Turn {
		return qaoa.Turn{Query: query, Steps: steps, Answer: "It is done."}
	}
	return []qaoa.Record{
		{ID: "plain", Tools: tools, Turns: []qaoa.Turn{turn("Weather in Zürich?", qaoa.Step{Calls: []qaoa.Call{weather}, Observations: []string{"sunny"}})}},
		{ID: "parallel", Tools: tools, Turns: []qaoa.Turn{turn("Both?", qaoa.Step{Calls: []qaoa.Call{weather, clock}, Observations: []string{"sunny", "noon"}})}},
		{ID: "serial", Tools: tools, Turns: []qaoa.Turn{turn("One, then the other.", qaoa.Step{Calls: []qaoa.Call{weather}, Observations: []string{"sunny"}}, qaoa.Step{Calls: []qaoa.Call{clock}, Observations: []string{"noon"}})}},
		{ID: "two", Tools: tools, Turns: []qaoa.Turn{turn("Weather in Zürich?", qaoa.Step{Calls: []qaoa.Call{weather}, Observations: []string{"sunny"}}), turn("Thanks. A joke?")}},
	}
}

func seq(recs []qaoa.Record) iter.Seq2[qaoa.Record, error] {
	return func(yield func(qaoa.Record, error) bool) {
		for _, r := range recs {
			if !yield(r, nil) {
				return
			}
		}
	}
}

// A textServer renders as a server does, by a template of its own and with a
// fault.
type textServer struct {
	t     *chat.Template
	fault func(string) string
}

func (s textServer) Chat(context.Context, model.Request) (model.Reply, error) {
	panic("a server that tells its prompts was asked for a reply")
}

func (s textServer) RenderedPrompt(_ context.Context, req model.Request) (string, error) {
	r, err := s.t.Render(conversation(req), chat.Options{AddGenerationPrompt: true, EnableThinking: &req.Sampling.Think})
	if s.fault != nil {
		r.Text = s.fault(r.Text)
	}
	return r.Text, err
}

// A tokenServer tells tokens as well.
type tokenServer struct {
	textServer
	tok *tokenizer.Tokenizer
	ids func([]int) []int
}

func (s tokenServer) PromptTokens(ctx context.Context, req model.Request) ([]int, error) {
	text, err := s.RenderedPrompt(ctx, req)
	ids := s.tok.Encode(text)
	if s.ids != nil {
		ids = s.ids(ids)
	}
	return ids, err
}

// A countServer counts tokens and tells nothing else.
type countServer struct{ s tokenServer }

func (s countServer) Chat(ctx context.Context, req model.Request) (model.Reply, error) {
	if req.Sampling.MaxTokens != 1 {
		return model.Reply{}, errors.New("more than one token was asked for")
	}
	ids, err := s.s.PromptTokens(ctx, req)
	return model.Reply{Usage: model.Usage{Prompt: len(ids)}}, err
}

func builtin(t *testing.T, name string) *chat.Template {
	t.Helper()
	tpl, err := chat.Builtin(name)
	if err != nil {
		t.Fatal(err)
	}
	return tpl
}

func tiny(t *testing.T) *tokenizer.Tokenizer {
	t.Helper()
	tok, err := tokenizer.LoadFile("../tokenizer/testdata/tiny.json")
	if err != nil {
		t.Fatal(err)
	}
	return tok
}

// options compare native requests with full rows under a template.
func options(t *testing.T, template string) Options {
	t.Helper()
	p, err := eval.NewPrompt(system, eval.CallsNative)
	if err != nil {
		t.Fatal(err)
	}
	return Options{
		Run:      eval.Options{Model: "m", Calls: eval.CallsNative, Prompt: p, Workers: 3},
		Rows:     train.ShardOptions{Projection: train.Full, SystemPrompt: system},
		Template: builtin(t, template),
	}
}

func check(t *testing.T, m model.Chatter, opt Options) Report {
	t.Helper()
	rep, err := Check(t.Context(), m, seq(records()), opt)
	if err != nil {
		t.Fatal(err)
	}
	return rep
}

// What the trainer and the server render alike passes, whatever is told of it.
func TestPass(t *testing.T) {
	for _, family := range []string{"qwen2.5", "hermes", "llama3.1"} {
		t.Run(family, func(t *testing.T) {
			server := tokenServer{textServer{t: builtin(t, family)}, tiny(t), nil}
			for _, tt := range []struct {
				m      model.Chatter
				tok    *tokenizer.Tokenizer
				method Method
				proves string
			}{
				{server.textServer, nil, MethodText, "text equal"},
				{server.textServer, server.tok, MethodText, "text equal"},
				{server, server.tok, MethodTokens, "token ids equal"},
				{countServer{server}, server.tok, MethodCounts, "only counts equal"},
			} {
				recs, opt := records(), options(t, family)
				opt.Tokenizer = tt.tok
				if family == "llama3.1" { // whose template takes one call a message
					recs = append(recs[:1], recs[2:]...)
				}
				rep, err := Check(t.Context(), tt.m, seq(recs), opt)
				if err != nil {
					t.Fatal(err)
				}
				// Each record has a prompt for each step and for each answer.
				want := 2 + 2 + 3 + 3
				if len(recs) == 3 {
					want -= 2
				}
				if !rep.Pass || rep.Prompts != want || rep.Method != tt.method || rep.Proves != tt.proves || rep.First != nil {
					t.Errorf("%s: %+v, first %+v; want all %d prompts equal", tt.method, rep, rep.First, want)
				}
				var text strings.Builder
				if err := rep.WriteText(&text); err != nil || !strings.HasPrefix(text.String(), "PASS: "+tt.proves) {
					t.Errorf("%v: %s", err, &text)
				}
			}
		})
	}
}

// The way that the server renders, the run asks and the rows are written decide;
// each fault is found where it is.
func TestFirstDifference(t *testing.T) {
	replace := func(old, with string) func(string) string {
		return func(s string) string { return strings.Replace(s, old, with, 1) }
	}
	tests := []struct {
		name, template string
		set            func(*Options)
		fault          func(string) string
		id             string
		request        int
		field          string
		why            string
	}{
		{"a keyword of a schema is lost", "qwen2.5", nil, replace(`, "default": "Paris"`, ""), "plain", 1, "tool_schema", "words tools"},
		{"a description is changed", "qwen2.5", nil, replace("Returns the time of", "Tells the time of"), "plain", 1, "tool_description", "words tools"},
		{"letters are escaped in arguments", "qwen2.5", nil, replace("\"Z\u00fcrich\"", `"Z\u00fcrich"`), "plain", 2, "arguments", "words arguments"},
		{"the query is trimmed", "qwen2.5", nil, replace("Weather in Zürich?", "Weather in Zürich"), "plain", 1, "query", ""},
		{"the prompt lacks its last break", "qwen2.5", nil, func(s string) string { return strings.TrimSuffix(s, "\n") }, "plain", 1, "end", ""},
		{"the prompt goes on", "qwen2.5", nil, func(s string) string { return s + "Sure" }, "plain", 1, "end", ""},
		{"the system text differs", "qwen2.5", func(o *Options) { o.Rows.SystemPrompt = "Answer by the tools." }, nil, "plain", 1, "system", "--system-prompt"},
		{"rows have no observations", "qwen2.5", func(o *Options) { o.Rows.Projection = train.ActionOnly }, nil, "plain", 2, "frame", "--observe empty"},
		{"the same, in another layout", "llama3.1", func(o *Options) { o.Rows.Projection = train.ActionOnly }, nil, "plain", 2, "frame", "--observe empty"},
		{"tools stand in the system message", "qwen2.5", func(o *Options) { o.Run.Calls = eval.CallsPrompt; o.Run.Prompt = eval.Prompt{} }, nil, "plain", 1, "system", "--calls native"},
		{"a guided flow parts what was called together", "qwen2.5", func(o *Options) { o.Run.Flow = eval.FlowGuided }, nil, "parallel", 2, "frame", "--parallel each"},
		{"a prompt without thoughts for rows without any", "qwen3", nil, nil, "plain", 1, "end", "--think on"},
		{"a template that moves the system text to the last query", "mistral", nil, nil, "plain", 1, "query", "train probe"},
		{"another template", "hermes", nil, func(s string) string { return s }, "plain", 1, "frame", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			opt := options(t, tt.template)
			if tt.set != nil {
				tt.set(&opt)
			}
			server := textServer{t: opt.Template, fault: tt.fault}
			if tt.name == "another template" {
				server.t = builtin(t, "qwen2.5")
			}
			rep, err := Check(t.Context(), server, func(yield func(qaoa.Record, error) bool) {
				for _, r := range records() {
					if tt.template == "llama3.1" && r.ID == "parallel" {
						continue
					}
					if !yield(r, nil) {
						return
					}
				}
			}, opt)
			if err != nil {
				t.Fatal(err)
			}
			d := rep.First
			if rep.Pass || d == nil {
				t.Fatalf("%+v; want a difference", rep)
			}
			if d.ID != tt.id || d.Request != tt.request || d.Field != tt.field || (tt.why == "") != (d.Why == "") || !strings.Contains(d.Why, tt.why) {
				t.Errorf("%+v; want %s, request %d, in %s, because %q", d, tt.id, tt.request, tt.field, tt.why)
			}
			sum := 0
			for _, n := range rep.Differs {
				sum += n
			}
			if sum+rep.Equal != rep.Prompts {
				t.Errorf("%d differ and %d are equal of %d", sum, rep.Equal, rep.Prompts)
			}
			var text strings.Builder
			if err := rep.WriteText(&text); err != nil || !strings.HasPrefix(text.String(), "FAIL: ") || !strings.Contains(text.String(), fmt.Sprintf("%q", d.ID)) {
				t.Errorf("%v: %s", err, &text)
			}
		})
	}
}

// A template in Jinja may have a prompt of its own after results of tools, so
// that it does not tell by itself where the model begins to write.
func TestTemplateWithTwoPrompts(t *testing.T) {
	const source = `{% set ns = namespace(prompt='A') %}{% for m in messages %}
{%- if m.role == 'assistant' %}{{ ns.prompt }}{{ m.content }}{% for c in m.tool_calls or [] %}(c {{ c.function.name }}){% endfor %};
{%- else %}{{ m.role }}={{ m.content }};{% set ns.prompt = 'B' if m.role == 'tool' else 'A' %}{% endif %}
{%- endfor %}{% if add_generation_prompt %}{{ ns.prompt }}{% endif %}`
	tpl, err := chat.ParseJinja("two", source, nil)
	if err != nil {
		t.Fatal(err)
	}
	tok := tiny(t)
	for _, m := range []model.Chatter{textServer{t: tpl}, countServer{tokenServer{textServer{t: tpl}, tok, nil}}} {
		opt := options(t, "qwen2.5")
		opt.Template, opt.Tokenizer = tpl, tok
		if rep := check(t, m, opt); !rep.Pass || rep.Prompts != 10 {
			t.Errorf("%+v\nfirst %+v", rep, rep.First)
		}
	}
}

// What a run is told to do against a difference does help.
func TestRemedies(t *testing.T) {
	for _, tt := range []struct {
		name, template string
		set            func(*Options)
	}{
		{"empty observations for action-only rows", "qwen2.5", func(o *Options) { o.Rows.Projection = train.ActionOnly; o.Run.Observe = eval.ObserveEmpty }},
		{"a call a message for a guided flow", "qwen2.5", func(o *Options) { o.Rows.Grouping = train.EachCall; o.Run.Flow = eval.FlowGuided }},
		{"thinking on for the template of Qwen3", "qwen3", func(o *Options) { o.Run.Sampling.Think = true }},
		{"the messages alone, tools in the text", "qwen2.5", func(o *Options) {
			o.Run.Calls, o.Run.Prompt, o.Against = eval.CallsPrompt, eval.Prompt{}, AgainstMessages
		}},
		{"the messages alone, without thoughts", "qwen3", func(o *Options) { o.Against = AgainstMessages }},
		{"the messages alone, as another runner asks", "qwen2.5", func(o *Options) {
			o.Run = eval.Options{Model: "m", Flow: eval.FlowGuided, Compat: eval.CompatReference}
			o.Against = AgainstMessages
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			opt := options(t, tt.template)
			tt.set(&opt)
			if rep := check(t, textServer{t: opt.Template}, opt); !rep.Pass || rep.Prompts < 5 {
				t.Errorf("%+v\nfirst %+v", rep, rep.First)
			}
		})
	}
}

// A model that writes its calls into the text says what it was trained to say,
// so its history is that of the row.
func TestTextOfRowsIsTheHistory(t *testing.T) {
	opt := options(t, "qwen2.5")
	opt.Run.Calls, opt.Run.Prompt = eval.CallsPrompt, eval.Prompt{}
	p := &player{opt: &opt, talks: map[string]*talk{}}
	rep := Report{Rejected: map[string]int{}}
	for _, err := range p.rows(seq(records()[:1]), &rep) {
		if err != nil {
			t.Fatal(err)
		}
		got := p.talks["plain"].reply(ask{})
		if want := "<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Zürich\"}}\n</tool_call>"; got.Text != want {
			t.Errorf("says %q, want %q", got.Text, want)
		}
	}
}

// Equal texts are not enough where the server adds a token, or has another
// tokenizer.
func TestTokens(t *testing.T) {
	opt := options(t, "qwen2.5")
	opt.Tokenizer = tiny(t)
	for _, tt := range []struct {
		name  string
		ids   func([]int) []int
		token int
	}{
		{"a token before the text", func(ids []int) []int { return append([]int{0}, ids...) }, 0},
		{"a token behind it", func(ids []int) []int { return append(slices.Clip(ids), 5) }, -1},
		{"another token", func(ids []int) []int {
			ids[4]++
			return ids
		}, 4},
		{"no token", func([]int) []int { return nil }, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rep := check(t, tokenServer{textServer{t: opt.Template}, opt.Tokenizer, tt.ids}, opt)
			d := rep.First
			if rep.Pass || rep.Equal != 0 || d == nil || d.Field != "tokens" || tt.token >= 0 && d.Token != tt.token || tt.token < 0 && d.Token != d.TrainedCount {
				t.Errorf("%+v\nfirst %+v", rep, d)
			}
		})
	}
}

func TestCountsThatDiffer(t *testing.T) {
	opt := options(t, "qwen2.5")
	opt.Tokenizer = tiny(t)
	short := textServer{t: opt.Template, fault: func(s string) string { return strings.Replace(s, "Returns the weather of a city", "X", 1) }}
	rep := check(t, countServer{tokenServer{short, opt.Tokenizer, nil}}, opt)
	if d := rep.First; rep.Pass || d == nil || d.Field != "count" || d.TrainedCount == d.ServedCount {
		t.Errorf("%+v\nfirst %+v", rep, d)
	}
	opt.Tokenizer = nil
	if _, err := Check(t.Context(), countServer{}, seq(records()), opt); !errors.Is(err, ErrCountsOnly) {
		t.Errorf("without a tokenizer: %v", err)
	}
}

func TestRejectsAndErrors(t *testing.T) {
	opt := options(t, "qwen2.5")
	m := textServer{t: opt.Template}
	bad := qaoa.Record{ID: "bad", Turns: []qaoa.Turn{{Query: "  "}}}
	rep, err := Check(t.Context(), m, seq([]qaoa.Record{bad, records()[0]}), opt)
	if err != nil || !rep.Pass || rep.Records != 1 || rep.Rejected[train.NoQuery] != 1 {
		t.Errorf("%+v, %v; want one record checked and one left out", rep, err)
	}
	if rep, err = Check(t.Context(), m, seq([]qaoa.Record{bad}), opt); err != nil || rep.Pass {
		t.Errorf("%+v, %v; nothing compared must not pass", rep, err)
	}
	if _, err := Check(t.Context(), m, seq([]qaoa.Record{records()[0], records()[0]}), opt); err == nil || !strings.Contains(err.Error(), `"plain"`) {
		t.Errorf("one id twice: %v", err)
	}
	opt.Rows.FinalAnswer = train.DropAnswer
	if rep, err = Check(t.Context(), m, seq(records()[:1]), opt); err != nil || rep.Beyond != 1 || rep.Prompts != 1 || !rep.Pass {
		t.Errorf("rows that end with a call: %+v, %v", rep, err)
	}
	opt.Rows.Format = train.Hermes
	if _, err := Check(t.Context(), m, seq(records()), opt); err == nil || !strings.Contains(err.Error(), "hermes") {
		t.Errorf("rows that meet no template: %v", err)
	}
	opt = options(t, "qwen2.5")
	opt.Run.Observe, opt.Run.Observer = eval.ObserveMCP, observer{}
	if _, err := Check(t.Context(), m, seq(records()), opt); err == nil {
		t.Error("calls would have been made for real")
	}
}

type observer struct{}

func (observer) Observe(context.Context, qaoa.Call) (qaoa.JSON, error) { panic("a call was made") }

// failing renders the probe and nothing else.
type failing struct{ textServer }

func (f failing) RenderedPrompt(ctx context.Context, req model.Request) (string, error) {
	if req.Case != nil {
		return "", &model.Error{Class: model.ClassServer, Status: 500, Msg: "it broke"}
	}
	return f.textServer.RenderedPrompt(ctx, req)
}

func TestAServerThatFailsEndsTheCheck(t *testing.T) {
	opt := options(t, "qwen2.5")
	_, err := Check(t.Context(), failing{textServer{t: opt.Template}}, seq(records()), opt)
	if e, ok := errors.AsType[*model.Error](err); !ok || e.Class != model.ClassServer {
		t.Errorf("%v", err)
	}
}

// The number of workers changes no byte of the report.
func TestWorkers(t *testing.T) {
	var first []byte
	for _, n := range []int{1, 2, 7} {
		opt := options(t, "qwen3")
		opt.Run.Workers, opt.Tokenizer = n, tiny(t)
		got, err := json.Marshal(check(t, textServer{t: opt.Template}, opt))
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = got
		}
		if string(got) != string(first) {
			t.Errorf("%d workers: %s\nwant %s", n, got, first)
		}
	}
}
