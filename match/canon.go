package match

import (
	"cmp"
	"iter"
	"slices"
	"strconv"
	"strings"

	"assay/internal/pylit"
	"assay/qaoa"
)

const (
	// maxLiteralDepth is how many levels of nesting an array or object that is
	// read out of a string may have, the outermost one included.
	maxLiteralDepth = 200
	// maxLiteralLevels is how often a string may hold a literal that holds such
	// a string again. Escapes can be written so that this costs a few bytes a
	// level, and then the work would grow faster than the text.
	maxLiteralLevels = 200
)

// A Kind is what a canonical value is.
type Kind uint8

// The kinds of canonical values.
const (
	Null Kind = iota
	Bool
	Number
	Date
	Text
	Array
	Object
)

// String returns the name of k in messages.
func (k Kind) String() string {
	return [...]string{"null", "bool", "number", "date", "text", "array", "object"}[k]
}

// A Canon is a JSON value in canonical form: two values are equal if and only
// if their forms are ([Canon.Equal]). Make one with [Canonical].
type Canon struct {
	Kind Kind
	// Text is the canonical text of a scalar: null, true or false; the exact
	// decimal value, such as -0.5; 2023-04-01, 2023-04-01T10:00:00 for a wall
	// time or 2023-04-01T09:00:00Z for an instant; text without blanks.
	Text    string
	Items   []Canon  // of an Array
	Members []Member // of an Object, by Key, then by Raw

	source  qaoa.Kind // what the value was: a string may have become any kind
	raw     string    // the content of a string, the literal of a number
	clash   bool      // two members have one Key
	dropped int       // members that were null
}

// A Member is a key and value of an [Object]. Members that are null are left
// out, since they equal absent ones.
type Member struct {
	Key   string // canonical form
	Raw   string // as written
	Value Canon
}

// Canonical returns the canonical form of v; the absent value counts as null.
//
// In the preset "paper" a string is prepared (NFKC, U+2212 as hyphen, without
// format characters and variation selectors, trimmed) and is then the first of
// these that it can be read as: an array or object in JSON or as a Python
// literal, canonical in turn, up to 200 levels deep; a number; true or false
// in any case; a date; text, folded and without blanks, punctuation and
// articles. Numbers are exact decimals, never float64. Of repeated keys in
// one object the last counts.
func Canonical(v qaoa.Value, opt Options) Canon {
	c := newCanoniser(opt)
	return c.value(v, 0)
}

// A canoniser makes canonical forms under resolved options.
// They are shared, since they are large and nobody writes to them.
type canoniser struct{ opt *Options }

func newCanoniser(opt Options) canoniser {
	opt = opt.Resolved()
	return canoniser{&opt}
}

// value returns the form of v, which stands in that many strings.
func (c canoniser) value(v qaoa.Value, level int) Canon {
	switch v.Kind {
	case qaoa.Bool:
		return Canon{Kind: Bool, Text: v.Text, source: qaoa.Bool, raw: v.Text}
	case qaoa.Number:
		return c.number(v.Text)
	case qaoa.String:
		return c.text(v.Text, level)
	case qaoa.Array:
		out := Canon{Kind: Array, source: qaoa.Array, Items: make([]Canon, len(v.Items))}
		for i, item := range v.Items {
			out.Items[i] = c.value(item, level)
		}
		return out
	case qaoa.Object:
		return c.object(v.Members, level)
	}
	return Canon{Kind: Null, Text: "null", source: qaoa.Null, raw: "null"}
}

func (c canoniser) number(literal string) Canon {
	if text, ok := numberText(literal); ok {
		return Canon{Kind: Number, Text: text, source: qaoa.Number, raw: literal}
	}
	if c.opt.Numbers == Off {
		// Its text must equal no string, so it stays a number. The quotes keep
		// it apart from the texts that decimalText writes.
		return Canon{Kind: Number, Text: strconv.Quote(literal), source: qaoa.Number, raw: literal}
	}
	return Canon{Kind: Text, Text: c.opt.Text.form(literal), source: qaoa.Number, raw: literal}
}

func (c canoniser) text(s string, level int) Canon {
	out := Canon{Kind: Text, source: qaoa.String, raw: s}
	p := prepare(s)
	if c.opt.Literals == On && level < maxLiteralLevels {
		if v, ok := literal(p); ok {
			inner := c.value(v, level+1)
			inner.source, inner.raw = qaoa.String, s
			return inner
		}
	}
	if c.opt.Numbers == On {
		if text, ok := numberText(p); ok {
			out.Kind, out.Text = Number, text
			return out
		}
	}
	if c.opt.Bools == On && (len(p) == 4 || len(p) == 5) {
		if lower := strings.ToLower(p); lower == "true" || lower == "false" {
			out.Kind, out.Text = Bool, lower
			return out
		}
	}
	if c.opt.Dates == On {
		if text, ok := dateText(p, c.opt.DateOrder == DayFirst); ok {
			out.Kind, out.Text = Date, text
			return out
		}
	}
	if c.opt.Text == TextFolded {
		out.Text = textForm(refold(p), true)
	} else {
		out.Text = c.opt.Text.form(s)
	}
	return out
}

// literal returns the array or object that a prepared string holds.
func literal(p string) (qaoa.Value, bool) {
	if len(p) < 2 {
		return qaoa.Value{}, false
	}
	if ends := string([]byte{p[0], p[len(p)-1]}); ends != "[]" && ends != "{}" {
		return qaoa.Value{}, false
	}
	v, err := qaoa.ParseValue(p)
	if err != nil {
		v, err = pylit.Parse(p)
	}
	if err != nil || (v.Kind != qaoa.Array && v.Kind != qaoa.Object) || deeper(v, maxLiteralDepth) {
		return qaoa.Value{}, false
	}
	return v, true
}

