package preflight

// A Severity is what a finding means for the training run.
type Severity string

// The severities.
const (
	Lost  Severity = "lost"  // a row, or a part of it, is not trained on
	Wrong Severity = "wrong" // something else is trained than was written
	Note  Severity = "note"  // worth a look
)

// A Code is what was found.
type Code string

// The codes.
const (
	NotJSON         Code = "not_json"
	FileType        Code = "file_type"
	NoMessages      Code = "no_messages"
	OrderLaw        Code = "order_law"
	OddCount        Code = "odd_count"
	UnknownRole     Code = "unknown_role"
	BadContent      Code = "bad_content"
	BadTools        Code = "bad_tools"
	BadCall         Code = "bad_call_json"
	ToolsList       Code = "tools_list"
	TemplateError   Code = "template_error"
	ArrowType       Code = "arrow_type"
	OverLong        Code = "over_long"
	CutInCall       Code = "cut_in_call"
	CutInAnswer     Code = "cut_in_answer"
	CutInPrompt     Code = "cut_in_prompt"
	CutTurns        Code = "cut_turns"
	EmptyMask       Code = "empty_mask"
	DoubleEncoded   Code = "double_encoded"
	NullPadded      Code = "null_padded"
	ArrowNulls      Code = "arrow_nulls"
	PromptTrained   Code = "prompt_trained"
	CallNotTrained  Code = "call_not_trained"
	ToolsNotShown   Code = "tools_not_rendered"
	LossFlagIgnored Code = "loss_flag_ignored"
	SpecialInText   Code = "special_in_text"
	ToolsText       Code = "tools_text"
)

// A meaning explains a code.
type meaning struct {
	code     Code
	severity Severity
	// ends tells that the trainer stops with an error, drops that it leaves the
	// row out.
	ends, drops bool
	what        string // happens
	do          string
}

// meanings are all codes, the gravest first.
var meanings = []meaning{
	{NotJSON, Lost, true, false, "the row is no JSON object, and the file does not load", "write the shards anew"},
	{FileType, Lost, true, false, "the trainer does not load files of this type", "decompress the files, and keep one type"},
	{ArrowType, Lost, true, false, "a place holds two types, and the columns do not load", "write objects as JSON texts, or a newer format"},
	{BadTools, Lost, true, false, "tools are no JSON array", "write the JSON text of an array"},
	{ToolsList, Lost, true, false, "tools are a list where the trainer reads a text", "write the JSON text of the array"},
	{BadCall, Lost, true, false, "a call is no JSON with name and arguments", "write the JSON text of a call"},
	{BadContent, Lost, true, false, "a message has no text", "write an empty text"},
	{TemplateError, Lost, true, false, "the chat template refuses the row", "see the message of the template"},
	{NoMessages, Lost, false, true, "the column of messages is missing or empty", "map the columns, or write another format"},
	{OrderLaw, Lost, false, true, "messages do not alternate, and the row is skipped with a warning", "put an observation behind each function_call"},
	{OddCount, Lost, false, true, "the number of messages is odd, and the row is skipped with a warning", "end with gpt or function_call"},
	{UnknownRole, Lost, false, true, "a role has no meaning for the trainer", "map the roles, or write another format"},
	{OverLong, Lost, false, true, "the row is longer than the cutoff, and dropped", "raise the cutoff, or split at ends of turns"},
	{CutInCall, Lost, false, false, "the cut goes through a call: broken JSON is trained", "drop or split long rows before training"},
	{CutInAnswer, Lost, false, false, "the cut goes through an answer", "drop or split long rows before training"},
	{CutInPrompt, Lost, false, false, "the cut goes through what the model is to read", "drop or split long rows before training"},
	{CutTurns, Lost, false, false, "whole messages at the end are cut off", "drop or split long rows before training"},
	{EmptyMask, Lost, false, false, "no token is trained on", "see what the mask needs"},
	{DoubleEncoded, Wrong, false, false, "arguments are encoded twice: a string is trained where an object belongs", "write arguments as an object"},
	{NullPadded, Wrong, false, false, "nulls stand where other rows have members", "write objects as JSON texts"},
	{ArrowNulls, Wrong, false, false, "loading gives objects the members of all others, as nulls", "load with datasets' Json() feature, or write objects as JSON texts"},
	{PromptTrained, Wrong, false, false, "queries, tools and observations are trained on too", "set assistant_only_loss"},
	{CallNotTrained, Wrong, false, false, "a call is not trained on", "see the mask by --preview"},
	{ToolsNotShown, Wrong, false, false, "the template shows no tools", "use a template for tools"},
	{LossFlagIgnored, Wrong, false, false, "loss: false of a tool_call is ignored", "leave the message out"},
	{SpecialInText, Note, false, false, "a text holds a special token of the model, which becomes a control token", "escape it in the records"},
	{ToolsText, Note, false, false, "tools are a text where a list is documented", "write a list"},
}

func (c Code) meaning() meaning {
	for _, m := range meanings {
		if m.code == c {
			return m
		}
	}
	return meaning{code: c, severity: Note}
}

// Severity returns what the code means for the run.
func (c Code) Severity() Severity { return c.meaning().severity }

// Codes returns all codes, the gravest first.
func Codes() []Code {
	out := make([]Code, len(meanings))
	for i, m := range meanings {
		out[i] = m.code
	}
	return out
}

// A Finding is something about a row.
type Finding struct {
	Code   Code   `json:"code"`
	Path   string `json:"path,omitempty"` // JSON Pointer into the row; "" is the row
	Detail string `json:"detail"`
}

// An Outcome is what becomes of a row.
type Outcome string

// The outcomes.
const (
	Whole   Outcome = "whole"
	Cut     Outcome = "cut"
	Dropped Outcome = "dropped"
	Fails   Outcome = "fails" // the trainer stops
)

// A Row is what was found about one row.
type Row struct {
	ID      string  `json:"id"` // of the row; file and index if it has none
	File    string  `json:"file"`
	Index   int     `json:"index"`
	Outcome Outcome `json:"outcome"`
	// Tokens is the length of the row, Kept what is left of it, Trained what
	// of that is in the loss.
	Tokens    int       `json:"tokens"`
	Kept      int       `json:"kept"`
	Trained   int       `json:"trained"`
	Calls     int       `json:"calls"`
	CallsLost int       `json:"calls_lost"` // not wholly kept, or in a row that is not trained
	Findings  []Finding `json:"findings"`
}

func (r *Row) add(code Code, path, format string, args ...any) {
	r.Findings = append(r.Findings, Finding{code, path, sprintf(format, args...)})
	switch m := code.meaning(); {
	case m.ends:
		r.Outcome = Fails
	case m.drops && r.Outcome != Fails:
		r.Outcome = Dropped
	}
}

// has reports whether a code was found.
func (r *Row) has(code Code) bool {
	for _, f := range r.Findings {
		if f.Code == code {
			return true
		}
	}
	return false
}

// usable reports whether the row reaches the template.
func (r *Row) usable() bool { return r.Outcome != Fails && r.Outcome != Dropped }
