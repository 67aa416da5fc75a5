package convert

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"unsafe"

	"assay/qaoa"
)

// maxCached bounds the bytes of text that a ToolCache holds on either side.
const maxCached = 1 << 20

// A ToolCache reads lists of tools, and remembers what [NormalizeTool] made of
// a text: few tools stand in many records of a corpus. It changes nothing but
// the time. The zero value is empty; it may be used by several goroutines at
// once.
type ToolCache struct {
	// Unmarked says that a parameter of a flat map is required unless it is
	// marked as optional: see [NormalizeUnmarked]. It must be set before the
	// first use.
	Unmarked bool

	mu         sync.RWMutex
	young, old map[string]qaoa.Tool // by raw text
	size       int                  // of the texts in young
	scratch    sync.Pool            // of *[]byte
}

// Tools returns the tools of the JSON array in text, in order, or the tools of
// another form: a text that holds an array (see [Decode]), one tool. A rung is
// counted in notes. What is no tool is parse_error.
func (c *ToolCache) Tools(text, path string, notes *Notes) ([]qaoa.Tool, *Reject) {
	if tools, ok := c.list(text); ok {
		return tools, nil
	}
	v, rung := Decode(text)
	if rung == RungRaw && strings.TrimSpace(text) == "" {
		return nil, nil
	}
	notes.Rung(rung)
	return readTools(v, path, c.normalize)
}

// list returns the tools of the JSON array in text, and whether it is one. The
// tools hold nothing of text.
func (c *ToolCache) list(text string) ([]qaoa.Tool, bool) {
	var tools []qaoa.Tool
	sound := true
	array := qaoa.EachItem(text, func(item string) bool {
		t, err := c.tool(item)
		if sound = err == nil; !sound {
			return false
		}
		if tools == nil {
			tools = make([]qaoa.Tool, 0, 8)
		}
		tools = append(tools, t)
		return true
	})
	return tools, array && sound
}

func (c *ToolCache) normalize(v qaoa.Value) (qaoa.Tool, error) {
	if c.Unmarked {
		return NormalizeUnmarked(v)
	}
	return NormalizeTool(v)
}

