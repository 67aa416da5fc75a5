package filter

import (
	"fmt"
	"slices"
	"strings"

	"assay/convert"
	"assay/qaoa"
)

// A Filter decides which records are kept. The zero value is the profile
// Paper: of the benchmarks ACEBench, Seal-Tools, API-Bank and ToolAlpaca it
// keeps exactly what the paper's Table 5 counts.
//
// A Filter may be used by several goroutines at once.
type Filter struct {
	// Profile Strict also rejects what [convert.CheckStrict] does, arguments
	// with a placeholder ${…}, and records with meta.unresolved.
	Profile convert.Profile
	// SchemaFilter is the rule for tools without parameters.
	SchemaFilter SchemaFilter
	// Language is the language rule: "" or "off" for none, since the paper
	// applies one to BFCL only, at conversion; "l1" and "cjk" look at all text
	// of a record but its meta, "l2" at the queries.
	Language string
	// KeepTemporal turns the test for temporal words off.
	KeepTemporal bool
	// Allow, if not nil, holds the only tools that may be called.
	Allow map[Signature]struct{}
	// AllowNames, if not nil, holds the only names of tools that may be called,
	// without blanks around them, whatever the descriptions; [Names] makes it
	// of a list of signatures.
	AllowNames map[string]struct{}

	// The rest are rules that the paper's scripts apply to training corpora
	// only; [Training] has all of them.

	// AllTools applies the tests of tools (lists, temporal words, schema) to
	// every tool on offer and not only to those that are called. A tool without
	// a name is passed over.
	AllTools bool
	// DirectAnswer rejects a record without tools (empty_tools), and one with a
	// turn that is answered without a call (direct_answer).
	DirectAnswer bool
	// Flow rejects a record whose messages are not in order (bad_flow), which
	// stops in the middle (incomplete_flow), or whose calls cannot be read
	// (bad_call_json, bad_args_json); see [Filter.Check].
	Flow bool
	// EmptyArguments rejects a record with a call that has no arguments.
	EmptyArguments bool
}

// Training returns the rules that the paper's scripts apply to the training
// corpora (UniToolCall, appendix A), but for what needs a list of tools or a
// model: language cjk, [Metadata] as the schema filter, and AllTools,
// DirectAnswer, Flow and EmptyArguments.
func Training() Filter {
	return Filter{
		SchemaFilter: Metadata, Language: "cjk",
		AllTools: true, DirectAnswer: true, Flow: true, EmptyArguments: true,
	}
}

// A Signature is what tells tools apart (UniToolCall, appendix A.3): name and
// description, without blanks around them.
type Signature struct{ Name, Description string }

// SignatureOf returns the signature of a tool.
func SignatureOf(tool qaoa.Tool) Signature {
	return Signature{strings.TrimSpace(tool.Name), strings.TrimSpace(tool.Description)}
}

// Validate returns an error that names the right values if an option of f has
// none of them. Check takes an unknown value as the default.
func (f *Filter) Validate() error {
	for _, o := range []struct {
		name, have string
		want       []string
	}{
		{"profile", string(f.Profile), []string{string(convert.Paper), string(convert.Strict)}},
		{"schema filter", string(f.SchemaFilter), []string{string(Empty), string(Metadata), string(Off)}},
		{"language", f.Language, []string{"l1", "l2", "cjk", "off"}},
	} {
		if o.have != "" && !slices.Contains(o.want, o.have) {
			return fmt.Errorf("%s %q: want one of %s", o.name, o.have, strings.Join(o.want, ", "))
		}
	}
	return nil
}

