package baseline

import (
	"math/rand/v2"
	"strings"

	"assay/qaoa"
)

// maxFill bounds the depth of schemas that are filled.
const maxFill = 4

// fill returns arguments for a call of t, found in a text by these rules:
//
//   - Required parameters get a value, and others only if the text names one
//     of their enum values, or their name closely followed by a number or a
//     quotation.
//   - An enum takes the value that the text mentions, else its default, else
//     its first value.
//   - Numbers, dates, times, addresses, quotations, codes and names are
//     searched by the type, the format and the name of the parameter; the one
//     that follows the parameter's name in the text comes first, and none is
//     used twice.
//   - A string for which there is nothing gets the content words of the text,
//     a number 1, a boolean true, unless the schema has a default.
func fill(t qaoa.Tool, f *facts) qaoa.JSON {
	schema, err := t.Parameters.Value()
	if err != nil {
		schema = qaoa.Value{}
	}
	return object(schema, f, 0).JSON()
}

// object fills an object: parameters that the text names come first, and stand
// in the order of the schema.
func object(schema qaoa.Value, f *facts, depth int) qaoa.Value {
	props, _ := schema.Get("properties")
	req := required(schema)
	vals := make([]qaoa.Value, len(props.Members))
	for _, named := range []bool{true, false} {
		for i, p := range props.Members {
			at := f.near(p.Name)
			if (at >= 0) != named {
				continue
			}
			if req[p.Name] {
				vals[i] = value(p.Name, p.Value, f, at, depth)
			} else {
				vals[i] = optional(p.Value, f, at)
			}
		}
	}
	out := qaoa.ObjectValue()
	for i, p := range props.Members {
		if vals[i].Kind != qaoa.Invalid {
			out.Members = append(out.Members, qaoa.Member{Name: p.Name, Value: vals[i]})
		}
	}
	return out
}

func required(schema qaoa.Value) map[string]bool {
	list, _ := schema.Get("required")
	set := make(map[string]bool, len(list.Items))
	for _, r := range list.Items {
		set[r.Text] = true
	}
	return set
}

// typeOf returns the type of a schema, the first one of several, "" if it has
// none.
func typeOf(schema qaoa.Value) string {
	t, _ := schema.Get("type")
	if t.Kind == qaoa.Array && len(t.Items) > 0 {
		t = t.Items[0]
	}
	if t.Kind != qaoa.String {
		return ""
	}
	return t.Text
}

// optional returns a value for a parameter that is not required, or the zero
// Value if the text does not speak for it.
func optional(schema qaoa.Value, f *facts, at int) qaoa.Value {
	if v, ok := mentioned(schema, f); ok {
		return v
	}
	if at < 0 {
		return qaoa.Value{}
	}
	const close = 24 // bytes
	switch typeOf(schema) {
	case "integer", "number":
		if p := f.peek(at, close, number); p != nil {
			f.use(p)
			return numeric(p.text, typeOf(schema))
		}
	case "string":
		if p := f.peek(at, close, quoted); p != nil {
			f.use(p)
			return qaoa.StringValue(p.text)
		}
	}
	return qaoa.Value{}
}

// peek returns an unused piece that begins at most so many bytes after a place.
func (f *facts) peek(at, within int, k kind) *fact {
	for _, p := range f.found[k] {
		if !p.used && p.at >= at && p.at <= at+within {
			return p
		}
	}
	return nil
}

// mentioned returns the enum value that the text mentions, the longest one.
func mentioned(schema qaoa.Value, f *facts) (best qaoa.Value, ok bool) {
	enum, _ := schema.Get("enum")
	for _, e := range enum.Items {
		if e.Kind == qaoa.String && len(e.Text) > len(best.Text) && wordAt(f.lower, strings.ToLower(e.Text)) >= 0 {
			best, ok = e, true
		}
	}
	return best, ok
}

// value returns a value for a required parameter.
func value(name string, schema qaoa.Value, f *facts, at, depth int) qaoa.Value {
	if v, ok := mentioned(schema, f); ok {
		return v
	}
	def, hasDefault := schema.Get("default")
	if enum, _ := schema.Get("enum"); len(enum.Items) > 0 {
		if hasDefault {
			return def
		}
		return enum.Items[0]
	}
	typ := typeOf(schema)
	switch typ {
	case "integer", "number":
		if p, ok := f.take(at, number); ok {
			return numeric(p.text, typ)
		}
		if hasDefault {
			return def
		}
		return qaoa.NumberValue("1")
	case "boolean":
		if hasDefault {
			return def
		}
		return qaoa.BoolValue(true)
	case "array":
		return array(name, schema, f, at, depth)
	case "object":
		if depth >= maxFill {
			return qaoa.ObjectValue()
		}
		return object(schema, f, depth+1)
	}
	if v, ok := text(name, schema, f, at); ok {
		return v
	}
	if hasDefault {
		return def
	}
	return qaoa.StringValue(f.phrase(6))
}

