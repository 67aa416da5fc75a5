package toolhop

import (
	"errors"
	"strings"

	"assay/internal/pylit"
	"assay/qaoa"
)

// Bounds of the work on one source, which may be hostile.
const (
	maxNames = 8 // names of variables that are replaced in one call
	maxCalls = 8 // calls that are looked at
)

// mine returns the arguments of the first call that source makes of the
// function which it defines, outside of that function. Nothing is executed: the
// call is read as text, and its arguments must be literals, or names that got
// one before.
func mine(source string, sig pylit.Signature) (qaoa.JSON, bool) {
	var found qaoa.JSON
	literals := map[string]string{}
	defined, inside, tried := false, false, 0
	eachLine(source, sig.Name, func(l line) bool {
		if !l.indented {
			word, _, _ := strings.Cut(strings.TrimSpace(l.text), " ")
			inside = word == "def" || word == "async" || word == "class" || strings.HasPrefix(word, "@")
			defined = defined || inside
		}
		if inside || !defined {
			return true
		}
		for _, at := range l.calls {
			if tried++; tried > maxCalls {
				return false
			}
			if found = readCall(l.text[at:], sig, literals); found != "" {
				return false
			}
		}
		if name, value, ok := strings.Cut(l.text, "="); ok && !l.indented && len(l.calls) == 0 {
			literals[strings.TrimSpace(name)] = strings.TrimSpace(value)
		}
		return true
	})
	return found, found != ""
}

// readCall returns the arguments of the call that text begins with, "" if it
// cannot be read. A name where a literal is wanted is replaced by what it was
// assigned, once each so that the text cannot explode.
func readCall(text string, sig pylit.Signature, literals map[string]string) qaoa.JSON {
	used := map[string]bool{}
	for range maxNames {
		call, _, err := pylit.ParseCallPrefix(text)
		if err == nil {
			args, ok := sig.Bind(call)
			if !ok {
				return ""
			}
			return args.JSON()
		}
		at, ok := errors.AsType[*pylit.SyntaxError](err)
		if !ok {
			return ""
		}
		name := text[at.Offset : at.Offset+wordLen(text[at.Offset:])]
		value := literals[name]
		if value == "" || used[name] {
			return ""
		}
		used[name] = true
		text = text[:at.Offset] + value + text[at.Offset+len(name):]
	}
	return ""
}

// A line is a logical line of Python: it goes on inside of brackets and strings.
type line struct {
	text     string // without comments
	indented bool
	calls    []int // where the name that is looked for stands before a "("
}

// eachLine calls f with the logical lines of source that hold something, until
// f returns false. Of Python it knows comments, strings, brackets, and the
// backslash at the end of a line.
func eachLine(source, name string, f func(line) bool) {
	var b strings.Builder
	var l line
	depth := 0
	flush := func() bool {
		l.text, depth = b.String(), 0
		more := strings.TrimSpace(l.text) == "" || f(l)
		b.Reset()
		l = line{}
		return more
	}
	for i := 0; i < len(source); {
		c := source[i]
		n := 1
		switch {
		case c == '\n' && depth == 0:
			if !flush() {
				return
			}
			i++
			continue
		case c == '#':
			if n = strings.IndexByte(source[i:], '\n'); n < 0 {
				n = len(source) - i
			}
			i += n
			continue
		case c == '\\' && i+1 < len(source) && source[i+1] == '\n':
			i += 2
			b.WriteByte(' ')
			continue
		case c == '\'' || c == '"':
			n = stringLen(source[i:])
		case strings.IndexByte("([{", c) >= 0:
			depth++
		case strings.IndexByte(")]}", c) >= 0:
			depth = max(depth-1, 0)
		default:
			if n = wordLen(source[i:]); n == 0 {
				n = 1
				break
			}
			rest := strings.TrimLeft(source[i+n:min(len(source), i+n+8)], " \t")
			if source[i:i+n] == name && strings.HasPrefix(rest, "(") && !strings.HasSuffix(b.String(), ".") {
				l.calls = append(l.calls, b.Len())
			}
		}
		if b.Len() == 0 {
			l.indented = c == ' ' || c == '\t'
		}
		b.WriteString(source[i : i+n])
		i += n
	}
	flush()
}

// wordLen returns the length of the ASCII name or number that s begins with.
func wordLen(s string) int {
	n := 0
	for n < len(s) && (s[n] == '_' || 'a' <= s[n]|0x20 && s[n]|0x20 <= 'z' || '0' <= s[n] && s[n] <= '9') {
		n++
	}
	return n
}

// stringLen returns the length of the string literal that s begins with, up to
// the end of the line or text if it does not close.
func stringLen(s string) int {
	quote := s[:1]
	if long := strings.Repeat(quote, 3); strings.HasPrefix(s, long) {
		quote = long
	}
	for i := len(quote); i < len(s); i++ {
		switch {
		case s[i] == '\\':
			i++
		case strings.HasPrefix(s[i:], quote):
			return i + len(quote)
		case s[i] == '\n' && len(quote) == 1:
			return i
		}
	}
	return len(s)
}
