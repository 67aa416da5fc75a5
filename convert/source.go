package convert

import (
	"context"
	"fmt"
	"io/fs"

	"assay/internal/raw"
	"assay/qaoa"
)

// A Kind tells what the publisher made a source for.
type Kind string

// The kinds of sources, which are also the splits of their records.
const (
	Test  Kind = "test"
	Train Kind = "train"
)

// A Profile is a set of conversion rules.
type Profile string

const (
	// Paper reproduces the counts of the paper's Table 5, quirks included.
	Paper Profile = "paper"
	// Strict also wants object arguments, known argument names, required
	// arguments, no unresolved placeholder, and every called tool on offer.
	Strict Profile = "strict"
)

// An Element is one raw element, with its place.
type Element = raw.Element

// A Cell is one column of a row of a table.
type Cell = raw.Cell

// A Source is one public corpus or benchmark: facts, and a pure function.
// Containers, positions, ledgers, progress and parallelism are not its
// business.
type Source struct {
	Name    string // registry name, flag value, ID prefix: "api-bank-train"
	Kind    Kind
	Home    string // page of the publisher
	Licence string // SPDX identifier, or what the publisher says
	Gated   bool   // a download needs an account or an accepted licence
	About   string // one line for the listing
	// Files says what a download holds and what each file is for.
	Files []File

	// Vouches says that the function of this source checks elements itself. It
	// is called first with one whose Valid is false, and returns either what it
	// makes of it, having found all of it to be valid JSON, or nothing. Then the
	// element is checked, and it is called once more if that is valid.
	Vouches bool

	// Copies says that what the function of this source returns shares no memory
	// with the element, whose data are then overwritten by other elements.
	Copies bool

	// Cells says that the function of this source, which vouches and copies,
	// takes rows of tables as Cells too. Their JSON is made, and it is called
	// once more, when it makes nothing of them.
	Cells bool

	// Open returns the function that converts the elements of in. It reads
	// side tables (answers, tool lists), never records.
	Open func(ctx context.Context, in Input) (Func, error)
}

// A File is a pattern of file names of a source.
type File struct {
	// Glob is a path.Match pattern, matched against as many last parts of a
	// path as it has itself. A suffix .gz or .zst of the path means nothing.
	// Where several patterns match, the one with the most parts counts, and
	// among those the first.
	Glob   string
	Role   Role
	Note   string // what it holds, in a few words
	Layout Layout // how its elements are held together; Auto is by content
	// Columns are the columns of a Parquet file that the source reads, all if
	// empty: "name", "name|alias" where one of them must be there, "name?"
	// where it may be absent. A file without the others is an error. It means
	// nothing for other containers.
	Columns []string
}

// A Layout is how the elements of a file are held together.
type Layout = raw.Layout

// The layouts; see package raw for what each does.
const (
	Auto      = raw.Auto
	Lines     = raw.Lines
	ObjectMap = raw.ObjectMap
	Single    = raw.Single
	CSV       = raw.CSV
)

// A Role is what a file is for.
type Role string

const (
	// Records are converted when a folder is given.
	Records Role = "records"
	// Extra files hold records too, but are converted only when they are
	// named, since the paper does not count them.
	Extra Role = "extra"
	// Side tables are read by Open.
	Side Role = "side"
	// Trap files look like records and are not; naming one is an error.
	Trap Role = "trap"
)

// An Input is what a source may look at before the first element.
type Input struct {
	Root    string   // the input root as the user gave it, for messages
	FS      fs.FS    // the input root
	Files   []string // the files of records that will be converted, relative to FS
	Options Options
}

// Options are the choices of a conversion that a source may depend on. The
// zero value is the profile Paper with the language rule of the paper.
type Options struct {
	Profile  Profile // "" is Paper
	Language string  // "" (as the profile says), "l1", "l2", "cjk", "off"
	Tools    string  // a tool list outside of the input root, or ""
	// Map says which column of a CSV file has which role, as role → header.
	Map map[string]string
}