// array fills an array: all numbers of the text if its items are numbers, else
// all quotations or names, else one item.
func array(name string, schema qaoa.Value, f *facts, at, depth int) qaoa.Value {
	items, _ := schema.Get("items")
	out := qaoa.ArrayValue()
	switch typ := typeOf(items); typ {
	case "integer", "number":
		for {
			p, ok := f.take(at, number)
			if !ok {
				return out
			}
			out.Items = append(out.Items, numeric(p.text, typ))
		}
	case "object", "array":
		if depth >= maxFill {
			return out
		}
		out.Items = append(out.Items, value(name, items, f, at, depth+1))
		return out
	}
	if v, ok := mentioned(items, f); ok {
		return qaoa.ArrayValue(v)
	}
	for _, k := range []kind{quoted, properName, code} {
		for {
			p, ok := f.take(at, k)
			if !ok {
				break
			}
			out.Items = append(out.Items, qaoa.StringValue(p.text))
		}
		if len(out.Items) > 0 {
			return out
		}
	}
	out.Items = append(out.Items, qaoa.StringValue(f.phrase(3)))
	return out
}

// text returns a string for a parameter, by its format and its name.
func text(param string, schema qaoa.Value, f *facts, at int) (qaoa.Value, bool) {
	format, _ := schema.Get("format")
	hint := strings.ToLower(param + " " + format.Text)
	order := []kind{quoted, properName, code, number}
	for _, h := range hints {
		if containsAny(hint, h.words) {
			order = h.kinds
			break
		}
	}
	if p, ok := f.take(at, order...); ok {
		return qaoa.StringValue(p.text), true
	}
	return qaoa.Value{}, false
}

// hints are the kinds that names of parameters speak for, first match first.
var hints = []struct {
	words []string
	kinds []kind
}{
	{[]string{"mail"}, []kind{email, quoted}},
	{[]string{"url", "uri", "link", "website"}, []kind{link, quoted}},
	{[]string{"date", "day", "birth", "deadline"}, []kind{date, quoted}},
	{[]string{"time", "hour"}, []kind{clock, date, quoted}},
	{[]string{"phone", "number", "amount", "price", "count"}, []kind{number, code, quoted}},
	{[]string{"code", "_id", "symbol", "ticker", "uuid"}, []kind{code, quoted, number, properName}},
	{[]string{"query", "keyword", "text", "message", "content", "question", "prompt"}, []kind{quoted}},
}

func containsAny(s string, words []string) bool {
	for _, w := range words {
		if strings.Contains(s, w) {
			return true
		}
	}
	return false
}

// numeric returns the number that a piece of text is; for integers what stands
// before the point.
func numeric(s, typ string) qaoa.Value {
	s = strings.NewReplacer(",", "", "−", "-").Replace(s)
	if typ == "integer" {
		s, _, _ = strings.Cut(s, ".")
	}
	sign := ""
	if strings.HasPrefix(s, "-") {
		sign, s = "-", s[1:]
	}
	whole, fraction, point := strings.Cut(s, ".")
	whole = strings.TrimLeft(whole, "0") // JSON knows no leading zeros
	if whole == "" {
		whole = "0"
	}
	if point {
		whole += "." + fraction
	}
	return qaoa.NumberValue(sign + whole)
}

// fillByChance returns arguments for t: values of the right type, drawn from
// the words and numbers of the query where there are any. Required parameters
// are filled, others with probability 1/4.
func fillByChance(t qaoa.Tool, query string, rng *rand.Rand) qaoa.JSON {
	schema, err := t.Parameters.Value()
	if err != nil {
		schema = qaoa.Value{}
	}
	d := draw{rng: rng, words: strings.Fields(query)}
	for _, p := range newFacts(query).found[number] {
		d.numbers = append(d.numbers, p.text)
	}
	return d.object(schema, 0).JSON()
}

// A draw makes random values.
type draw struct {
	rng     *rand.Rand
	words   []string
	numbers []string
}

func (d *draw) object(schema qaoa.Value, depth int) qaoa.Value {
	props, _ := schema.Get("properties")
	req := required(schema)
	out := qaoa.ObjectValue()
	for _, p := range props.Members {
		if req[p.Name] || d.rng.IntN(4) == 0 {
			out.Members = append(out.Members, qaoa.Member{Name: p.Name, Value: d.value(p.Value, depth)})
		}
	}
	return out
}

func (d *draw) value(schema qaoa.Value, depth int) qaoa.Value {
	if enum, _ := schema.Get("enum"); len(enum.Items) > 0 {
		return enum.Items[d.rng.IntN(len(enum.Items))]
	}
	switch typ := typeOf(schema); typ {
	case "integer", "number":
		if len(d.numbers) == 0 {
			return numeric([]string{"1", "2", "5", "10", "100"}[d.rng.IntN(5)], typ)
		}
		return numeric(d.numbers[d.rng.IntN(len(d.numbers))], typ)
	case "boolean":
		return qaoa.BoolValue(d.rng.IntN(2) == 0)
	case "array", "object":
		if depth >= maxFill {
			return qaoa.NullValue()
		}
		if typ == "object" {
			return d.object(schema, depth+1)
		}
		items, _ := schema.Get("items")
		return qaoa.ArrayValue(d.value(items, depth+1))
	}
	if len(d.words) == 0 {
		return qaoa.StringValue("")
	}
	from := d.rng.IntN(len(d.words))
	to := min(from+1+d.rng.IntN(3), len(d.words))
	return qaoa.StringValue(strings.Trim(strings.Join(d.words[from:to], " "), `.,;:?!"'`))
}
