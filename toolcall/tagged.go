package toolcall

import (
	"strings"

	"assay/internal/pylit"
	"assay/qaoa"
)

// tags is the rung of <tool_call> blocks.
func (p *parser) tags(text string) (rest string, found bool) {
	if !strings.Contains(text, tagOpen) {
		return text, false
	}
	open := finder{text: text, tag: tagOpen}
	closing := finder{text: text, tag: tagClose}
	var out strings.Builder
	for i := 0; i < len(text); {
		at := open.from(i)
		out.WriteString(text[i:at])
		if at == len(text) {
			break
		}
		body := at + len(tagOpen)
		end, next := p.blockEnd(text, body, &open, &closing, tagClose)
		p.block(text[body:end], text[at:next])
		i = next
	}
	return out.String(), true
}

// blockEnd returns where the content ends that begins at body, and where the
// text goes on. The end tag is looked for after the JSON value, if there is
// one, so that a value may hold the text of a tag. A block without an end tag
// ends before the next start tag, or with the text.
func (p *parser) blockEnd(text string, body int, open, closing *finder, closeTag string) (end, next int) {
	if e, ok := p.valueEnd(text, skipBlanks(text, body)); ok {
		after := skipBlanks(text, e)
		switch {
		case strings.HasPrefix(text[after:], closeTag):
			return e, after + len(closeTag)
		case after == len(text), strings.HasPrefix(text[after:], open.tag):
			return e, after
		}
	}
	o, c := open.from(body), closing.from(body)
	if c < o {
		return c, c + len(closeTag)
	}
	if o == len(text) { // the text may end in the middle of the end tag
		return body + len(cutPartial(text[body:], closeTag, len("</"))), o
	}
	return o, o
}

// block adds the calls in the content of a <tool_call> block.
func (p *parser) block(content, whole string) {
	if p.full() {
		return
	}
	body := unfence(strings.TrimSpace(content))
	if body == "" {
		p.fail(whole)
		return
	}
	if vals, repairs, ok := p.values(body); ok {
		if calls, ok := callsOf(vals, true, p.opt); ok {
			p.repaired(repairs)
			for _, c := range calls {
				p.add(c)
			}
			return
		}
		p.fail(body)
		return
	}
	if strings.HasPrefix(body, functionOpen) || strings.HasPrefix(body, invokeOpen) {
		if _, found := p.functions(body); found {
			return
		}
	}
	if c, ok := p.keyed(body); ok {
		p.add(c)
		return
	}
	if name, args, ok := cutHead(body); ok {
		p.function(name, args, body)
		return
	}
	if calls, ok := p.pythonCalls(body); ok && len(calls) > 0 {
		for _, c := range calls {
			p.add(c)
		}
		return
	}
	p.fail(body)
}

// unfence returns the content of s if s is one fenced block.
func unfence(s string) string {
	inner, ok := strings.CutPrefix(s, fence)
	if !ok {
		return s
	}
	if _, after, ok := strings.Cut(inner, "\n"); ok {
		inner = after
	}
	return strings.TrimSpace(strings.TrimSuffix(inner, fence))
}

// functions is the rung of <function=name> blocks, or of <invoke name="name">
// blocks if there are none.
func (p *parser) functions(text string) (rest string, found bool) {
	if rest, found := p.named(text, functionOpen, functionClose); found {
		return rest, true
	}
	return p.named(text, invokeOpen, invokeClose)
}

// named adds the calls of blocks that have the name in their start tag.
func (p *parser) named(text, openTag, closeTag string) (rest string, found bool) {
	if !strings.Contains(text, openTag) {
		return text, false
	}
	open := finder{text: text, tag: openTag}
	closing := finder{text: text, tag: closeTag}
	var out strings.Builder
	for i := 0; i < len(text); {
		at := open.from(i)
		out.WriteString(text[i:at])
		if at == len(text) {
			break
		}
		body := at + len(openTag)
		name, ok := cutName(text[body:])
		if !ok && (body == len(text) || isBlank(text[body])) {
			out.WriteString(openTag)
			i = body
			continue
		}
		found = true
		if name = strings.Trim(name, " \t\"'"); !ok || strings.ContainsAny(name, "<{}[]()\"") {
			// No end of the tag, or one that belongs to something else.
			_, next := p.blockEnd(text, body, &open, &closing, closeTag)
			p.fail(text[at:next])
			i = next
			continue
		}
		body += strings.IndexByte(text[body:], '>') + 1
		end, next := p.blockEnd(text, body, &open, &closing, closeTag)
		p.function(name, strings.TrimSpace(text[body:end]), text[at:next])
		i = next
	}
	return out.String(), found
}

