package convert

import (
	"slices"
	"strconv"
	"strings"

	"assay/internal/pylit"
	"assay/qaoa"
)

// A Rung is the way in which a text with structure in it was read. Corpora mix
// JSON with what Python prints, so [Decode] tries one way after another.
type Rung uint8

// The rungs of the ladder, in the order in which they are tried.
const (
	RungJSON     Rung = iota // the text is JSON
	RungNested               // JSON strings, up to three deep, around JSON
	RungPython               // a Python literal: single quotes, None, tuples, sets, bare type names
	RungRepaired             // one with stray apostrophes or line breaks in its strings
	RungRaw                  // none of these: the text stands for itself
)

// String returns the name of r in meta and reports.
func (r Rung) String() string {
	return [...]string{"json", "nested", "python", "repaired", "raw"}[r]
}

// maxNested is how many JSON strings may be wrapped around each other.
const maxNested = 3

// Decode returns the value that text holds, and how it was read. Blanks around
// it do not matter. With [RungRaw] the value is the text as a string.
//
// A JSON string is unwrapped if there is an object or array in it. In a
// Python literal a set is an array, and a bare word or type (str, List[int],
// <class 'str'>) inside of a container is a string. In the repair a quote ends
// a string only if what follows can follow a string.
func Decode(text string) (qaoa.Value, Rung) {
	trimmed := strings.TrimSpace(text)
	if v, err := qaoa.ParseValue(trimmed); err == nil {
		return unwrap(v)
	}
	if v, err := pylit.Parse(trimmed); err == nil {
		return v, RungPython
	}
	for _, rung := range []Rung{RungPython, RungRepaired} {
		p := tolerant{s: trimmed, repair: rung == RungRepaired}
		if v, ok := p.container(0); ok {
			if p.blanks(); p.i == len(p.s) {
				return v, rung
			}
		}
	}
	return qaoa.StringValue(text), RungRaw
}

// unwrap takes JSON strings off an object or array.
func unwrap(v qaoa.Value) (qaoa.Value, Rung) {
	inner := v
	for n := 0; n < maxNested && inner.Kind == qaoa.String; n++ {
		next, rung := qaoa.Value{}, RungNested
		if parsed, err := qaoa.ParseValue(strings.TrimSpace(inner.Text)); err == nil {
			next = parsed
		} else if parsed, err := pylit.Parse(inner.Text); err == nil {
			next, rung = parsed, RungPython
		}
		if next.Kind == qaoa.Object || next.Kind == qaoa.Array {
			return next, rung
		}
		inner = next
	}
	return v, RungJSON
}

// DecodeValue is [Decode] for a value that may hold its structure as a text.
// What is no string is returned as it is.
func DecodeValue(v qaoa.Value) (qaoa.Value, Rung) {
	if v.Kind != qaoa.String {
		return v, RungJSON
	}
	return Decode(v.Text)
}

// A tolerant reads Python containers as careless programs print them. Its
// methods return false where it cannot go on.
type tolerant struct {
	s      string
	i      int
	repair bool
}

func (p *tolerant) blanks() {
	for p.i < len(p.s) && strings.IndexByte(" \t\r\n", p.s[p.i]) >= 0 {
		p.i++
	}
}

// peek skips blanks and returns the byte that follows, 0 at the end.
func (p *tolerant) peek() byte {
	p.blanks()
	if p.i < len(p.s) {
		return p.s[p.i]
	}
	return 0
}

// closers maps an opening bracket to its partner.
var closers = map[byte]byte{'[': ']', '(': ')', '{': '}'}

// container reads a list, tuple, dict or set inside of depth others.
func (p *tolerant) container(depth int) (qaoa.Value, bool) {
	open := p.peek()
	end, ok := closers[open]
	if !ok || depth >= pylit.MaxDepth {
		return qaoa.Value{}, false
	}
	p.i++
	arr, obj := qaoa.ArrayValue(), qaoa.ObjectValue()
	for comma := true; ; {
		c := p.peek()
		if c == end {
			p.i++
			if open == '{' && len(arr.Items) == 0 {
				return obj, true
			}
			return arr, true
		}
		if !comma {
			return arr, false
		}
		item, ok := p.value(depth+1, open == '{')
		if !ok {
			return arr, false
		}
		if open == '{' && p.peek() == ':' {
			p.i++
			val, ok := p.value(depth+1, false)
			if !ok || item.Kind != qaoa.String || len(arr.Items) > 0 {
				return arr, false
			}
			obj.Members = append(obj.Members, qaoa.Member{Name: item.Text, Value: val})
		} else {
			if len(obj.Members) > 0 {
				return arr, false
			}
			arr.Items = append(arr.Items, item)
		}
		if comma = p.peek() == ','; comma {
			p.i++
		}
	}
}

// value reads a value; key says that a colon may follow it.
func (p *tolerant) value(depth int, key bool) (qaoa.Value, bool) {
	switch c := p.peek(); c {
	case '[', '(', '{':
		return p.container(depth)
	case '\'', '"':
		return p.str(c, key)
	}
	return p.word()
}

