package chat

import (
	"strconv"
	"strings"

	"assay/internal/jinja"
	"assay/qaoa"
)

// emptySchema is what a tool without parameters is said to take.
const emptySchema = qaoa.JSON(`{"type":"object","properties":{}}`)

// toValue makes a template's value of JSON as Python reads it: a repeated member
// holds its last value at the first place, and numbers with a point or an
// exponent are floats.
func toValue(v qaoa.Value) jinja.Value {
	switch v.Kind {
	case qaoa.Bool:
		return v.Text == "true"
	case qaoa.String:
		return v.Text
	case qaoa.Number:
		return toNumber(v.Text)
	case qaoa.Array:
		out := jinja.NewList()
		for _, item := range v.Items {
			out.Items = append(out.Items, toValue(item))
		}
		return out
	case qaoa.Object:
		out := jinja.NewDict()
		for _, m := range v.Members {
			out.Set(m.Name, toValue(m.Value))
		}
		return out
	}
	return nil
}

func toNumber(text string) jinja.Value {
	if strings.ContainsAny(text, ".eE") {
		// Beyond the range of a float64, ParseFloat returns an infinity, as
		// Python does.
		f, _ := strconv.ParseFloat(text, 64)
		return f
	}
	if i, err := strconv.ParseInt(text, 10, 64); err == nil {
		return i
	}
	return jinja.BigInt(text)
}

// jsonValue reads j; what is absent is def.
func jsonValue(j, def qaoa.JSON) (jinja.Value, error) {
	if j == "" {
		j = def
	}
	v, err := j.Value()
	if err != nil {
		return nil, err
	}
	return toValue(v), nil
}

// pyJSON writes j as Python's json.dumps(…, ensure_ascii=False) would after
// json.loads: ", " and ": " between tokens, and numbers as Python prints them.
func pyJSON(j, def qaoa.JSON, indent string, depth int) (string, error) {
	v, err := jsonValue(j, def)
	if err != nil {
		return "", err
	}
	return jinja.ToJSON(v, indent, depth)
}
