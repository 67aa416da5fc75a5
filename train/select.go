package train

import (
	"context"
	"fmt"
	"iter"
	"runtime"
	"slices"
	"strings"
	"sync"

	"assay/contam"
	"assay/convert"
	"assay/dedup"
	"assay/internal/ordered"
	"assay/qaoa"
)

// The codes of records that a selection leaves out or reports, besides those of
// [qaoa.Validate] and convert.CheckStrict under Strict.
const (
	NotSelected   = "not_selected"   // by a filter of source, shape or numbers
	NonEnglish    = "non_english"    // by the language rule
	Duplicate     = "duplicate"      // the key of an earlier record
	NearDuplicate = "near_duplicate" // queries much like those of an earlier record
	NotInMixture  = "not_in_mixture" // not drawn, or of no group of the mixture
	// Contaminated and a level, such as contaminated_query.
	Contaminated = "contaminated_"
)

// A Range is a number from Min to Max, both included. Max 0 is no bound.
type Range struct{ Min, Max int }

func (r Range) holds(n int) bool { return n >= r.Min && (r.Max == 0 || n <= r.Max) }

// String returns the range as N, N- or N-M.
func (r Range) String() string {
	switch r.Max {
	case 0:
		return fmt.Sprintf("%d-", r.Min)
	case r.Min:
		return fmt.Sprint(r.Min)
	}
	return fmt.Sprintf("%d-%d", r.Min, r.Max)
}

// A Dedup says which repetitions a selection leaves out.
type Dedup string

// The kinds of repetitions.
const (
	DedupExact Dedup = "exact" // equal keys, see [dedup.RecordKey]
	DedupNear  Dedup = "near"  // these, and records whose queries resemble
	DedupOff   Dedup = "off"
)

// Selection says which records are taken. The zero value takes all but exact
// duplicates. A record is asked in the order of the fields, and the first
// reason counts.
type Selection struct {
	// Sources are the names of sources to take; empty takes all.
	Sources []string
	// Shapes are the shapes to take, as in [ShapeTerms]; empty takes all. A
	// record is taken if it has one of them.
	Shapes []string
	// Calls and Tools bound the numbers of calls and of tools on offer.
	Calls, Tools Range
	// Strict leaves out records with an error of [qaoa.Validate], and what the
	// strict profile of converters rejects: unknown, missing and misnamed
	// arguments.
	Strict bool
	// Language is a language rule (l1, l2, cjk); "" and "off" are none.
	Language string
	// Against holds the benchmarks that records are compared with; nil is
	// none. Contaminated says at which levels a hit leaves a record out; at
	// the others it is only reported.
	Against      *contam.Index
	Contaminated []contam.Level
	// Dedup is which repetitions are left out; "" is DedupExact. Of records
	// that repeat each other the first wins, so the order of inputs is their
	// priority. Threshold is the least similarity of near duplicates, in
	// (0,1]; 0 is 0.8.
	Dedup     Dedup
	Threshold float64
	// Workers is how many records are looked at at once; 0 is one per CPU. It
	// changes nothing.
	Workers int
	// OnDecision is called for each record that is left out, and for each hit
	// that is only reported, in the order of records. It may be nil.
	OnDecision func(Decision)
}

// A Decision is why a record was left out, or what was found about one that was
// taken.
type Decision struct {
	Reject
	Dropped bool `json:"dropped"`
	// Benchmark and Item say what a contaminated record shares something
	// with; Item is also the ID of the record that a duplicate repeats.
	Benchmark string `json:"benchmark,omitempty"`
	Item      string `json:"item,omitempty"`
}

// Selected counts what a selection did. Read = Taken + the sum of Dropped.
type Selected struct {
	Read    int            `json:"read"`
	Taken   int            `json:"taken"`
	Dropped map[string]int `json:"dropped"` // by code
	// Contaminated counts hits by level and benchmark, of records left out
	// and of those only reported.
	Contaminated map[contam.Level]map[string]int `json:"contaminated,omitempty"`
	// Against names the benchmarks, and DropLevels the levels that leave a
	// record out.
	Against    []string       `json:"against,omitempty"`
	DropLevels []contam.Level `json:"drop_levels,omitempty"`
	Dedup      Dedup          `json:"dedup"`
	Threshold  float64        `json:"threshold,omitempty"` // of near duplicates
	// Crowded is [dedup.Index.Crowded]; 0 means that no near duplicate was
	// missed for lack of room.
	Crowded int `json:"crowded,omitempty"`
}

