package filter

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"assay/qaoa"
)

// A TemporalRule says which words make a tool temporal.
type TemporalRule string

const (
	// PaperWords is [Temporal], the test that the paper's scripts apply. It
	// also finds "Use when the list is empty", "the second argument",
	// runtimeError and getSecondary.
	PaperWords TemporalRule = "paper"
	// RepairedWords is that test without its misfires. What it finds,
	// PaperWords finds too. Of what that one finds, it leaves out
	//
	//   - pieces of words: the keyword must be a whole word, where the parts of
	//     camel case are words (travelDate and ISODate still count, getTimeline
	//     and onWhenever do not);
	//   - "when" in running text: it counts in names of parameters only;
	//   - "second" as an ordinal: in names it counts as the last word
	//     (start_second), in running text after a number, "one" or "per", and
	//     as "second(s)".
	RepairedWords TemporalRule = "repaired"
)

// A TemporalTest tells whether a tool is temporal. The zero value is the
// paper's: its words, in parameters of the first level.
type TemporalTest struct {
	Rule TemporalRule // "" is PaperWords
	// Nested looks at parameters at every depth, also in the items of arrays,
	// in alternatives and in definitions.
	Nested bool
}

// Validate returns an error that names the rules if t has another.
func (t TemporalTest) Validate() error {
	if !slices.Contains([]TemporalRule{"", PaperWords, RepairedWords}, t.Rule) {
		return fmt.Errorf("temporal rule %q: want %s or %s", t.Rule, RepairedWords, PaperWords)
	}
	return nil
}

// Name returns the first temporal word in the name of a parameter, and whether
// there is one.
func (t TemporalTest) Name(text string) (word string, ok bool) {
	if t.Rule != RepairedWords {
		return temporalWord(text)
	}
	return findWord(text, func(text string, i, j int) bool {
		return counts(text, i, j) && wholeWord(text, i, j) && (!isSecond(text[i:j]) || lastWord(text[j:]))
	})
}

// Text returns the first temporal word in running text, such as a description,
// and whether there is one.
func (t TemporalTest) Text(text string) (word string, ok bool) {
	if t.Rule != RepairedWords {
		return temporalWord(text)
	}
	return findWord(text, func(text string, i, j int) bool {
		return counts(text, i, j) && wholeWord(text, i, j) &&
			!strings.EqualFold(text[i:j], "when") && (!isSecond(text[i:j]) || measured(text, i, j))
	})
}

func isSecond(word string) bool { return strings.EqualFold(word, "second") }

// wholeWord reports whether text[i:j] is a word, or a part of camel case.
func wholeWord(text string, i, j int) bool {
	before, _ := utf8.DecodeLastRuneInString(text[:i])
	after, _ := utf8.DecodeRuneInString(text[j:])
	start := i == 0 || !wordRune(before) ||
		isUpper(text[i]) && (isLower(text[i-1]) || isUpper(text[i-1]) && isLower(text[i+1]))
	end := j == len(text) || !wordRune(after) || isUpper(text[j]) && isLower(text[j-1])
	return start && end
}

func wordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }

// lastWord reports whether no letter is in rest.
func lastWord(rest string) bool { return !strings.ContainsFunc(rest, unicode.IsLetter) }

// measured reports whether the "second" at text[i:j] is a measure of time and
// no ordinal.
func measured(text string, i, j int) bool {
	if strings.HasPrefix(text[j:], "(s)") {
		return true
	}
	before := strings.TrimRight(text[:i], " -\t\r\n\u00a0")
	start := strings.LastIndexFunc(before, func(r rune) bool { return !wordRune(r) })
	switch word := strings.ToLower(before[start+1:]); word {
	case "one", "per":
		return true
	default:
		return word != "" && strings.Trim(word, "0123456789") == ""
	}
}

// ToolTemporal reports whether a tool is temporal by the paper's test: its
// description, the name or description of a parameter, or an entry of the list
// of required parameters is [Temporal]. The name of the tool and nested
// parameters do not count.
func ToolTemporal(tool qaoa.Tool) bool {
	where, _ := TemporalTest{}.Find(tool)
	return where != ""
}

// Find returns where the first temporal word of a tool is, in words, and the
// word; "" if there is none. The name of the tool is not looked at, since it
// is no input that anyone would have to resolve.
func (t TemporalTest) Find(tool qaoa.Tool) (where, word string) {
	return t.find(tool.Description, schemaOf(tool))
}

func (t TemporalTest) find(description string, schema qaoa.Value) (where, word string) {
	if w, ok := t.Text(description); ok {
		return "its description", w
	}
	return t.schema(schema, "")
}

// schema looks at the parameters of a schema, whose names begin with prefix.
func (t TemporalTest) schema(schema qaoa.Value, prefix string) (where, word string) {
	props, _ := schema.Get("properties")
	for _, p := range props.Members {
		if w, ok := t.Name(p.Name); ok {
			return "the name of " + theParameter(prefix), w
		}
		if d, _ := p.Value.Get("description"); d.Kind == qaoa.String {
			if w, ok := t.Text(d.Text); ok {
				return "the description of the parameter " + prefix + p.Name, w
			}
		}
	}
	required, _ := schema.Get("required")
	for _, r := range required.Items {
		if r.Kind != qaoa.String {
			continue
		}
		if w, ok := t.Name(r.Text); ok {
			return "the list of required parameters" + inside(prefix), w
		}
	}
	if !t.Nested {
		return "", ""
	}
	for _, p := range props.Members {
		if where, word := t.schema(p.Value, prefix+p.Name+"."); where != "" {
			return where, word
		}
	}
	for _, m := range schema.Members {
		if where, word := t.parts(m, prefix); where != "" {
			return where, word
		}
	}
	return "", ""
}

// parts looks at the schemas that are in a keyword of a schema.
func (t TemporalTest) parts(m qaoa.Member, prefix string) (where, word string) {
	var parts []qaoa.Value
	switch m.Name {
	case "items", "additionalProperties", "not", "if", "then", "else", "contains":
		parts = []qaoa.Value{m.Value}
		if m.Value.Kind == qaoa.Array { // one schema for each item
			parts = m.Value.Items
		}
	case "prefixItems", "anyOf", "oneOf", "allOf":
		parts = m.Value.Items
	case "$defs", "definitions", "patternProperties":
		for _, d := range m.Value.Members {
			parts = append(parts, d.Value)
		}
	}
	for _, p := range parts {
		if d, _ := p.Get("description"); d.Kind == qaoa.String {
			if w, ok := t.Text(d.Text); ok {
				return "a description" + inside(prefix), w
			}
		}
		if where, word := t.schema(p, prefix); where != "" {
			return where, word
		}
	}
	return "", ""
}

func theParameter(prefix string) string {
	if prefix == "" {
		return "a parameter"
	}
	return "a parameter" + inside(prefix)
}

func inside(prefix string) string {
	if prefix == "" {
		return ""
	}
	return " of " + strings.TrimSuffix(prefix, ".")
}
