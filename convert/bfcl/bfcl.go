package bfcl

import (
	"bytes"
	"context"
	"fmt"
	"path"
	"strings"
	"unicode/utf8"

	"assay/convert"
	"assay/qaoa"

	json "github.com/goccy/go-json"
)

// Source is the source "bfcl".
var Source = convert.Source{
	Name:    "bfcl",
	Kind:    convert.Test,
	Home:    "https://github.com/ShishirPatil/gorilla/tree/main/berkeley-function-call-leaderboard",
	Licence: "Apache-2.0",
	About:   "Berkeley Function Calling Leaderboard V3: single calls, parallel calls and multi-turn tasks",
	Files: []convert.File{
		{Glob: "possible_answer/BFCL_v*.json", Role: convert.Side, Note: "gold calls"},
		{Glob: "multi_turn_func_doc/*.json", Role: convert.Side, Note: "tools of the multi-turn classes"},
		{Glob: "BFCL_v*_format_sensitivity.json", Role: convert.Trap, Note: "a list of ids; convert the other BFCL_v4_*.json files"},
		{Glob: "BFCL_v*_memory*.json", Role: convert.Extra, Note: "version 4, rejected: needs its own back end"},
		{Glob: "BFCL_v*_web_search*.json", Role: convert.Extra, Note: "version 4, rejected: needs the web"},
		{Glob: "BFCL_v*.json", Role: convert.Records, Note: "questions of one category"},
	},
	Open: open,
}

// A group is what the categories of BFCL have in common.
type group int

const (
	unknown    group = iota // not a category of version 3
	single                  // functions in the element, gold as alternatives
	multi                   // classes, gold as Python calls
	irrelevant              // no call is right
	missFunc                // has turns without a user message
)

// groups maps each category of version 3 to its group.
var groups = map[string]group{
	"simple": single, "java": single, "javascript": single,
	"multiple": single, "parallel": single, "parallel_multiple": single,
	"live_simple": single, "live_multiple": single, "live_parallel": single, "live_parallel_multiple": single,
	"multi_turn_base": multi, "multi_turn_miss_param": multi, "multi_turn_long_context": multi,
	"irrelevance": irrelevant, "live_irrelevance": irrelevant, "live_relevance": irrelevant,
	"multi_turn_miss_func": missFunc,
}

// category returns the category that a file holds, by its name: simple for
// BFCL_v3_simple.json and for BFCL_v4_simple_python.json; "" for other names.
func category(file string) string {
	name := path.Base(file)
	for _, suffix := range []string{".gz", ".zst", ".json", ".jsonl"} {
		name = strings.TrimSuffix(name, suffix)
	}
	name, ok := strings.CutPrefix(name, "BFCL_v")
	_, name, found := strings.Cut(name, "_")
	if !ok || !found {
		return ""
	}
	switch name { // version 4 names the language of all three
	case "simple_python":
		return "simple"
	case "simple_java":
		return "java"
	case "simple_javascript":
		return "javascript"
	}
	return name
}

// A converter holds the side tables of one conversion.
type converter struct {
	strict   bool
	language string // name of the rule
	rule     func(text string) bool
	answers  map[string]map[string][]byte // file of questions → id → element of answers
	classes  map[string]map[string]class  // folder → name of the class
}

// open reads the answers of the files in in and the tools of the classes.
func open(ctx context.Context, in convert.Input) (convert.Func, error) {
	c := &converter{
		strict:   in.Options.Profile == convert.Strict,
		language: in.Options.Language,
		answers:  map[string]map[string][]byte{},
		classes:  map[string]map[string]class{},
	}
	if c.language == "" {
		c.language = "l1"
	}
	var err error
	if c.rule, err = convert.LanguageRule(c.language, ""); err != nil {
		return nil, err
	}
	for _, file := range in.Files {
		g := groups[category(file)]
		if g != single && g != multi {
			continue
		}
		dir := path.Dir(file)
		answers, err := readAnswers(ctx, in, path.Join(dir, "possible_answer", uncompressed(path.Base(file))))
		if err != nil {
			return nil, fmt.Errorf("%s: its gold calls are missing, fetch the folder possible_answer beside it: %w", file, err)
		}
		c.answers[file] = answers
		if g != multi || c.classes[dir] != nil {
			continue
		}
		if c.classes[dir], err = readClasses(ctx, in.FS, path.Join(dir, "multi_turn_func_doc")); err != nil {
			return nil, fmt.Errorf("%s: its tools are missing, fetch the folder multi_turn_func_doc beside it: %w", file, err)
		}
	}
	return c.convert, nil
}

// uncompressed returns name without the suffix of a compression.
func uncompressed(name string) string {
	return strings.TrimSuffix(strings.TrimSuffix(name, ".gz"), ".zst")
}

