package train

import (
	"fmt"
	"strings"

	"github.com/goccy/go-json"

	"assay/qaoa"
)

// A codec writes and reads the rows of a format. What render writes of a row
// that refuse took, parse reads back as the same row; the two share no code.
type codec struct {
	// render returns a row as one line of JSON without the line break; plain
	// is [ShardOptions.PlainAnswers].
	render func(r row, plain bool) []byte
	// parse reads a line by the rules of the trainer.
	parse func(line []byte, plain bool) (row, error)
	// refuse returns why the format cannot take a row, nil if it can.
	refuse func(r row) *Reject
	// sideText tells that rows hold what was said beside calls.
	sideText bool
	// columns writes lines as Parquet.
	columns columnWriter
}

// codec returns that of the format and the container: in Parquet tools and
// arguments are texts.
func (o *ShardOptions) codec() codec { return codecOf(o.Format, o.Container) }

func codecOf(f Format, c Container) codec {
	takeAll := func(row) *Reject { return nil }
	switch form := chatForms[f]; f {
	case OpenAI, TRL, Axolotl:
		if c == Parquet {
			form.arguments, form.parameters, form.toolsText = asText, asObject, true
		}
		return codec{form.render, form.parse, takeAll, true, columnsOf[chatColumns]}
	case MSSwift:
		return codec{renderSwift, parseSwift, takeAll, true, columnsOf[swiftColumns]}
	case Hermes:
		return codec{renderHermes, parseHermes, refuseHermes, true, columnsOf[hermesColumns]}
	}
	return codec{renderLlama, parseLlama, takeAll, false, columnsOf[llamaColumns]}
}

// The tags around answers.
const (
	openAnswer  = "<answer>"
	closeAnswer = "</answer>"
)

// answerText returns the text of the message that ends a turn.
func answerText(answer string, plain bool) string {
	if plain {
		return answer
	}
	return openAnswer + answer + closeAnswer
}

// readAnswer returns the answer in the message that ends a turn.
func readAnswer(text string, plain bool) (string, error) {
	if plain {
		return text, nil
	}
	answer, ok := strings.CutPrefix(text, openAnswer)
	if ok {
		answer, ok = strings.CutSuffix(answer, closeAnswer)
	}
	if !ok {
		return "", fmt.Errorf("want an answer in its tags, have %.40q", text)
	}
	return answer, nil
}

// A toolText is a tool as it is read back.
type toolText struct {
	Name        *string         `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
}

// tool returns the tool, or an error that begins with what follows its path.
func (t toolText) tool() (qaoa.Tool, error) {
	if t.Name == nil {
		return qaoa.Tool{}, fmt.Errorf(": want a name")
	}
	params, err := qaoa.Compact(t.Parameters)
	if err != nil {
		return qaoa.Tool{}, fmt.Errorf("/parameters: %w", err)
	}
	if params.Kind() != qaoa.Object {
		return qaoa.Tool{}, fmt.Errorf("/parameters: want an object, have %.40q", params)
	}
	return qaoa.Tool{Name: *t.Name, Description: t.Description, Parameters: params}, nil
}

// A callText is a call as it is read back.
type callText struct {
	Name      *string         `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

func (c callText) call() (qaoa.Call, error) {
	args, err := qaoa.Compact(c.Arguments)
	if err != nil || c.Name == nil || args.Kind() != qaoa.Object {
		return qaoa.Call{}, fmt.Errorf("want a name and an object of arguments, have %.40q", c.Arguments)
	}
	return qaoa.Call{Name: *c.Name, Arguments: args}, nil
}

// callOf reads the JSON text of one call.
func callOf(text string) (qaoa.Call, error) {
	var c callText
	if err := json.Unmarshal([]byte(text), &c); err != nil {
		return qaoa.Call{}, fmt.Errorf("want the JSON text of a call, have %.40q: %w", text, err)
	}
	return c.call()
}

// appendFunction appends a tool in the wrapper that chat templates expect.
func appendFunction(dst []byte, t qaoa.Tool, parameters encoding) []byte {
	dst = append(dst, `{"type":"function","function":{"name":`...)
	dst = qaoa.AppendQuote(dst, t.Name)
	dst = append(dst, `,"description":`...)
	dst = qaoa.AppendQuote(dst, t.Description)
	dst = append(dst, `,"parameters":`...)
	dst = parameters.append(dst, t.Parameters)
	return append(dst, "}}"...)
}

// appendFunctions appends the JSON array of tools in their wrappers.
func appendFunctions(dst []byte, tools []qaoa.Tool, parameters encoding) []byte {
	dst = append(dst, '[')
	for i, t := range tools {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendFunction(dst, t, parameters)
	}
	return append(dst, ']')
}

// readFunctions reads what appendFunctions wrote.
func readFunctions(text []byte, parameters encoding) ([]qaoa.Tool, error) {
	var in []struct {
		Type     string    `json:"type"`
		Function *toolText `json:"function"`
	}
	if err := json.Unmarshal(text, &in); err != nil {
		return nil, fmt.Errorf("/tools: want an array of functions: %w", err)
	}
	var out []qaoa.Tool
	for i, t := range in {
		if t.Type != "function" || t.Function == nil {
			return nil, fmt.Errorf("/tools/%d: want a function, have type %.20q", i, t.Type)
		}
		var err error
		if t.Function.Parameters, err = parameters.read(t.Function.Parameters); err != nil {
			return nil, fmt.Errorf("/tools/%d/function/parameters: %w", i, err)
		}
		tool, err := t.Function.tool()
		if err != nil {
			return nil, fmt.Errorf("/tools/%d/function%w", i, err)
		}
		out = append(out, tool)
	}
	return out, nil
}

// An encoding is how a row holds a JSON object.
type encoding bool

const (
	asObject encoding = false // as it is
	asText   encoding = true  // as a string of its text
)

func (e encoding) append(dst []byte, j qaoa.JSON) []byte {
	if e == asText {
		return qaoa.AppendQuote(dst, string(j))
	}
	return append(dst, j...)
}

// read returns the object that a row holds. Anything else is an error: an
// object where a text belongs, and a text where an object belongs, which would
// be trained encoded twice.
func (e encoding) read(in json.RawMessage) (json.RawMessage, error) {
	j := qaoa.JSON(in)
	want, have := qaoa.Object, j.Kind()
	if e == asText {
		want = qaoa.String
	}
	if have != want {
		return nil, fmt.Errorf("want a JSON %s, have %.40q", want, in)
	}
	if e == asText {
		return json.RawMessage(j.Text()), nil
	}
	return in, nil
}
