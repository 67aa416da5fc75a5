package toolset

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"assay/convert"
	"assay/internal/ordered"
	"assay/qaoa"
)

// An Element is one element of an input of [Assemble]: JSON that holds tools, or
// tools that were read already.
type Element struct {
	Pos qaoa.Pos
	// Origin is the corpus of all its tools. "" takes what the tools or their
	// record say, and Fallback where they say nothing.
	Origin   string
	Fallback string
	Data     []byte
	Tools    []qaoa.Tool // instead of Data
	// Err is why the element could not be read: it counts and is reported as
	// one that holds no tool.
	Err error
}

// The codes of removals that package convert has none for.
const (
	// BadTool is a tool without a name, or with parameters that are none.
	BadTool convert.Code = "bad_tool"
	// DuplicateTool has the name and description of another.
	DuplicateTool convert.Code = "duplicate_tool"
	// SimilarTool is nearly the same text as another.
	SimilarTool convert.Code = "similar_tool"
)

// A Rival is the tool that another was removed for.
type Rival struct {
	Name   string
	Origin string
	Pos    qaoa.Pos
	// Similarity is the cosine of the two, 0 if they are equal.
	Similarity float64
}

// A Removal says why a tool, or an element without any, is not in the pool.
type Removal struct {
	Stage   Stage // "read" for an element
	Code    convert.Code
	Name    string // of the tool
	Origin  string
	Pos     qaoa.Pos
	Path    string // JSON Pointer to the tool in its element
	Detail  string
	Against *Rival // nil unless it lost against another tool
}

// maxQuoted bounds the bytes of a text in a ledger.
const maxQuoted = 200

// AppendRemoval appends r as a line of a ledger to dst, without the line break:
//
//	{"stage","code","name"?,"origin","file","index","path"?,"detail","against"?:{"name","origin","file","index","similarity"?}}
func AppendRemoval(dst []byte, r Removal) []byte {
	str := func(name, value string) {
		if len(value) > maxQuoted {
			value = strings.ToValidUTF8(value[:maxQuoted], "") + "…"
		}
		dst = append(append(append(dst, '"'), name...), `":`...)
		dst = append(qaoa.AppendQuote(dst, value), ',')
	}
	place := func(pos qaoa.Pos) {
		str("file", pos.File)
		dst = fmt.Appendf(dst, `"index":%d,`, pos.Index)
	}
	dst = append(dst, '{')
	str("stage", string(r.Stage))
	str("code", string(r.Code))
	if r.Name != "" {
		str("name", r.Name)
	}
	str("origin", r.Origin)
	place(r.Pos)
	if r.Path != "" {
		str("path", r.Path)
	}
	str("detail", r.Detail)
	if a := r.Against; a != nil {
		dst = append(dst, `"against":{`...)
		str("name", a.Name)
		str("origin", a.Origin)
		place(a.Pos)
		if a.Similarity != 0 {
			dst = fmt.Appendf(dst, `"similarity":%.6f,`, a.Similarity)
		}
		dst = append(dst[:len(dst)-1], '}', ',')
	}
	dst[len(dst)-1] = '}'
	return dst
}

// Assemble makes a pool of the tools in elements, by the stages of opt in their
// order (UniToolCall, appendix A.3). It calls removed, unless that is nil, for
// every tool that is lost and every element that holds none.
//
// Tools of protected origins have priority over all others; else those that
// were read earlier have. The pool is in that order. A tool that several
// origins share stays once, with the first of them. In the semantic stage the
// tools are taken in order of priority, and one is removed if its text (see
// [Key]) has a cosine above the threshold with one that stayed; a removed tool
// removes no other. The search is exact.
//
// Memory holds the tools that are left after the exact stage; without it, all
// that were read. An error of elements, of removed, of the source of vectors,
// or of ctx ends it.
func Assemble(ctx context.Context, elements iter.Seq2[Element, error], opt AssembleOptions, removed func(Removal) error) ([]Entry, Flow, error) {
	if err := opt.Check(); err != nil {
		return nil, Flow{}, err
	}
	if removed == nil {
		removed = func(Removal) error { return nil }
	}
	a := &assembler{opt: opt, removed: removed, flow: newFlow(opt), keys: map[string]int{}}
	if err := a.collect(ctx, elements); err != nil {
		return nil, Flow{}, err
	}
	a.prioritise()
	for _, s := range opt.running() {
		var err error
		switch s {
		case StageNormalise, StageExact: // done while reading
		case StageSemantic:
			err = a.semantic(ctx)
		default:
			err = a.each(ctx, s)
		}
		if err != nil {
			return nil, Flow{}, err
		}
	}
	return a.pool, a.flow.finished(opt.Protect), nil
}

