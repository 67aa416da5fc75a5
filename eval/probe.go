package eval

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"assay/model"
	"assay/qaoa"
	"assay/toolcall"
)

// A Probe is one thing that was tried before a run.
type Probe struct {
	Name string `json:"name"` // see the constants
	// OK says that all is well, and Fatal that a run would make no sense.
	OK     bool   `json:"ok"`
	Fatal  bool   `json:"fatal,omitempty"`
	Detail string `json:"detail"`           // what came of it
	Remedy string `json:"remedy,omitempty"` // what to do, unless OK
}

// The names of the probes.
const (
	ProbeServer      = "server"        // the server answers, and has the model
	ProbeContext     = "context"       // the longest prompt fits
	ProbeAbilities   = "abilities"     // the model can do what the run wants of it
	ProbePromptCall  = "call in text"  // a call comes back in mode CallsPrompt
	ProbeNativeCall  = "call natively" // a call comes back in mode CallsNative
	ProbeDeterminism = "determinism"   // the same request twice gives one reply
)

// String returns the probe as a sentence.
func (p Probe) String() string {
	s := p.Name + ": " + p.Detail
	if !p.OK && p.Remedy != "" {
		s += "; " + p.Remedy
	}
	return s
}

// ProbeAbility checks what the server says that the model can do against what
// opt wants of it. There is no probe if the server does not say.
func ProbeAbility(ctx context.Context, m model.Chatter, opt Options) []Probe {
	capable, ok := model.As[model.Capable](m)
	if !ok {
		return nil
	}
	can, err := capable.Capabilities(ctx)
	if err != nil || can == nil {
		return nil
	}
	p := Probe{Name: ProbeAbilities, OK: true, Detail: fmt.Sprintf("the server says that the model can do %q", can)}
	switch {
	case opt.Calls == CallsNative && !slices.Contains(can, "tools"):
		p.OK, p.Fatal = false, true
		p.Detail += ", and not tools"
		p.Remedy = "give --calls prompt, or take a model whose template knows tools"
	case opt.Sampling.Think && !slices.Contains(can, "thinking"):
		p.OK, p.Fatal = false, true
		p.Detail += ", and not thinking"
		p.Remedy = "give --think off, or take a model that thinks"
	}
	return []Probe{p}
}

// probeTokens is how long a reply to a probe may be.
const probeTokens = 512

// probeCase is a record that any model with tools should answer by a call.
var probeCase = qaoa.Record{
	ID: "probe",
	Tools: []qaoa.Tool{{
		Name:        "get_weather",
		Description: "Returns the current weather of a city",
		Parameters:  `{"type":"object","properties":{"city":{"type":"string","description":"The name of the city"}},"required":["city"]}`,
	}},
	Turns: []qaoa.Turn{{
		Query: "What is the weather in Paris? Ask the tool.",
		Steps: []qaoa.Step{{Calls: []qaoa.Call{{Name: "get_weather", Arguments: `{"city":"Paris"}`}}}},
	}},
}

// probeRequest returns the request of the probes, with the sampling of opt.
func probeRequest(opt Options) model.Request {
	a := asker{opt: opt}
	req := a.requestFor(pair{rec: probeCase}, 0)
	if req.Sampling.MaxTokens == 0 || req.Sampling.MaxTokens > probeTokens {
		req.Sampling.MaxTokens = probeTokens
	}
	req.Messages = Render(probeCase, nil, probeCase.Turns[0].Query, PromptFor(opt.Calls), opt.Calls)
	return req
}

// ProbeCalls asks for a plain tool call in the mode and with the sampling of
// opt, twice: whether the call comes back, and whether the two replies are one.
// A request that the server refuses is fatal, because it would refuse those of
// the run alike; other failures of the server are left to the run, which tries
// again.
func ProbeCalls(ctx context.Context, m model.Chatter, opt Options) []Probe {
	opt, err := opt.withDefaults()
	if err != nil {
		return []Probe{{Name: ProbePromptCall, Fatal: true, Detail: err.Error()}}
	}
	name := ProbePromptCall
	if opt.Calls == CallsNative {
		name = ProbeNativeCall
	}
	req := probeRequest(opt)
	first, err := m.Chat(ctx, req)
	if err != nil {
		return []Probe{refusedProbe(name, err)}
	}
	return []Probe{callProbe(name, first, opt), determinism(ctx, m, req, first)}
}

