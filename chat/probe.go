package chat

import (
	"fmt"
	"slices"
	"strings"

	"assay/qaoa"
)

// A Report is what [Probe] found out about a template.
type Report struct {
	Template string        `json:"template"`
	Verified bool          `json:"verified"`
	Fields   []FieldReport `json:"fields"`
	Shapes   []ShapeReport `json:"shapes"`
	Breaks   []Break       `json:"prefix_breaks"`
	Notes    []string      `json:"notes"`
	// Sample is the rendered conversation of the probe.
	Sample Rendered `json:"-"`
}

// A State is what became of a field.
type State string

// The states.
const (
	AsIs    State = "as is"
	InJSON  State = "json"       // the content of a JSON string, or a JSON object
	ASCII   State = "json ascii" // with \u escapes for what is no ASCII
	Twice   State = "json twice" // a JSON text inside of a JSON string
	HTML    State = "html"       // with HTML's escapes
	Python  State = "python"     // a Python literal
	Rewrite State = "rewritten"  // in another form
	Missing State = "missing"
)

// A FieldReport is what became of one field.
type FieldReport struct {
	Field Field  `json:"field"`
	Where string `json:"where"` // which one: "first step", "last answer", …
	State State  `json:"state"`
	Count int    `json:"count"` // how often it is in the text
	// Loss is how much of it is trained on: "all", "none" or "part".
	Loss string `json:"loss"`
	OK   bool   `json:"ok"`
	Note string `json:"note,omitempty"` // what is wrong
}

// A ShapeReport tells how a template takes one shape of conversation.
type ShapeReport struct {
	Shape string `json:"shape"`
	OK    bool   `json:"ok"`
	Note  string `json:"note,omitempty"`
}

// sentinel returns a text for a field that cannot be confused with others and
// has what escapes change.
func sentinel(name string) string { return "zq" + name + `a "x" \ é <b>& zq` + name + "z" }

// The names in the sentinels.
const (
	sSystem    = "System"
	sTool      = "zq_tool_name"
	sDesc      = "Desc"
	sQuery     = "Query"
	sThought   = "Thought"
	sMused     = "Mused"
	sSide      = "Side"
	sObs       = "Obs"
	sAnswer    = "Answer"
	sSchemaKey = "zqSchemaKey"
	sArgKey    = "zqArgKey"
)

func probeTool() qaoa.Tool {
	return qaoa.Tool{Name: sTool, Description: sentinel(sDesc), Parameters: `{"type":"object","properties":{"` + sSchemaKey + `":{"type":"string","default":null,"minimum":1.0}},"required":[],"additionalProperties":false}`}
}

func probeCall() qaoa.Call {
	return qaoa.Call{Name: sTool, Arguments: `{"` + sArgKey + `":"é <b>","b":1.0,"a":[null,true,12345678901234567890]}`}
}

// probeConversation is one turn with everything in it.
func probeConversation() Conversation {
	return Conversation{
		Tools: []qaoa.Tool{probeTool()},
		Messages: []Message{
			{Role: System, Content: sentinel(sSystem)},
			{Role: User, Content: sentinel(sQuery)},
			{Role: Assistant, Content: sentinel(sSide), Reasoning: sentinel(sThought), Calls: []qaoa.Call{probeCall()}},
			{Role: Tool, Content: sentinel(sObs), Name: sTool},
			{Role: Assistant, Content: sentinel(sAnswer), Reasoning: sentinel(sMused)},
		},
	}
}

