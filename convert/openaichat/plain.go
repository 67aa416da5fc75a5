package openaichat

import (
	"strconv"
	"strings"

	"assay/convert"
	"assay/qaoa"
)

// A message is one in the form that nearly all have, as raw JSON.
type message struct {
	role, content, calls, callID, name string
}

// addPlain adds a message without making a tree of it, and reports whether it
// did: one with other members, typed parts or unusual calls is for [addMessage],
// which does the same with every form.
func addPlain(chat *convert.Chat, item, path string) (done bool, rej *convert.Reject) {
	var m message
	plain := true
	object := qaoa.EachMember(item, func(name, value string) bool {
		switch name {
		case "role":
			m.role = value
		case "content":
			m.content = value
		case "tool_calls":
			m.calls = value
		case "tool_call_id":
			m.callID = value
		case "name":
			m.name = value
		case "weight": // of training, not of the conversation
		default:
			plain = value == "null" // as refusal and function_call mostly are
		}
		return plain
	})
	if !object || !plain {
		return false, nil
	}
	text, isText := qaoa.Unquote(m.content)
	switch {
	case m.role == `"assistant"`:
		if !isText && m.content != "" && m.content != "null" {
			return false, nil
		}
		return addAssistant(chat, text, m.calls, path)
	case !isText || m.calls != "":
		return false, nil
	}
	switch m.role {
	case `"user"`:
		chat.User(text)
	case `"system"`, `"developer"`:
		chat.System(text)
	case `"tool"`, `"function"`:
		name, okName := optional(m.name)
		id, okID := optional(m.callID)
		if !okName || !okID {
			return false, nil
		}
		chat.Observe(name, id, text)
	default:
		return false, nil
	}
	return true, nil
}

// optional returns the string in raw, "" if there is none or null.
func optional(raw string) (string, bool) {
	if raw == "" || raw == "null" {
		return "", true
	}
	return qaoa.Unquote(raw)
}

// addAssistant adds a message of the assistant. Its calls are all read before
// the first is added, so that nothing is added twice if one of them is unusual.
func addAssistant(chat *convert.Chat, text, raw, path string) (done bool, rej *convert.Reject) {
	type identified struct {
		call qaoa.Call
		id   string
	}
	var calls []identified
	if raw != "" && raw != "null" {
		sound := true
		array := qaoa.EachItem(raw, func(item string) bool {
			var c identified
			c.call, c.id, sound = plainCall(item)
			calls = append(calls, c)
			return sound
		})
		if !array || !sound {
			return false, nil
		}
	}
	if rej := chat.AssistantText(text, path+"/content"); rej != nil {
		return true, rej
	}
	for i, c := range calls {
		if rej := chat.Call(c.call, c.id, path+"/tool_calls/"+strconv.Itoa(i)); rej != nil {
			return true, rej
		}
	}
	return true, nil
}

// plainCall reads {"id":…,"type":"function","function":{"name":…,"arguments":…}},
// whose arguments are an object or the text of one.
func plainCall(item string) (call qaoa.Call, id string, ok bool) {
	sound := true
	object := qaoa.EachMember(item, func(name, value string) bool {
		switch name {
		case "id":
			id, sound = optional(value)
		case "type", "index":
		case "function":
			call, sound = plainFunction(value)
		default:
			sound = false
		}
		return sound
	})
	return call, id, object && sound && call.Name != ""
}

func plainFunction(text string) (call qaoa.Call, ok bool) {
	sound := true
	object := qaoa.EachMember(text, func(name, value string) bool {
		switch name {
		case "name":
			call.Name, sound = qaoa.Unquote(value)
		case "arguments":
			if inner, isText := qaoa.Unquote(value); isText {
				value = inner
			}
			var err error
			call.Arguments, err = qaoa.Compact(value)
			sound = err == nil && call.Arguments.Kind() == qaoa.Object
		default:
			sound = false
		}
		return sound
	})
	return call, object && sound && call.Arguments != "" && strings.TrimSpace(call.Name) != ""
}