// Check returns an error that says which option is out of its range, or nil.
func (s Selection) Check() error {
	_, err := s.complete()
	return err
}

func (s Selection) complete() (Selection, error) {
	fill(&s.Dedup, DedupExact)
	if s.Threshold == 0 {
		s.Threshold = 0.8
	}
	if s.Workers <= 0 {
		s.Workers = runtime.GOMAXPROCS(0)
	}
	for _, r := range []Range{s.Calls, s.Tools} {
		if r.Min < 0 || r.Max < 0 || r.Max != 0 && r.Max < r.Min {
			return s, fmt.Errorf("range %s: want MIN-MAX with 0 <= MIN <= MAX", r)
		}
	}
	for _, term := range s.Shapes {
		if err := checkTerm(term); err != nil {
			return s, err
		}
	}
	for _, l := range s.Contaminated {
		if !slices.Contains(contam.Levels(), l) {
			return s, fmt.Errorf("contamination level %q: want %s", l, oneOf(contam.Levels()))
		}
	}
	switch {
	case s.Dedup != DedupExact && s.Dedup != DedupNear && s.Dedup != DedupOff:
		return s, fmt.Errorf("dedup %q: want %s, %s or %s", s.Dedup, DedupExact, DedupNear, DedupOff)
	case s.Threshold < 0 || s.Threshold > 1:
		return s, fmt.Errorf("threshold %v of near duplicates: want more than 0 and at most 1", s.Threshold)
	}
	if _, err := convert.LanguageRule(s.Language, "off"); err != nil {
		return s, err
	}
	return s, nil
}

// A selector applies a selection to one stream.
type selector struct {
	Selection
	foreign func(text string) bool
	seen    *dedup.Index
	// sketchers holds *dedup.Sketcher, whose memory is worth reusing.
	sketchers sync.Pool
	count     Selected
	passed    func(id string) // told of each record before it is decided; may be nil
}

func newSelector(s Selection) (*selector, error) {
	s, err := s.complete()
	if err != nil {
		return nil, err
	}
	foreign, err := convert.LanguageRule(s.Language, "off")
	if err != nil {
		return nil, err
	}
	sel := &selector{Selection: s, foreign: foreign, seen: dedup.NewIndex(s.Threshold)}
	sel.count = Selected{Dropped: map[string]int{}, Dedup: s.Dedup}
	if s.Dedup == DedupNear {
		sel.count.Threshold = s.Threshold
	}
	if s.Against != nil {
		sel.count.Against = s.Against.Benchmarks()
		sel.count.DropLevels = s.Contaminated
		sel.count.Contaminated = map[contam.Level]map[string]int{}
	}
	return sel, nil
}

// A look is what can be said about a record by itself.
type look struct {
	rec    qaoa.Record
	reject *Reject
	hits   []contam.Hit
	key    dedup.Key
	sketch dedup.Sketch
}

func (l look) decision(code, path, detail, item string) Decision {
	return Decision{Reject: Reject{l.rec.ID, code, path, detail, l.rec.Source}, Item: item}
}

func (s *selector) look(rec qaoa.Record) look {
	l := look{rec: rec, reject: s.filter(rec)}
	if l.reject != nil {
		return l
	}
	if s.Against != nil {
		l.hits = s.Against.Check(rec)
	}
	if s.Dedup != DedupOff {
		l.key = dedup.RecordKey(rec)
	}
	if s.Dedup == DedupNear {
		queries := make([]string, len(rec.Turns))
		for i, t := range rec.Turns {
			queries[i] = t.Query
		}
		k, _ := s.sketchers.Get().(*dedup.Sketcher)
		if k == nil {
			k = new(dedup.Sketcher)
		}
		l.sketch = k.Sketch(queries...)
		s.sketchers.Put(k)
	}
	return l
}

