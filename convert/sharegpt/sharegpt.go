package sharegpt

import (
	"context"
	"strconv"
	"strings"

	"assay/convert"
	"assay/qaoa"
)

// Source is the source "sharegpt".
var Source = convert.Source{
	Name:    "sharegpt",
	Kind:    convert.Train,
	Home:    "https://github.com/EIT-NLP/UniToolCall",
	Licence: "that of the data",
	About:   "conversations in the ShareGPT layout: the paper's release, LLaMA-Factory's style, interchange form",
	Files: []convert.File{
		{Glob: "dataset_info.json", Role: convert.Side, Note: "LLaMA-Factory's index of data sets, not read"},
		{Glob: "*.json", Role: convert.Records, Note: "a JSON array of conversations"},
		{Glob: "*.jsonl", Role: convert.Records, Note: "conversations, one a line"},
		{Glob: "*.parquet", Role: convert.Records, Note: "conversations, one a row"},
	},
	Open: open,
}

// A converter holds the options of one conversion, and the tools it has seen.
type converter struct {
	terms convert.Terms
	cache convert.ToolCache
}

func open(_ context.Context, in convert.Input) (convert.Func, error) {
	terms, err := convert.TermsOf(in.Options)
	if err != nil {
		return nil, err
	}
	c := &converter{terms: terms}
	return c.convert, nil
}

// convert is the Func of this source.
func (c *converter) convert(el convert.Element) ([]qaoa.Record, []*convert.Reject) {
	var r row
	if !r.read(string(el.Data)) {
		// What a string cannot hold is mended, and the element tried again.
		text, err := qaoa.Compact(el.Data)
		if err != nil || !r.read(string(text)) {
			return nil, []*convert.Reject{convert.Rejectf(convert.ParseError, "", "want an object with conversations, have %.60q", el.Data)}
		}
	}
	rec, rej := c.record(r)
	if rej != nil {
		rej.ID = rec.ID
		return nil, []*convert.Reject{rej}
	}
	return []qaoa.Record{rec}, nil
}

// A row is the members of an element that are used, as raw JSON.
type row struct {
	messages, key             string // and the name of the member
	tools, system, id, labels string
}

// read reports whether text is an object, and takes its members.
func (r *row) read(text string) bool {
	*r = row{}
	return qaoa.EachMember(text, func(name, value string) bool {
		switch name {
		case "conversations":
			r.messages, r.key = value, name
		case "messages", "conversation":
			if r.key != "conversations" {
				r.messages, r.key = value, name
			}
		case "tools":
			r.tools = value
		case "system":
			r.system = value
		case "id":
			r.id = value
		case "properties":
			r.labels = value
		}
		return true
	})
}

// record converts one element.
func (c *converter) record(r row) (rec qaoa.Record, rej *convert.Reject) {
	p := readLabels(r.labels)
	if rec.ID = p.id; rec.ID == "" && r.id != "null" {
		rec.ID = convert.RawText(r.id)
	}
	if r.messages == "" {
		return rec, convert.Rejectf(convert.ParseError, "", `want a member "conversations", have none`)
	}
	path := "/" + r.key
	var chat convert.Chat
	if strings.HasPrefix(r.system, `"`) {
		chat.System(convert.RawText(r.system))
	}
	if rej := addMessages(&chat, r.messages, path); rej != nil {
		return rec, rej
	}
	if r.tools != "" && r.tools != "null" {
		if rec.Tools, rej = c.cache.Tools(convert.RawText(r.tools), "/tools", &chat.Notes); rej != nil {
			return rec, rej
		}
	}
	if rej := chat.Finish(&rec, path); rej != nil {
		return rec, rej
	}
	if !p.fit(rec.Turns) {
		chat.Notes.Add("step_sizes_not_used", 1)
		p.steps = nil
		if rej := chat.Finish(&rec, path); rej != nil { // with this note
			return rec, rej
		}
	}
	for n, sizes := range p.steps {
		regroup(&rec.Turns[n-1], sizes)
	}
	rec.Meta = joinMeta(p.meta, rec.Meta)
	return rec, c.terms.Check(rec)
}

// addMessages adds the messages of a list, or of a text that holds one.
func addMessages(chat *convert.Chat, raw, path string) (rej *convert.Reject) {
	n := 0
	array := qaoa.EachItem(raw, func(item string) bool {
		rej = addMessage(chat, item, path, n)
		n++
		return rej == nil
	})
	if array || rej != nil {
		return rej
	}
	v, err := qaoa.ParseValue(raw)
	if err != nil {
		return convert.Rejectf(convert.ParseError, path, "want a list of messages, have %.60s", raw)
	}
	return chat.AddAll(v, path)
}

