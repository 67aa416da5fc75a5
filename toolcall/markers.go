package toolcall

import "strings"

// A marker opens a call in the chat format of some family of models. Servers
// take such special tokens out of the text, or leave them in.
type marker struct {
	open  string
	close string // "" if the call goes on up to the next one or the end
}

// markers are tried in this order; a text uses one of them.
var markers = []marker{
	{"[TOOL_CALLS]", ""},   // Mistral
	{"<|python_tag|>", ""}, // Llama
	{"<\uFF5Ctool\u2581call\u2581begin\uFF5C>", "<\uFF5Ctool\u2581call\u2581end\uFF5C>"}, // DeepSeek
	{"<|tool_call_begin|>", "<|tool_call_end|>"},                                         // Kimi
	{"<|tool_call_start|>", "<|tool_call_end|>"},                                         // LFM
	{"<|tool_call|>", "<|/tool_call|>"},                                                  // Phi, Granite
}

// What separates the name of a tool from its arguments after a marker.
const (
	deepseekSep  = "<\uFF5Ctool\u2581sep\uFF5C>"
	kimiSep      = "<|tool_call_argument_begin|>"
	mistralSep   = "[ARGS]"
	mistralID    = "[CALL_ID]"
	kimiPrefix   = "functions."
	pythonSuffix = ".call" // of built-in tools after <|python_tag|>
)

// frames stand around a list of calls and mean nothing.
var frames = strings.NewReplacer(
	"<\uFF5Ctool\u2581calls\u2581begin\uFF5C>", "", "<\uFF5Ctool\u2581calls\u2581end\uFF5C>", "",
	"<|tool_calls_section_begin|>", "", "<|tool_calls_section_end|>", "",
)

// stops are the tokens that end a message. A server that stops at one of them
// may leave it in the text.
var stops = []string{
	"<|im_end|>", "<|endoftext|>", "<|eot_id|>", "<|eom_id|>", "<|end_of_text|>", "<|end|>", "<|observation|>",
	"</s>", "<end_of_turn>", "<\uFF5Cend\u2581of\u2581sentence\uFF5C>",
}

// cutStops returns text without the stop tokens at its end.
func cutStops(text string) string {
	for {
		before := text
		trimmed := strings.TrimRight(text, " \t\r\n")
		for _, s := range stops {
			if rest, ok := strings.CutSuffix(trimmed, s); ok {
				text = rest
				break
			}
		}
		if text == before {
			return text
		}
	}
}

// marked is the rung of the markers.
func (p *parser) marked(text string) (rest string, found bool) {
	for _, m := range markers {
		if strings.Contains(text, m.open) {
			return frames.Replace(p.after(text, m)), true
		}
	}
	return text, false
}

// after adds the calls behind each place of a marker and returns what is left.
func (p *parser) after(text string, m marker) (rest string) {
	open := finder{text: text, tag: m.open}
	closing := finder{text: text, tag: m.close}
	var out strings.Builder
	for i := 0; i < len(text); {
		at := open.from(i)
		out.WriteString(text[i:at])
		if at == len(text) {
			break
		}
		body := at + len(m.open)
		end := open.from(body)
		next := end
		if m.close != "" {
			end, next = p.blockEnd(text, body, &open, &closing, m.close)
		}
		p.markedBlock(strings.TrimSpace(frames.Replace(text[body:end])), text[at:next])
		i = next
	}
	return out.String()
}

// markedBlock adds the calls in what a marker opens.
func (p *parser) markedBlock(body, whole string) {
	if p.full() {
		return
	}
	if name, args, ok := cutSeparator(body); ok {
		p.function(name, args, whole)
		return
	}
	if calls, ok := p.pythonCalls(body); ok && len(calls) > 0 {
		for i, c := range calls {
			if short, ok := strings.CutSuffix(c.Name, pythonSuffix); ok && !p.offered(c.Name) {
				calls[i].Name = short
			}
		}
		p.addAll(calls)
		return
	}
	p.block(body, whole)
}

// cutSeparator returns the name and the arguments in body around the separator
// of some family.
func cutSeparator(body string) (name, args string, ok bool) {
	if name, args, ok = strings.Cut(body, deepseekSep); ok {
		name, args = strings.TrimSpace(name), strings.TrimSpace(args)
		if !strings.HasPrefix(args, "{") { // the older form: kind, separator, name, fenced arguments
			name, args, _ = strings.Cut(args, "\n")
		}
		return strings.TrimSpace(name), unfence(strings.TrimSpace(args)), true
	}
	if name, args, ok = strings.Cut(body, kimiSep); ok {
		name = strings.TrimPrefix(strings.TrimSpace(name), kimiPrefix)
		if i := strings.LastIndexByte(name, ':'); i >= 0 { // its number
			name = name[:i]
		}
		return name, strings.TrimSpace(args), true
	}
	if name, args, ok = strings.Cut(body, mistralSep); ok {
		name, _, _ = strings.Cut(name, mistralID)
		return strings.TrimSpace(name), strings.TrimSpace(args), true
	}
	return "", "", false
}

// cutHead returns the name and the arguments of a call that is written as a
// name, perhaps a line break, and an object.
func cutHead(body string) (name, args string, ok bool) {
	i := strings.IndexByte(body, '{')
	if i <= 0 {
		return "", "", false
	}
	name = strings.TrimRight(body[:i], " \t\r\n")
	return name, body[i:], plainName(name)
}

// plainName reports whether s is a name that needs no quotes.
func plainName(s string) bool {
	for i := range len(s) {
		if !isNameByte(s[i]) || i == 0 && (s[i] >= '0' && s[i] <= '9' || s[i] == '-' || s[i] == '.') {
			return false
		}
	}
	return s != ""
}
