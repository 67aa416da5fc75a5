package qaoa

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-json/jsontext"
)

// MaxDepth is how many levels of nesting a JSON text may have.
const MaxDepth = 10_000

// A JSON is one JSON text in the form that this project writes: no blanks
// between tokens, strings as unescaped UTF-8 without HTML escapes, members in
// the order of the source (repeated ones included), numbers as the source
// wrote them (1.0 stays 1.0, and no integer passes through float64).
//
// The empty string is "absent". Make one with [Compact] or [Value.JSON]; a
// conversion from string is right only for text that is already in this form.
type JSON string

var formatOptions = []jsontext.Options{
	jsontext.AllowDuplicateNames(true),
	jsontext.AllowInvalidUTF8(true),
}

// Compact returns the JSON text in src in the project's form. Invalid UTF-8
// and lone surrogates become U+FFFD. Text that is not one JSON value, or nests
// deeper than [MaxDepth], is an error.
func Compact[Bytes ~[]byte | ~string](src Bytes) (JSON, error) {
	out, err := AppendCompact(make([]byte, 0, len(src)), src)
	if err != nil {
		return "", err
	}
	return JSON(view(out)), nil
}

// AppendCompact appends what [Compact] returns to dst.
func AppendCompact[Bytes ~[]byte | ~string](dst []byte, src Bytes) ([]byte, error) {
	if out, ok := compactFast(dst, textOf(src)); ok {
		return out, nil
	}
	out, err := jsontext.AppendFormat(dst, src, formatOptions...)
	if err != nil {
		return dst, syntaxError(err)
	}
	return out, nil
}

// textOf returns src as a string, without a copy where it can. It is only to be
// looked at while the caller holds src.
func textOf[Bytes ~[]byte | ~string](src Bytes) string {
	if b, ok := any(src).([]byte); ok {
		return view(b)
	}
	return string(src)
}

// syntaxError words an error of the JSON library in ours: offset, then fault.
func syntaxError(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return errors.New("not valid JSON: the text ends before the value does")
	}
	if se, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		return fmt.Errorf("not valid JSON at byte %d: %w", se.ByteOffset, se.Err)
	}
	return fmt.Errorf("not valid JSON: %w", err)
}

// Quote returns s as a JSON string in the project's form.
func Quote(s string) JSON { return JSON(AppendQuote(nil, s)) }

// AppendQuote appends s to dst as a JSON string: only the quote, the backslash
// and control characters are escaped. Invalid UTF-8 becomes U+FFFD.
func AppendQuote(dst []byte, s string) []byte {
	if !utf8.ValidString(s) {
		s = replaceInvalid(s)
	}
	return append(appendEscaped(append(dst, '"'), s), '"')
}

// appendEscaped appends the content of the JSON string that s, which is valid
// UTF-8, becomes.
func appendEscaped(dst []byte, s string) []byte {
	n := len(dst)
	// Behind n there is always room for the rest of s and the escapes of a word.
	const room = wordSize * maxEscape
	buf := slices.Grow(dst, len(s)+len(s)/8+room)
	buf = buf[:cap(buf)]
	i := 0
	for i+wordSize <= len(s) {
		if n+len(s)-i+room > len(buf) {
			buf = slices.Grow(buf[:n], len(s)-i+len(s)/2+room)
			buf = buf[:cap(buf)]
		}
		w := load(s[i:])
		m := specials(w)
		if m == 0 {
			k := wordSize + plainLen(s[i+wordSize:])
			copy(buf[n:], s[i:i+k])
			n += k
			i += k
			continue
		}
		// All of the word is written, then an escape over each character that
		// needs one, and what is behind that once more.
		binary.LittleEndian.PutUint64(buf[n:], w)
		done := 0
		for ; m != 0; m &= m - 1 {
			k := bits.TrailingZeros64(m) / 8
			n += k - done
			if c := s[i+k]; c >= ' ' {
				buf[n], buf[n+1] = '\\', c
				n += 2
			} else {
				n = len(appendControl(buf[:n], c))
			}
			done = k + 1
			binary.LittleEndian.PutUint64(buf[n:], w>>(8*done))
		}
		n += wordSize - done
		i += wordSize
	}
	dst = buf[:n]
	for ; i < len(s); i++ {
		if c := s[i]; plain(c) {
			dst = append(dst, c)
		} else {
			dst = appendEscape(dst, c)
		}
	}
	return dst
}

// wordSize is how many bytes are looked at together.
const wordSize = 8

// maxEscape is the length of the longest escape, \u001f.
const maxEscape = 6