// deeper reports whether v nests more than limit levels.
func deeper(v qaoa.Value, limit int) bool {
	if v.Kind != qaoa.Array && v.Kind != qaoa.Object {
		return false
	}
	if limit == 0 {
		return true
	}
	for _, item := range v.Items {
		if deeper(item, limit-1) {
			return true
		}
	}
	for _, m := range v.Members {
		if deeper(m.Value, limit-1) {
			return true
		}
	}
	return false
}

func (c canoniser) object(members []qaoa.Member, level int) Canon {
	return c.objectOf(members, level, canoniser.value)
}

// objectOf is object with the form of its members given.
func (c canoniser) objectOf(members []qaoa.Member, level int, form func(canoniser, qaoa.Value, int) Canon) Canon {
	out := Canon{Kind: Object, source: qaoa.Object}
	if len(members) == 0 {
		return out
	}
	list := make([]Member, len(members))
	for i, m := range members {
		list[i] = Member{Key: c.opt.Keys.form(m.Name), Raw: m.Name, Value: form(c, m.Value, level)}
	}
	slices.SortStableFunc(list, func(a, b Member) int {
		return cmp.Or(strings.Compare(a.Key, b.Key), strings.Compare(a.Raw, b.Raw))
	})
	kept := list[:0]
	for i, m := range list {
		switch {
		case i+1 < len(list) && list[i+1].Raw == m.Raw: // the last one counts
		case m.Value.Kind == Null && c.opt.Null != NullDistinct:
			out.dropped++
		default:
			out.clash = out.clash || len(kept) > 0 && kept[len(kept)-1].Key == m.Key
			kept = append(kept, m)
		}
	}
	out.Members = kept
	return out
}

// Equal reports whether a and b are equal: kind and text of scalars, items in
// order, members in any order. If two members of one of two objects have the
// same key, that pair of objects is compared by the keys as written.
func (a Canon) Equal(b Canon) bool { return equal(&a, &b) }

func equal(a, b *Canon) bool {
	if a.Kind != b.Kind || a.Text != b.Text || len(a.Items) != len(b.Items) || len(a.Members) != len(b.Members) {
		return false
	}
	for i := range a.Items {
		if !equal(&a.Items[i], &b.Items[i]) {
			return false
		}
	}
	if !a.clash && !b.clash {
		for i := range a.Members {
			if a.Members[i].Key != b.Members[i].Key || !equal(&a.Members[i].Value, &b.Members[i].Value) {
				return false
			}
		}
		return true
	}
	for i, j := range pairMembers(a, b) {
		if i < 0 || j < 0 || !equal(&a.Members[i].Value, &b.Members[j].Value) {
			return false
		}
	}
	return true
}

// pairMembers yields the members of two objects that have one key, as their
// indices, in the order of the keys; -1 stands for a member that is lacking.
func pairMembers(a, b *Canon) iter.Seq2[int, int] {
	return func(yield func(i, j int) bool) {
		var left, right []int // the order of members, nil if they are in order
		raw := a.clash || b.clash
		if raw {
			left, right = byRaw(a.Members), byRaw(b.Members)
		}
		for i, j := 0, 0; i < len(a.Members) || j < len(b.Members); {
			x, y := i, j
			if raw && i < len(left) {
				x = left[i]
			}
			if raw && j < len(right) {
				y = right[j]
			}
			side := 0
			switch {
			case i == len(a.Members):
				side = 1
			case j == len(b.Members):
				side = -1
			case raw:
				side = strings.Compare(a.Members[x].Raw, b.Members[y].Raw)
			default:
				side = strings.Compare(a.Members[x].Key, b.Members[y].Key)
			}
			if side > 0 {
				x = -1
			} else {
				i++
			}
			if side < 0 {
				y = -1
			} else {
				j++
			}
			if !yield(x, y) {
				return
			}
		}
	}
}

// byRaw returns the indices of members in the order of their keys as written.
func byRaw(members []Member) []int {
	order := make([]int, len(members))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return strings.Compare(members[i].Raw, members[j].Raw) })
	return order
}

// String returns the form for messages: its kind, then text in quotes, any
// other scalar bare, arrays and objects as in JSON. Long forms are cut.
func (a Canon) String() string {
	const enough = 200 // bytes of a form that a reader looks at
	dst := a.append(append([]byte(a.Kind.String()), ' '), enough)
	if a.Kind == Null {
		return a.Text
	}
	if len(dst) > enough {
		return strings.ToValidUTF8(string(dst[:enough]), "") + "…"
	}
	return string(dst)
}

// append appends the form of a to dst and stops early once dst is long enough.
func (a *Canon) append(dst []byte, enough int) []byte {
	switch a.Kind {
	case Text:
		return strconv.AppendQuote(dst, clip(a.Text, enough))
	case Array:
		dst = append(dst, '[')
		for i := range a.Items {
			if len(dst) > enough {
				break
			}
			if i > 0 {
				dst = append(dst, ", "...)
			}
			dst = a.Items[i].append(dst, enough)
		}
		return append(dst, ']')
	case Object:
		dst = append(dst, '{')
		for i := range a.Members {
			if len(dst) > enough {
				break
			}
			if i > 0 {
				dst = append(dst, ", "...)
			}
			dst = append(strconv.AppendQuote(dst, clip(a.Members[i].Key, enough)), ": "...)
			dst = a.Members[i].Value.append(dst, enough)
		}
		return append(dst, '}')
	}
	return append(dst, clip(a.Text, enough)...)
}

// clip cuts s after about n bytes, at a rune.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}
