package convert

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"assay/qaoa"
)

// maxCached bounds the bytes of text that a ToolCache holds on either side.
const maxCached = 1 << 20

// A ToolCache reads lists of tools. It remembers what [NormalizeTool] made of a
// text that is unusual, which takes long: few tools stand in many records of a
// corpus. It changes nothing but the time. The zero value is empty; it may be
// used by several goroutines at once.
type ToolCache struct {
	// Unmarked says that a parameter of a flat map is required unless it is
	// marked as optional: see [NormalizeUnmarked]. It must be set before the
	// first use.
	Unmarked bool

	mu         sync.RWMutex
	young, old map[string]qaoa.Tool // by raw text
	size       int                  // of the texts in young
	readers    sync.Pool            // of *toolReader
}

// A toolReader is what reading a list needs and the next list can use again.
type toolReader struct {
	plainReader
	text []byte // that the list was quoted in
	odd  []oddTool
}

// An oddTool is a tool that is not plain, and its place in the list.
type oddTool struct {
	at   int
	tool qaoa.Tool
}

// maxKept bounds the bytes of a buffer that is kept to be used again.
const maxKept = 1 << 20

func (c *ToolCache) reader() *toolReader {
	if r, ok := c.readers.Get().(*toolReader); ok {
		return r
	}
	return &toolReader{plainReader: plainReader{flat: c.Unmarked}}
}

// release gives a reader back. It holds nothing of a list then.
func (c *ToolCache) release(r *toolReader) {
	r.c = qaoa.Cursor{}
	clear(r.odd)
	r.odd, r.tools = r.odd[:0], r.tools[:0]
	if cap(r.text)+cap(r.out) <= maxKept {
		c.readers.Put(r)
	}
}

// Tools returns the tools of the JSON array in text, in order, or the tools of
// another form: a text that holds an array (see [Decode]), one tool. A rung is
// counted in notes. What is no tool is parse_error.
func (c *ToolCache) Tools(text, path string, notes *Notes) ([]qaoa.Tool, *Reject) {
	r := c.reader()
	defer c.release(r)
	if utf8.ValidString(text) {
		r.c = qaoa.CursorOf(text)
		if tools, ok := c.list(r); ok {
			return tools, nil
		}
	}
	return c.decoded(text, path, notes)
}

// PlainTools returns the tools of the JSON array in text, which must be valid
// UTF-8, in order, and whether it is one. They hold nothing of text. What is no
// list of tools here may be one for [ToolCache.Tools].
func (c *ToolCache) PlainTools(text []byte) ([]qaoa.Tool, bool) {
	r := c.reader()
	defer c.release(r)
	r.c = qaoa.CursorOf(text)
	return c.list(r)
}

// decoded returns the tools of a text that is no array of tools.
func (c *ToolCache) decoded(text, path string, notes *Notes) ([]qaoa.Tool, *Reject) {
	v, rung := Decode(text)
	if rung == RungRaw && strings.TrimSpace(text) == "" {
		return nil, nil
	}
	notes.Rung(rung)
	return readTools(v, path, c.normalize)
}

// list returns the tools of the JSON array at the cursor of r, which is all of
// its text, and whether it is one. The tools hold nothing of the text.
func (c *ToolCache) list(r *toolReader) ([]qaoa.Tool, bool) {
	r.out = r.out[:0]
	for r.c.Open('['); r.c.More(']'); {
		mark, from := r.c.Mark(), len(r.out)
		place := r.tool(0)
		if !r.c.OK() {
			r.out = r.out[:from]
			r.c.Reset(mark)
			raw := r.c.Raw()
			if !r.c.OK() {
				return nil, false
			}
			tool, err := c.tool(raw)
			if err != nil {
				return nil, false
			}
			place = plainPlace{}
			r.odd = append(r.odd, oddTool{len(r.tools), tool})
		}
		r.tools = append(r.tools, place)
	}
	if !r.c.Done() {
		return nil, false
	}
	if len(r.tools) == 0 {
		return nil, true
	}
	text := string(r.out)
	tools := make([]qaoa.Tool, len(r.tools))
	for i, place := range r.tools {
		tools[i] = place.tool(text)
	}
	for _, odd := range r.odd {
		tools[odd.at] = odd.tool
	}
	return tools, true
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
	v, err := qaoa.ParseValue(raw)
	if err != nil {
		return qaoa.Tool{}, err
	}
	if t, err = c.normalize(v); err != nil {
		return qaoa.Tool{}, err
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
	// The text that is in the string lives in a buffer that is used again.
	r := c.reader()
	defer c.release(r)
	text, ok := qaoa.AppendUnquoted(r.text[:0], raw)
	r.text = text
	if ok {
		r.c = qaoa.CursorOf(text)
		if tools, ok := c.list(r); ok {
			return tools, nil
		}
	}
	return c.decoded(RawText(raw), path, notes)
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
