package train

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"assay/qaoa"
)

// A Reject is a record that made no row.
type Reject struct {
	ID     string `json:"id"`
	Code   string `json:"code"`
	Path   string `json:"path"` // JSON Pointer into the native form; "" is the record
	Detail string `json:"detail"`
	// Source is where the record comes from.
	Source qaoa.Source `json:"-"`
}

// Error returns id, path, code and detail.
func (r Reject) Error() string {
	s := r.ID + ": "
	if r.Path != "" {
		s += r.Path + ": "
	}
	return s + r.Code + ": " + r.Detail
}

// The codes of rejects, the same strings as in other ledgers where the reason
// is the same.
const (
	NoQuery            = "no_query"             // no turn, or one without text
	BadFlow            = "bad_flow"             // a step without calls
	BadCallJSON        = "bad_call_json"        // a call that did not parse or has no name
	ArgumentsNotObject = "arguments_not_object" // would be trained encoded twice, or break the template
	ObservationCount   = "observation_count"    // not one for each call
	BadSchema          = "bad_schema"           // parameters that are no object
	TooDeep            = "too_deep"             // nests deeper than the trainer's JSON reader goes
	TooLarge           = "number_too_large"     // the trainer's JSON reader makes it Infinity, or fails
	TemplateMarks      = "template_marks"       // the text would end a message of the chat template
	TooLong            = "over_long"            // more tokens than [Length.Max]
)

// maxDepth is how deep arguments and parameters may nest. The trainer reads
// and writes them with a recursive decoder that gives up at about 1,000.
const maxDepth = 200

// maxDigits is how many digits an integer may have: Python, which the trainer
// is written in, reads no longer one.
const maxDigits = 4300

// A Loss is something that a row cannot hold or is not to hold, or an addition
// that the trainer needs. Everything else of a record is read back from its
// row exactly.
type Loss string

// The losses. Each counts the places where it happened.
const (
	LostObservation Loss = "observation"   // emptied by ActionOnly, or left out at the end by DropAnswer
	LostAnswer      Loss = "answer"        // emptied, see FinalAnswer
	LostGrouping    Loss = "step_grouping" // steps of several calls written as one message each
	LostSystem      Loss = "system"        // system text of a record
	LostMeta        Loss = "meta"          // meta data of a record
	LostToolFacts   Loss = "tool_facts"    // tools with a category, domain or origin
	LostAnswerTags  Loss = "answer_tags"   // answers that had <answer> tags of their own
	LostUTF8        Loss = "invalid_utf8"  // texts with bytes that are not UTF-8
	LostSideText    Loss = "side_text"     // what was said beside calls
	LostHistory     Loss = "history"       // rows that begin after the first turn, see [Split]
	AddedArguments  Loss = "added_arguments"
	AddedSchema     Loss = "added_schema" // tools given "properties" or whole parameters
)

// A row is what a row of the training data holds of a record.
type row struct {
	id, system string
	tools      []qaoa.Tool // name, description, parameters
	turns      []qaoa.Turn
	said       []saying
	// openEnd tells that the row ends with a function_call.
	openEnd bool
}

// A saying is a text of the assistant beside the calls of a step.
type saying struct {
	turn, step int
	text       string
}

// saying returns what was said beside the calls of a step.
func (r row) saying(turn, step int) string {
	for _, s := range r.said {
		if s.turn == turn && s.step == step {
			return s.text
		}
	}
	return ""
}

// projector makes a row of one record.
type projector struct {
	opt    *ShardOptions
	losses map[Loss]int
}