// filter returns why a record is not taken, from the record alone.
func (s *selector) filter(rec qaoa.Record) *Reject {
	out := func(path, format string, args ...any) *Reject {
		return &Reject{ID: rec.ID, Code: NotSelected, Path: path, Detail: fmt.Sprintf(format, args...)}
	}
	calls := len(rec.Calls())
	switch {
	case len(s.Sources) > 0 && !slices.Contains(s.Sources, rec.Source.Name):
		return out("/source/name", "want one of %s, have %q", strings.Join(s.Sources, ", "), rec.Source.Name)
	case len(s.Shapes) > 0 && !slices.ContainsFunc(s.Shapes, func(t string) bool { return matchesTerm(t, shapeOf(rec)) }):
		return out("/turns", "want one of %s, have %s", strings.Join(s.Shapes, ", "), shapeOf(rec))
	case !s.Calls.holds(calls):
		return out("/turns", "want %s calls, have %d", s.Calls, calls)
	case !s.Tools.holds(len(rec.Tools)):
		return out("/tools", "want %s tools, have %d", s.Tools, len(rec.Tools))
	}
	if s.Strict {
		if rej := strict(rec); rej != nil {
			return rej
		}
	}
	var rej *convert.Reject
	if s.Language == "l2" {
		// The rule of queries, which may quote what the tools return.
		rej = convert.CheckLanguage(qaoa.Record{ID: rec.ID, Turns: queriesOnly(rec)}, s.foreign)
	} else if s.foreign != nil {
		rej = convert.CheckLanguage(rec, s.foreign)
	}
	if rej != nil {
		return &Reject{ID: rec.ID, Code: NonEnglish, Path: rej.Path, Detail: rej.Detail}
	}
	return nil
}

func queriesOnly(rec qaoa.Record) []qaoa.Turn {
	turns := make([]qaoa.Turn, len(rec.Turns))
	for i, t := range rec.Turns {
		turns[i].Query = t.Query
	}
	return turns
}

// strict returns the first error of a record.
func strict(rec qaoa.Record) *Reject {
	for _, f := range qaoa.Validate(rec) {
		if f.Severity == qaoa.Fault {
			return &Reject{ID: rec.ID, Code: f.Code, Path: f.Path, Detail: f.Detail}
		}
	}
	if rej := convert.CheckStrict(rec); rej != nil {
		return &Reject{ID: rec.ID, Code: string(rej.Code), Path: rej.Path, Detail: rej.Detail}
	}
	return nil
}

// records yields those of recs that are taken. Memory grows with what is taken,
// by under 512 bytes each.
func (s *selector) records(ctx context.Context, recs iter.Seq2[qaoa.Record, error]) iter.Seq2[qaoa.Record, error] {
	return func(yield func(qaoa.Record, error) bool) {
		for l, err := range ordered.Map(ctx, recs, s.Workers, s.look) {
			if err != nil {
				yield(qaoa.Record{}, err)
				return
			}
			if s.decide(l) && !yield(l.rec, nil) {
				return
			}
		}
	}
}

// decide reports whether a record is taken.
func (s *selector) decide(l look) bool {
	s.count.Read++
	if s.passed != nil {
		s.passed(l.rec.ID)
	}
	if l.reject != nil {
		return s.drop(l.decision(l.reject.Code, l.reject.Path, l.reject.Detail, ""))
	}
	if !s.clean(l) {
		return false
	}
	if s.Dedup != DedupOff {
		m, found := s.seen.Add(l.key, l.sketch, l.rec.ID)
		s.count.Crowded = s.seen.Crowded()
		switch {
		case found && m.Equal:
			return s.drop(l.decision(Duplicate, "", fmt.Sprintf("queries and calls of %s, which came first", m.ID), m.ID))
		case found:
			return s.drop(l.decision(NearDuplicate, "", fmt.Sprintf("similarity %.2f to the queries of %s, which came first", m.Jaccard, m.ID), m.ID))
		}
	}
	s.count.Taken++
	return true
}

// clean counts and tells the hits of a record, and reports whether none of them
// leaves it out. The record is dropped once, under the first level that does.
func (s *selector) clean(l look) bool {
	dropped := false
	for _, h := range l.hits {
		if s.count.Contaminated[h.Level] == nil {
			s.count.Contaminated[h.Level] = map[string]int{}
		}
		s.count.Contaminated[h.Level][h.Benchmark]++
		d := l.decision(Contaminated+string(h.Level), h.Path, fmt.Sprintf("%s, with %s of %s", h.Detail, h.Item, h.Benchmark), h.Item)
		d.Benchmark = h.Benchmark
		if !dropped && slices.Contains(s.Contaminated, h.Level) {
			dropped = true
			s.drop(d)
			continue
		}
		s.tell(d)
	}
	return !dropped
}

func (s *selector) drop(d Decision) bool {
	d.Dropped = true
	s.count.Dropped[d.Code]++
	s.tell(d)
	return false
}

func (s *selector) tell(d Decision) {
	if s.OnDecision != nil {
		s.OnDecision(d)
	}
}
