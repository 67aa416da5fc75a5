package qaoa

import (
	"fmt"
	"math/big"
	"strings"
)

// A Severity tells whether a [Finding] makes a record unusable.
type Severity string

// The severities.
const (
	Fault   Severity = "error"   // the record cannot be used
	Warning Severity = "warning" // counted
)

// The codes of findings, the same strings in ledgers, reports and tests.
const (
	NoQuery          = "no_query"
	CallMissing      = "no_call"
	EmptyTools       = "empty_tools"
	BadArguments     = "bad_arguments"
	UnknownTool      = "unknown_tool"
	MissingRequired  = "missing_required"
	UnknownArgument  = "unknown_argument"
	WrongType        = "wrong_type"
	ObservationCount = "observation_count"
	DuplicateCall    = "duplicate_call"
)

// A Finding is one thing that is wrong with a record.
type Finding struct {
	Code     string   `json:"code"`
	Severity Severity `json:"severity"`
	Path     string   `json:"path"` // JSON Pointer into the native form
	Detail   string   `json:"detail"`
}

// Validate returns every finding on rec, in the order of the record.
//
// Errors: no_query (a turn without text), no_call (no turn has a call),
// empty_tools (calls, but no tool on offer), bad_arguments (not an object),
// unknown_tool (the name is not on offer), observation_count (known
// observations, but not one for each call).
//
// Warnings: no_call on a turn while others have calls, missing_required,
// unknown_argument, wrong_type (top-level arguments against the schema of the
// first tool of that name), duplicate_call (equal name and arguments text
// within a turn). They are warnings because every public corpus has them in
// its gold, and a record with them can still be trained and scored on.
func Validate(rec Record) []Finding {
	v := &validator{tools: map[string]*toolSchema{}, rec: rec}
	total := 0
	for _, t := range rec.Turns {
		for _, s := range t.Steps {
			total += len(s.Calls)
		}
	}
	if total > 0 && len(rec.Tools) == 0 {
		v.add(EmptyTools, Fault, "/tools", "want the tools on offer, have none")
	}
	if total == 0 {
		v.add(CallMissing, Fault, "/turns", "want at least one call, have none")
	}
	for i, t := range rec.Turns {
		path := fmt.Sprintf("/turns/%d", i)
		if strings.TrimSpace(t.Query) == "" {
			v.add(NoQuery, Fault, path+"/query", "want the user's text, have none")
		}
		if total > 0 && t.Hop() == NoCall {
			v.add(CallMissing, Warning, path+"/steps", "no call in this turn")
		}
		v.turn(t, path)
	}
	return v.findings
}

// Usable reports whether no finding is an error.
func Usable(findings []Finding) bool {
	for _, f := range findings {
		if f.Severity == Fault {
			return false
		}
	}
	return true
}

type validator struct {
	rec      Record
	tools    map[string]*toolSchema // by name, nil for a name that is not on offer
	findings []Finding
}

func (v *validator) add(code string, sev Severity, path, format string, args ...any) {
	v.findings = append(v.findings, Finding{code, sev, path, fmt.Sprintf(format, args...)})
}

func (v *validator) turn(t Turn, path string) {
	seen := map[Call]bool{}
	for k, s := range t.Steps {
		at := fmt.Sprintf("%s/steps/%d", path, k)
		if len(s.Observations) != 0 && len(s.Observations) != len(s.Calls) {
			v.add(ObservationCount, Fault, at+"/observations", "want %d, one for each call, have %d", len(s.Calls), len(s.Observations))
		}
		for i, c := range s.Calls {
			callPath := fmt.Sprintf("%s/calls/%d", at, i)
			if seen[c] {
				v.add(DuplicateCall, Warning, callPath, "the turn has this call of %.60q already", c.Name)
			}
			seen[c] = true
			v.call(c, callPath)
		}
	}
}

func (v *validator) call(c Call, path string) {
	schema := v.schema(c.Name)
	if schema == nil && len(v.rec.Tools) > 0 {
		v.add(UnknownTool, Fault, path+"/name", "want the name of a tool on offer, have %.60q", c.Name)
	}
	args, err := c.Arguments.Value()
	if err != nil || (args.Kind != Object && args.Kind != Invalid) {
		v.add(BadArguments, Fault, path+"/arguments", "want an object, have %.60s", c.Arguments)
		return
	}
	if schema == nil {
		return
	}
	for _, name := range schema.required {
		if _, ok := args.Get(name); !ok {
			v.add(MissingRequired, Warning, path+"/arguments", "want the required argument %.60q, have none", name)
		}
	}
	for _, m := range args.Members {
		at := path + "/arguments/" + pointerToken(m.Name)
		prop, ok := schema.properties.Get(m.Name)
		if !ok {
			v.add(UnknownArgument, Warning, at, "want a parameter of %.60q, have %.60q", c.Name, m.Name)
			continue
		}
		if want, ok := typeMismatch(prop, m.Value); ok {
			v.add(WrongType, Warning, at, "want %s, have %.60s", want, m.Value.JSON())
		}
	}
}

// A toolSchema is what validation uses of the schema of a tool.
type toolSchema struct {
	properties Value
	required   []string
}

// schema returns the schema of the first tool of that name, or nil.
func (v *validator) schema(name string) *toolSchema {
	if s, ok := v.tools[name]; ok {
		return s
	}
	var s *toolSchema
	for _, t := range v.rec.Tools {
		if t.Name != name {
			continue
		}
		s = &toolSchema{}
		if params, err := t.Parameters.Value(); err == nil {
			s.properties, _ = params.Get("properties")
			req, _ := params.Get("required")
			for _, r := range req.Items {
				if r.Kind == String {
					s.required = append(s.required, r.Text)
				}
			}
		}
		break
	}
	v.tools[name] = s
	return s
}

// typeMismatch reports whether val is of none of the types that schema allows,
// and which those are. A schema without a type, or with a type that JSON
// Schema does not know, allows everything.
func typeMismatch(schema, val Value) (string, bool) {
	t, ok := schema.Get("type")
	if !ok {
		return "", false
	}
	types := []Value{t}
	if t.Kind == Array {
		types = t.Items
	}
	var names []string
	for _, t := range types {
		if t.Kind != String || allows(t.Text, val) {
			return "", false
		}
		names = append(names, t.Text)
	}
	return strings.Join(names, " or "), len(names) > 0
}

func allows(name string, v Value) bool {
	switch name {
	case "string":
		return v.Kind == String
	case "number":
		return v.Kind == Number
	case "integer":
		return v.Kind == Number && wholeNumber(v.Text)
	case "boolean":
		return v.Kind == Bool
	case "array":
		return v.Kind == Array
	case "object":
		return v.Kind == Object
	case "null":
		return v.Kind == Null
	}
	return true
}

// wholeNumber reports whether a JSON number literal is a whole number: 1, 1.0
// and 1e2 are.
func wholeNumber(text string) bool {
	if !strings.ContainsAny(text, ".eE") {
		return true
	}
	if i := strings.IndexAny(text, "eE"); i >= 0 && len(text)-i > 5 {
		return false // an exponent of four digits and more: not worth expanding
	}
	r, ok := new(big.Rat).SetString(text)
	return ok && r.IsInt()
}

// pointerToken escapes a member name for a JSON Pointer.
func pointerToken(name string) string {
	return strings.ReplaceAll(strings.ReplaceAll(name, "~", "~0"), "/", "~1")
}