// project returns what a row keeps of rec, or why it cannot be one.
func project(rec qaoa.Record, opt *ShardOptions) (row, map[Loss]int, *Reject) {
	p := projector{opt, map[Loss]int{}}
	r := row{id: p.text(rec.ID), system: p.system(rec)}
	if rec.Meta != "" {
		p.losses[LostMeta]++
	}
	if len(rec.Turns) == 0 {
		return r, nil, &Reject{ID: rec.ID, Code: NoQuery, Detail: "want at least one turn, have none"}
	}
	for i, t := range rec.Tools {
		tool, rej := p.tool(t, fmt.Sprintf("/tools/%d", i))
		if rej != nil {
			rej.ID = rec.ID
			return r, nil, rej
		}
		r.tools = append(r.tools, tool)
	}
	said := sideTexts(rec.Meta)
	for i, t := range rec.Turns {
		turn, at, rej := p.turn(t, fmt.Sprintf("/turns/%d", i))
		if rej != nil {
			rej.ID = rec.ID
			return r, nil, rej
		}
		r.turns = append(r.turns, turn)
		r.said = append(r.said, p.sayings(said, i, at)...)
	}
	if last := r.turns[len(r.turns)-1].Steps; p.opt.FinalAnswer == DropAnswer && len(last) > 0 {
		r.openEnd = true
		s := &last[len(last)-1]
		p.losses[LostObservation] += known(s.Observations)
		s.Observations = nil
	}
	if rej := p.opt.codec().refuse(r); rej != nil {
		rej.ID = rec.ID
		return r, nil, rej
	}
	return r, p.losses, nil
}

// sideTexts returns what the meta data of a record keep of texts beside calls,
// by the places of the record.
func sideTexts(meta qaoa.JSON) []saying {
	if !strings.Contains(string(meta), `"side_text":`) {
		return nil
	}
	v, err := meta.Value()
	if err != nil {
		return nil
	}
	list, _ := v.Get("side_text")
	var out []saying
	for _, item := range list.Items {
		turn, _ := item.Get("turn")
		step, _ := item.Get("step")
		text, _ := item.Get("text")
		i, err1 := strconv.Atoi(turn.Text)
		k, err2 := strconv.Atoi(step.Text)
		if err1 == nil && err2 == nil && text.Kind == qaoa.String && strings.TrimSpace(text.Text) != "" {
			out = append(out, saying{i, k, text.Text})
		}
	}
	return out
}

// sayings returns what the row keeps of the texts said in a turn, whose step k
// is at[k] in the row: the first one beside each step, if the format holds any
// and observations and answers are kept too.
func (p *projector) sayings(said []saying, turn int, at []int) []saying {
	var out []saying
	taken := map[int]bool{}
	for _, s := range said {
		if s.turn != turn {
			continue
		}
		if p.opt.Projection == ActionOnly || !p.opt.codec().sideText || s.step < 0 || s.step >= len(at) || taken[s.step] {
			p.losses[LostSideText]++
			continue
		}
		taken[s.step] = true
		out = append(out, saying{turn, at[s.step], p.text(s.text)})
	}
	return out
}

func (p *projector) system(rec qaoa.Record) string {
	if p.opt.KeepSystem && rec.System != "" {
		return p.text(rec.System)
	}
	if rec.System != "" && rec.System != p.opt.SystemPrompt {
		p.losses[LostSystem]++
	}
	return p.text(p.opt.SystemPrompt)
}

// text returns s as JSON can hold it.
func (p *projector) text(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	p.losses[LostUTF8]++
	return qaoa.Quote(s).Text()
}

