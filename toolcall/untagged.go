package toolcall

import (
	"iter"
	"strings"

	"assay/qaoa"
)

// fences is the rung of JSON in fenced blocks.
func (p *parser) fences(text string) (rest string, found bool) {
	var out strings.Builder
	done := 0
	for at, block := range p.fenced(text) {
		if p.attempt(strings.TrimSpace(block.content)) {
			found = true
			out.WriteString(text[done:at])
			done = block.end
		}
	}
	out.WriteString(text[done:])
	return out.String(), found
}

// attempt adds the calls that text is, or a failed attempt if it only looks
// like a call. It reports whether it is either.
func (p *parser) attempt(text string) bool {
	if text == "" || text[0] != '{' && text[0] != '[' || p.full() || !p.looksLikeCall(text) {
		return false
	}
	vals, repairs, ok := p.values(text)
	if ok {
		calls, ok := callsOf(vals, false, p.opt)
		if !ok || len(calls) == 0 {
			return false
		}
		p.repaired(repairs)
		for _, c := range calls {
			p.add(c)
		}
		return true
	}
	p.fail(text)
	return true
}

// looksLikeCall reports whether text names a key of a call's name and a key of
// its arguments, in either kind of quotes.
func (p *parser) looksLikeCall(text string) bool {
	if !p.spend(len(text)) {
		return false
	}
	return holdsKey(text, nameKeys) && holdsKey(text, argumentKeys)
}

func holdsKey(text string, keys []string) bool {
	for _, k := range keys {
		if strings.Contains(text, `"`+k+`"`) || strings.Contains(text, `'`+k+`'`) || strings.Contains(text, `\"`+k+`\"`) {
			return true
		}
	}
	return false
}

// A fencedBlock is the content of a fenced block, and where the text goes on.
type fencedBlock struct {
	content string
	end     int
}

// fenced yields the place and the content of each fenced block of text that is
// not inside of an <answer>. The last one need not be closed. A block that
// begins with a JSON value ends after it, so that the value may hold a fence.
func (p *parser) fenced(text string) iter.Seq2[int, fencedBlock] {
	return func(yield func(int, fencedBlock) bool) {
		stop := answerStart(text)
		for i := 0; ; {
			at := strings.Index(text[i:], fence)
			if at < 0 || i+at > stop {
				return
			}
			at += i
			body := at + len(fence)
			// The info string, as in ```json; in ```{"name"… there is none.
			for body < len(text) && isInfoByte(text[body]) {
				body++
			}
			from := body
			if e, ok := p.valueEnd(text, skipBlanks(text, body)); ok && strings.HasPrefix(text[skipBlanks(text, e):], fence) {
				from = e
			}
			end, next := len(text), len(text)
			if c := strings.Index(text[from:], fence); c >= 0 {
				end, next = from+c, from+c+len(fence)
			}
			if !yield(at, fencedBlock{text[body:end], next}) {
				return
			}
			i = next
		}
	}
}

func isInfoByte(c byte) bool { return c == '_' || c == '-' || c|0x20 >= 'a' && c|0x20 <= 'z' }

// answerStart returns where the content of the first <answer> begins, or the
// length of text. What follows is the model's answer, JSON included.
func answerStart(text string) int {
	if at := strings.Index(text, answerOpen); at >= 0 {
		return at
	}
	return len(text)
}

// bare is the rung of JSON anywhere before an <answer>.
func (p *parser) bare(text string) (rest string, found bool) {
	stop := answerStart(text)
	region := text[:stop]
	if name, args, ok := cutHead(strings.TrimSpace(region)); ok && p.offered(name) {
		p.function(name, args, strings.TrimSpace(region))
		return text[stop:], true
	}
	var out strings.Builder
	done := 0
	for i := 0; i < len(region); {
		at := strings.IndexAny(region[i:], "{[")
		if at < 0 || p.fuel <= 0 {
			break
		}
		i += at
		end, closed := p.valueEnd(region, i)
		if !closed {
			end = len(region)
		}
		span := region[i:end]
		switch {
		case closed && p.isPythonList(span):
			i = end // the next rung reads it, with what looks like JSON inside
		case p.attempt(span):
			found = true
			out.WriteString(text[done:i])
			i, done = end, end
		case closed && isJSON(span):
			i = end // an answer with JSON in it
		default:
			i++
		}
	}
	out.WriteString(text[done:])
	return out.String(), found
}

