package jinja

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

type tokenKind uint8

const (
	tokEnd tokenKind = iota
	tokData
	tokOpenVar  // {{
	tokCloseVar // }}
	tokOpenTag  // {%
	tokCloseTag // %}
	tokName
	tokString
	tokInt
	tokFloat
	tokOp
)

type lexToken struct {
	kind tokenKind
	text string
	line int
}

// A lexer cuts a template into tokens: data, and what is between braces.
type lexer struct {
	src    string
	at     int
	line   int
	tokens []lexToken
	// fresh tells that what follows begins a line, in the sense of
	// lstrip_blocks.
	fresh bool
}

func fault(line int, format string, args ...any) *Error {
	return &Error{Line: line, Msg: fmt.Sprintf(format, args...)}
}

func lex(src string) (tokens []lexToken, err error) {
	src = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(src)
	src = strings.TrimSuffix(src, "\n")
	l := &lexer{src: src, line: 1, fresh: true}
	for l.at < len(l.src) {
		if err := l.data(); err != nil {
			return nil, err
		}
	}
	l.emit(tokEnd, "")
	return l.tokens, nil
}

func (l *lexer) emit(kind tokenKind, text string) {
	l.tokens = append(l.tokens, lexToken{kind, text, l.line})
}

// advance moves past n bytes and counts lines.
func (l *lexer) advance(n int) {
	l.line += strings.Count(l.src[l.at:l.at+n], "\n")
	l.at += n
}

// opening returns the place of the next {{, {% or {#, len(src) if there is none.
func (l *lexer) opening() int {
	for i := l.at; i < len(l.src); i++ {
		n := strings.IndexByte(l.src[i:], '{')
		if n < 0 || i+n+1 >= len(l.src) {
			break
		}
		i += n
		if c := l.src[i+1]; c == '{' || c == '%' || c == '#' {
			return i
		}
	}
	return len(l.src)
}

// data takes the data before the next opening, and what is in the braces.
func (l *lexer) data() error {
	open := l.opening()
	text := l.src[l.at:open]
	if open == len(l.src) {
		l.text(text)
		l.advance(len(text))
		return nil
	}
	kind, sign := l.src[open+1], byte(0)
	if open+2 < len(l.src) && (l.src[open+2] == '-' || l.src[open+2] == '+') {
		sign = l.src[open+2]
	}
	shown := text
	switch {
	case sign == '-':
		shown = strings.TrimRightFunc(text, unicode.IsSpace)
	case sign != '+' && kind != '{':
		shown = lstripLine(text, l.fresh)
	}
	l.text(shown)
	l.advance(len(text) + 2)
	if sign != 0 {
		l.advance(1)
	}
	switch kind {
	case '#':
		return l.comment()
	case '{':
		l.emit(tokOpenVar, "")
		return l.inside("}}", tokCloseVar)
	}
	if ok, err := l.raw(); ok || err != nil {
		return err
	}
	l.emit(tokOpenTag, "")
	return l.inside("%}", tokCloseTag)
}

func (l *lexer) text(s string) {
	if s != "" {
		l.emit(tokData, s)
	}
}

// lstripLine removes the blanks of the last line of text if it has nothing
// else and begins in text, or where fresh says that text begins a line.
func lstripLine(text string, fresh bool) string {
	start := strings.LastIndexByte(text, '\n') + 1
	if (start > 0 || fresh) && strings.TrimFunc(text[start:], unicode.IsSpace) == "" {
		return text[:start]
	}
	return text
}

// closed handles what the sign at the end of a tag does to the data behind it.
func (l *lexer) closed(sign byte, block bool) {
	l.fresh = false
	rest := l.src[l.at:]
	switch {
	case sign == '-':
		n := len(rest) - len(strings.TrimLeftFunc(rest, unicode.IsSpace))
		l.fresh = n > 0 && rest[n-1] == '\n'
		l.advance(n)
	case sign != '+' && block && strings.HasPrefix(rest, "\n"):
		l.fresh = true
		l.advance(1)
	}
}

func (l *lexer) comment() error {
	n := strings.Index(l.src[l.at:], "#}")
	if n < 0 {
		return fault(l.line, "a comment has no end: want #}")
	}
	sign := byte(0)
	if n > 0 && (l.src[l.at+n-1] == '-' || l.src[l.at+n-1] == '+') {
		sign = l.src[l.at+n-1]
	}
	l.advance(n + 2)
	l.closed(sign, true)
	return nil
}

// tagEnd cuts "SIGN%}" off s after blanks.
func tagEnd(s string) (sign byte, n int, ok bool) {
	rest := strings.TrimLeftFunc(s, unicode.IsSpace)
	n = len(s) - len(rest)
	if rest != "" && (rest[0] == '-' || rest[0] == '+') {
		sign, rest = rest[0], rest[1:]
		n++
	}
	return sign, n + 2, strings.HasPrefix(rest, "%}")
}