// word reads a number, a constant, or the name of a type.
func (p *tolerant) word() (qaoa.Value, bool) {
	start, open := p.i, 0
	for p.i < len(p.s) {
		c := p.s[p.i]
		switch {
		case c == '[' || c == '<':
			open++
		case open > 0 && (c == ']' || c == '>'):
			open--
		case open == 0 && strings.IndexByte(",:]})({'\" \t\r\n", c) >= 0, c == '\n':
			open = -1
		}
		if open < 0 {
			break
		}
		p.i++
	}
	text := p.s[start:p.i]
	if v, err := pylit.Parse(text); err == nil && v.Kind != qaoa.Array {
		return v, true
	}
	// A word that begins like a number is a number gone wrong.
	ok := open <= 0 && text != "" && (text[0] == '_' || text[0] == '<' || text[0]|0x20 >= 'a' && text[0]|0x20 <= 'z')
	return qaoa.StringValue(text), ok
}

// str reads a string in quotes of the kind quote.
func (p *tolerant) str(quote byte, key bool) (qaoa.Value, bool) {
	// The content is written as a strict literal, which is then read.
	lit := []byte{quote}
	for p.i++; p.i < len(p.s); p.i++ {
		switch c := p.s[p.i]; {
		case c == '\\' && p.i+1 < len(p.s) && p.s[p.i+1] != '\n' && p.s[p.i+1] != '\r':
			lit = append(lit, c, p.s[p.i+1])
			p.i++
		case c == quote && (!p.repair || p.closes(key)):
			p.i++
			v, err := pylit.Parse(string(append(lit, quote)))
			return v, err == nil
		case c == quote, p.repair && c == '\\':
			lit = append(lit, '\\', c)
		case p.repair && c == '\n':
			lit = append(lit, `\n`...)
		case p.repair && c == '\r':
			lit = append(lit, `\r`...)
		default:
			lit = append(lit, c)
		}
	}
	return qaoa.Value{}, false
}

// closes reports whether the quote at the cursor can end a string: a bracket, a
// colon behind a key, or a comma with a further item behind it follows.
func (p *tolerant) closes(key bool) bool {
	q := tolerant{s: p.s, i: p.i + 1}
	switch q.peek() {
	case ']', ')', '}':
		return true
	case ':':
		return key
	case ',':
		q.i++
		c := q.peek()
		return c != 0 && strings.IndexByte(`'"[({]})-0123456789TFN`, c) >= 0
	}
	return false
}

// Notes count what had to be put up with when an element was read. They end in
// the member "decoded" of a record's meta, and in the summary of a run. The zero
// value is empty.
type Notes struct {
	rungs  [RungRaw + 1]int
	counts []note
}

type note struct {
	name string
	n    int
}

// Rung counts that a text was read by r. The first rung is what is expected,
// and not counted.
func (n *Notes) Rung(r Rung) { n.rungs[r]++ }

// Add counts times of the irregularity with that name.
func (n *Notes) Add(name string, times int) {
	if times == 0 {
		return
	}
	for i := range n.counts {
		if n.counts[i].name == name {
			n.counts[i].n += times
			return
		}
	}
	n.counts = append(n.counts, note{name, times})
}

// append adds the object of counts to dst; nothing if all is as expected.
//
//	{"rungs":{"python":1},"unbalanced_tags":2}
func (n *Notes) append(dst []byte) []byte {
	start := len(dst)
	add := func(name string, count int) {
		if last := dst[len(dst)-1]; last != '{' {
			dst = append(dst, ',')
		}
		dst = qaoa.AppendQuote(dst, name)
		dst = strconv.AppendInt(append(dst, ':'), int64(count), 10)
	}
	dst = append(dst, `{"rungs":{`...)
	empty := len(dst)
	for r := RungNested; r <= RungRaw; r++ {
		if n.rungs[r] > 0 {
			add(r.String(), n.rungs[r])
		}
	}
	if len(dst) == empty {
		if len(n.counts) == 0 {
			return dst[:start]
		}
		dst = append(dst[:start], '{')
	} else {
		dst = append(dst, '}')
	}
	slices.SortFunc(n.counts, func(a, b note) int { return strings.Compare(a.name, b.name) })
	for _, c := range n.counts {
		add(c.name, c.n)
	}
	return append(dst, '}')
}

// DecodeNotes returns the counts of [Notes] in the meta of a record, by name; a
// rung is "rung_" and its name. It is nil if there are none.
func DecodeNotes(meta qaoa.JSON) map[string]int {
	if !strings.Contains(string(meta), `"decoded":{`) {
		return nil
	}
	v, err := meta.Value()
	if err != nil {
		return nil
	}
	decoded, _ := v.Get("decoded")
	var out map[string]int
	collect := func(prefix string, members []qaoa.Member) {
		for _, m := range members {
			if count, err := strconv.Atoi(m.Value.Text); err == nil && m.Value.Kind == qaoa.Number {
				if out == nil {
					out = map[string]int{}
				}
				out[prefix+m.Name] += count
			}
		}
	}
	rungs, _ := decoded.Get("rungs")
	collect("rung_", rungs.Members)
	collect("", decoded.Members)
	return out
}

// Meta returns the meta of a record: extra, and the counts of n under "decoded"
// if there are any. It is absent if there is nothing to say.
func (n *Notes) Meta(extra ...qaoa.Member) qaoa.JSON {
	c := Chat{Notes: *n}
	return c.meta(extra)
}
