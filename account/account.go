package account

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"assay/benchdata/paper"
	"assay/convert"
)

// A Count is a number of conversations, at least 0, or [Unknown].
type Count int

// Unknown is the Count of what the files do not tell.
const Unknown Count = -1

// MarshalJSON writes [Unknown] as null.
func (c Count) MarshalJSON() ([]byte, error) {
	if c < 0 {
		return []byte("null"), nil
	}
	return strconv.AppendInt(nil, int64(c), 10), nil
}

// An Account is what became of the elements of each source.
type Account struct {
	// Sources are in the order of the paper's Table 5, the others by name
	// behind them.
	Sources []Source `json:"sources"`
	// Steps are the summaries of steps that take records of any source, such
	// as the filter, by name.
	Steps []Step `json:"steps"`
	// Notes say where the files do not fit together.
	Notes []string `json:"notes"`
}

// A Source is one line of the account.
type Source struct {
	Name    string `json:"source"`  // registry name
	Dataset string `json:"dataset"` // the paper's name, "" if it has none
	Part    string `json:"part"`    // "train" or "test", "" if the paper does not count it

	Read      Count `json:"read"`      // instances; of the summaries of conversions
	Converted Count `json:"converted"` // records; likewise
	// Kept is how many records are left after all later steps. It is known if
	// Converted is, and a ledger of a later step names the source, or the
	// filter's summary has read as many records as all sources made.
	Kept Count `json:"kept"`

	PaperConverted Count `json:"paper_converted"` // as Table 5 prints it
	PaperKept      Count `json:"paper_kept"`      // likewise, misprints included

	// Converting counts the rejects of reading and converting: of the summaries,
	// or of the ledgers if there is no summary. Filtering counts those of later
	// steps, of the ledgers. The most frequent code comes first.
	Converting []CodeCount `json:"converting"`
	Filtering  []CodeCount `json:"filtering"`
}

// A CodeCount is how often a code was the reason of a reject.
type CodeCount struct {
	Stage convert.Stage `json:"stage,omitempty"` // "" where a summary tells it and no ledger does
	Code  convert.Code  `json:"code"`
	N     int           `json:"n"`
}

// A Step is the balance of a step that takes records of any source.
type Step struct {
	Name  string      `json:"step"` // "filter"
	Read  int         `json:"read"`
	Kept  int         `json:"kept"`
	Codes []CodeCount `json:"codes"`
}

// datasets maps the name of a source to the part and the name that the paper
// gives it in Table 5. The order is that of the table.
var datasets = []struct{ source, part, dataset string }{
	{"api-bank-train", "train", "API-Bank"},
	{"toolalpaca-train", "train", "ToolAlpaca"},
	{"toolhop", "train", "ToolHop"},
	{"apigen", "train", "APIGen"},
	{"seal-tools-train", "train", "Seal-Tools"},
	{"toucan", "train", "Toucan"},
	{"hermes", "train", "Tool-calling"},
	{"junaidjk", "train", "Junaidjk"},
	{"vikhr", "train", "Vikhrmodels"},
	{"mathandmagic", "train", "MathAndMagic"},
	{"bfcl", "test", "BFCL V3"},
	{"acebench", "test", "ACEBench"},
	{"seal-tools", "test", "Seal-Tools"},
	{"hammerbench", "test", "HammerBench"},
	{"complexfuncbench", "test", "ComplexFuncBench"},
	{"api-bank", "test", "API-Bank"},
	{"toolalpaca", "test", "ToolAlpaca"},
}

// A key is what rejects in ledgers are counted by.
type key struct {
	stage convert.Stage
	code  convert.Code
}

// A tally is what the files say of one name.
type tally struct {
	summed    bool // there is a summary
	read      int
	converted int
	codes     map[convert.Code]int // of the summaries
	lines     map[key]int          // of the ledgers
}

// early reports whether a stage comes before there is a record.
func early(stage convert.Stage) bool {
	return stage == convert.StageRead || stage == convert.StageConvert
}

// isStep reports whether a summary with that name is of a step that takes
// records of any source.
func isStep(name string) bool {
	return name == string(convert.StageFilter) || name == string(convert.StageDedup)
}

// lateOf returns how many rejects of later steps the ledgers hold.
func (t *tally) lateOf() (n int) {
	for k, count := range t.lines {
		if !early(k.stage) {
			n += count
		}
	}
	return n
}