// tool keeps name, description and parameters. Templates print a tool as it
// stands, so other members would be in the training text and not in the text
// that is served.
func (p *projector) tool(t qaoa.Tool, path string) (qaoa.Tool, *Reject) {
	if t.Category != "" || t.Domain != "" || t.Origin != "" {
		p.losses[LostToolFacts]++
	}
	out := qaoa.Tool{Name: p.text(t.Name), Description: p.text(t.Description), Parameters: t.Parameters}
	switch t.Parameters.Kind() {
	case qaoa.Object:
	case qaoa.Invalid, qaoa.Null:
		p.losses[AddedSchema]++
		out.Parameters = `{"type":"object","properties":{}}`
		return out, nil
	default:
		return out, &Reject{Code: BadSchema, Path: path + "/parameters", Detail: fmt.Sprintf("want an object, have %.40q", t.Parameters)}
	}
	kind, deep := scan(t.Parameters, `"properties":`)
	if deep {
		return out, &Reject{Code: TooDeep, Path: path + "/parameters", Detail: fmt.Sprintf("want at most %d levels", maxDepth)}
	}
	if n := tooLarge(t.Parameters); n != "" {
		return out, &Reject{Code: TooLarge, Path: path + "/parameters", Detail: fmt.Sprintf("want numbers that fit a float64, or integers of at most %d digits; have %.40s", maxDigits, n)}
	}
	// The trainer's default template wants parameters.properties and knows no
	// way on without it.
	switch kind {
	case qaoa.Object:
	case qaoa.Invalid:
		p.losses[AddedSchema]++
		out.Parameters = withProperties(t.Parameters)
	default:
		return out, &Reject{Code: BadSchema, Path: path + "/parameters/properties", Detail: fmt.Sprintf("want an object, have %s", kind)}
	}
	return out, nil
}

// withProperties adds an empty properties to a schema without one.
func withProperties(schema qaoa.JSON) qaoa.JSON {
	if schema == "{}" {
		return `{"properties":{}}`
	}
	return schema[:len(schema)-1] + `,"properties":{}}`
}

