package openapi

import "strings"

// A Code says what a [Finding] is about: the same string in ledgers, reports
// and tests.
type Code string

// The codes of findings.
const (
	RemoteRef       Code = "remote_ref"        // a reference to another document; never fetched
	DanglingRef     Code = "dangling_ref"      // a reference to what is not there
	UnsupportedRef  Code = "unsupported_ref"   // a reference by anchor, or a dynamic one
	Recursive       Code = "recursive_schema"  // a schema that contains itself was cut
	TooLarge        Code = "schema_too_large"  // a schema was cut at Options.MaxSchema or MaxDepth
	Unmerged        Code = "allof_unmerged"    // the parts of an allOf contradict each other
	BadSchema       Code = "bad_schema"        // a schema that is none
	BadParameter    Code = "bad_parameter"     // a parameter that is none was left out
	Undeclared      Code = "undeclared"        // a variable of a path without a parameter was added
	BadOperation    Code = "bad_operation"     // an operation that is none was left out
	Renamed         Code = "renamed"           // a tool got another name, since its own was taken
	RenamedArgument Code = "renamed_argument"  // a property got the name of its place before its own
	Security        Code = "security_left_out" // a parameter that holds a key was left out
	OtherBody       Code = "other_body"        // a body that is not JSON
	Deprecated      Code = "deprecated"        // an operation was left out, because Options.SkipDeprecated is set
	UnsafeName      Code = "unsafe_name"       // names that servers with native tool calls refuse; one finding for all
)

// A Finding is one thing about a document that a user should know: something
// was left out, cut or renamed. It is no error: the tool is there all the same,
// unless the code says otherwise.
type Finding struct {
	Code   Code   `json:"code"`
	Path   string `json:"path"`   // JSON Pointer to the culprit in the document
	Detail string `json:"detail"` // what was wanted, what is there, what was done
}

// String returns path, code and detail.
func (f Finding) String() string { return f.Path + ": " + string(f.Code) + ": " + f.Detail }

// A place is where a value stands in the document. Places are made for every
// value that is looked at, so the text is made only when it is asked for.
type place struct {
	parent *place
	name   string
}

func (p *place) in(name string) *place { return &place{p, name} }

var escape = strings.NewReplacer("~", "~0", "/", "~1")

// String returns the JSON Pointer of p.
func (p *place) String() string {
	if p == nil || p.parent == nil {
		return ""
	}
	return p.parent.String() + "/" + escape.Replace(p.name)
}

// root is the place of the document.
var root = &place{}

// A log gathers findings, each once: a component that many operations use is
// looked at many times.
type log struct {
	findings []Finding
	seen     map[[2]string]bool
}

func (l *log) add(code Code, at *place, detail string) {
	path := at.String()
	key := [2]string{string(code), path}
	if l.seen[key] {
		return
	}
	l.seen[key] = true
	l.findings = append(l.findings, Finding{Code: code, Path: path, Detail: detail})
}