// A Func returns what one element makes: records, rejects, or both, but never
// nothing. An element that holds several instances (an API with its queries)
// makes an outcome for each, and each counts as read. A Func keeps nothing
// between calls and may be called from several goroutines at once.
//
// It sets everything of a record but Source.Name, Source.File, Source.Index
// and Source.Split, which the caller sets. An ID that is empty is made from
// the place of the element; one that is set is completed to <source>/<ID>.
type Func func(el Element) ([]qaoa.Record, []*Reject)

// A Reject is why one raw instance became no record. The stream goes on.
type Reject struct {
	Source string   // set by the caller of a Func
	Pos    qaoa.Pos // set by the caller of a Func
	ID     string   // the instance's own id, where it has one
	Stage  Stage    // set by the caller of a Func: StageConvert
	Code   Code     // the same in ledgers, reports and tests
	Path   string   // JSON Pointer to the culprit; "" is the whole element
	Detail string   // what was wanted and what is there
}

// Rejectf returns a Reject with that code, path and detail.
func Rejectf(code Code, path, format string, args ...any) *Reject {
	return &Reject{Code: code, Path: path, Detail: fmt.Sprintf(format, args...)}
}

// Error returns place, path, code and detail.
func (r *Reject) Error() string {
	s := ""
	if r.Pos.File != "" {
		s = r.Pos.String() + ": "
	}
	if r.ID != "" {
		s += r.ID + ": "
	}
	if r.Path != "" {
		s += r.Path + ": "
	}
	return s + string(r.Code) + ": " + r.Detail
}

// A Stage is the step of the chain that rejected an instance.
type Stage string

// The stages that write ledgers.
const (
	StageRead    Stage = "read"
	StageConvert Stage = "convert"
	StageFilter  Stage = "filter"
	StageDedup   Stage = "dedup"
)

// A Code is the reason of a reject, the same string in ledgers, reports and
// tests.
type Code string

// The codes, see the documentation of ledgers in README.md.
const (
	ParseError           Code = "parse_error"
	NoQuery              Code = "no_query"
	NoCall               Code = "no_call"
	BadCallJSON          Code = "bad_call_json"
	BadArgsJSON          Code = "bad_args_json"
	ArgumentsNotObject   Code = "arguments_not_object"
	UnknownTool          Code = "unknown_tool"
	UnknownArgument      Code = "unknown_argument"
	MissingRequired      Code = "missing_required"
	EmptyTools           Code = "empty_tools"
	EmptySchema          Code = "empty_schema"
	TemporalTool         Code = "temporal_tool"
	ToolNotInAllowlist   Code = "tool_not_in_allowlist"
	EmptyArguments       Code = "empty_arguments"
	DirectAnswer         Code = "direct_answer"
	BadFlow              Code = "bad_flow"
	IncompleteFlow       Code = "incomplete_flow"
	NonEnglish           Code = "non_english"
	InvalidCategory      Code = "invalid_category"
	IrrelevantType       Code = "irrelevant_type"
	EmptyTurn            Code = "empty_turn"
	MultiTurnSlotFilling Code = "multi_turn_slot_filling"
	NeedsUserTurns       Code = "needs_user_turns"
	UnresolvedPlace      Code = "unresolved_placeholder"
	Duplicate            Code = "duplicate"
	Contaminated         Code = "contaminated"
	TooLong              Code = "too_long"
	TooLarge             Code = "too_large"
)

// One returns the Func of a source whose elements hold one instance each:
// record returns it, or why there is none with as much of the ID as is known.
func One(record func(el Element) (qaoa.Record, *Reject)) Func {
	return func(el Element) ([]qaoa.Record, []*Reject) {
		rec, rej := record(el)
		if rej != nil {
			rej.ID = rec.ID
			return nil, []*Reject{rej}
		}
		return []qaoa.Record{rec}, nil
	}
}
