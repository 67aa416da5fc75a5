package convert

import (
	"strings"

	"assay/qaoa"
)

// A parsedType is what a type of a source means in JSON Schema.
type parsedType struct {
	known    bool
	word     string // of JSON Schema, or "" for any
	format   string // float or double
	item     string // type of the items of an array, as the source has it
	optional bool
}

// typeWord returns JSON Schema's word for a type, "" if there is none. Case
// does not matter, since Java and JavaScript sources write String and Boolean.
func typeWord(s string) string {
	switch strings.ToLower(s) {
	case "object", "dict", "dictionary", "hashmap", "map", "mapping":
		return "object"
	case "integer", "int", "long", "short", "byte", "int32", "int64", "bigint":
		return "integer"
	case "number", "float", "double", "decimal":
		return "number"
	case "string", "str", "char", "text", "date", "datetime", "time", "callable", "function":
		return "string"
	case "array", "list", "tuple", "set", "arraylist", "sequence", "iterable", "frozenset":
		return "array"
	case "boolean", "bool":
		return "boolean"
	case "null", "none", "nonetype":
		return "null"
	}
	return ""
}

// maxTypeLen is the length in bytes from which on a text is no type. The
// longest in the corpora has 60; nesting takes time by the square of it.
const maxTypeLen = 256

// parseType reads a type as sources write it: a word, a Python annotation such
// as List[int], Optional[str], Union[int, str] or list(str), each perhaps with
// ", optional" or a default behind it.
func parseType(s string) parsedType {
	s = strings.TrimSpace(s)
	if len(s) > maxTypeLen {
		return parsedType{}
	}
	var t parsedType
	if i := topComma(s); i >= 0 { // "str, optional", "str, default='x'"
		rest := strings.TrimSpace(s[i+1:])
		if !strings.HasPrefix(rest, "optional") && !strings.HasPrefix(rest, "default") {
			return parsedType{}
		}
		t = parseType(s[:i])
		t.optional = true
		return t
	}
	if strings.HasPrefix(s, "default=") {
		return parsedType{known: true, optional: true}
	}
	if s == "" || strings.EqualFold(s, "any") {
		return parsedType{known: true}
	}
	outer, inner := s, ""
	if i := strings.IndexAny(s, "[({<"); i > 0 && strings.ContainsRune("])}>", rune(s[len(s)-1])) {
		outer, inner = strings.TrimSpace(s[:i]), strings.TrimSpace(s[i+1:len(s)-1])
	}
	outer = outer[strings.LastIndexByte(outer, '.')+1:] // typing.List, java.util.ArrayList
	switch outer {
	case "Optional":
		t = parseType(inner)
		t.optional = true
		return t
	case "Union":
		t = parseType(firstOf(inner))
		t.optional = strings.Contains(inner, "None")
		return t
	}
	t.word = typeWord(outer)
	t.known = t.word != ""
	switch {
	case t.word == "array" && inner != "":
		t.item = firstOf(inner)
	case strings.EqualFold(outer, "float"):
		t.format = "float"
	case strings.EqualFold(outer, "double"):
		t.format = "double"
	}
	return t
}

// firstOf returns the text before the first comma that no bracket encloses.
func firstOf(s string) string {
	if i := topComma(s); i >= 0 {
		s = s[:i]
	}
	return strings.TrimSpace(s)
}

// topComma returns the place of the first comma that no bracket encloses, or
// -1.
func topComma(s string) int {
	depth := 0
	for i, c := range []byte(s) {
		switch c {
		case '[', '(', '{', '<':
			depth++
		case ']', ')', '}', '>':
			depth--
		case ',':
			if depth == 0 {
				return i
			}
		}
	}
	return -1
}

// members returns t as members of a schema, none if every type fits.
func (t parsedType) members() []qaoa.Member {
	if t.word == "" {
		return nil
	}
	out := []qaoa.Member{{Name: "type", Value: qaoa.StringValue(t.word)}}
	if t.format != "" {
		out = append(out, qaoa.Member{Name: "format", Value: qaoa.StringValue(t.format)})
	}
	if item := parseType(t.item); t.item != "" && item.word != "" {
		out = append(out, qaoa.Member{Name: "items", Value: qaoa.ObjectValue(item.members()...)})
	}
	return out
}

// typeMembers returns the type v of a schema as members. A list of types stays
// a list, unless one of them fits everything.
func typeMembers(v qaoa.Value) []qaoa.Member {
	switch v.Kind {
	case qaoa.String:
		return parseType(v.Text).members()
	case qaoa.Array:
		var words []qaoa.Value
		for _, item := range v.Items {
			word := parseType(item.Text).word
			if item.Kind != qaoa.String || word == "" {
				return nil
			}
			if !containsText(words, word) {
				words = append(words, qaoa.StringValue(word))
			}
		}
		if len(words) > 0 {
			return []qaoa.Member{{Name: "type", Value: qaoa.ArrayValue(words...)}}
		}
	}
	return nil
}

// containsText reports whether one of the strings in list is s.
func containsText(list []qaoa.Value, s string) bool {
	for _, v := range list {
		if v.Text == s {
			return true
		}
	}
	return false
}
