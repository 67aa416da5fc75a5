package dedup

import (
	"bytes"
	"slices"
	"strings"

	"github.com/zeebo/xxh3"

	"assay/qaoa"
)

// A Key is a 128-bit hash of something that was brought into a common form.
// Of ten million different things, two have one key with a probability of about
// 10^-25.
type Key [16]byte

func keyOf(form []byte) Key { return xxh3.Hash128(form).Bytes() }

// between stands between the parts of a form. No part holds it: words are
// letters, and JSON escapes it.
const between = 0

// TextKey returns the key of the words of text.
func TextKey(text string) Key { return keyOf(AppendNormal(nil, text)) }

// QueryKey returns the key of the words of all queries of rec, in order.
func QueryKey(rec qaoa.Record) Key {
	var form []byte
	for _, t := range rec.Turns {
		form = append(AppendNormal(form, t.Query), between)
	}
	return keyOf(form)
}

// RecordKey returns the key of what a model learns from rec: the words of each
// query and the calls of each step. Calls of a step are compared in any order,
// arguments in any order of members, numbers by value; strings and names as
// they are. Tools, observations, answers and system texts do not count.
func RecordKey(rec qaoa.Record) Key {
	var form []byte
	for _, t := range rec.Turns {
		form = append(AppendNormal(form, t.Query), between)
		for _, s := range t.Steps {
			form = appendCalls(form, s.Calls, false)
			form = append(form, between)
		}
	}
	return keyOf(form)
}

// CallsKey returns the key of the set of all calls of rec, whatever their order
// and however often each occurs, and whether there is anything to compare: one
// argument at least. Names are compared without case, strings by
// their words, or as they are if they have none.
func CallsKey(rec qaoa.Record) (Key, bool) {
	calls := rec.Calls()
	said := false
	for _, c := range calls {
		said = said || c.Raw != "" || len(c.Arguments) > len("{}")
	}
	if !said {
		return Key{}, false
	}
	return keyOf(appendCalls(nil, calls, true)), true
}

// ToolKey returns the key of the text of a tool: its name, the words of its
// description, and its parameters, in which members and required names count in
// any order and strings by their words. It reports whether there is more than a
// name to compare.
func ToolKey(t qaoa.Tool) (Key, bool) {
	v, err := t.Parameters.Value()
	if err != nil {
		v = qaoa.StringValue(string(t.Parameters))
	}
	props, _ := v.Get("properties")
	form := append([]byte(strings.TrimSpace(t.Name)), between)
	before := len(form)
	form = AppendNormal(form, t.Description)
	said := len(form) > before || len(props.Members) > 0
	form = append(form, between)
	return keyOf(AppendCanonical(form, v, true)), said
}

// appendCalls appends calls in canonical form, sorted. With words equal ones
// count once.
func appendCalls(dst []byte, calls []qaoa.Call, words bool) []byte {
	forms := make([][]byte, len(calls))
	for i, c := range calls {
		name := c.Name
		if words {
			name = strings.ToLower(strings.TrimSpace(name))
		}
		form := append(append([]byte(name), between), c.Raw...)
		form = append(form, between)
		if v, err := c.Arguments.Value(); err == nil {
			form = AppendCanonical(form, v, words)
		} else {
			form = append(form, c.Arguments...)
		}
		forms[i] = form
	}
	slices.SortFunc(forms, bytes.Compare)
	if words {
		forms = slices.CompactFunc(forms, bytes.Equal)
	}
	for _, f := range forms {
		dst = append(append(dst, f...), between)
	}
	return dst
}

// AppendCanonical appends a form of v that is the same for all JSON texts that
// say the same: members sorted by name, numbers by value, and the items of a
// "required" list sorted. Repeated members stay in their order. With words,
// strings are compared by their words unless they have none.
func AppendCanonical(dst []byte, v qaoa.Value, words bool) []byte {
	switch v.Kind {
	case qaoa.Object:
		members := slices.Clone(v.Members)
		slices.SortStableFunc(members, func(a, b qaoa.Member) int { return strings.Compare(a.Name, b.Name) })
		dst = append(dst, '{')
		for _, m := range members {
			dst = append(qaoa.AppendQuote(dst, m.Name), ':')
			if m.Name == "required" && m.Value.Kind == qaoa.Array {
				m.Value.Items = sorted(m.Value.Items)
			}
			dst = append(AppendCanonical(dst, m.Value, words), ',')
		}
		return append(dst, '}')
	case qaoa.Array:
		dst = append(dst, '[')
		for _, item := range v.Items {
			dst = append(AppendCanonical(dst, item, words), ',')
		}
		return append(dst, ']')
	case qaoa.Number:
		return appendNumber(dst, v.Text)
	case qaoa.String:
		if words {
			if n := Normalize(v.Text); n != "" {
				return qaoa.AppendQuote(dst, n)
			}
		}
		return qaoa.AppendQuote(dst, v.Text)
	}
	return append(dst, v.Text...)
}

// sorted returns items in the order of their texts.
func sorted(items []qaoa.Value) []qaoa.Value {
	items = slices.Clone(items)
	slices.SortStableFunc(items, func(a, b qaoa.Value) int { return strings.Compare(a.Text, b.Text) })
	return items
}

// maxExponent bounds the exponents that numbers are shifted by; larger ones are
// compared as texts.
const maxExponent = 9

// appendNumber appends a decimal literal as digits, without leading or trailing
// zeros, and an exponent: 1.0, 1 and 10e-1 are all 1e0. No digit is lost,
// however many there are.
func appendNumber(dst []byte, text string) []byte {
	rest, negative := strings.CutPrefix(text, "-")
	mantissa, power, hasPower := strings.Cut(strings.ReplaceAll(rest, "E", "e"), "e")
	exp := 0
	if hasPower {
		sign := 1
		if s, ok := strings.CutPrefix(power, "-"); ok {
			sign, power = -1, s
		}
		power = strings.TrimLeft(strings.TrimPrefix(power, "+"), "0")
		if len(power) > maxExponent {
			return append(dst, text...)
		}
		for _, c := range []byte(power) {
			exp = exp*10 + int(c-'0')
		}
		exp *= sign
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := strings.TrimLeft(whole+fraction, "0")
	exp -= len(fraction)
	short := strings.TrimRight(digits, "0")
	exp += len(digits) - len(short)
	if short == "" {
		return append(dst, '0')
	}
	if negative {
		dst = append(dst, '-')
	}
	dst = append(append(dst, short...), 'e')
	if exp < 0 {
		dst = append(dst, '-')
		exp = -exp
	}
	return appendInt(dst, exp)
}

func appendInt(dst []byte, n int) []byte {
	if n >= 10 {
		dst = appendInt(dst, n/10)
	}
	return append(dst, byte('0'+n%10))
}