// Probe renders a conversation in which every field has a text of its own, and
// looks for each in what comes out; then conversations of other shapes; then
// whether a text begins the text of one more message ([Prefixes]).
func Probe(t *Template, opt Options) (Report, error) {
	opt.AddGenerationPrompt = false
	rep := Report{Template: t.Name, Verified: t.Verified, Notes: []string{}, Breaks: []Break{}}
	c := probeConversation()
	r, err := t.Render(c, opt)
	for _, less := range simpler {
		if err == nil {
			break
		}
		rep.Notes = append(rep.Notes, "refuses "+less.what+": "+strings.TrimPrefix(err.Error(), "template "+t.Name+": "))
		less.take(&c)
		r, err = t.Render(c, opt)
	}
	if err != nil {
		return Report{}, err
	}
	rep.Sample = r
	rep.Notes = append(rep.Notes, r.Notes...)
	rep.Fields = probeFields(r)
	rep.Fields = append(rep.Fields, probeHistory(t, opt)...)
	rep.Shapes = probeShapes(t, opt)
	rep.Breaks = append(rep.Breaks, Prefixes(t, longer(c), opt)...)
	return rep, nil
}

// simpler are the ways to make the conversation of the probe simpler, for
// templates that refuse it.
var simpler = []struct {
	what string
	take func(c *Conversation)
}{
	{"text beside a call", func(c *Conversation) { c.Messages[2].Content = "" }},
	{"a system message", func(c *Conversation) { c.Messages = c.Messages[1:] }},
	{"calls and replies", func(c *Conversation) {
		c.Messages = slices.DeleteFunc(c.Messages, func(m Message) bool { return m.Role == Tool || len(m.Calls) > 0 })
	}},
}

// longer is c with a second turn, in which two calls are parallel.
func longer(c Conversation) Conversation {
	c.Messages = append(append([]Message{}, c.Messages...),
		Message{Role: User, Content: "And now?"},
		Message{Role: Assistant, Calls: []qaoa.Call{probeCall(), probeCall()}},
		Message{Role: Tool, Content: "one", Name: sTool},
		Message{Role: Tool, Content: "two", Name: sTool},
		Message{Role: Assistant, Content: "That is all."},
	)
	return c
}

// expectations are the fields of the probe, in the order of the report.
var expectations = []struct {
	field Field
	where string
	name  string // of the sentinel, or the text itself
	plain bool   // name is the text
	want  []State
	loss  bool
}{
	{FieldSystem, "", sSystem, false, []State{AsIs}, false},
	{FieldToolName, "", sTool, true, []State{AsIs}, false},
	{FieldDescription, "", sDesc, false, []State{InJSON, ASCII}, false},
	{FieldSchema, "", sSchemaKey, true, []State{InJSON}, false},
	{FieldQuery, "", sQuery, false, []State{AsIs}, false},
	{FieldReasoning, "with a call", sThought, false, []State{AsIs}, true},
	{FieldContent, "with a call", sSide, false, []State{AsIs}, true},
	{FieldCallName, "", sTool, true, []State{AsIs}, true},
	{FieldArguments, "", sArgKey, true, []State{InJSON}, true},
	{FieldObservation, "", sObs, false, []State{AsIs, InJSON}, false},
	{FieldReasoning, "with the answer", sMused, false, []State{AsIs}, true},
	{FieldContent, "the answer", sAnswer, false, []State{AsIs}, true},
}

func probeFields(r Rendered) []FieldReport {
	var out []FieldReport
	for _, e := range expectations {
		f := FieldReport{Field: e.field, Where: e.where}
		var places []Span
		switch e.field {
		case FieldToolName, FieldCallName:
			f.State, places = probeName(r, e.field, e.name)
		case FieldSchema, FieldArguments:
			f.State, places = probeObject(r.Text, e.name)
		default:
			f.State, places = probeText(r.Text, e.name)
		}
		f.Count = len(places)
		f.Loss = lossOf(r, places)
		judge(&f, e.want, e.loss)
		out = append(out, f)
	}
	return out
}

