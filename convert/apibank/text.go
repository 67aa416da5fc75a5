package apibank

import (
	"fmt"
	"strings"

	"assay/convert"
	"assay/internal/pylit"
	"assay/qaoa"
)

// requestMark begins a line with a request.
const requestMark = "API-Request:"

// fromText converts an element of the batch files.
func fromText(v qaoa.Value, b *builder) (qaoa.Record, *convert.Reject) {
	var rec qaoa.Record
	sample, _ := v.Get("sample_id")
	api, _ := v.Get("api_id")
	input, rej := convert.Field(v, "", "input", qaoa.String)
	if rej != nil {
		return rec, rej
	}
	output, rej := convert.Field(v, "", "output", qaoa.String)
	if rej != nil {
		return rec, rej
	}
	query, rej := b.readDialogue(input.Text)
	if rej != nil {
		return rec, rej
	}
	turn := qaoa.Turn{Query: query}
	meta := qaoa.ObjectValue(qaoa.Member{Name: "sample_id", Value: sample}, qaoa.Member{Name: "api_id", Value: api})
	gold, isRequest := strings.CutPrefix(strings.TrimSpace(output.Text), requestMark)
	if isRequest {
		rec.ID = fmt.Sprintf("request-%s-%s", sample.Text, api.Text)
		name, args, err := parseRequest(gold)
		if err != nil {
			return rec, convert.Rejectf(convert.BadCallJSON, "/output", "%v", err)
		}
		if name == searcher {
			return rec, convert.Rejectf(convert.IrrelevantType, "/output", "the request is a search of tools")
		}
		if h := history(b.steps); len(h.Items) > 0 {
			meta.Members = append(meta.Members, qaoa.Member{Name: "history", Value: h})
		}
		b.steps = nil
		b.call(name, args, "")
	} else {
		rec.ID = fmt.Sprintf("dialogue-%s", sample.Text)
		turn.Answer = output.Text
	}
	if len(b.steps) == 0 {
		return rec, convert.Rejectf(convert.NoCall, "/input", "want a call besides searches of tools, have none")
	}
	rec.Tools = b.tools()
	turn.Steps = b.finish()
	rec.Turns = []qaoa.Turn{turn}
	rec.Meta = meta.JSON()
	return rec, nil
}

// readDialogue reads the lines of a prompt: what the user says, and requests
// with their results. A line that begins in no known way continues the one
// before; what stands before the user are descriptions of tools.
func (b *builder) readDialogue(text string) (query string, rej *convert.Reject) {
	var user []string
	for _, part := range splitDialogue(text) {
		if said, ok := strings.CutPrefix(part, "User:"); ok {
			user = append(user, strings.TrimSpace(said))
			continue
		}
		request, ok := strings.CutPrefix(part, requestMark)
		if !ok {
			continue
		}
		request, result, answered := strings.Cut(request, ")]->")
		if answered {
			request += ")]"
		}
		name, args, err := parseRequest(request)
		if err != nil {
			return "", convert.Rejectf(convert.BadCallJSON, "/input", "%v", err)
		}
		tree, err := pylit.Parse(result)
		if err != nil || tree.Kind != qaoa.Object {
			// The result is only shown, so its text is as good.
			tree = qaoa.ObjectValue(qaoa.Member{Name: "output", Value: qaoa.StringValue(strings.TrimSpace(result))})
		}
		if name != searcher {
			b.call(name, args, observation(tree))
			continue
		}
		tool, _ := tree.Get("output")
		if err := b.found(tool); err != nil {
			return "", convert.Rejectf(convert.ParseError, "/input", "result of a search: %v", err)
		}
	}
	return strings.Join(user, "\n"), nil
}

// splitDialogue cuts text before the lines that begin with a speaker.
func splitDialogue(text string) []string {
	var parts []string
	for line := range strings.Lines(text) {
		begins := false
		for _, mark := range []string{"User:", "AI:", requestMark, "Generate "} {
			begins = begins || strings.HasPrefix(line, mark)
		}
		if begins || parts == nil {
			parts = append(parts, line)
			continue
		}
		parts[len(parts)-1] += line
	}
	return parts
}

// history returns calls that were made before a request.
func history(steps []qaoa.Step) qaoa.Value {
	out := qaoa.ArrayValue()
	for _, s := range steps {
		args, err := s.Calls[0].Arguments.Value()
		if err != nil {
			continue // cannot be: it was made from a value
		}
		out.Items = append(out.Items, qaoa.ObjectValue(
			qaoa.Member{Name: "name", Value: qaoa.StringValue(s.Calls[0].Name)},
			qaoa.Member{Name: "arguments", Value: args},
			qaoa.Member{Name: "observation", Value: qaoa.StringValue(s.Observations[0])},
		))
	}
	return out
}