// raw takes {% raw %} … {% endraw %}, if that is what is next.
func (l *lexer) raw() (bool, error) {
	rest := l.src[l.at:]
	word := strings.TrimLeftFunc(rest, unicode.IsSpace)
	if !strings.HasPrefix(word, "raw") {
		return false, nil
	}
	sign, n, ok := tagEnd(word[len("raw"):])
	if !ok {
		return false, nil
	}
	l.advance(len(rest) - len(word) + len("raw") + n)
	l.closed(sign, false) // trim_blocks does not hold here
	fresh := l.fresh
	for i := l.at; ; {
		n := strings.Index(l.src[i:], "{%")
		if n < 0 {
			return true, fault(l.line, "raw has no end: want {%% endraw %%}")
		}
		i += n
		body, after, open := l.src[l.at:i], l.src[i+2:], byte(0)
		if after != "" && (after[0] == '-' || after[0] == '+') {
			open, after = after[0], after[1:]
		}
		word := strings.TrimLeftFunc(after, unicode.IsSpace)
		sign, n, ok := byte(0), 0, false
		if strings.HasPrefix(word, "endraw") {
			sign, n, ok = tagEnd(word[len("endraw"):])
		}
		if !ok {
			i += 2
			continue
		}
		end := len(l.src) - len(word) + len("endraw") + n
		switch open {
		case '-':
			body = strings.TrimRightFunc(body, unicode.IsSpace)
		case 0:
			body = lstripLine(body, fresh)
		}
		l.text(body)
		l.advance(end - l.at)
		l.closed(sign, true)
		return true, nil
	}
}

// operators, the longer ones first.
var operators = []string{"**", "//", "==", "!=", "<=", ">=", "+", "-", "*", "/", "%", "~", "<", ">", "=", "(", ")", "[", "]", "{", "}", ",", ":", ".", "|"}

// inside takes the tokens up to the closing braces.
func (l *lexer) inside(closing string, kind tokenKind) error {
	depth := 0
	for {
		l.advance(len(l.src[l.at:]) - len(strings.TrimLeftFunc(l.src[l.at:], unicode.IsSpace)))
		rest := l.src[l.at:]
		if rest == "" {
			return fault(l.line, "a tag has no end: want %s", closing)
		}
		if depth == 0 {
			sign := byte(0)
			tail := rest
			if rest[0] == '-' || rest[0] == '+' {
				sign, tail = rest[0], rest[1:]
			}
			if strings.HasPrefix(tail, closing) && (sign != '+' || kind == tokCloseTag) {
				l.emit(kind, "")
				l.advance(len(rest) - len(tail) + len(closing))
				l.closed(sign, kind == tokCloseTag)
				return nil
			}
		}
		if err := l.one(rest, &depth); err != nil {
			return err
		}
	}
}

// one takes one token.
func (l *lexer) one(rest string, depth *int) error {
	r, _ := utf8.DecodeRuneInString(rest)
	switch {
	case rest[0] == '"' || rest[0] == '\'':
		text, n, ok := unquote(rest)
		if !ok {
			return fault(l.line, "a string has no end")
		}
		l.emit(tokString, text)
		l.advance(n)
		return nil
	case '0' <= rest[0] && rest[0] <= '9':
		n, float := numberLen(rest)
		k := tokInt
		if float {
			k = tokFloat
		}
		l.emit(k, strings.ReplaceAll(rest[:n], "_", ""))
		l.advance(n)
		return nil
	case r == '_' || unicode.IsLetter(r):
		n := strings.IndexFunc(rest, func(r rune) bool {
			return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
		})
		if n < 0 {
			n = len(rest)
		}
		l.emit(tokName, rest[:n])
		l.advance(n)
		return nil
	}
	for _, op := range operators {
		if strings.HasPrefix(rest, op) {
			switch op {
			case "(", "[", "{":
				*depth++
			case ")", "]", "}":
				*depth--
			}
			l.emit(tokOp, op)
			l.advance(len(op))
			return nil
		}
	}
	return fault(l.line, "unexpected character %q", r)
}

func numberLen(s string) (n int, float bool) {
	digits := func(i int) int {
		for i < len(s) && ('0' <= s[i] && s[i] <= '9' || s[i] == '_') {
			i++
		}
		return i
	}
	n = digits(0)
	if n+1 < len(s) && s[n] == '.' && '0' <= s[n+1] && s[n+1] <= '9' {
		n, float = digits(n+1), true
	}
	if n < len(s) && (s[n] == 'e' || s[n] == 'E') {
		i := n + 1
		if i < len(s) && (s[i] == '+' || s[i] == '-') {
			i++
		}
		if end := digits(i); end > i {
			n, float = end, true
		}
	}
	return n, float
}

// unquote reads the Python string that s begins with.
func unquote(s string) (text string, n int, ok bool) {
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch c := s[i]; c {
		case s[0]:
			return b.String(), i + 1, true
		case '\\':
			i++
			if i == len(s) {
				return "", 0, false
			}
			i += escape(&b, s[i:]) - 1
		default:
			b.WriteByte(c)
		}
	}
	return "", 0, false
}

var simpleEscapes = map[byte]string{
	'n': "\n", 't': "\t", 'r': "\r", '\\': "\\", '\'': "'", '"': "\"",
	'a': "\a", 'b': "\b", 'f': "\f", 'v': "\v", '0': "\x00", '\n': "",
}

// escape writes the character that the escape s (without its backslash) stands
// for and returns how many bytes of s it took.
func escape(b *strings.Builder, s string) int {
	if text, ok := simpleEscapes[s[0]]; ok {
		b.WriteString(text)
		return 1
	}
	if size := map[byte]int{'x': 2, 'u': 4, 'U': 8}[s[0]]; size > 0 && len(s) > size {
		var r rune
		if n, err := fmt.Sscanf(s[1:1+size], "%x", &r); err == nil && n == 1 && utf8.ValidRune(r) {
			b.WriteRune(r)
			return 1 + size
		}
	}
	b.WriteByte('\\') // as Python does with what is no escape
	_, w := utf8.DecodeRuneInString(s)
	b.WriteString(s[:w])
	return w
}
