package chat

import "assay/internal/jinja"

// VariablesJSON returns what templates are given, as JSON, for other renderers.
func VariablesJSON(c Conversation) (string, error) {
	messages, err := messageValues(c, &marker{})
	if err != nil {
		return "", err
	}
	d := jinja.NewDict()
	d.Set("messages", messages)
	d.Set("tools", nil)
	if len(c.Tools) > 0 {
		tools, err := toolValues(c.Tools, &marker{})
		if err != nil {
			return "", err
		}
		d.Set("tools", tools)
	}
	return jinja.ToJSON(d, "", 0)
}