type assembler struct {
	opt     AssembleOptions
	removed func(Removal) error
	flow    *flow
	pool    []Entry
	keys    map[string]int // Key to the place in pool
}

// A reading is what one element holds.
type reading struct {
	tools []Entry
	bad   []Removal // tools that are none
	none  error     // why there is none at all
	el    Element   // without its data
}

// read returns the tools in an element.
func (o AssembleOptions) read(el Element) reading {
	r := reading{el: el, none: el.Err}
	r.el.Data, r.el.Tools = nil, nil
	if el.Err != nil {
		return r
	}
	for _, t := range el.Tools {
		v := toolValue(t)
		r.add(o, Raw{Value: v, Origin: t.Origin})
	}
	if el.Tools != nil {
		return r
	}
	v, err := qaoa.ParseValue(el.Data)
	if err != nil {
		r.none = err
		return r
	}
	raws, err := Tools(v)
	for _, raw := range raws {
		r.add(o, raw)
	}
	r.none = err
	return r
}

// Entries returns the tools in el, normalised. The error has the place of what
// is no tool; the tools before and after it are returned all the same.
func (el Element) Entries() ([]Entry, error) {
	r := AssembleOptions{Stages: []Stage{StageNormalise}}.read(el)
	err := r.none
	path, detail := "", ""
	switch bad, ok := errors.AsType[*qaoa.Error](err); {
	case ok:
		path, detail = bad.Path, bad.Msg
	case err != nil:
		detail = err.Error()
	case len(r.bad) > 0:
		path, detail = r.bad[0].Path, r.bad[0].Detail
	default:
		return r.tools, nil
	}
	return r.tools, &qaoa.Error{Pos: el.Pos, Path: path, Msg: detail}
}

// toolValue returns t as JSON.
func toolValue(t qaoa.Tool) qaoa.Value {
	v := qaoa.ObjectValue()
	add := func(name, text string) {
		if text != "" {
			v.Members = append(v.Members, qaoa.Member{Name: name, Value: qaoa.StringValue(text)})
		}
	}
	add("name", t.Name)
	add("description", t.Description)
	if p, err := t.Parameters.Value(); err == nil && p.Kind != qaoa.Invalid {
		v.Members = append(v.Members, qaoa.Member{Name: "parameters", Value: p})
	}
	add("category", t.Category)
	add("domain", t.Domain)
	return v
}

// add adds one tool to the reading, or why it is none.
func (r *reading) add(o AssembleOptions, raw Raw) {
	read, stage := asWritten, stageRead
	if slices.Contains(o.Stages, StageNormalise) {
		read, stage = Normalize, StageNormalise
	}
	inner := unwrap(raw.Value)
	own, _ := inner.Get("origin")
	if own.Kind != qaoa.String {
		own = qaoa.Value{}
	}
	origin := cmp.Or(r.el.Origin, own.Text, raw.Origin, r.el.Fallback)
	t, err := read(raw.Value)
	if err != nil {
		name, _ := inner.Get("name")
		r.bad = append(r.bad, Removal{Stage: stage, Code: BadTool, Name: name.Text, Origin: origin, Pos: r.el.Pos, Path: raw.Path, Detail: err.Error()})
		return
	}
	t.Origin = origin
	r.tools = append(r.tools, Entry{Tool: t, LabelledBy: labeller(inner, t), Pos: r.el.Pos})
}

