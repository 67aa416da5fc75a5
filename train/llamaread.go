package train

import (
	"fmt"
	"strings"

	"github.com/goccy/go-json"

	"assay/qaoa"
)

// lfRow is a row as the trainer sees it.
type lfRow struct {
	ID            string      `json:"id"`
	Conversations []lfMessage `json:"conversations"`
	System        *string     `json:"system"`
	Tools         *string     `json:"tools"`
}

type lfMessage struct {
	From  string  `json:"from"`
	Value *string `json:"value"`
}

// parseLlama reads one line back by the rules of the trainer, which are stricter
// than what renderLlama needs: what it takes, the trainer takes. It shares no
// code with renderLlama.
func parseLlama(line []byte, plain bool) (row, error) {
	var in lfRow
	if err := json.Unmarshal(line, &in); err != nil {
		return row{}, fmt.Errorf("not JSON: %w", err)
	}
	if in.System == nil || in.Tools == nil {
		return row{}, fmt.Errorf("want the columns system and tools in every row")
	}
	if err := checkOrder(in.Conversations); err != nil {
		return row{}, err
	}
	r := row{id: in.ID, system: *in.System}
	var tools []toolText
	if err := json.Unmarshal([]byte(*in.Tools), &tools); err != nil {
		return row{}, fmt.Errorf("/tools: not JSON: %w", err)
	}
	for i, t := range tools {
		tool, err := t.tool()
		if err != nil {
			return row{}, fmt.Errorf("/tools/%d%w", i, err)
		}
		r.tools = append(r.tools, tool)
	}
	return r, r.fold(in.Conversations, plain)
}

// checkOrder holds the law that LLaMA-Factory drops rows by.
func checkOrder(messages []lfMessage) error {
	if len(messages) == 0 || len(messages)%2 != 0 {
		return fmt.Errorf("/conversations: want an even number of messages, have %d", len(messages))
	}
	for i, m := range messages {
		odd := m.From == fromHuman || m.From == fromObservation
		even := m.From == fromCall || m.From == fromGPT
		if m.Value == nil || i%2 == 0 && !odd || i%2 == 1 && !even {
			return fmt.Errorf("/conversations/%d: want human or observation at odd places and function_call or gpt at even ones, have %q", i, m.From)
		}
	}
	return nil
}

// fold makes turns of messages.
func (r *row) fold(messages []lfMessage, plain bool) error {
	open := false // a function_call waits for its observation
	for i := 0; i < len(messages); i += 2 {
		ask, reply := messages[i], messages[i+1]
		path := fmt.Sprintf("/conversations/%d", i)
		if (ask.From == fromObservation) != open {
			return fmt.Errorf("%s: want an observation after a function_call and only there, have %q", path, ask.From)
		}
		if open {
			steps := r.turns[len(r.turns)-1].Steps
			if err := observe(&steps[len(steps)-1], *ask.Value); err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
		} else {
			r.turns = append(r.turns, qaoa.Turn{Query: *ask.Value})
		}
		turn := &r.turns[len(r.turns)-1]
		path = fmt.Sprintf("/conversations/%d", i+1)
		if open = reply.From == fromCall; open {
			calls, err := readCalls(*reply.Value)
			if err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
			turn.Steps = append(turn.Steps, qaoa.Step{Calls: calls})
			continue
		}
		answer, err := readAnswer(*reply.Value, plain)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		turn.Answer = answer
	}
	r.openEnd = open
	return nil
}

func observe(s *qaoa.Step, value string) error {
	switch {
	case value == "":
	case len(s.Calls) == 1:
		s.Observations = []string{value}
	default:
		if err := json.Unmarshal([]byte(value), &s.Observations); err != nil {
			return fmt.Errorf("want a JSON array of the observations of %d calls: %w", len(s.Calls), err)
		}
		if len(s.Observations) != len(s.Calls) {
			return fmt.Errorf("want %d observations, have %d", len(s.Calls), len(s.Observations))
		}
	}
	return nil
}

func readCalls(value string) ([]qaoa.Call, error) {
	for _, m := range marks {
		if strings.Contains(value, m) {
			return nil, fmt.Errorf("the trainer would cut a call at %q", m)
		}
	}
	var in []callText
	if strings.HasPrefix(value, "[") {
		if err := json.Unmarshal([]byte(value), &in); err != nil {
			return nil, fmt.Errorf("not JSON: %w", err)
		}
	} else {
		in = make([]callText, 1)
		if err := json.Unmarshal([]byte(value), &in[0]); err != nil {
			return nil, fmt.Errorf("not JSON: %w", err)
		}
	}
	calls := make([]qaoa.Call, len(in))
	for i, c := range in {
		var err error
		if calls[i], err = c.call(); err != nil {
			return nil, fmt.Errorf("call %d: %w", i, err)
		}
	}
	return calls, nil
}
