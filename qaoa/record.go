package qaoa

import (
	"fmt"
	"strings"
)

// Schema is the name and version of the native form, the first member of
// every record written.
const Schema = "qaoa/1"

// A Record is one conversation.
type Record struct {
	// ID is unique within a data set and stable over runs:
	// <source>/<id of the source>, or <source>/<file without extension>#<index>.
	ID     string
	Source Source
	// Tools are the tools on offer in the order of the source. It is a
	// multiset: names may repeat, so it must never be keyed by name.
	Tools []Tool
	Turns []Turn // at least one
	// System is the source's own system text. It is data, and never shown to
	// a model unless asked for.
	System string
	// Meta is a JSON object with what else the source says (alternatives of
	// gold values, difficulty, reasoning …), or absent.
	Meta JSON
}

// A Source tells where a record comes from.
type Source struct {
	Name  string // registry name: "bfcl"
	File  string // path relative to the input root, with slashes
	Index int    // 0-based index of the raw element in that file
	Split string // "train" or "test"
}

// A Tool is one tool on offer.
type Tool struct {
	Name        string
	Description string
	Parameters  JSON // a JSON Schema object; absent if the source has none
	Category    string
	Domain      string
	Origin      string // of a tool in a pool: the corpus it came from
}

// A Turn is a user query, the steps that answer it, and the answer.
type Turn struct {
	Query  string
	Steps  []Step
	Answer string
}

// Calls returns the calls of all steps of t, in order.
func (t Turn) Calls() []Call {
	var calls []Call
	for _, s := range t.Steps {
		calls = append(calls, s.Calls...)
	}
	return calls
}

// A Step is a set of calls that are issued together, with what they returned.
type Step struct {
	Calls []Call // at least one
	// Observations has the length of Calls, or is nil when all are empty.
	Observations []string
}

// Observation returns what call i of s returned, "" if that is not known.
func (s Step) Observation(i int) string {
	if i < len(s.Observations) {
		return s.Observations[i]
	}
	return ""
}

// A Call is one call of a tool.
type Call struct {
	Name string
	// Arguments is a JSON object in all but a few records of the paper's
	// profile. Absent means none were given.
	Arguments JSON
	// Raw is the text of a predicted call that did not parse. When it is set,
	// Name and Arguments are empty, and the call matches nothing.
	Raw string
}

// A Prediction is what a model answered to a record.
type Prediction struct {
	ID     string // of the record
	Repeat int    // 0-based, for repeated runs
	Turns  []Turn // turns and steps may be empty
}

// A Pos is the place of a raw element.
type Pos struct {
	File   string // path relative to the input root, with slashes
	Line   int    // 1-based, of the first byte; 0 where lines mean nothing
	Index  int    // 0-based index of the element in the file
	Offset int64  // of the first byte, in the decompressed text
}

// String returns file:line, or file#index where lines mean nothing.
func (p Pos) String() string {
	if p.Line > 0 {
		return fmt.Sprintf("%s:%d", p.File, p.Line)
	}
	return fmt.Sprintf("%s#%d", p.File, p.Index)
}

// An Error is a fault in the structure of one element.
type Error struct {
	Pos  Pos    // zero until a reader of files sets it
	Path string // JSON Pointer to the culprit; "" is the whole element
	Msg  string // what was wanted and what is there
}

// Error returns place, record index, path and fault.
func (e *Error) Error() string {
	var b strings.Builder
	if e.Pos.File != "" {
		fmt.Fprintf(&b, "%s: record %d: ", e.Pos, e.Pos.Index)
	}
	if e.Path != "" {
		b.WriteString(e.Path + ": ")
	}
	b.WriteString(e.Msg)
	return b.String()
}