// plain reports whether c stands for itself in a string.
func plain(c byte) bool { return c >= ' ' && c != '"' && c != '\\' }

// specials sets the high bit of exactly those bytes of w that are a quote, a
// backslash or a control character.
//
// Without its high bit a byte can be added to without a carry. The second bit
// turned over makes the quote one of the lowest 33, the xor with the backslash
// makes that zero, and the sums have a high bit unless the byte was below.
func specials(w uint64) uint64 {
	low := (w^ones*2)&^highs + ones*(0x80-'!')
	slash := (w^ones*'\\')&^highs + ones*0x7f
	return ^(low&slash | w) & highs
}

// appendEscape appends the escape of the character c, which is a quote, a
// backslash or below ' '.
func appendEscape(dst []byte, c byte) []byte {
	if c == '"' || c == '\\' {
		return append(dst, '\\', c)
	}
	return appendControl(dst, c)
}

// appendControl appends the escape of the control character c.
func appendControl(dst []byte, c byte) []byte {
	const hex = "0123456789abcdef"
	switch c {
	case '\n':
		return append(dst, '\\', 'n')
	case '\r':
		return append(dst, '\\', 'r')
	case '\t':
		return append(dst, '\\', 't')
	case '\b':
		return append(dst, '\\', 'b')
	case '\f':
		return append(dst, '\\', 'f')
	}
	return append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
}

// replaceInvalid returns s with U+FFFD for each byte that is no UTF-8.
func replaceInvalid(s string) string {
	var b strings.Builder
	for _, r := range s {
		b.WriteRune(r) // an invalid byte is read as U+FFFD
	}
	return b.String()
}

// Kind tells what j holds, by its first character; Invalid if j is absent.
func (j JSON) Kind() Kind {
	if j == "" {
		return Invalid
	}
	switch j[0] {
	case 'n':
		return Null
	case 't', 'f':
		return Bool
	case '"':
		return String
	case '[':
		return Array
	case '{':
		return Object
	}
	return Number
}

// Value returns j as a tree. A JSON that is absent is the zero Value.
func (j JSON) Value() (Value, error) {
	if j == "" {
		return Value{}, nil
	}
	return ParseValue(string(j))
}

// Text returns the content of j if it is a JSON string, else j itself: what a
// reader would see.
func (j JSON) Text() string {
	if j.Kind() != String {
		return string(j)
	}
	if out, err := jsontext.AppendUnquote(nil, string(j)); err == nil {
		return string(out)
	}
	return string(j)
}

// ParseValue returns the one JSON value in src as a tree, with members in
// order, repeated ones included, and numbers as text. Invalid UTF-8 and lone
// surrogates become U+FFFD.
func ParseValue[Bytes ~[]byte | ~string](src Bytes) (Value, error) {
	if v, ok := parseFast(string(src)); ok {
		return v, nil
	}
	return parseSlow([]byte(src))
}

// parseSlow is ParseValue by the JSON library alone.
func parseSlow(src []byte) (Value, error) {
	// A bytes.Buffer is read in place; any other reader would be copied into a
	// buffer that the decoder makes for itself.
	dec := jsontext.NewDecoder(bytes.NewBuffer(src), formatOptions...)
	v, err := readValue(dec)
	if err != nil {
		return Value{}, syntaxError(err)
	}
	if _, err := dec.ReadToken(); !errors.Is(err, io.EOF) {
		return Value{}, errors.New("not valid JSON: text after the value")
	}
	return v, nil
}

func readValue(dec *jsontext.Decoder) (Value, error) {
	tok, err := dec.ReadToken()
	if err != nil {
		return Value{}, err
	}
	switch tok.Kind() {
	case 'n':
		return Value{Kind: Null, Text: "null"}, nil
	case 't', 'f':
		return Value{Kind: Bool, Text: tok.String()}, nil
	case '"':
		return Value{Kind: String, Text: tok.String()}, nil
	case '0':
		return Value{Kind: Number, Text: tok.String()}, nil
	case '[':
		v := Value{Kind: Array}
		for dec.PeekKind() != ']' {
			item, err := readValue(dec)
			if err != nil {
				return Value{}, err
			}
			v.Items = append(v.Items, item)
		}
		_, err := dec.ReadToken()
		return v, err
	}
	v := Value{Kind: Object}
	for dec.PeekKind() != '}' {
		key, err := dec.ReadToken()
		if err != nil {
			return Value{}, err
		}
		name := key.String()
		val, err := readValue(dec)
		if err != nil {
			return Value{}, err
		}
		v.Members = append(v.Members, Member{Name: name, Value: val})
	}
	_, err = dec.ReadToken()
	return v, err
}