// scan returns the kind of the first member of object whose quoted name and
// colon are key, Invalid if there is none, and whether object nests deeper than
// maxDepth. It relies on the form of [qaoa.JSON]: no blanks, no needless
// escapes.
func scan(object qaoa.JSON, key string) (kind qaoa.Kind, deep bool) {
	depth, quoted := 0, false
	for i := 0; i < len(object); i++ {
		switch c := object[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			// A value never follows '{' or ',' in an object.
			if !quoted && depth == 1 && kind == qaoa.Invalid && (object[i-1] == '{' || object[i-1] == ',') && strings.HasPrefix(string(object[i:]), key) {
				kind = object[i+len(key):].Kind()
			}
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			if depth++; depth > maxDepth {
				return kind, true
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return kind, false
}

// tooDeep reports whether j nests deeper than maxDepth.
func tooDeep(j qaoa.JSON) bool {
	_, deep := scan(j, `"":`)
	return deep
}

// tooLarge returns the first number of j that the trainer cannot write again,
// "" if there is none: an integer of more than maxDigits digits, or one with
// fraction or exponent beyond float64, which it would train as Infinity.
func tooLarge(j qaoa.JSON) string {
	quoted := false
	for i := 0; i < len(j); i++ {
		switch c := j[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case !quoted && (c == '-' || '0' <= c && c <= '9'):
			end := i + 1
			for end < len(j) && strings.IndexByte("0123456789+-.eE", j[end]) >= 0 {
				end++
			}
			number := string(j[i:end])
			if strings.ContainsAny(number, ".eE") {
				if _, err := strconv.ParseFloat(number, 64); err != nil {
					return number
				}
			} else if len(strings.TrimPrefix(number, "-")) > maxDigits {
				return number
			}
			i = end - 1
		}
	}
	return ""
}

// turn returns what a row keeps of t, and where each of its steps begins in it.
func (p *projector) turn(t qaoa.Turn, path string) (qaoa.Turn, []int, *Reject) {
	if strings.TrimSpace(t.Query) == "" {
		return t, nil, &Reject{Code: NoQuery, Path: path + "/query", Detail: "want the text of the user, have none"}
	}
	out := qaoa.Turn{Query: p.text(t.Query)}
	at := make([]int, len(t.Steps))
	for i, s := range t.Steps {
		steps, rej := p.step(s, fmt.Sprintf("%s/steps/%d", path, i))
		if rej != nil {
			return t, nil, rej
		}
		at[i] = len(out.Steps)
		out.Steps = append(out.Steps, steps...)
	}
	answer, tagged := untagged(p.text(t.Answer))
	switch {
	case p.opt.FinalAnswer == KeepAnswer:
		out.Answer = answer
		if tagged {
			p.losses[LostAnswerTags]++
		}
	case t.Answer != "":
		p.losses[LostAnswer]++
	}
	return out, at, nil
}

// untagged returns an answer without the <answer> tags around it, which a row
// has anyway, and whether it had any.
func untagged(answer string) (string, bool) {
	tagged := false
	for {
		inner, ok := strings.CutPrefix(strings.TrimSpace(answer), openAnswer)
		if ok {
			inner, ok = strings.CutSuffix(inner, closeAnswer)
		}
		if !ok {
			return answer, tagged
		}
		answer, tagged = inner, true
	}
}

// step returns s, or a step for each of its calls.
func (p *projector) step(s qaoa.Step, path string) ([]qaoa.Step, *Reject) {
	switch {
	case len(s.Calls) == 0:
		return nil, &Reject{Code: BadFlow, Path: path, Detail: "want at least one call in a step, have none"}
	case len(s.Observations) != 0 && len(s.Observations) != len(s.Calls):
		return nil, &Reject{Code: ObservationCount, Path: path + "/observations", Detail: fmt.Sprintf("want one for each of %d calls, or none; have %d", len(s.Calls), len(s.Observations))}
	}
	out := qaoa.Step{Calls: make([]qaoa.Call, len(s.Calls))}
	for i, c := range s.Calls {
		call, rej := p.call(c, fmt.Sprintf("%s/calls/%d", path, i))
		if rej != nil {
			return nil, rej
		}
		out.Calls[i] = call
	}
	if n := known(s.Observations); n > 0 {
		if p.opt.Projection == ActionOnly {
			p.losses[LostObservation] += n
		} else {
			for _, o := range s.Observations {
				out.Observations = append(out.Observations, p.text(o))
			}
		}
	}
	if p.opt.Grouping == TogetherCalls || len(s.Calls) == 1 {
		return []qaoa.Step{out}, nil
	}
	p.losses[LostGrouping]++
	steps := make([]qaoa.Step, len(out.Calls))
	for i := range out.Calls {
		steps[i].Calls = out.Calls[i : i+1 : i+1]
		if o := out.Observation(i); o != "" {
			steps[i].Observations = []string{o}
		}
	}
	return steps, nil
}

func (p *projector) call(c qaoa.Call, path string) (qaoa.Call, *Reject) {
	switch {
	case c.Raw != "":
		return c, &Reject{Code: BadCallJSON, Path: path, Detail: fmt.Sprintf("want a call, have the text %.40q, which did not parse", c.Raw)}
	case c.Name == "":
		return c, &Reject{Code: BadCallJSON, Path: path + "/name", Detail: "want the name of a tool, have none"}
	case c.Arguments == "":
		p.losses[AddedArguments]++
		c.Arguments = "{}"
	case c.Arguments.Kind() != qaoa.Object:
		return c, &Reject{Code: ArgumentsNotObject, Path: path + "/arguments", Detail: fmt.Sprintf("want an object, have %.40q", c.Arguments)}
	case tooDeep(c.Arguments):
		return c, &Reject{Code: TooDeep, Path: path + "/arguments", Detail: fmt.Sprintf("want at most %d levels", maxDepth)}
	}
	if n := tooLarge(c.Arguments); n != "" {
		return c, &Reject{Code: TooLarge, Path: path + "/arguments", Detail: fmt.Sprintf("want numbers that fit a float64, or integers of at most %d digits; have %.40s", maxDigits, n)}
	}
	return qaoa.Call{Name: p.text(c.Name), Arguments: c.Arguments}, nil
}

// known counts the observations that are not empty.
func known(observations []string) int {
	n := 0
	for _, o := range observations {
		if o != "" {
			n++
		}
	}
	return n
}