// collect reads the elements, in order, and runs the stages that need one
// tool, or a look at the keys of those before it.
func (a *assembler) collect(ctx context.Context, elements iter.Seq2[Element, error]) error {
	for r, err := range ordered.Map(ctx, elements, a.opt.workers(), a.opt.read) {
		if err != nil {
			return err
		}
		a.flow.f.Elements++
		if r.none != nil {
			if err := a.unreadable(r); err != nil {
				return err
			}
		}
		for _, bad := range r.bad {
			a.flow.read(bad.Origin)
			if err := a.remove(bad); err != nil {
				return err
			}
		}
		for _, e := range r.tools {
			if err := a.add(e); err != nil {
				return err
			}
		}
	}
	return nil
}

// unreadable counts and reports an element that holds no tool.
func (a *assembler) unreadable(r reading) error {
	a.flow.f.Unreadable++
	rem := Removal{
		Stage: stageRead, Code: convert.ParseError, Origin: cmp.Or(r.el.Origin, r.el.Fallback),
		Pos: r.el.Pos, Detail: r.none.Error(),
	}
	if bad, ok := errors.AsType[*qaoa.Error](r.none); ok {
		rem.Path, rem.Detail = bad.Path, bad.Msg
	}
	return a.removed(rem)
}

// add takes a tool into the pool unless it is there.
func (a *assembler) add(e Entry) error {
	a.flow.read(e.Tool.Origin)
	if !slices.Contains(a.opt.Stages, StageExact) {
		a.keep(e)
		return nil
	}
	key := Key(e.Tool)
	at, twice := a.keys[key]
	if !twice {
		a.keys[key] = len(a.pool)
		a.keep(e)
		return nil
	}
	have := a.pool[at]
	if a.protected(e) && !a.protected(have) {
		// It is read later, but comes first.
		a.pool[at] = Entry{}
		a.keys[key] = len(a.pool)
		a.keep(e)
		have, e = e, have
	}
	return a.remove(removal(StageExact, fault{DuplicateTool, "same name and description"}, e, rival(have, 0)))
}

// keep appends a tool. Its texts are copied, since they may be pieces of the
// texts of a whole element.
func (a *assembler) keep(e Entry) {
	e.Tool.Name, e.Tool.Description = strings.Clone(e.Tool.Name), strings.Clone(e.Tool.Description)
	a.pool = append(a.pool, e)
}

func (a *assembler) protected(e Entry) bool { return slices.Contains(a.opt.Protect, e.Tool.Origin) }

// prioritise brings the pool into the order of priority: protected tools first,
// then as they were read. Places that add left empty go.
func (a *assembler) prioritise() {
	a.keys = nil
	a.pool = slices.DeleteFunc(a.pool, func(e Entry) bool { return e.Tool.Name == "" })
	rank := func(e Entry) int {
		if a.protected(e) {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(a.pool, func(x, y Entry) int { return cmp.Compare(rank(x), rank(y)) })
}

// each runs a stage that looks at one tool at a time.
func (a *assembler) each(ctx context.Context, s Stage) error {
	entries := func(yield func(Entry, error) bool) {
		for _, e := range a.pool {
			if !yield(e, nil) {
				return
			}
		}
	}
	kept := make([]Entry, 0, len(a.pool))
	i := 0
	for f, err := range ordered.Map(ctx, entries, a.opt.workers(), func(e Entry) *fault { return a.opt.check(s, e.Tool) }) {
		if err != nil {
			return err
		}
		e := a.pool[i]
		i++
		if f == nil {
			kept = append(kept, e)
			continue
		}
		if err := a.remove(removal(s, *f, e, nil)); err != nil {
			return err
		}
	}
	a.pool = kept
	return nil
}

func (a *assembler) remove(r Removal) error {
	a.flow.lost(r)
	return a.removed(r)
}

func removal(s Stage, f fault, e Entry, against *Rival) Removal {
	return Removal{
		Stage: s, Code: f.code, Name: e.Tool.Name, Origin: e.Tool.Origin, Pos: e.Pos, Detail: f.detail, Against: against,
	}
}

func rival(e Entry, similarity float64) *Rival {
	return &Rival{Name: e.Tool.Name, Origin: e.Tool.Origin, Pos: e.Pos, Similarity: similarity}
}