// addMessage adds message n. Those that are as the layout says are read without
// a tree, and all others by the shared code.
func addMessage(chat *convert.Chat, item, path string, n int) *convert.Reject {
	var from, value string
	plain := true
	object := qaoa.EachMember(item, func(name, v string) bool {
		switch name {
		case "from":
			from = v
		case "value":
			value, plain = qaoa.Unquote(v)
		case "weight", "loss": // of training, not of the conversation
		default:
			plain = false
		}
		return plain
	})
	at := func(member string) string { return path + "/" + strconv.Itoa(n) + member }
	if object && plain {
		switch from {
		case `"human"`:
			chat.User(value)
			return nil
		case `"gpt"`:
			if strings.TrimSpace(value) == placeholder {
				return nil
			}
			return chat.AssistantText(value, at("/value"))
		case `"observation"`:
			chat.Observe("", "", value)
			return nil
		case `"function_call"`:
			if call, ok := plainCall(value); ok {
				return chat.Call(call, "", at(""))
			}
		}
	}
	v, err := qaoa.ParseValue(item)
	if err != nil {
		return convert.Rejectf(convert.ParseError, at(""), "want a message as an object, have %.60s", item)
	}
	return chat.Add(v, at(""))
}

// placeholder is what the paper's training step makes of every answer.
const placeholder = "<answer></answer>"

// plainCall reads a call in the form that the layout asks for.
func plainCall(text string) (call qaoa.Call, ok bool) {
	sound := true
	object := qaoa.EachMember(text, func(name, value string) bool {
		switch name {
		case "name":
			call.Name, sound = qaoa.Unquote(value)
		case "arguments":
			var err error
			call.Arguments, err = qaoa.Compact(value)
			sound = err == nil && call.Arguments.Kind() == qaoa.Object
		default:
			sound = false
		}
		return sound
	})
	return call, object && sound && strings.TrimSpace(call.Name) != "" && call.Arguments != ""
}

// labels is what is used of properties.
type labels struct {
	id    string
	steps map[int][]int // by 1-based turn
	meta  []qaoa.Member
}

// readLabels reads properties. What is of the wrong kind is not used: it
// belongs to others.
func readLabels(raw string) labels {
	var p labels
	var source qaoa.Value
	qaoa.EachMember(raw, func(name, value string) bool {
		switch name {
		case "id":
			if value != "null" {
				p.id = convert.RawText(value)
			}
		case "source":
			if v, err := qaoa.ParseValue(value); err == nil && v.Kind == qaoa.Object {
				source = v
			}
		case "meta":
			if v, err := qaoa.ParseValue(value); err == nil && v.Kind == qaoa.Object {
				p.meta = v.Members
			}
		default:
			n, ok := stepsKey(name)
			if !ok {
				return true
			}
			if sizes := readSizes(value); sizes != nil {
				if p.steps == nil {
					p.steps = map[int][]int{}
				}
				p.steps[n] = sizes
			}
		}
		return true
	})
	if source.Kind == qaoa.Object && !hasMember(p.meta, "source") {
		p.meta = append(p.meta, qaoa.Member{Name: "source", Value: source})
	}
	return p
}

// stepsKey returns the N of turn_N_steps.
func stepsKey(name string) (n int, ok bool) {
	digits, ok := strings.CutPrefix(name, "turn_")
	if !ok {
		return 0, false
	}
	if digits, ok = strings.CutSuffix(digits, "_steps"); !ok {
		return 0, false
	}
	n, err := strconv.Atoi(digits)
	return n, err == nil && n > 0
}

func hasMember(members []qaoa.Member, name string) bool {
	for _, m := range members {
		if m.Name == name {
			return true
		}
	}
	return false
}

// readSizes returns the numbers of a list, nil if it is none.
func readSizes(raw string) []int {
	sizes := []int{}
	sound := qaoa.EachItem(raw, func(item string) bool {
		n, err := strconv.Atoi(item)
		if err != nil || n < 1 {
			sizes = nil
			return false
		}
		sizes = append(sizes, n)
		return true
	})
	if !sound {
		return nil
	}
	return sizes
}

// fit reports whether the sizes add up to the calls of each turn.
func (p labels) fit(turns []qaoa.Turn) bool {
	for n, sizes := range p.steps {
		if n > len(turns) {
			return false
		}
		left := len(turns[n-1].Calls())
		for _, size := range sizes {
			if size > left { // before a sum of hostile numbers overflows
				return false
			}
			left -= size
		}
		if left > 0 {
			return false
		}
	}
	return true
}

// joinMeta puts members before those of meta. Of those with the same name the
// ones of meta stay.
func joinMeta(members []qaoa.Member, meta qaoa.JSON) qaoa.JSON {
	if len(members) == 0 {
		return meta
	}
	have, err := meta.Value()
	if err != nil {
		return meta
	}
	out := qaoa.ObjectValue()
	for _, m := range members {
		if !hasMember(have.Members, m.Name) {
			out.Members = append(out.Members, m)
		}
	}
	out.Members = append(out.Members, have.Members...)
	return out.JSON()
}

// regroup puts the calls of t into steps of the given sizes.
func regroup(t *qaoa.Turn, sizes []int) {
	calls := t.Calls()
	obs := make([]string, 0, len(calls))
	for _, s := range t.Steps {
		for i := range s.Calls {
			obs = append(obs, s.Observation(i))
		}
	}
	t.Steps = t.Steps[:0]
	for _, n := range sizes {
		s := qaoa.Step{Calls: calls[:n:n]}
		if strings.Join(obs[:n], "") != "" {
			s.Observations = obs[:n:n]
		}
		t.Steps = append(t.Steps, s)
		calls, obs = calls[n:], obs[n:]
	}
}