// tool returns the tool of a raw text, normalised.
func (c *ToolCache) tool(raw string) (qaoa.Tool, error) {
	c.mu.RLock()
	t, ok := c.young[raw]
	if !ok {
		t, ok = c.old[raw]
	}
	c.mu.RUnlock()
	if ok {
		return t, nil
	}
	// A copy, since what is made of it must not keep the element alive.
	raw = strings.Clone(raw)
	if t, ok = plainTool(raw, c.Unmarked); !ok {
		v, err := qaoa.ParseValue(raw)
		if err != nil {
			return qaoa.Tool{}, err
		}
		if t, err = c.normalize(v); err != nil {
			return qaoa.Tool{}, err
		}
	}
	if len(raw) > maxCached/16 {
		return t, nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.young == nil || c.size+len(raw) > maxCached {
		// Half of what is remembered goes: what was not asked for since.
		clear(c.old)
		c.young, c.old, c.size = c.old, c.young, 0
		if c.young == nil {
			c.young = map[string]qaoa.Tool{}
		}
	}
	if _, have := c.young[raw]; !have {
		c.young[raw] = t
		c.size += len(raw)
	}
	return t, nil
}

// RawTools is [ToolCache.Tools] for the raw JSON of a field: a string that holds
// the list, or the list itself.
func (c *ToolCache) RawTools(raw, path string, notes *Notes) ([]qaoa.Tool, *Reject) {
	if !strings.HasPrefix(raw, `"`) {
		return c.Tools(raw, path, notes)
	}
	// Tools that are remembered need none of the text, so it lives in a buffer
	// that is used again; everything else gets a copy of its own.
	buf, _ := c.scratch.Get().(*[]byte)
	if buf == nil {
		buf = new([]byte)
	}
	defer c.scratch.Put(buf)
	text, ok := qaoa.AppendUnquoted((*buf)[:0], raw)
	if !ok {
		return c.Tools(RawText(raw), path, notes)
	}
	*buf = text
	if tools, ok := c.list(unsafe.String(unsafe.SliceData(text), len(text))); ok {
		return tools, nil
	}
	return c.Tools(string(text), path, notes)
}

// ReadTools returns the tools of a list, of an object that is one tool, or of
// nothing. What is no tool is parse_error.
func ReadTools(v qaoa.Value, path string) ([]qaoa.Tool, *Reject) {
	return readTools(v, path, NormalizeTool)
}

func readTools(v qaoa.Value, path string, normalize func(qaoa.Value) (qaoa.Tool, error)) ([]qaoa.Tool, *Reject) {
	switch v.Kind {
	case qaoa.Invalid, qaoa.Null:
		return nil, nil
	case qaoa.Object:
		t, err := normalize(v)
		if err != nil {
			return nil, Rejectf(ParseError, path, "%v", err)
		}
		return []qaoa.Tool{t}, nil
	case qaoa.Array:
		tools := make([]qaoa.Tool, len(v.Items))
		for i, item := range v.Items {
			var err error
			if tools[i], err = normalize(item); err != nil {
				return nil, Rejectf(ParseError, fmt.Sprintf("%s/%d", path, i), "%v", err)
			}
		}
		return tools, nil
	}
	return nil, Rejectf(ParseError, path, "want a list of tools, have %s", describe(v))
}

// ToolsInText returns the tools that stand in prose: objects, or lists of them,
// each at the beginning of a line. What begins like one and is none is
// parse_error; a text without any has no tools.
func ToolsInText(text, path string, notes *Notes) ([]qaoa.Tool, *Reject) {
	var tools []qaoa.Tool
	for text != "" {
		text = strings.TrimLeft(text, " \t\r\n")
		line, rest, _ := strings.Cut(text, "\n")
		if !strings.HasPrefix(text, "{") && !strings.HasPrefix(text, "[{") {
			text = rest
			continue
		}
		if n := valueLen(text); n > 0 {
			line, rest = text[:n], text[n:]
		}
		v, rung := Decode(line)
		if rung == RungRaw {
			return nil, Rejectf(ParseError, path, "want a tool, have %.80q", line)
		}
		notes.Rung(rung)
		more, rej := ReadTools(v, path)
		if rej != nil {
			return nil, rej
		}
		tools = append(tools, more...)
		text = rest
	}
	return tools, nil
}

// NormalizeUnmarked is [NormalizeTool] for corpora where a parameter of a flat
// map is required unless it is marked as optional, also if none is.
func NormalizeUnmarked(v qaoa.Value) (qaoa.Tool, error) {
	tool := unwrapString(v)
	if f, ok := tool.Get("function"); ok && unwrapString(f).Kind == qaoa.Object {
		tool = unwrapString(f)
	}
	params, _ := tool.Get("parameters")
	params = unwrapString(params)
	if params.Kind != qaoa.Object || isSchema(params) {
		return NormalizeTool(v)
	}
	flat := fromFlat(params)
	props, _ := flat.Get("properties")
	// With one more parameter that is not marked, the list is empty only if no
	// parameter is optional.
	probe := qaoa.ObjectValue(append(slices.Clone(props.Members), qaoa.Member{Value: qaoa.ObjectValue()})...)
	probe = qaoa.ObjectValue(qaoa.Member{Name: "properties", Value: probe})
	if _, listed := flat.Get("required"); listed || impliedRequired(probe) != nil {
		return NormalizeTool(tool)
	}
	var all []qaoa.Value
	for _, p := range props.Members {
		all = append(all, qaoa.StringValue(p.Name))
	}
	tool.Members = append(slices.Clone(tool.Members), qaoa.Member{Name: "required", Value: qaoa.ArrayValue(all...)})
	return NormalizeTool(tool)
}

// CheckLanguage returns a reject, non_english, if a text of rec breaks the
// language rule: a query, an answer, an observation, the arguments of a call,
// or a tool. A rule of nil breaks nothing.
func CheckLanguage(rec qaoa.Record, breaks func(text string) bool) *Reject {
	if breaks == nil {
		return nil
	}
	bad := func(path, text string) *Reject {
		if !breaks(text) {
			return nil
		}
		return Rejectf(NonEnglish, path, "the text breaks the language rule: %.60q", text)
	}
	for i, t := range rec.Turns {
		path := fmt.Sprintf("/turns/%d", i)
		if rej := bad(path+"/query", t.Query); rej != nil {
			return rej
		}
		if rej := bad(path+"/answer", t.Answer); rej != nil {
			return rej
		}
		for j, s := range t.Steps {
			for k, call := range s.Calls {
				at := fmt.Sprintf("%s/steps/%d/calls/%d", path, j, k)
				if rej := bad(at, call.Name+string(call.Arguments)); rej != nil {
					return rej
				}
				if rej := bad(fmt.Sprintf("%s/steps/%d/observations/%d", path, j, k), s.Observation(k)); rej != nil {
					return rej
				}
			}
		}
	}
	for i, t := range rec.Tools {
		if rej := bad(fmt.Sprintf("/tools/%d", i), t.Name+" "+t.Description+" "+string(t.Parameters)); rej != nil {
			return rej
		}
	}
	return nil
}
