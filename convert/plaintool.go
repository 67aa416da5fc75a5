package convert

import (
	"strings"

	"assay/qaoa"
)

// The plain readers make the tool of a raw text without a tree, where it has
// the form that nearly all have. They report false wherever [NormalizeTool]
// would have to think, and are tested to agree with it.

// plainTool reads {"name","description","parameters"}, in OpenAI's wrapper or
// without; parameters must be a JSON Schema that needs no change, or, if flat is
// set, a flat map of {"type","description","default"}, where what is not
// optional is required.
func plainTool(raw string, flat bool) (t qaoa.Tool, ok bool) {
	sound, params := true, ""
	object := qaoa.EachMember(raw, func(name, value string) bool {
		switch name {
		case "type":
			sound = value == `"function"`
		case "function":
			var inner qaoa.Tool
			if inner, sound = plainTool(value, flat); sound && t.Name == "" && params == "" {
				t = inner
				return true
			}
			sound = false
		case "name":
			sound = t.Name == ""
			if sound {
				t.Name, sound = qaoa.Unquote(value)
			}
		case "description":
			sound = t.Description == ""
			if sound {
				t.Description, sound = qaoa.Unquote(value)
			}
		case "parameters":
			sound = params == "" && t.Parameters == ""
			params = value
		default:
			sound = false
		}
		return sound
	})
	if !object || !sound || strings.TrimSpace(t.Name) == "" {
		return t, false
	}
	if t.Parameters != "" {
		return t, params == ""
	}
	if params == "" {
		return t, false
	}
	if flat {
		t.Parameters, ok = plainFlat(params)
	}
	if !ok {
		t.Parameters, ok = plainSchema(params)
	}
	return t, ok
}

// plainSchema returns the schema in raw if nothing but a list of required
// parameters, which is empty then, may have to be added to it.
func plainSchema(raw string) (qaoa.JSON, bool) {
	required, properties, typ := false, false, false
	sound := qaoa.EachMember(raw, func(name, value string) bool {
		switch name {
		case "type":
			typ = !typ && value == `"object"`
		case "properties":
			properties = !properties && strings.HasPrefix(value, "{")
		case "required":
			required = strings.HasPrefix(value, "[")
		}
		return true
	}) && typ && properties && unchanged(raw, 0)
	if !sound {
		return "", false
	}
	text, err := qaoa.Compact(raw)
	if err != nil {
		return "", false
	}
	if !required {
		text = text[:len(text)-1] + `,"required":[]}`
	}
	return text, true
}

// maxPlainDepth bounds the recursion, and the text that is read again and again
// by it.
const maxPlainDepth = 12

// unchanged reports whether the schema in raw is an object that normalizeAny
// leaves as it is.
func unchanged(raw string, depth int) bool {
	if depth > maxPlainDepth {
		return false
	}
	same := true
	seenRequired := false
	return qaoa.EachMember(raw, func(name, value string) bool {
		switch name {
		case "type":
			same = canonicalType(value)
		case "properties", "$defs", "definitions", "patternProperties":
			same = qaoa.EachMember(value, func(_, p string) bool {
				same = unchanged(p, depth+1)
				return same
			}) && same
		case "required":
			same = !seenRequired && qaoa.EachItem(value, func(item string) bool {
				same = item[0] == '"'
				return same
			}) && same
			seenRequired = true
		case "description":
			same = depth == 0 || !strings.HasPrefix(value, `"Required.`) && !strings.Contains(value[:min(len(value), 16)], `\u`)
		case "items", "additionalProperties", "not":
			same = value == "true" || value == "false" || unchanged(value, depth+1)
		case "anyOf", "oneOf", "allOf":
			same = qaoa.EachItem(value, func(item string) bool {
				same = unchanged(item, depth+1)
				return same
			}) && same
		}
		return same
	}) && same
}

// canonicalType reports whether raw is a type of JSON Schema.
func canonicalType(raw string) bool {
	switch raw {
	case `"string"`, `"integer"`, `"number"`, `"boolean"`, `"object"`, `"array"`, `"null"`:
		return true
	}
	return false
}

// plainFlat returns the schema of a flat map of parameters.
func plainFlat(raw string) (qaoa.JSON, bool) {
	dst := make([]byte, 0, len(raw)+len(raw)/4+64)
	dst = append(dst, `{"type":"object","properties":{`...)
	var required [16]string
	names := required[:0]
	sound, first := true, true
	object := qaoa.EachMember(raw, func(name, value string) bool {
		switch name {
		case "type", "properties", "required", "items", "default", "example", "additionalProperties", "$defs", "definitions", "dependencies":
			sound = false // may be a schema
			return false
		}
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = append(qaoa.AppendQuote(dst, name), ':')
		var optional bool
		dst, optional, sound = appendFlatParameter(dst, value)
		if !optional {
			names = append(names, name)
		}
		return sound
	})
	if !object || !sound || first {
		return "", false
	}
	dst = append(dst, `},"required":[`...)
	for i, name := range names {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = qaoa.AppendQuote(dst, name)
	}
	return qaoa.JSON(append(dst, "]}"...)), true
}

// appendFlatParameter appends the schema of one parameter of a flat map.
func appendFlatParameter(dst []byte, raw string) (out []byte, optional, ok bool) {
	dst = append(dst, '{')
	start := len(dst)
	sound := true
	var seenType, seenDescription, seenDefault bool
	object := qaoa.EachMember(raw, func(name, value string) bool {
		if len(dst) > start {
			dst = append(dst, ',')
		}
		var err error
		switch name {
		case "description":
			sound = !seenDescription && value[0] == '"' && !strings.HasPrefix(value, `"Required.`) && !strings.Contains(value[:min(len(value), 16)], `\u`)
			seenDescription = true
			dst = append(dst, `"description":`...)
			dst, err = qaoa.AppendCompact(dst, value)
		case "default":
			sound = !seenDefault
			seenDefault, optional = true, true
			dst = append(dst, `"default":`...)
			dst, err = qaoa.AppendCompact(dst, value)
		case "type":
			var word string
			word, sound = qaoa.Unquote(value)
			sound = sound && !seenType
			seenType = true
			t := parseType(word)
			optional = optional || t.optional
			if t.word == "" {
				if len(dst) > start { // no type is made; the comma goes as well
					dst = dst[:len(dst)-1]
				}
				return sound
			}
			dst = appendMembers(dst, t.members())
		default:
			sound = false
		}
		sound = sound && err == nil
		return sound
	})
	if bytesEnd := dst[len(dst)-1]; bytesEnd == ',' {
		return dst, optional, false
	}
	return append(dst, '}'), optional, object && sound
}

// appendMembers appends members without the braces around them.
func appendMembers(dst []byte, members []qaoa.Member) []byte {
	for i, m := range members {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(qaoa.AppendQuote(dst, m.Name), ':')
		dst = m.Value.Append(dst)
	}
	return dst
}
