package transport

import (
	"strconv"

	"assay/qaoa"
)

// AppendTools appends tools to dst as the JSON array that OpenAI and Ollama
// take. Schemas are copied byte for byte, so no keyword is lost and no order
// changes; a tool without a schema gets that of an empty object.
func AppendTools(dst []byte, tools []qaoa.Tool) []byte {
	dst = append(dst, '[')
	for i, t := range tools {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, `{"type":"function","function":{"name":`...)
		dst = qaoa.AppendQuote(dst, t.Name)
		dst = append(dst, `,"description":`...)
		dst = qaoa.AppendQuote(dst, t.Description)
		dst = append(dst, `,"parameters":`...)
		if t.Parameters == "" {
			dst = append(dst, `{"type":"object","properties":{}}`...)
		} else {
			dst = append(dst, t.Parameters...)
		}
		dst = append(dst, '}', '}')
	}
	return append(dst, ']')
}

// AppendFloat appends f as JSON in its shortest form.
func AppendFloat(dst []byte, f float64) []byte { return strconv.AppendFloat(dst, f, 'g', -1, 64) }

// ToolsSize is an upper bound for what [AppendTools] appends if nothing needs
// an escape, for the capacity of a buffer.
func ToolsSize(tools []qaoa.Tool) int {
	const frame = 120
	n := 2
	for _, t := range tools {
		n += frame + len(t.Name) + len(t.Description) + len(t.Parameters)
	}
	return n
}

// Get returns the value at a path of member names in v, the zero Value if there
// is none.
func Get(v qaoa.Value, path ...string) qaoa.Value {
	for _, name := range path {
		v, _ = v.Get(name)
	}
	return v
}

// Text returns the string at a path in v, "" if there is none.
func Text(v qaoa.Value, path ...string) string {
	if s := Get(v, path...); s.Kind == qaoa.String {
		return s.Text
	}
	return ""
}

// Int returns the integer at a path in v, or absent if there is none.
func Int(v qaoa.Value, absent int, path ...string) int {
	n := Get(v, path...)
	if n.Kind != qaoa.Number {
		return absent
	}
	i, err := strconv.Atoi(n.Text)
	if err != nil || i < 0 {
		return absent
	}
	return i
}
