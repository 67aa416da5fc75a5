package train

import (
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/goccy/go-json"
	"github.com/zeebo/xxh3"

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

type lfTool struct {
	Name        *string         `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
}

type lfCall struct {
	Name      *string         `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

// parseRow reads one line back by the rules of the trainer, which are stricter
// than what renderRow needs: what it takes, the trainer takes. It shares no
// code with renderRow.
func parseRow(line []byte) (row, error) {
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
	var tools []lfTool
	if err := json.Unmarshal([]byte(*in.Tools), &tools); err != nil {
		return row{}, fmt.Errorf("/tools: not JSON: %w", err)
	}
	for i, t := range tools {
		if t.Name == nil {
			return row{}, fmt.Errorf("/tools/%d: want a name", i)
		}
		params, err := qaoa.Compact(t.Parameters)
		if err != nil {
			return row{}, fmt.Errorf("/tools/%d/parameters: %w", i, err)
		}
		r.tools = append(r.tools, qaoa.Tool{Name: *t.Name, Description: t.Description, Parameters: params})
	}
	return r, r.fold(in.Conversations)
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
func (r *row) fold(messages []lfMessage) error {
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
		answer, ok := strings.CutPrefix(*reply.Value, openAnswer)
		if ok {
			answer, ok = strings.CutSuffix(answer, closeAnswer)
		}
		if !ok {
			return fmt.Errorf("%s: want an answer in its tags, have %.40q", path, *reply.Value)
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
	var in []lfCall
	if strings.HasPrefix(value, "[") {
		if err := json.Unmarshal([]byte(value), &in); err != nil {
			return nil, fmt.Errorf("not JSON: %w", err)
		}
	} else {
		in = make([]lfCall, 1)
		if err := json.Unmarshal([]byte(value), &in[0]); err != nil {
			return nil, fmt.Errorf("not JSON: %w", err)
		}
	}
	calls := make([]qaoa.Call, len(in))
	for i, c := range in {
		args, err := qaoa.Compact(c.Arguments)
		if err != nil || c.Name == nil || args.Kind() != qaoa.Object {
			return nil, fmt.Errorf("call %d: want a name and an object of arguments, have %.40q", i, c.Arguments)
		}
		calls[i] = qaoa.Call{Name: *c.Name, Arguments: args}
	}
	return calls, nil
}

// diff returns where b first differs from a, as a path and a note; "" if it
// does not.
func diff(a, b row) string {
	switch {
	case a.id != b.id:
		return fmt.Sprintf("/id: wrote %.40q, read %.40q", a.id, b.id)
	case a.system != b.system:
		return "/system: read another text than was written"
	case a.openEnd != b.openEnd:
		return "/conversations: read another end than was written"
	case len(a.tools) != len(b.tools):
		return fmt.Sprintf("/tools: wrote %d, read %d", len(a.tools), len(b.tools))
	case len(a.turns) != len(b.turns):
		return fmt.Sprintf("/turns: wrote %d, read %d", len(a.turns), len(b.turns))
	}
	for i, t := range a.tools {
		if t != b.tools[i] {
			return fmt.Sprintf("/tools/%d: wrote %.80q, read %.80q", i, qaoa.AppendTool(nil, t), qaoa.AppendTool(nil, b.tools[i]))
		}
	}
	for i := range a.turns {
		x, y := qaoa.AppendTurns(nil, a.turns[i:i+1]), qaoa.AppendTurns(nil, b.turns[i:i+1])
		if string(x) != string(y) {
			at := 0
			for at < min(len(x), len(y)) && x[at] == y[at] {
				at++
			}
			return fmt.Sprintf("/turns/%d: wrote %.80q, read %.80q", i, x[at:], y[at:])
		}
	}
	return ""
}

// digest returns a 128-bit hash of everything in r.
func (r row) digest() [16]byte {
	var h xxh3.Hasher
	var n [8]byte
	text := func(s string) {
		binary.LittleEndian.PutUint64(n[:], uint64(len(s)))
		_, _ = h.Write(n[:]) // never fails
		_, _ = h.WriteString(s)
	}
	text(r.id)
	text(r.system)
	text(fmt.Sprint(r.openEnd))
	text(string(qaoa.AppendTools(nil, r.tools)))
	text(string(qaoa.AppendTurns(nil, r.turns)))
	return h.Sum128().Bytes()
}