func isJSON(s string) bool {
	_, err := qaoa.Compact(s)
	return err == nil
}

// isPythonList reports whether s begins like [f(.
func (p *parser) isPythonList(s string) bool {
	if s == "" || s[0] != '[' {
		return false
	}
	i := skipBlanks(s, 1)
	if p.oddName(s[i:]) >= 0 {
		return true
	}
	start := i
	for i < len(s) && isNameByte(s[i]) {
		i++
	}
	return i > start && skipBlanks(s, i) < len(s) && s[skipBlanks(s, i)] == '('
}

func isNameByte(c byte) bool {
	return c == '_' || c == '.' || c == '-' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || c >= 0x80
}

// python is the rung of Python calls: the whole text, the content of fences, or
// lists at the start of a line.
func (p *parser) python(text string) (rest string, found bool) {
	region := strings.TrimSpace(text[:answerStart(text)])
	if calls, ok := p.pythonCalls(region); ok && p.meant(region, calls) {
		p.addAll(calls)
		return text[answerStart(text):], true
	}
	// The whole text is one call of a tool on offer, with something in it that
	// is no literal.
	if strings.HasSuffix(region, ")") && !strings.HasPrefix(region, "[") && p.attemptsTool(region) {
		p.fail(region)
		return text[answerStart(text):], true
	}
	var out strings.Builder
	done := 0
	for at, block := range p.fenced(text) {
		content := strings.TrimSpace(block.content)
		if calls, ok := p.pythonCalls(content); ok && p.meant(content, calls) {
			p.addAll(calls)
			found = true
			out.WriteString(text[done:at])
			done = block.end
		} else if p.attemptsTool(content) {
			p.fail(content)
			found = true
			out.WriteString(text[done:at])
			done = block.end
		}
	}
	if found {
		out.WriteString(text[done:])
		return out.String(), true
	}
	return p.pythonLines(text)
}

// pythonLines reads the lists of calls that begin a line.
func (p *parser) pythonLines(text string) (rest string, found bool) {
	stop := answerStart(text)
	var out strings.Builder
	done := 0
	for i := 0; i < stop && p.fuel > 0; {
		i = skipBlanks(text, i)
		if i < stop && p.isPythonList(text[i:stop]) {
			end, closed := p.valueEnd(text[:stop], i)
			if !closed {
				end = stop
			}
			p.spend(end - i)
			calls, ok := p.pythonCalls(text[i:end])
			switch {
			case ok && len(calls) > 0:
				p.addAll(calls)
			case p.attemptsTool(text[i:end]):
				p.fail(text[i:end])
			default:
				end = -1
			}
			if end > 0 {
				found = true
				out.WriteString(text[done:i])
				i, done = end, end
				continue
			}
		}
		nl := strings.IndexByte(text[i:], '\n')
		if nl < 0 {
			break
		}
		i += nl + 1
	}
	out.WriteString(text[done:])
	return out.String(), found
}

// meant reports whether calls, which text consists of, are meant as calls:
// without brackets, as in "Oslo(5)", only if each is on offer.
func (p *parser) meant(text string, calls []qaoa.Call) bool {
	if len(calls) == 0 {
		return false
	}
	if strings.HasPrefix(text, "[") {
		return true
	}
	for _, c := range calls {
		if c.Raw == "" && !p.offered(c.Name) || c.Raw != "" && !p.attemptsTool(c.Raw) {
			return false
		}
	}
	return true
}

// attemptsTool reports whether text begins, perhaps after a bracket, with the
// name of a tool on offer and a parenthesis.
func (p *parser) attemptsTool(text string) bool {
	text = strings.TrimLeft(text, "[ \t\r\n")
	for i := range p.opt.Tools {
		if rest, ok := strings.CutPrefix(text, p.opt.Tools[i].Name); ok && strings.HasPrefix(rest, "(") {
			return true
		}
	}
	return false
}

func (p *parser) offered(name string) bool {
	for _, t := range p.opt.Tools {
		if t.Name == name {
			return true
		}
	}
	return false
}

func (p *parser) addAll(calls []qaoa.Call) {
	for _, c := range calls {
		p.add(c)
	}
}