// refusedProbe is the probe of a request that got no reply.
func refusedProbe(name string, err error) Probe {
	p := Probe{Name: name, Detail: err.Error()}
	fail, ok := errors.AsType[*model.Error](err)
	if !ok || fail.Class.Retryable() {
		return p
	}
	p.Fatal = true
	if name == ProbeNativeCall && fail.Class == model.ClassRequest {
		p.Remedy = parserRemedy
	}
	return p
}

// parserRemedy is what helps if a server does not parse calls.
const parserRemedy = "start vLLM with --enable-auto-tool-choice and the --tool-call-parser of the model, llama.cpp with --jinja, or give --calls prompt"

// callProbe tells what became of the call that the probe asks for.
func callProbe(name string, reply model.Reply, opt Options) Probe {
	a := asker{opt: opt}
	x, calls, _ := a.read(reply, probeCase.Tools)
	p := Probe{Name: name}
	saw := fmt.Sprintf("; the reply is %.120q", reply.Text)
	switch {
	case x.Class == string(toolcall.ClassInThought):
		p.Detail = "the only call is in a thought" + saw
		p.Remedy = "give --think off, or look whether the server cuts thoughts where the model ends them"
	case len(calls) == 0:
		p.Detail = "no call came" + saw
		p.Remedy = "the model may not be made for tools; look at what it says, and whether its chat template shows them"
	case opt.Calls == CallsNative && len(reply.Calls) == 0:
		p.Detail = "the server left the call in the text; its parser does not know this model's calls" + saw
		p.Remedy = parserRemedy
	case x.Class == string(toolcall.ClassMalformed):
		p.Detail = "a call came that does not parse" + saw
		p.Remedy = "the model may use another call format; look at its chat template"
	case calls[0].Name != probeCase.Tools[0].Name:
		p.Detail = fmt.Sprintf("a call of %.40q came, which is not on offer", calls[0].Name)
		p.Remedy = "the model may not see the tools; look at its chat template"
	default:
		p.OK, p.Detail = true, "a call came, found on rung "+x.Rung
	}
	return p
}

// determinism sends a request again and compares the replies.
func determinism(ctx context.Context, m model.Chatter, req model.Request, first model.Reply) Probe {
	p := Probe{Name: ProbeDeterminism}
	with := fmt.Sprintf("(temperature %g, seed %d)", req.Sampling.Temperature, req.Sampling.Seed)
	second, err := m.Chat(ctx, req)
	switch {
	case err != nil:
		p.Detail = "not known: " + err.Error()
	case first.Text == second.Text && first.Reasoning == second.Reasoning && slices.Equal(first.Calls, second.Calls):
		p.OK, p.Detail = true, "the same request twice got the same reply "+with
	default:
		p.Detail = "the same request twice got two replies " + with
		p.Remedy = "a run is one draw: give --repeat, and report the spread"
	}
	return p
}

// A SchemaLoss counts the keywords of schemas that a server is known to drop
// in mode [CallsNative], so that the model never sees them.
type SchemaLoss struct {
	Tools    int            `json:"tools"`             // different tools looked at
	Hit      int            `json:"hit"`               // of them, those that lose something
	Refused  int            `json:"refused,omitempty"` // of them, those that no request can offer
	Keywords map[string]int `json:"keywords"`          // places by keyword
	Examples []string       `json:"examples"`          // the first ten, as TOOL POINTER
	Bad      []string       `json:"refused_examples,omitempty"`
}

// Add counts the losses of one tool.
func (s *SchemaLoss) Add(tool qaoa.Tool, lost []model.Loss) {
	s.Tools++
	if len(lost) == 0 {
		return
	}
	s.Hit++
	if s.Keywords == nil {
		s.Keywords = map[string]int{}
	}
	refused := false
	for _, l := range lost {
		refused = refused || l.Refused
		s.Keywords[l.Keyword]++
		if len(s.Examples) < maxListed {
			s.Examples = append(s.Examples, tool.Name+" "+l.Path)
		}
		if l.Refused && len(s.Bad) < maxListed {
			s.Bad = append(s.Bad, tool.Name+" "+l.Path)
		}
	}
	if refused {
		s.Refused++
	}
}
