package toolcall

import (
	"slices"
	"strings"

	"assay/internal/pylit"
	"assay/qaoa"
)

// repair reads the object or array in text, which is not valid JSON, after the
// smallest set of repairs that makes it so, and says which they were.
func repair(text string) (v qaoa.Value, repairs []string, ok bool) {
	text = strings.TrimSpace(text)
	if text == "" || text[0] != '{' && text[0] != '[' {
		return qaoa.Value{}, nil, false
	}
	if v, repairs, ok := repairSingle(text); ok {
		return v, repairs, true
	}
	if plain, ok := unescape(text); ok {
		if v, err := qaoa.ParseValue(plain); err == nil {
			return v, []string{RepairEscaped}, true
		}
		if v, repairs, ok := repairSingle(plain); ok {
			return v, append([]string{RepairEscaped}, repairs...), true
		}
		return qaoa.Value{}, nil, false
	}
	if !strings.HasPrefix(text, "{{") {
		return qaoa.Value{}, nil, false
	}
	// Either only the outer braces are doubled, or all are, as by a template
	// in which a doubled brace stands for one.
	for _, undoubled := range []string{strings.TrimSuffix(text[1:], "}"), halveBraces(text)} {
		if v, err := qaoa.ParseValue(undoubled); err == nil {
			return v, []string{RepairDoubled}, true
		}
		if v, repairs, ok := repairSingle(undoubled); ok {
			return v, append([]string{RepairDoubled}, repairs...), true
		}
	}
	return qaoa.Value{}, nil, false
}

// repairSingle tries the repairs that keep braces single.
func repairSingle(text string) (v qaoa.Value, repairs []string, ok bool) {
	if t := dropCommas(text); t != text {
		text, repairs = t, append(repairs, RepairComma)
		if v, err := qaoa.ParseValue(text); err == nil {
			return v, repairs, true
		}
	}
	if t := closeBrackets(text); t != text {
		text, repairs = t, append(repairs, RepairBrace)
		if v, err := qaoa.ParseValue(text); err == nil {
			return v, repairs, true
		}
	}
	if v, err := pylit.Parse(text); err == nil && (v.Kind == qaoa.Object || v.Kind == qaoa.Array) {
		return v, append(repairs, RepairQuotes), true
	}
	return qaoa.Value{}, nil, false
}

// unescape returns the text that text stands for inside of a JSON string, if
// its first quote is an escaped one.
func unescape(text string) (string, bool) {
	if i := strings.IndexByte(text, '"'); i < 1 || text[i-1] != '\\' {
		return "", false
	}
	lines := strings.NewReplacer("\n", `\n`, "\r", `\r`, "\t", `\t`).Replace(text)
	v, err := qaoa.ParseValue(`"` + lines + `"`)
	return v.Text, err == nil
}

// dropCommas returns text without the commas that stand before a closing
// bracket or the end.
func dropCommas(text string) string {
	var out strings.Builder
	start, comma := 0, -1 // comma is the place of one with only blanks after it
	drop := func() {
		if comma >= 0 {
			out.WriteString(text[start:comma])
			start = comma + 1
		}
	}
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case isBlank(c):
			continue
		case c == ',':
			comma = i
			continue
		case c == '}' || c == ']':
			drop()
		case c == '"' || c == '\'':
			i = stringEnd(text, i)
		}
		comma = -1
	}
	drop()
	if start == 0 {
		return text
	}
	out.WriteString(text[start:])
	return out.String()
}

// closeBrackets returns text with the closing brackets that are missing at its
// end, or text itself if it ends inside of a string or its brackets cross.
func closeBrackets(text string) string {
	var missing []byte
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case '{':
			missing = append(missing, '}')
		case '[':
			missing = append(missing, ']')
		case '}', ']':
			if len(missing) == 0 || missing[len(missing)-1] != c {
				return text
			}
			missing = missing[:len(missing)-1]
		case '"', '\'':
			if i = stringEnd(text, i); i == len(text) {
				return text // a value cut in the middle is not guessed
			}
		}
	}
	if len(missing) == 0 || len(missing) > qaoa.MaxDepth {
		return text
	}
	out := append(make([]byte, 0, len(text)+len(missing)), text...)
	slices.Reverse(missing)
	out = append(out, missing...)
	return string(out)
}

// halveBraces returns text with every pair of equal braces outside of strings
// made one.
func halveBraces(text string) string {
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch c {
		case '{', '}':
			if i+1 < len(text) && text[i+1] == c {
				i++
			}
		case '"', '\'':
			end := min(stringEnd(text, i)+1, len(text))
			out = append(out, text[i:end]...)
			i = end - 1
			continue
		}
		out = append(out, c)
	}
	return string(out)
}
