package toolset

import (
	"assay/qaoa"
)

// LabelledBySource is who made the labels of a tool whose category and domain
// came with it.
const LabelledBySource = "source"

// An Entry is a line of a pool file: a tool, and who said what category and
// domain it is of.
type Entry struct {
	Tool qaoa.Tool
	// LabelledBy is who made the labels: [LabelledBySource], the name of a
	// classifier or of a model; "" if there are none or nobody knows.
	LabelledBy string
	// Pos is where the tool was read. It is not part of the line.
	Pos qaoa.Pos
}

// AppendEntry appends e as a line of a pool file to dst, without the line
// break:
//
//	{"name","description","parameters"?,"category"?,"domain"?,"origin"?,"labelled_by"?}
func AppendEntry(dst []byte, e Entry) []byte {
	dst = qaoa.AppendTool(dst, e.Tool)
	if e.LabelledBy == "" {
		return dst
	}
	dst = append(dst[:len(dst)-1], `,"labelled_by":`...)
	return append(qaoa.AppendQuote(dst, e.LabelledBy), '}')
}

// DecodeEntry reads a line of a pool file. Parameters are taken as they are:
// use [Tools] for lists of other forms. Members beyond those of [AppendEntry]
// are ignored. Faults are of type *[qaoa.Error].
func DecodeEntry(data []byte) (Entry, error) {
	t, err := qaoa.DecodeTool(data)
	if err != nil {
		return Entry{}, err
	}
	e := Entry{Tool: t}
	v, err := qaoa.ParseValue(data)
	if err != nil {
		return Entry{}, err
	}
	e.LabelledBy = labeller(v, t)
	return e, nil
}

// labeller returns who made the labels of t, which was read from v.
func labeller(v qaoa.Value, t qaoa.Tool) string {
	if by, _ := v.Get("labelled_by"); by.Kind == qaoa.String && by.Text != "" {
		return by.Text
	}
	if t.Category != "" || t.Domain != "" {
		return LabelledBySource
	}
	return ""
}