// Check returns nil if rec is kept, else why it is not; the first of
//
//  1. non_english: the language rule;
//  2. with DirectAnswer, empty_tools: no tool is on offer; direct_answer: a
//     turn has an answer and no call;
//  3. no_call: a turn without a call;
//  4. with Flow, for each turn in order: bad_call_json: a call without a name;
//     bad_args_json: arguments that are a text, and that text is no JSON;
//     bad_flow: in a record with observations, a step has none and another
//     step or an answer follows it, or, in a record with answers, another turn
//     follows calls without an answer; incomplete_flow: in a record with
//     observations, a turn ends in a step without any, and has no answer;
//  5. with EmptyArguments, empty_arguments: a call has none, null or {};
//  6. for each call in order, and the tool on offer with its name (the first
//     one, if there are several): unknown_tool, tool_not_in_allowlist,
//     temporal_tool, empty_schema;
//  7. with AllTools, the last three for the other tools on offer;
//  8. in the profile Strict: arguments_not_object, unknown_argument,
//     missing_required, unresolved_placeholder.
//
// Without AllTools, tools that are on offer and not called do not matter. A
// record does not tell an observation that is missing from one that is empty,
// which is why Flow looks at what else there is: a corpus without any
// observation breaks no rule.
//
// The reject has its place, except for line and offset, which a record does not
// know.
func (f *Filter) Check(rec qaoa.Record) *convert.Reject {
	rej := f.check(rec)
	if rej != nil {
		rej.Source, rej.ID, rej.Stage = rec.Source.Name, rec.ID, convert.StageFilter
		rej.Pos = qaoa.Pos{File: rec.Source.File, Index: rec.Source.Index}
	}
	return rej
}

func (f *Filter) check(rec qaoa.Record) *convert.Reject {
	rules := []func(qaoa.Record) *convert.Reject{f.language, nil, calls, nil, nil, f.tools, nil, nil}
	if f.DirectAnswer {
		rules[1] = direct
	}
	if f.Flow {
		rules[3] = flow
	}
	if f.EmptyArguments {
		rules[4] = emptyArguments
	}
	if f.Profile == convert.Strict {
		rules[6], rules[7] = convert.CheckStrict, unresolved
	}
	for _, rule := range rules {
		if rule == nil {
			continue
		}
		if rej := rule(rec); rej != nil {
			return rej
		}
	}
	return nil
}

// calls returns why a record has a turn without a call.
func calls(rec qaoa.Record) *convert.Reject {
	for i, turn := range rec.Turns {
		if !hasCall(turn) {
			return convert.Rejectf(convert.NoCall, fmt.Sprintf("/turns/%d", i), "want a call in each turn, have none")
		}
	}
	if len(rec.Turns) == 0 {
		return convert.Rejectf(convert.NoCall, "/turns", "want a turn with a call, have none")
	}
	return nil
}

func hasCall(turn qaoa.Turn) bool {
	return slices.ContainsFunc(turn.Steps, func(s qaoa.Step) bool { return len(s.Calls) > 0 })
}

// tools returns why a called tool of rec, or with AllTools any, is not wanted.
func (f *Filter) tools(rec qaoa.Record) *convert.Reject {
	passed := make([]bool, len(rec.Tools)) // their calls need no second look
	for i, turn := range rec.Turns {
		for j, step := range turn.Steps {
			for k, call := range step.Calls {
				t := find(rec.Tools, call.Name)
				if t >= 0 && passed[t] {
					continue
				}
				path := fmt.Sprintf("/turns/%d/steps/%d/calls/%d/name", i, j, k)
				if t < 0 {
					return convert.Rejectf(convert.UnknownTool, path, "%.80q is not among the %d tools on offer", call.Name, len(rec.Tools))
				}
				if rej := f.CheckTool(rec.Tools[t]); rej != nil {
					rej.Path = path
					return rej
				}
				passed[t] = true
			}
		}
	}
	if !f.AllTools {
		return nil
	}
	for t, tool := range rec.Tools {
		if passed[t] || strings.TrimSpace(tool.Name) == "" {
			continue
		}
		if rej := f.CheckTool(tool); rej != nil {
			rej.Path = fmt.Sprintf("/tools/%d", t)
			return rej
		}
	}
	return nil
}