// account makes the account of what was counted.
func account(tallies map[string]*tally) Account {
	a := Account{Sources: []Source{}, Steps: []Step{}, Notes: []string{}}
	made := 0
	for _, name := range slices.Sorted(maps.Keys(tallies)) {
		t := tallies[name]
		if t.summed && isStep(name) {
			a.Steps = append(a.Steps, Step{Name: name, Read: t.read, Kept: t.converted, Codes: counted(t.codes)})
			continue
		}
		made += t.converted
	}
	filtered := slices.IndexFunc(a.Steps, func(s Step) bool { return s.Name == string(convert.StageFilter) })
	fits := filtered >= 0 && a.Steps[filtered].readable() == made
	if filtered >= 0 && !fits {
		a.note("the filter has read %s records, and the conversions made %s: these are not the same runs, so nothing is said of what is kept of sources without a line in a ledger",
			commas(Count(a.Steps[filtered].readable())), commas(Count(made)))
	}
	add := func(name, part, dataset string) {
		if t := tallies[name]; t != nil && (!t.summed || !isStep(name)) {
			a.Sources = append(a.Sources, a.source(name, part, dataset, t, fits))
		}
	}
	for _, d := range datasets {
		add(d.source, d.part, d.dataset)
	}
	for _, name := range slices.Sorted(maps.Keys(tallies)) {
		if !slices.ContainsFunc(datasets, func(d struct{ source, part, dataset string }) bool { return d.source == name }) {
			add(name, "", "")
		}
	}
	a.checkSteps(tallies)
	return a
}

// source makes the line of one source. Filtered says that the filter has read
// what the conversions made.
func (a *Account) source(name, part, dataset string, t *tally, filtered bool) Source {
	s := Source{
		Name: name, Part: part, Dataset: dataset,
		Read: Unknown, Converted: Unknown, Kept: Unknown, PaperConverted: Unknown, PaperKept: Unknown,
		Converting: []CodeCount{}, Filtering: []CodeCount{},
	}
	for _, c := range paper.Table5() {
		if part != "" && c.Part == part && c.Dataset == dataset {
			s.PaperConverted, s.PaperKept = Count(c.Converted), Count(c.Filtered)
		}
	}
	earlyLines := 0
	for k, n := range t.lines {
		c := CodeCount{Stage: k.stage, Code: k.code, N: n}
		if early(k.stage) {
			s.Converting = append(s.Converting, c)
			earlyLines += n
		} else {
			s.Filtering = append(s.Filtering, c)
		}
	}
	if t.summed {
		s.Read, s.Converted = Count(t.read), Count(t.converted)
		// The ledger tells the stage too, so it is taken where it is complete.
		if rejected := t.read - t.converted; earlyLines != rejected {
			if earlyLines > 0 {
				a.note("%s: the ledgers hold %s rejects of its conversion, and the summaries %s: these are not the same runs, and the summaries are shown", printable(name), commas(Count(earlyLines)), commas(Count(rejected)))
			}
			s.Converting = counted(t.codes)
		}
		if late := t.lateOf(); late > t.converted {
			a.note("%s: later steps rejected %s of its records, and %s were made: these are not the same runs", printable(name), commas(Count(late)), commas(Count(t.converted)))
		} else if late > 0 || filtered {
			s.Kept = Count(t.converted - late)
		}
	}
	order(s.Converting)
	order(s.Filtering)
	return s
}

// readable returns how many records a step has read: what it could not read
// were none.
func (s Step) readable() int {
	n := s.Read
	for _, c := range s.Codes {
		if c.Code == convert.ParseError {
			n -= c.N
		}
	}
	return n
}

// checkSteps notes where the ledgers lack rejects that the summary of a step
// counts.
func (a *Account) checkSteps(tallies map[string]*tally) {
	for _, step := range a.Steps {
		lines := 0
		for name, t := range tallies {
			for k, n := range t.lines {
				// What the step could not read has its own name as the source.
				if string(k.stage) == step.Name || name == step.Name {
					lines += n
				}
			}
		}
		if rejected := step.Read - step.Kept; lines == rejected {
			continue
		} else if lines == 0 {
			a.note("%s: its summary counts %s rejects, and no ledger tells of which sources; name its ledger too", step.Name, commas(Count(rejected)))
		} else {
			a.note("%s: its summary counts %s rejects, and the ledgers hold %s", step.Name, commas(Count(rejected)), commas(Count(lines)))
		}
		// What is kept of each source is then not known.
		for i := range a.Sources {
			a.Sources[i].Kept = Unknown
		}
	}
}

func (a *Account) note(format string, args ...any) {
	a.Notes = append(a.Notes, fmt.Sprintf(format, args...))
}

// counted returns the codes of a summary, in order.
func counted(codes map[convert.Code]int) []CodeCount {
	out := []CodeCount{}
	for code, n := range codes {
		if n > 0 {
			out = append(out, CodeCount{Code: code, N: n})
		}
	}
	order(out)
	return out
}

// order puts the most frequent code first.
func order(codes []CodeCount) {
	slices.SortFunc(codes, func(x, y CodeCount) int {
		switch {
		case x.N != y.N:
			return y.N - x.N
		case x.Code != y.Code:
			return strings.Compare(string(x.Code), string(y.Code))
		}
		return strings.Compare(string(x.Stage), string(y.Stage))
	})
}
