package toolcall

import "strings"

const (
	thinkOpen     = "<think>"
	thinkClose    = "</think>"
	answerOpen    = "<answer>"
	answerClose   = "</answer>"
	tagOpen       = "<tool_call>"
	tagClose      = "</tool_call>"
	functionOpen  = "<function="
	functionClose = "</function>"
	invokeOpen    = "<invoke name="
	invokeClose   = "</invoke>"
	fence         = "```"
)

// cutThoughts returns text without its thoughts, and the thoughts.
func (p *parser) cutThoughts(text string) (outside, thought string) {
	if !strings.Contains(text, thinkOpen) && !strings.Contains(text, thinkClose) {
		return text, ""
	}
	var out, in []string
	start := 0 // of the piece outside that is not in out yet
	for i := 0; i < len(text); {
		lt := strings.IndexByte(text[i:], '<')
		if lt < 0 {
			break
		}
		i += lt
		rest := text[i:]
		switch {
		case strings.HasPrefix(rest, thinkOpen):
			out = append(out, text[start:i])
			i += len(thinkOpen)
			end := strings.Index(text[i:], thinkClose)
			if end < 0 {
				in = append(in, text[i:])
				return strings.Join(out, ""), strings.Join(in, "\n")
			}
			in = append(in, text[i:i+end])
			i += end + len(thinkClose)
			start = i
		case strings.HasPrefix(rest, thinkClose):
			in = append(append(in, out...), text[start:i])
			out = out[:0]
			i += len(thinkClose)
			start = i
		case strings.HasPrefix(rest, tagOpen):
			i = p.skipValue(text, i+len(tagOpen))
		case strings.HasPrefix(rest, functionOpen):
			i += len(functionOpen)
			if name, ok := cutName(text[i:]); ok {
				i = p.skipValue(text, i+len(name)+1)
			}
		default:
			i++
		}
	}
	return strings.Join(append(out, text[start:]), ""), strings.Join(in, "\n")
}

// skipValue returns the end of the JSON value that begins at i after blanks,
// or i if there is none.
func (p *parser) skipValue(text string, i int) int {
	j := skipBlanks(text, i)
	if end, ok := p.valueEnd(text, j); ok {
		return end
	}
	return i
}

// skipBlanks returns the first place from i on that is no white space.
func skipBlanks(text string, i int) int {
	for i < len(text) && isBlank(text[i]) {
		i++
	}
	return i
}

func isBlank(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }

// valueEnd returns the end of the object or array that begins at i, told by
// brackets and quotes alone. Both kinds of quotes count, for the sake of Python
// literals: outside of its strings JSON has neither.
func (p *parser) valueEnd(text string, i int) (int, bool) {
	if i >= len(text) || text[i] != '{' && text[i] != '[' {
		return 0, false
	}
	if p.fuel <= 0 {
		return 0, false
	}
	depth := 0
	for j := i; j < len(text); j++ {
		switch text[j] {
		case '{', '[', '(':
			depth++
		case '}', ']', ')':
			if depth--; depth == 0 {
				p.spend(j + 1 - i)
				return j + 1, true
			}
		case '"', '\'':
			j = stringEnd(text, j)
		}
	}
	p.spend(len(text) - i)
	return 0, false
}

// stringEnd returns the place of the quote that ends the string which begins at
// i, or the end of text.
func stringEnd(text string, i int) int {
	for j := i + 1; j < len(text); j++ {
		switch text[j] {
		case '\\':
			j++
		case text[i]:
			return j
		}
	}
	return len(text)
}

// cutName returns what stands before the > of a tag in s. A name has no line
// break and at most 256 bytes.
func cutName(s string) (name string, ok bool) {
	const longest = 256
	end := strings.IndexAny(s[:min(len(s), longest+1)], ">\n")
	if end < 0 || s[end] != '>' {
		return "", false
	}
	return s[:end], true
}

// A finder answers where a tag comes next. It remembers, so that asking from
// every place of a text takes linear time.
type finder struct {
	text, tag string
	next      int // of the tag from the last place asked; len(text) if none
	asked     bool
}

// from returns the first place of the tag from i on, or the length of the text.
// Successive i must not decrease.
func (f *finder) from(i int) int {
	if f.asked && f.next >= i {
		return f.next
	}
	f.asked = true
	f.next = len(f.text)
	if at := strings.Index(f.text[i:], f.tag); at >= 0 {
		f.next = i + at
	}
	return f.next
}

// cutPartial returns s without the beginning of tag that it ends in, if that is
// at least as many bytes.
func cutPartial(s, tag string, least int) string {
	for n := len(tag) - 1; n >= least; n-- {
		if rest, ok := strings.CutSuffix(s, tag[:n]); ok {
			return rest
		}
	}
	return s
}