// readAnswers returns the elements of a file of gold calls by their ids.
func readAnswers(ctx context.Context, in convert.Input, name string) (map[string][]byte, error) {
	out := map[string][]byte{}
	for el, err := range convert.SideElements(ctx, in.FS, name) {
		if err != nil {
			return nil, err
		}
		v, rej := convert.ParseObject(el)
		if rej != nil {
			return nil, fmt.Errorf("%s: %s", el.Pos, rej.Detail)
		}
		id, _ := v.Get("id")
		if id.Text == "" {
			return nil, fmt.Errorf("%s: /id: want the id of a question", el.Pos)
		}
		if _, ok := out[id.Text]; ok {
			return nil, fmt.Errorf("%s: /id: %.60q was there before; want one element per question", el.Pos, id.Text)
		}
		out[id.Text] = el.Data
	}
	return out, nil
}

// convert is the Func of this source.
func (c *converter) convert(el convert.Element) ([]qaoa.Record, []*convert.Reject) {
	rec, rej := c.record(el)
	if rej != nil {
		return nil, []*convert.Reject{rej}
	}
	return []qaoa.Record{rec}, nil
}

// An outer is the first level of an element. Most elements are longer than what
// is read of them (functions that no call names, the state that a multi-turn
// task begins with), so the inner levels are parsed when they are needed.
type outer struct {
	ID              json.RawMessage `json:"id"`
	Question        json.RawMessage `json:"question"`
	Function        json.RawMessage `json:"function"`
	InvolvedClasses json.RawMessage `json:"involved_classes"`
	Path            json.RawMessage `json:"path"`
	InitialConfig   json.RawMessage `json:"initial_config"`
}

// field parses a member of the first level that must have a kind.
func field(raw json.RawMessage, name string, kind qaoa.Kind) (qaoa.Value, *convert.Reject) {
	v := qaoa.ObjectValue()
	if raw != nil {
		inner, err := qaoa.ParseValue(raw)
		if err != nil {
			return qaoa.Value{}, convert.Rejectf(convert.ParseError, "/"+name, "%v", err)
		}
		v.Members = []qaoa.Member{{Name: name, Value: inner}}
	}
	return convert.Field(v, "", name, kind)
}

// record converts one element.
func (c *converter) record(el convert.Element) (rec qaoa.Record, rej *convert.Reject) {
	var e element
	if err := json.Unmarshal(el.Data, &e.outer); err != nil || !bytes.HasPrefix(bytes.TrimLeft(el.Data, " \t\r\n"), []byte("{")) {
		return rec, convert.Rejectf(convert.ParseError, "", "want an object with id and question, have %.60q", el.Data)
	}
	id, rej := field(e.ID, "id", qaoa.String)
	if rej != nil {
		return rec, rej
	}
	defer func() {
		if rej != nil {
			rej.ID = id.Text
		}
	}()
	cat := category(el.Pos.File)
	g := groups[cat]
	switch g {
	case unknown:
		return rec, convert.Rejectf(convert.InvalidCategory, "", "want a category of version 3, by a file name such as BFCL_v3_simple.json, have %.60q", path.Base(el.Pos.File))
	case irrelevant:
		return rec, convert.Rejectf(convert.IrrelevantType, "", "no gold call exists in the category %s", cat)
	case missFunc:
		return rec, convert.Rejectf(convert.EmptyTurn, "/question", "the category %s has turns without a message", cat)
	}

	e.strict = c.strict
	if rej := e.readQuestion(); rej != nil {
		return rec, rej
	}
	data, ok := c.answers[el.Pos.File][id.Text]
	if !ok {
		return rec, convert.Rejectf(convert.NoCall, "/id", "no gold call exists under this id in possible_answer")
	}
	answer, err := qaoa.ParseValue(data)
	if err != nil {
		return rec, convert.Rejectf(convert.BadCallJSON, "", "the gold calls are %v", err)
	}
	truth, _ := answer.Get("ground_truth")
	if rej := c.foreign(&e, data, truth); rej != nil {
		return rec, rej
	}
	if g == single {
		rej = e.readSingle(truth)
	} else {
		rej = e.readMulti(truth, c.classes[path.Dir(el.Pos.File)])
	}
	if rej != nil {
		return rec, rej
	}
	meta, rej := e.meta(cat)
	if rej != nil {
		return rec, rej
	}
	rec = qaoa.Record{ID: id.Text, Tools: e.tools, Turns: e.turns, System: e.system, Meta: meta}
	if c.strict {
		rej = convert.CheckStrict(rec)
	}
	return rec, rej
}

