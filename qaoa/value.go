package qaoa

import "slices"

// A Kind is what a JSON value is.
type Kind uint8

// The kinds of JSON values. Invalid is the kind of an absent value.
const (
	Invalid Kind = iota
	Null
	Bool
	Number
	String
	Array
	Object
)

// String returns the JSON name of k, as error messages use it.
func (k Kind) String() string {
	return [...]string{"nothing", "null", "boolean", "number", "string", "array", "object"}[k]
}

// A Value is a JSON value as a tree. It keeps what a Go map loses: the order
// of members, repeated members and the text of numbers.
type Value struct {
	Kind    Kind
	Text    string   // Number: its literal; String: its content; Bool, Null: the word
	Items   []Value  // Array
	Members []Member // Object
}

// A Member is one name and value of an object.
type Member struct {
	Name  string
	Value Value
}

// StringValue returns the JSON string s.
func StringValue(s string) Value { return Value{Kind: String, Text: s} }

// NumberValue returns the JSON number with the literal text, which the caller
// vouches for.
func NumberValue(text string) Value { return Value{Kind: Number, Text: text} }

// BoolValue returns the JSON boolean b.
func BoolValue(b bool) Value {
	if b {
		return Value{Kind: Bool, Text: "true"}
	}
	return Value{Kind: Bool, Text: "false"}
}

// NullValue returns the JSON null.
func NullValue() Value { return Value{Kind: Null, Text: "null"} }

// ArrayValue returns the JSON array of items.
func ArrayValue(items ...Value) Value { return Value{Kind: Array, Items: items} }

// ObjectValue returns the JSON object of members.
func ObjectValue(members ...Member) Value { return Value{Kind: Object, Members: members} }

// Get returns the member of v with that name, the last one if it is repeated,
// and whether there is one.
func (v Value) Get(name string) (Value, bool) {
	for _, m := range slices.Backward(v.Members) {
		if m.Name == name {
			return m.Value, true
		}
	}
	return Value{}, false
}

// JSON returns v as text. The zero Value is the absent JSON.
func (v Value) JSON() JSON { return JSON(v.Append(nil)) }

// Append appends the text of v to dst.
func (v Value) Append(dst []byte) []byte {
	switch v.Kind {
	case Null:
		return append(dst, "null"...)
	case Bool, Number:
		return append(dst, v.Text...)
	case String:
		return AppendQuote(dst, v.Text)
	case Array:
		dst = append(dst, '[')
		for i, item := range v.Items {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = item.Append(dst)
		}
		return append(dst, ']')
	case Object:
		dst = append(dst, '{')
		for i, m := range v.Members {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = AppendQuote(dst, m.Name)
			dst = append(dst, ':')
			dst = m.Value.Append(dst)
		}
		return append(dst, '}')
	}
	return dst
}