// parseRequest reads [Name(key='value', …)]. The publisher writes a list in
// quotes without escaping those inside (who='['Mary', 'Peter']'), which is no
// Python; such a request is cut at the commas outside of brackets that a name
// and an equals sign follow, and one pair of quotes is taken off each value,
// whose text is kept as it is.
func parseRequest(s string) (name string, args qaoa.Value, err error) {
	s = strings.TrimSpace(s)
	if calls, err := pylit.ParseCalls(s); err == nil && len(calls) == 1 && len(calls[0].Positional) == 0 {
		return calls[0].Name, asText(qaoa.ObjectValue(calls[0].Keywords...)), nil
	}
	inner, opened := strings.CutPrefix(s, "[")
	inner, closed := strings.CutSuffix(inner, ")]")
	if !opened || !closed {
		return "", args, fmt.Errorf("want a request as [Name(key='value')], have %.60q", s)
	}
	return parseTolerant(inner+")", func(value string) qaoa.Value { return qaoa.StringValue(unquote(value)) })
}

// parseTyped reads Name(key='value', …), where a value is a Python literal or,
// as in place=New York, a text without quotes. Strictly tells that it is Python.
func parseTyped(s string) (name string, args qaoa.Value, strictly bool, err error) {
	if call, err := pylit.ParseCall(s); err == nil && len(call.Positional) == 0 {
		return call.Name, qaoa.ObjectValue(call.Keywords...), true, nil
	}
	name, args, err = parseTolerant(s, func(value string) qaoa.Value {
		if v, err := pylit.Parse(value); err == nil {
			return v
		}
		return qaoa.StringValue(unquote(value))
	})
	return name, args, false, err
}

// parseTolerant reads Name(key=value, …) whose values are whatever read makes
// of their text.
func parseTolerant(s string, read func(value string) qaoa.Value) (name string, args qaoa.Value, err error) {
	name, body, ok := strings.Cut(s, "(")
	body, closed := strings.CutSuffix(body, ")")
	name = strings.TrimSpace(name)
	if !ok || !closed || name == "" || strings.ContainsAny(name, " '\"=,[]") {
		return "", args, fmt.Errorf("want a request as [Name(key='value')], have %.60q", s)
	}
	args = qaoa.ObjectValue()
	for _, piece := range splitArguments(body) {
		key, value, ok := strings.Cut(piece, "=")
		if !ok || !beginsArgument(piece) {
			return "", args, fmt.Errorf("want key='value' in a request, have %.60q", piece)
		}
		args.Members = append(args.Members, qaoa.Member{
			Name: strings.TrimSpace(key), Value: read(strings.TrimSpace(value)),
		})
	}
	return name, args, nil
}

// splitArguments cuts s at the commas before a keyword that are outside of
// brackets, or behind the closing quote of a value in quotes.
func splitArguments(s string) []string {
	var pieces []string
	depth, start := 0, 0
	quote := openingQuote(s)
	for i := range len(s) {
		if quote != 0 {
			if s[i] == ',' && beginsArgument(s[i+1:]) && closesValue(s[start:i], quote) {
				pieces = append(pieces, s[start:i])
				depth, start, quote = 0, i+1, openingQuote(s[i+1:])
			}
			continue
		}
		switch s[i] {
		case '[', '(', '{':
			depth++
		case ']', ')', '}':
			depth = max(depth-1, 0)
		case ',':
			if depth == 0 && beginsArgument(s[i+1:]) {
				pieces = append(pieces, s[start:i])
				start, quote = i+1, openingQuote(s[i+1:])
			}
		}
	}
	if last := s[start:]; strings.TrimSpace(last) != "" {
		pieces = append(pieces, last)
	}
	return pieces
}

// openingQuote returns the quote that the value of the argument at the start of
// s begins with, or 0.
func openingQuote(s string) byte {
	_, value, ok := strings.Cut(s[:min(len(s), maxKeyword)], "=")
	value = strings.TrimLeft(value, " \t\r\n")
	if !ok || value == "" || value[0] != '\'' && value[0] != '"' {
		return 0
	}
	return value[0]
}

// closesValue reports whether the argument in s ends in the quote that its
// value begins with.
func closesValue(s string, quote byte) bool {
	s = strings.TrimRight(s, " \t\r\n")
	_, value, _ := strings.Cut(s, "=")
	return s[len(s)-1] == quote && len(strings.TrimLeft(value, " \t\r\n")) > 1
}

// maxKeyword bounds how far a keyword is looked for, so that a text of commas
// takes linear time.
const maxKeyword = 128

// beginsArgument reports whether s begins with a name and an equals sign.
func beginsArgument(s string) bool {
	s = strings.TrimLeft(s[:min(len(s), maxKeyword)], " \t\r\n")
	n := 0
	for n < len(s) && (s[n] == '_' || 'a' <= s[n]|0x20 && s[n]|0x20 <= 'z' || n > 0 && '0' <= s[n] && s[n] <= '9') {
		n++
	}
	return n > 0 && strings.HasPrefix(strings.TrimLeft(s[n:], " \t\r\n"), "=")
}

// unquote takes off one pair of quotes.
func unquote(s string) string {
	if len(s) >= 2 && (s[0] == '\'' || s[0] == '"') && s[len(s)-1] == s[0] {
		return s[1 : len(s)-1]
	}
	return s
}