// foreign returns a reject if the element breaks the language rule. Data is the
// text that holds truth.
func (c *converter) foreign(e *element, data []byte, truth qaoa.Value) *convert.Reject {
	switch c.language {
	case "off":
		return nil
	case "l2":
		for i, t := range e.turns {
			if c.rule(t.Query) {
				return convert.Rejectf(convert.NonEnglish, fmt.Sprintf("/question/%d", i), "the user's messages break the language rule l2: %.60q", t.Query)
			}
		}
		return nil
	}
	if ascii(e.Question) && ascii(e.Function) && ascii(data) {
		return nil
	}
	var function qaoa.Value
	if e.Function != nil {
		var err error
		if function, err = qaoa.ParseValue(e.Function); err != nil {
			return convert.Rejectf(convert.ParseError, "/function", "%v", err)
		}
	}
	for _, part := range []struct {
		name, path string
		v          qaoa.Value
	}{{"messages", "/question", e.question}, {"functions", "/function", function}, {"gold calls", "", truth}} {
		if text, found := findText(part.v, c.rule); found {
			return convert.Rejectf(convert.NonEnglish, part.path, "the %s break the language rule %s: %.60q", part.name, c.language, text)
		}
	}
	return nil
}

// ascii reports whether the JSON text has no character outside of ASCII, not
// even an escaped one. It may err on the side of false.
func ascii(text []byte) bool {
	for _, c := range text {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return !bytes.Contains(text, []byte(`\u`))
}

// findText returns the first string in v, keys included, that bad holds for.
func findText(v qaoa.Value, bad func(string) bool) (string, bool) {
	if v.Kind == qaoa.String && bad(v.Text) {
		return v.Text, true
	}
	for _, item := range v.Items {
		if s, ok := findText(item, bad); ok {
			return s, true
		}
	}
	for _, m := range v.Members {
		if bad(m.Name) {
			return m.Name, true
		}
		if s, ok := findText(m.Value, bad); ok {
			return s, true
		}
	}
	return "", false
}

// An element is one question on its way to a record.
type element struct {
	outer
	strict       bool
	question     qaoa.Value
	system       string
	turns        []qaoa.Turn
	tools        []qaoa.Tool
	offered      map[string]bool
	alternatives []qaoa.Value // one per call of a single-turn question
	surplus      []qaoa.Value // gold turns beyond the last turn
}

// readQuestion fills turns with the user's messages, and system.
func (e *element) readQuestion() *convert.Reject {
	var rej *convert.Reject
	if e.question, rej = field(e.Question, "question", qaoa.Array); rej != nil {
		return rej
	}
	var system []string
	for i, turn := range e.question.Items {
		var user []string
		for j, msg := range turn.Items {
			p := fmt.Sprintf("/question/%d/%d", i, j)
			role, rej := convert.Field(msg, p, "role", qaoa.String)
			if rej != nil {
				return rej
			}
			content, rej := convert.Field(msg, p, "content", qaoa.String)
			if rej != nil {
				return rej
			}
			switch role.Text {
			case "user":
				user = append(user, content.Text)
			case "system":
				system = append(system, content.Text)
			default:
				return convert.Rejectf(convert.BadFlow, p+"/role", "want user or system, have %.60q", role.Text)
			}
		}
		if len(user) == 0 {
			return convert.Rejectf(convert.EmptyTurn, fmt.Sprintf("/question/%d", i), "want a message of the user, have none")
		}
		e.turns = append(e.turns, qaoa.Turn{Query: strings.Join(user, "\n")})
	}
	if len(e.turns) == 0 {
		return convert.Rejectf(convert.NoQuery, "/question", "want at least one turn, have none")
	}
	e.system = strings.Join(system, "\n")
	return nil
}

// meta returns what the source says beyond the record.
func (e *element) meta(category string) (qaoa.JSON, *convert.Reject) {
	dst := append([]byte(`{"category":`), qaoa.Quote(category)...)
	if e.alternatives != nil {
		dst = append(dst, `,"alternatives":`...)
		dst = qaoa.ArrayValue(e.alternatives...).Append(dst)
	}
	if e.surplus != nil {
		dst = append(dst, `,"surplus_gold":`...)
		dst = qaoa.ArrayValue(e.surplus...).Append(dst)
	}
	for _, part := range []struct {
		name string
		raw  json.RawMessage
	}{{"involved_classes", e.InvolvedClasses}, {"path", e.Path}, {"initial_config", e.InitialConfig}} {
		if part.raw == nil {
			continue
		}
		dst = append(append(append(dst, `,"`...), part.name...), `":`...)
		var err error
		if dst, err = qaoa.AppendCompact(dst, part.raw); err != nil {
			return "", convert.Rejectf(convert.ParseError, "/"+part.name, "%v", err)
		}
	}
	return qaoa.JSON(append(dst, '}')), nil
}

// offer adds the tool to those on offer, unless one of its name is there.
func (e *element) offer(t qaoa.Tool) {
	if e.offered[t.Name] {
		return
	}
	if e.offered == nil {
		e.offered = map[string]bool{}
	}
	e.offered[t.Name] = true
	e.tools = append(e.tools, t)
}