// CheckTool returns nil if conversations that call tool are kept, else why
// not: tool_not_in_allowlist, temporal_tool or empty_schema.
func (f *Filter) CheckTool(tool qaoa.Tool) *convert.Reject {
	if f.Allow != nil {
		if _, ok := f.Allow[SignatureOf(tool)]; !ok {
			return convert.Rejectf(convert.ToolNotInAllowlist, "", "%.80q with this description is not in the list", tool.Name)
		}
	}
	if f.AllowNames != nil {
		if _, ok := f.AllowNames[strings.TrimSpace(tool.Name)]; !ok {
			return convert.Rejectf(convert.ToolNotInAllowlist, "", "%.80q is not in the list of names", tool.Name)
		}
	}
	if f.KeepTemporal && f.SchemaFilter == Off {
		return nil
	}
	schema := schemaOf(tool)
	if !f.KeepTemporal {
		if where, word := (TemporalTest{}).find(tool.Description, schema); where != "" {
			return convert.Rejectf(convert.TemporalTool, "", "%.80q has the word %q in %.120s", tool.Name, word, where)
		}
	}
	if emptySchema(schema, f.SchemaFilter) {
		return convert.Rejectf(convert.EmptySchema, "", "%.80q has no parameters", tool.Name)
	}
	return nil
}

// find returns the index of the first tool with that name, or else of the
// first whose name differs only by blanks around it, or -1.
func find(tools []qaoa.Tool, name string) int {
	if i := slices.IndexFunc(tools, func(t qaoa.Tool) bool { return t.Name == name }); i >= 0 {
		return i
	}
	name = strings.TrimSpace(name)
	return slices.IndexFunc(tools, func(t qaoa.Tool) bool { return strings.TrimSpace(t.Name) == name })
}

// unresolved returns why a record has values that are not known.
func unresolved(rec qaoa.Record) *convert.Reject {
	for i, turn := range rec.Turns {
		for j, step := range turn.Steps {
			for k, call := range step.Calls {
				if _, rest, ok := strings.Cut(string(call.Arguments), "${"); ok && strings.Contains(rest, "}") {
					return convert.Rejectf(convert.UnresolvedPlace, fmt.Sprintf("/turns/%d/steps/%d/calls/%d/arguments", i, j, k),
						"want values, have a placeholder in %.120s", call.Arguments)
				}
			}
		}
	}
	if !strings.Contains(string(rec.Meta), `"unresolved"`) {
		return nil
	}
	meta, _ := rec.Meta.Value() // was checked where the record was read
	switch v, _ := meta.Get("unresolved"); {
	case v.Kind == qaoa.Invalid, v.Kind == qaoa.Null, v.Text == "false",
		v.Kind == qaoa.Array && len(v.Items) == 0, v.Kind == qaoa.Object && len(v.Members) == 0:
		return nil
	}
	return convert.Rejectf(convert.UnresolvedPlace, "/meta/unresolved", "want values, have places that the source left open")
}

// language returns why a record breaks the language rule.
func (f *Filter) language(rec qaoa.Record) *convert.Reject {
	var bad func(string) bool
	switch f.Language {
	case "l1":
		bad = convert.LanguageL1
	case "l2":
		bad = convert.LanguageL2
	case "cjk":
		bad = convert.LanguageCJK
	default:
		return nil
	}
	check := func(path string, texts ...string) *convert.Reject {
		for _, s := range texts {
			if bad(s) {
				return convert.Rejectf(convert.NonEnglish, path, "the text breaks the language rule %s: %.80q", f.Language, s)
			}
		}
		return nil
	}
	for i, turn := range rec.Turns {
		if rej := check(fmt.Sprintf("/turns/%d/query", i), turn.Query); rej != nil {
			return rej
		}
	}
	if f.Language == "l2" {
		return nil
	}
	if rej := check("/system", rec.System); rej != nil {
		return rej
	}
	for i, t := range rec.Tools {
		if rej := check(fmt.Sprintf("/tools/%d", i), t.Name, t.Description, string(t.Parameters), t.Category, t.Domain); rej != nil {
			return rej
		}
	}
	for i, turn := range rec.Turns {
		if rej := check(fmt.Sprintf("/turns/%d/answer", i), turn.Answer); rej != nil {
			return rej
		}
		for j, step := range turn.Steps {
			path := fmt.Sprintf("/turns/%d/steps/%d", i, j)
			for _, call := range step.Calls {
				if rej := check(path, call.Name, string(call.Arguments)); rej != nil {
					return rej
				}
			}
			if rej := check(path, step.Observations...); rej != nil {
				return rej
			}
		}
	}
	return nil
}