// judge says what is wrong with a field, if anything is.
func judge(f *FieldReport, want []State, loss bool) {
	var faults []string
	good := false
	for _, s := range want {
		good = good || f.State == s
	}
	switch {
	case f.State == Missing:
		faults = append(faults, "not in the text")
	case !good:
		faults = append(faults, fmt.Sprintf("want %s", want[0]))
	}
	if f.Count > 1 {
		faults = append(faults, fmt.Sprintf("%d times", f.Count))
	}
	if f.State != Missing && loss && f.Loss != "all" {
		faults = append(faults, "the model writes it, but is not trained on it")
	}
	if f.State != Missing && !loss && f.Loss != "none" {
		faults = append(faults, "trained on, but the model does not write it")
	}
	f.OK = len(faults) == 0
	f.Note = strings.Join(faults, "; ")
}

// probeText finds the sentinel of that name and tells how it was written.
func probeText(text, name string) (State, []Span) {
	open, end := "zq"+name+"a", "zq"+name+"z"
	var places []Span
	state := Missing
	for at := 0; ; {
		i := strings.Index(text[at:], open)
		if i < 0 {
			return state, places
		}
		start := at + i
		n := strings.Index(text[start:], end)
		if n < 0 {
			return Rewrite, append(places, Span{Start: start, End: start + len(open)})
		}
		at = start + n + len(end)
		places = append(places, Span{Start: start, End: at})
		if state == Missing {
			state = formOf(text[start:at], sentinel(name))
		}
	}
}

// formOf tells how want was written as have.
func formOf(have, want string) State {
	quote := func(s string) string {
		q := string(qaoa.Quote(s))
		return q[1 : len(q)-1]
	}
	once := quote(want)
	switch have {
	case want:
		return AsIs
	case once:
		return InJSON
	case strings.ReplaceAll(once, "é", `\u00e9`), strings.NewReplacer("é", `\u00e9`, "<", `\u003c`, ">", `\u003e`, "&", `\u0026`).Replace(once), strings.NewReplacer("<", `\u003c`, ">", `\u003e`, "&", `\u0026`).Replace(once):
		return ASCII
	case quote(once), quote(strings.ReplaceAll(once, "é", `\u00e9`)):
		return Twice
	}
	if strings.Contains(have, "&lt;") {
		return HTML
	}
	return Rewrite
}

// probeName finds a name at the places of a field: the name of the tool and of
// the call are the same text.
func probeName(r Rendered, field Field, name string) (State, []Span) {
	var places []Span
	for _, s := range r.Find(field) {
		if r.Text[s.Start:s.End] != name {
			return Rewrite, []Span{s}
		}
		places = append(places, s)
	}
	if len(places) == 0 {
		return Missing, nil
	}
	return AsIs, places
}

// probeObject finds the key of an object and tells what the object is.
func probeObject(text, key string) (State, []Span) {
	var places []Span
	state := Missing
	for at := 0; ; {
		i := strings.Index(text[at:], key)
		if i < 0 {
			return state, places
		}
		start := at + i
		at = start + len(key)
		places = append(places, Span{Start: start, End: at})
		if state != Missing {
			continue
		}
		switch before := text[:start]; {
		case strings.HasSuffix(before, `\"`):
			state = Twice
		case strings.HasSuffix(before, `"`):
			state = InJSON
		case strings.HasSuffix(before, `'`):
			state = Python
		default:
			state = Rewrite
		}
	}
}

// lossOf tells how many of the places are trained on.
func lossOf(r Rendered, places []Span) string {
	in := 0
	for _, p := range places {
		for _, l := range r.Loss() {
			if l.Start <= p.Start && p.End <= l.End {
				in++
				break
			}
		}
	}
	switch in {
	case 0:
		return "none"
	case len(places):
		return "all"
	}
	return "part"
}

