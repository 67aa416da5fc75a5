package train

import (
	"fmt"

	"github.com/goccy/go-json"

	"assay/qaoa"
)

// The roles of ms-swift besides system, user and assistant.
const (
	roleCall   = "tool_call"
	roleResult = "tool_response"
)

// renderSwift returns r as {"id","messages","tools"} for ms-swift: each call is
// a message of its own, parallel ones follow each other, and what they returned
// follows them in the same order. Tools are a text.
func renderSwift(r row, plain bool) []byte {
	dst := append(qaoa.AppendQuote([]byte(`{"id":`), r.id), `,"messages":[`...)
	if r.system != "" {
		dst = append(appendRole(dst, "system", r.system), ',')
	}
	for i, t := range r.turns {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendRole(dst, "user", t.Query)
		for k, s := range t.Steps {
			if said := r.saying(i, k); said != "" {
				dst = appendRole(append(dst, ','), "assistant", said)
			}
			for _, c := range s.Calls {
				dst = appendRole(append(dst, ','), roleCall, string(qaoa.AppendCall(nil, c)))
			}
			if r.openEnd && i == len(r.turns)-1 && k == len(t.Steps)-1 {
				break
			}
			for n := range s.Calls {
				dst = appendRole(append(dst, ','), roleResult, s.Observation(n))
			}
		}
		if !r.openEnd || i < len(r.turns)-1 {
			dst = appendRole(append(dst, ','), "assistant", answerText(t.Answer, plain))
		}
	}
	dst = append(dst, `],"tools":`...)
	dst = qaoa.AppendQuote(dst, string(appendFunctions(nil, r.tools, asObject)))
	return append(dst, '}')
}

type swiftRow struct {
	ID       string         `json:"id"`
	Messages []swiftMessage `json:"messages"`
	Tools    *string        `json:"tools"`
}

type swiftMessage struct {
	Role    string  `json:"role"`
	Content *string `json:"content"`
}

// parseSwift reads a line by the rules that ms-swift publishes. A message of
// the assistant before a call is a text beside the call.
func parseSwift(line []byte, plain bool) (row, error) {
	var in swiftRow
	if err := json.Unmarshal(line, &in); err != nil {
		return row{}, fmt.Errorf("not JSON: %w", err)
	}
	if in.Tools == nil {
		return row{}, fmt.Errorf("/tools: want the text of an array")
	}
	r := row{id: in.ID}
	var err error
	if r.tools, err = readFunctions([]byte(*in.Tools), asObject); err != nil {
		return row{}, err
	}
	for i, m := range in.Messages {
		if m.Content == nil {
			return row{}, fmt.Errorf("/messages/%d: want content", i)
		}
	}
	at := 0
	if len(in.Messages) > 0 && in.Messages[0].Role == "system" {
		r.system, at = *in.Messages[0].Content, 1
	}
	if at == len(in.Messages) {
		return row{}, fmt.Errorf("/messages: want a message of the user, have none")
	}
	for at < len(in.Messages) {
		if r.openEnd {
			return row{}, fmt.Errorf("/messages/%d: want what the calls before it returned", at)
		}
		if in.Messages[at].Role != "user" {
			return row{}, fmt.Errorf("/messages/%d: want a message of the user, have %.20q", at, in.Messages[at].Role)
		}
		r.turns = append(r.turns, qaoa.Turn{Query: *in.Messages[at].Content})
		if at, err = r.swiftTurn(in.Messages, at+1, plain); err != nil {
			return row{}, err
		}
	}
	return r, nil
}

// swiftTurn reads the steps and the answer of the last turn from messages[at]
// on, and returns where the next turn begins.
func (r *row) swiftTurn(messages []swiftMessage, at int, plain bool) (int, error) {
	turn := &r.turns[len(r.turns)-1]
	role := func(i int) string {
		if i < len(messages) {
			return messages[i].Role
		}
		return ""
	}
	for {
		said := role(at) == "assistant" && role(at+1) == roleCall
		if said {
			r.said = append(r.said, saying{len(r.turns) - 1, len(turn.Steps), *messages[at].Content})
			at++
		}
		if role(at) != roleCall {
			break
		}
		var s qaoa.Step
		for ; role(at) == roleCall; at++ {
			call, err := callOf(*messages[at].Content)
			if err != nil {
				return at, fmt.Errorf("/messages/%d: %w", at, err)
			}
			s.Calls = append(s.Calls, call)
		}
		if at == len(messages) {
			turn.Steps = append(turn.Steps, s)
			r.openEnd = true
			return at, nil
		}
		var results []string
		for ; role(at) == roleResult; at++ {
			results = append(results, *messages[at].Content)
		}
		if len(results) != len(s.Calls) {
			return at, fmt.Errorf("/messages/%d: want %d results, one for each call, have %d", at, len(s.Calls), len(results))
		}
		if known(results) > 0 {
			s.Observations = results
		}
		turn.Steps = append(turn.Steps, s)
	}
	if role(at) != "assistant" {
		return at, fmt.Errorf("/messages/%d: want calls or an answer, have %.20q", at, role(at))
	}
	answer, err := readAnswer(*messages[at].Content, plain)
	if err != nil {
		return at, fmt.Errorf("/messages/%d: %w", at, err)
	}
	turn.Answer = answer
	return at + 1, nil
}
