package junaidjk

import (
	"fmt"
	"strings"
	"unicode"

	"assay/convert"
	"assay/qaoa"
)

// A role is what a column is for.
type role string

// The roles, which are also the keys of the option map.
const (
	chatRole     role = "chat"
	systemRole   role = "system"
	messagesRole role = "messages"
	callsRole    role = "calls"
	toolsRole    role = "tools"
	queryRole    role = "query"
	answerRole   role = "answer"
)

var roles = []role{chatRole, systemRole, messagesRole, callsRole, toolsRole, queryRole, answerRole}

// A column is a field of a row.
type column struct {
	header string
	value  qaoa.Value
}

// path returns the JSON Pointer to c.
func (c column) path() string {
	return "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(c.header)
}

// row returns the columns of v by their roles.
func (c *converter) row(v qaoa.Value) (map[role]column, *convert.Reject) {
	row := map[role]column{}
	if c.columns != nil {
		for r, header := range c.columns {
			val, ok := v.Get(header)
			if !ok {
				return nil, convert.Rejectf(convert.ParseError, "", "the map says that %s is the column %.40q; the row has %s", r, header, show(v))
			}
			row[r] = column{header, val}
		}
	} else {
		for _, m := range v.Members {
			r := roleOf(m.Value)
			if r == queryRole && row[queryRole].header != "" {
				r = answerRole
			}
			if r != "" && row[r].header == "" {
				row[r] = column{m.Name, m.Value}
			}
		}
	}
	has := func(r role) bool { return row[r].header != "" }
	if !has(chatRole) && !has(messagesRole) && (!has(queryRole) || !has(callsRole)) {
		if has(queryRole) && has(toolsRole) {
			return nil, convert.Rejectf(convert.NoCall, "", "want a column with calls, have %s", show(v))
		}
		return nil, convert.Rejectf(convert.ParseError, "",
			"want a column with a chat, with messages, or two with a query and calls, have %s; say which is which by the option map", show(v))
	}
	return row, nil
}

// roleOf tells what a column is for by its content, "" if it is for nothing.
// Any other text than those that are known is a query, or an answer.
func roleOf(v qaoa.Value) role {
	if v.Kind == qaoa.String {
		text := strings.TrimSpace(v.Text)
		lead := text[:min(len(text), 2000)]
		list := strings.HasPrefix(text, "[")
		switch {
		case !list && strings.Contains(text, "<functioncall>"), !list && strings.Contains(text, "FUNCTION RESPONSE"), strings.HasPrefix(text, "USER:"):
			return chatRole
		case strings.HasPrefix(text, "SYSTEM:"), strings.Contains(lead, "access to the following functions"):
			return systemRole
		case !list && !strings.HasPrefix(text, "{"):
			if strings.ContainsFunc(lead, unicode.IsLetter) {
				return queryRole
			}
			return ""
		}
		var rung convert.Rung
		if v, rung = convert.Decode(text); rung == convert.RungRaw {
			return queryRole
		}
	}
	first := v
	if v.Kind == qaoa.Array {
		if len(v.Items) == 0 {
			return ""
		}
		first = v.Items[0]
	}
	has := func(name string) bool { _, ok := first.Get(name); return ok }
	switch {
	case first.Kind != qaoa.Object:
		return ""
	case v.Kind == qaoa.Array && (has("from") || has("role")):
		return messagesRole
	case has("name") && has("arguments"):
		return callsRole
	case has("parameters"), has("function"):
		return toolsRole
	}
	return ""
}

// show lists the headers of a row, with what the columns begin with.
func show(v qaoa.Value) string {
	const most = 12
	var parts []string
	for i, m := range v.Members {
		if i == most {
			parts = append(parts, fmt.Sprintf("and %d more", len(v.Members)-most))
			break
		}
		parts = append(parts, fmt.Sprintf("%.30q: %.30q", m.Name, convert.ContentText(m.Value)))
	}
	if len(parts) == 0 {
		return "no columns"
	}
	return strings.Join(parts, ", ")
}