// function adds the call of name with the arguments in body.
func (p *parser) function(name, body, whole string) {
	if p.full() {
		return
	}
	if body == "" && name != "" {
		p.add(qaoa.Call{Name: name})
		return
	}
	if name != "" && strings.HasPrefix(body, parameterOpen) {
		if args, ok := p.parameters(name, body); ok {
			p.add(qaoa.Call{Name: name, Arguments: qaoa.ObjectValue(args...).JSON()})
			return
		}
	}
	vals, repairs, ok := p.values(body)
	if !ok || name == "" || len(vals) != 1 {
		p.fail(whole)
		return
	}
	args := decodeArguments(vals[0], p.opt)
	if args.Kind != qaoa.Object {
		p.fail(whole)
		return
	}
	p.repaired(repairs)
	p.add(qaoa.Call{Name: name, Arguments: args.JSON()})
}

// values returns the JSON values in text, which are one, or several objects or
// arrays with blanks, commas or semicolons between them, after repairs if need
// be.
func (p *parser) values(text string) (vals []qaoa.Value, repairs []string, ok bool) {
	if text == "" || text[0] != '{' && text[0] != '[' && text[0] != '"' {
		return nil, nil, false
	}
	if v, err := qaoa.ParseValue(text); err == nil {
		return []qaoa.Value{v}, nil, true
	}
	if vals, ok := p.sequence(text); ok {
		return vals, nil, true
	}
	if p.opt.Strict {
		return nil, nil, false
	}
	if v, repairs, ok := repair(text); ok {
		return []qaoa.Value{v}, repairs, true
	}
	return nil, nil, false
}

// sequence returns the objects and arrays that text consists of.
func (p *parser) sequence(text string) (vals []qaoa.Value, ok bool) {
	for i := 0; i < len(text); {
		end, ok := p.valueEnd(text, i)
		if !ok {
			return nil, false
		}
		v, err := qaoa.ParseValue(text[i:end])
		if err != nil {
			return nil, false
		}
		vals = append(vals, v)
		for i = end; i < len(text) && (isBlank(text[i]) || text[i] == ',' || text[i] == ';'); i++ {
		}
	}
	return vals, true
}

// pythonCalls returns the Python calls that text consists of. A call with
// positional arguments that no schema names comes back with Raw set.
func (p *parser) pythonCalls(text string) ([]qaoa.Call, bool) {
	parsed, err := pylit.ParseCalls(text)
	if err != nil {
		if parsed, err = p.oddCalls(text); err != nil {
			return nil, false
		}
	}
	calls := make([]qaoa.Call, len(parsed))
	for i, c := range parsed {
		members, ok := nameArguments(c, p.opt.Tools)
		if !ok {
			calls[i] = qaoa.Call{Raw: text}
			continue
		}
		calls[i] = qaoa.Call{Name: c.Name, Arguments: qaoa.ObjectValue(members...).JSON()}
	}
	return calls, true
}

// nameArguments returns the arguments of c with the names that the first tool
// called c.Name gives to positional ones, in the order of its properties.
func nameArguments(c pylit.Call, tools []qaoa.Tool) ([]qaoa.Member, bool) {
	if len(c.Positional) == 0 {
		return c.Keywords, true
	}
	for _, t := range tools {
		if t.Name != c.Name {
			continue
		}
		schema, err := t.Parameters.Value()
		if err != nil {
			return nil, false
		}
		props, _ := schema.Get("properties")
		if len(c.Positional) > len(props.Members) {
			return nil, false
		}
		members := make([]qaoa.Member, 0, len(c.Positional)+len(c.Keywords))
		for i, v := range c.Positional {
			name := props.Members[i].Name
			for _, k := range c.Keywords {
				if k.Name == name {
					return nil, false // given twice
				}
			}
			members = append(members, qaoa.Member{Name: name, Value: v})
		}
		return append(members, c.Keywords...), true
	}
	return nil, false
}