// probeHistory looks at the first of two turns.
func probeHistory(t *Template, opt Options) []FieldReport {
	c := Conversation{Messages: []Message{
		{Role: User, Content: "Hello"},
		{Role: Assistant, Content: sentinel(sAnswer), Reasoning: sentinel(sThought)},
		{Role: User, Content: "And now?"},
		{Role: Assistant, Content: "That is all."},
	}}
	r, err := t.Render(c, opt)
	if err != nil {
		return nil
	}
	var out []FieldReport
	for _, e := range []struct {
		field Field
		name  string
	}{{FieldReasoning, sThought}, {FieldContent, sAnswer}} {
		f := FieldReport{Field: e.field, Where: "in an earlier turn"}
		var places []Span
		f.State, places = probeText(r.Text, e.name)
		f.Count, f.Loss = len(places), lossOf(r, places)
		judge(&f, []State{AsIs}, true)
		out = append(out, f)
	}
	return out
}

// probeShapes renders conversations that some templates refuse or spoil.
func probeShapes(t *Template, opt Options) []ShapeReport {
	user := Message{Role: User, Content: "Hello"}
	one := Message{Role: Assistant, Calls: []qaoa.Call{probeCall()}}
	two := Message{Role: Assistant, Calls: []qaoa.Call{probeCall(), {Name: "zq_other", Arguments: `{"zqOtherKey":1}`}}}
	reply := Message{Role: Tool, Content: "zqReply", Name: sTool}
	tools := []qaoa.Tool{probeTool()}
	shapes := []struct {
		name string
		c    Conversation
		want []string // texts that must be there
	}{
		{"no system message", Conversation{Messages: []Message{user}}, []string{"Hello"}},
		{"parallel calls", Conversation{Messages: []Message{user, two, reply, reply}, Tools: tools}, []string{sArgKey, "zqOtherKey"}},
		{"serial calls", Conversation{Messages: []Message{user, one, reply, one, reply}, Tools: tools}, []string{sArgKey, "zqReply"}},
		{"call without arguments", Conversation{Messages: []Message{user, {Role: Assistant, Calls: []qaoa.Call{{Name: sTool}}}}, Tools: tools}, []string{"{}"}},
		{"empty answer", Conversation{Messages: []Message{user, {Role: Assistant}}}, []string{"Hello"}},
		{"tool without description", Conversation{Messages: []Message{user}, Tools: []qaoa.Tool{{Name: sTool}}}, []string{sTool}},
	}
	var out []ShapeReport
	for _, s := range shapes {
		rep := ShapeReport{Shape: s.name, OK: true}
		r, err := t.Render(s.c, opt)
		if err != nil {
			rep.OK, rep.Note = false, "refused: "+strings.TrimPrefix(err.Error(), "template "+t.Name+": ")
		}
		for _, want := range s.want {
			if err == nil && !strings.Contains(r.Text, want) {
				rep.OK, rep.Note = false, fmt.Sprintf("%q is not in the text", want)
			}
		}
		out = append(out, rep)
	}
	return append(out, probeDouble(t, opt))
}

// probeDouble renders a call whose arguments are a text that holds JSON: what a
// corpus has where they were encoded twice. A template that quotes the text
// trains the model to do so.
func probeDouble(t *Template, opt Options) ShapeReport {
	rep := ShapeReport{Shape: "arguments as a text", OK: true}
	c := Conversation{Tools: []qaoa.Tool{probeTool()}, Messages: []Message{
		{Role: User, Content: "Hello"},
		{Role: Assistant, Calls: []qaoa.Call{{Name: sTool, Arguments: qaoa.Quote(`{"` + sArgKey + `":1}`)}}},
	}}
	r, err := t.Render(c, opt)
	if err != nil {
		rep.OK, rep.Note = false, "refused: "+strings.TrimPrefix(err.Error(), "template "+t.Name+": ")
		return rep
	}
	switch state, _ := probeObject(r.Text, sArgKey); state {
	case InJSON:
	case Missing:
		rep.OK, rep.Note = false, "not in the text"
	default:
		rep.OK, rep.Note = false, fmt.Sprintf("comes out as %s: give arguments as an object", state)
	}
	return rep
}
