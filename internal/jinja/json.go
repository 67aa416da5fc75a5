package jinja

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A jsonStyle says how Python's json.dumps writes.
type jsonStyle struct {
	item, key string // separators: ", " and ": "
	indent    string // of one level; "" with pretty unset is one line
	pretty    bool
	ascii     bool
	sorted    bool
}

var plainJSON = jsonStyle{item: ", ", key: ": "}

// ToJSON returns v as transformers' tojson filter writes it: Python's
// json.dumps without ensure_ascii. With an indent each member has a line of its
// own, and depth is how many levels around v there are already.
func ToJSON(v Value, indent string, depth int) (text string, err error) {
	r := &renderer{limits: Limits{}.withDefaults()}
	defer func() {
		if fault, ok := recover().(*Error); ok {
			err = fault
		}
	}()
	style := plainJSON
	if indent != "" {
		style.pretty, style.indent, style.item = true, indent, ","
	}
	var b strings.Builder
	r.appendJSON(&b, v, style, depth)
	return b.String(), nil
}

func (r *renderer) json(v Value, style jsonStyle) string {
	var b strings.Builder
	r.appendJSON(&b, v, style, 0)
	return b.String()
}

func (r *renderer) appendJSON(b *strings.Builder, v Value, style jsonStyle, depth int) {
	r.step()
	if depth > maxValueDepth {
		r.failf("a value nests more than %d deep", maxValueDepth)
	}
	before := b.Len()
	switch v := v.(type) {
	case nil:
		b.WriteString("null")
	case bool:
		b.WriteString(strconv.FormatBool(v))
	case int64, BigInt:
		b.WriteString(r.repr(v))
	case float64:
		b.WriteString(jsonFloat(v))
	case string:
		appendJSONText(b, v, style.ascii)
	case *List:
		b.WriteString(v.Before)
		r.jsonItems(b, "[", "]", len(v.Items), style, depth, func(i int) {
			r.appendJSON(b, v.Items[i], style, depth+1)
		})
		b.WriteString(v.After)
		return
	case *Dict:
		r.jsonDict(b, v, style, depth)
		return
	default:
		r.failf("%s is not JSON serializable", typeName(v))
	}
	r.grow(b.Len() - before)
}

func jsonFloat(f float64) string {
	switch {
	case math.IsNaN(f):
		return "NaN"
	case math.IsInf(f, 1):
		return "Infinity"
	case math.IsInf(f, -1):
		return "-Infinity"
	}
	return FormatFloat(f)
}

func (r *renderer) jsonDict(b *strings.Builder, d *Dict, style jsonStyle, depth int) {
	order := make([]int, len(d.keys))
	names := make([]string, len(d.keys))
	for i, k := range d.keys {
		order[i] = i
		switch k := k.(type) {
		case string:
			names[i] = k
		default:
			names[i] = r.json(k, style)
		}
	}
	if style.sorted {
		slices.SortStableFunc(order, func(i, k int) int { return strings.Compare(names[i], names[k]) })
	}
	b.WriteString(d.Before)
	r.jsonItems(b, "{", "}", len(order), style, depth, func(i int) {
		appendJSONText(b, names[order[i]], style.ascii)
		r.grow(len(names[order[i]]))
		b.WriteString(style.key)
		r.appendJSON(b, d.values[order[i]], style, depth+1)
	})
	b.WriteString(d.After)
}

// jsonItems writes n items between brackets.
func (r *renderer) jsonItems(b *strings.Builder, open, end string, n int, style jsonStyle, depth int, item func(int)) {
	b.WriteString(open)
	line := func(levels int) {
		if style.pretty {
			r.grow(1 + levels*len(style.indent))
			b.WriteByte('\n')
			for range levels {
				b.WriteString(style.indent)
			}
		}
	}
	for i := range n {
		if i > 0 {
			b.WriteString(style.item)
		}
		line(depth + 1)
		item(i)
	}
	if n > 0 {
		line(depth)
	}
	b.WriteString(end)
}

func appendJSONText(b *strings.Builder, s string, ascii bool) {
	b.WriteByte('"')
	for _, c := range s {
		switch {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteRune(c)
		case c == '\n':
			b.WriteString(`\n`)
		case c == '\r':
			b.WriteString(`\r`)
		case c == '\t':
			b.WriteString(`\t`)
		case c == '\b':
			b.WriteString(`\b`)
		case c == '\f':
			b.WriteString(`\f`)
		case c < 0x20 || ascii && c >= 0x7F && c < 0x10000:
			fmt.Fprintf(b, `\u%04x`, c)
		case ascii && c >= 0x10000:
			fmt.Fprintf(b, `\u%04x\u%04x`, 0xD800+(c-0x10000)>>10, 0xDC00+(c-0x10000)&0x3FF)
		case c == utf8.RuneError:
			b.WriteString("\uFFFD")
		default:
			b.WriteRune(c)
		}
	}
	b.WriteByte('"')
}
