package page

import (
	"context"
	"math"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-json"

	"assay/eval"
	"assay/qaoa"
)

// The sizes of blobs of items, before compression, and of the index.
const (
	detailBlobSize = 192 << 10
	detailBlobMost = 200
	indexRows      = 5000
	queryStart     = 160 // characters of a query in the index, which search looks at
	namesStart     = 200 // the same of the names of the tools called
)

// An indexChunk is some rows of the list of items, column by column. A row is a
// turn of a record.
type indexChunk struct {
	Blob    []int         `json:"blob"`  // place among the blobs of details
	Place   []int         `json:"place"` // of the record in its blob
	Turn    []int         `json:"turn"`
	ID      []string      `json:"id"`
	Dataset []int         `json:"ds"`
	Cell    []int         `json:"cell"`
	Shape   []int         `json:"shape"`
	Query   []string      `json:"q"`
	Tools   []string      `json:"tools"` // that gold calls
	Runs    []indexColumn `json:"runs"`
}

// An indexColumn holds the cells of one run and repeat, see [cellRow].
type indexColumn struct {
	SPA   []int    `json:"SPA"`
	FPA   []int    `json:"FPA"`
	Class []int    `json:"c"`
	Mask  []int    `json:"m"`
	Tools []string `json:"tools"`
}

// add appends a row.
func (x *indexChunk) add(r *row) {
	x.Blob, x.Place, x.Turn = append(x.Blob, r.Blob), append(x.Place, r.Place), append(x.Turn, r.Turn)
	x.ID, x.Dataset, x.Cell = append(x.ID, r.ID), append(x.Dataset, r.dataset), append(x.Cell, r.cell)
	x.Shape, x.Query, x.Tools = append(x.Shape, r.Shape), append(x.Query, r.Query), append(x.Tools, r.tools)
	for i, c := range r.Runs {
		to := &x.Runs[i]
		to.SPA, to.FPA = append(to.SPA, c.SPA), append(to.FPA, c.FPA)
		to.Class, to.Mask, to.Tools = append(to.Class, c.Class), append(to.Mask, c.Mask), append(to.Tools, c.tools)
	}
}

// The shapes of a turn, by what gold calls.
var shapeNames = []string{"no call", "single call", "parallel calls", "serial calls"}

// cellNames are the cells that a turn can be in.
var cellNames = []string{eval.CellSH, eval.CellMH, eval.CellNoGold, eval.CellSurplus}

// classNames are the outcomes of a turn, in the order of reports.
func classNames() []eval.ErrorClass {
	list := []eval.ErrorClass{eval.ClassRight, eval.ClassAbstained, eval.ClassMalformed, eval.ClassMissing}
	return append(list, eval.ErrorClasses()...)
}

// The parts of a detail, which the page reads.
type (
	detail struct {
		ID      string       `json:"id"`
		Dataset string       `json:"ds"`
		System  string       `json:"system,omitempty"`
		Meta    string       `json:"meta,omitempty"`
		Turns   []turnDetail `json:"turns"`
		// Offers are the lists of tools on offer that some run had.
		Offers [][]uint32   `json:"offers"`
		Runs   []*runDetail `json:"runs"` // by column, null where it was not asked
	}
	turnDetail struct {
		Query        string         `json:"q,omitempty"`
		Answer       string         `json:"a,omitempty"`
		Steps        [][]callDetail `json:"steps,omitempty"`
		Observations [][]string     `json:"obs,omitempty"`
	}
	callDetail struct {
		Name string      `json:"n,omitempty"`
		Args [][2]string `json:"a,omitempty"` // names and JSON texts, if they are an object
		Text string      `json:"t,omitempty"` // the arguments, if they are none
		Raw  string      `json:"r,omitempty"`
	}
	runDetail struct {
		Offer    int             `json:"offer"`
		Missing  bool            `json:"missing,omitempty"`
		Turns    []turnDetail    `json:"turns,omitempty"`
		Requests []requestDetail `json:"req,omitempty"`
		Items    []itemDetail    `json:"items"`
	}
	requestDetail struct {
		Turn       int      `json:"turn"`
		Text       string   `json:"text"`
		Reasoning  string   `json:"reasoning,omitempty"`
		Rung       string   `json:"rung,omitempty"`
		Repairs    []string `json:"repairs,omitempty"`
		Class      string   `json:"class,omitempty"`
		Repeated   bool     `json:"repeated,omitempty"`
		Finish     string   `json:"finish,omitempty"`
		Prompt     int      `json:"prompt_tokens,omitempty"`
		Completion int      `json:"completion_tokens,omitempty"`
	}
	itemDetail struct {
		Turn    int             `json:"turn"`
		Cell    string          `json:"cell"`
		SP      float64         `json:"SP"`
		FP      float64         `json:"FP"`
		SPA     float64         `json:"SPA"`
		FPA     float64         `json:"FPA"`
		FPAArg  float64         `json:"FPA_arg"`
		Outcome eval.ErrorClass `json:"outcome,omitempty"`
		Lines   []lineDetail    `json:"lines,omitempty"`
	}
)

// A writer of items walks over the records and joins what belongs to each.
type itemWriter struct {
	b       *builder
	files   []*os.File // of predictions, by run
	details blobList
	index   indexChunk // rows that are not written yet, of a page in one file
	chunks  []int      // blobs of the index
	text    []byte
	items   int
	classes map[eval.ErrorClass]int
}

// writeItems writes the blobs of details and of the index.
func (b *builder) writeItems(ctx context.Context) (index, details []int, items int, err error) {
	w := &itemWriter{b: b, details: blobList{to: b.blobs, size: detailBlobSize, most: detailBlobMost}, classes: map[eval.ErrorClass]int{}}
	for i, c := range classNames() {
		w.classes[c] = i
	}
	w.files = make([]*os.File, len(b.in.Runs))
	for i, run := range b.in.Runs {
		if run.File == "" {
			continue
		}
		if w.files[i], err = os.Open(run.File); err != nil {
			return nil, nil, 0, err
		}
		defer w.files[i].Close()
	}
	w.reset()
	done := make([]bool, b.records)
	for _, v := range b.variants {
		for rec, err := range v.gold(ctx) {
			if err != nil {
				return nil, nil, 0, err
			}
			if ord := v.ord[rec.ID]; !done[ord] {
				done[ord] = true
				if err := w.record(rec, ord); err != nil {
					return nil, nil, 0, err
				}
			}
		}
	}
	if err := w.details.flush(); err != nil {
		return nil, nil, 0, err
	}
	return w.chunks, w.details.nums, w.items, w.flushIndex()
}

func (w *itemWriter) reset() {
	w.index = indexChunk{Runs: make([]indexColumn, len(w.b.columns))}
}

func (w *itemWriter) flushIndex() error {
	if w.b.paged != nil || len(w.index.ID) == 0 && len(w.chunks) > 0 {
		return nil
	}
	n, err := w.b.blobs.add(mustJSON(w.index))
	w.chunks = append(w.chunks, n)
	w.reset()
	return err
}

// record writes one record: its detail, and a row of the index for each turn.
func (w *itemWriter) record(rec qaoa.Record, ord int32) error {
	d := detail{ID: rec.ID, Dataset: rec.Source.Name, System: rec.System, Meta: string(rec.Meta), Turns: turnsOf(rec.Turns), Offers: [][]uint32{}}
	d.Runs = make([]*runDetail, len(w.b.columns))
	turns := len(rec.Turns)
	for i, c := range w.b.columns {
		run, err := w.run(rec, ord, c)
		if err != nil {
			return err
		}
		if run == nil {
			continue
		}
		run.Offer = addOffer(&d.Offers, w.b.variants[c.variant], ord)
		d.Runs[i] = run
		turns = max(turns, len(run.Turns))
	}
	if len(d.Offers) == 0 { // no run was asked this record
		for _, v := range w.b.variants {
			addOffer(&d.Offers, v, ord)
		}
	}
	blob, place, err := w.details.add(mustJSON(d))
	if err != nil {
		return err
	}
	shape := qaoa.ShapeOf(rec)
	r := row{ID: rec.ID, Blob: blob, Place: place, dataset: w.b.datasets.number(rec.Source.Name)}
	for turn := range turns {
		r.Item, r.Turn, r.Runs = w.items, turn, r.Runs[:0]
		w.items++
		r.gold(rec, shape)
		for _, run := range d.Runs {
			r.Runs = append(r.Runs, w.cell(run, turn))
		}
		if err := w.put(&r, &d); err != nil {
			return err
		}
	}
	return nil
}

// put writes a row where the page will look for it.
func (w *itemWriter) put(r *row, d *detail) error {
	if x := w.b.paged; x != nil {
		w.text = appendText(w.text[:0], d, r.Turn)
		return x.add(r, w.text)
	}
	w.index.add(r)
	if len(w.index.ID) < indexRows {
		return nil
	}
	return w.flushIndex()
}

// addOffer returns the number of a list of tools among offers.
func addOffer(offers *[][]uint32, v *variant, ord int32) int {
	if int(ord) >= len(v.offers) || v.offers[ord] == nil {
		return -1
	}
	for i, o := range *offers {
		if slices.Equal(o, v.offers[ord]) {
			return i
		}
	}
	*offers = append(*offers, v.offers[ord])
	return len(*offers) - 1
}

// gold sets what gold has in the turn; surplus turns have nothing.
func (r *row) gold(rec qaoa.Record, shape qaoa.Shape) {
	if r.Turn >= len(rec.Turns) {
		r.Query, r.tools, r.Shape, r.cell = "", "", 0, slices.Index(cellNames, eval.CellSurplus)
		return
	}
	t := rec.Turns[r.Turn]
	r.Query, r.tools = start(t.Query, queryStart), toolsOf(t.Calls())
	kind, cell := 0, eval.CellNoGold
	switch s := shape.Turns[r.Turn]; {
	case s.Hop == qaoa.SingleHop:
		kind, cell = 1, eval.CellSH
	case s.Strategy == qaoa.Serial:
		kind, cell = 3, eval.CellMH
	case s.Hop == qaoa.MultiHop:
		kind, cell = 2, eval.CellMH
	}
	r.Shape, r.cell = kind, slices.Index(cellNames, cell)
}

// cell returns what a run did with a turn.
func (w *itemWriter) cell(run *runDetail, turn int) cellRow {
	c := cellRow{SPA: -1, FPA: -1, Class: -1}
	if run == nil {
		return c
	}
	for _, it := range run.Items {
		if it.Turn == turn {
			c.SPA, c.FPA = thousandths(it.SPA), thousandths(it.FPA)
			c.Class, c.Mask = w.class(it)
		}
	}
	if turn < len(run.Turns) {
		c.tools = namesOf(run.Turns[turn])
	}
	return c
}

// class returns the class that stands for an item, and all of its classes.
// Nothing predicted where gold has nothing is right.
func (w *itemWriter) class(it itemDetail) (first, mask int) {
	first = w.classes[eval.ClassRight]
	switch {
	case it.Outcome == eval.ClassAbstained && (it.Cell == eval.CellNoGold || it.SPA == 1):
		return first, 1 << first
	case it.Outcome != "":
		first = w.classes[it.Outcome]
		mask = 1 << first
	}
	for _, l := range it.Lines {
		c := w.classes[l.Class]
		mask |= 1 << c
		if first == w.classes[eval.ClassRight] && c != first {
			first = c
		}
	}
	return first, mask
}

func thousandths(f float64) int { return int(math.Round(1000 * f)) }

// start returns the first n characters of s.
func start(s string, n int) string {
	if len(s) <= n {
		return s
	}
	at := 0
	for range n {
		if at >= len(s) {
			return s
		}
		_, size := utf8.DecodeRuneInString(s[at:])
		at += size
	}
	return s[:at]
}

// toolsOf returns the names of the tools called, in order.
func toolsOf(calls []qaoa.Call) string {
	var list []string
	for _, c := range calls {
		list = append(list, c.Name)
	}
	return start(strings.Join(list, " "), namesStart)
}

func namesOf(t turnDetail) string {
	var list []string
	for _, s := range t.Steps {
		for _, c := range s {
			list = append(list, c.Name)
		}
	}
	return start(strings.Join(list, " "), namesStart)
}

// run returns what a column did with a record, nil if it was not asked.
func (w *itemWriter) run(rec qaoa.Record, ord int32, c *column) (*runDetail, error) {
	where := at(c.done, ord)
	if where.n == 0 {
		return nil, nil
	}
	data, err := w.b.scratch.read(where)
	if err != nil {
		return nil, err
	}
	var found []eval.Diagnosed
	if err := json.Unmarshal(data, &found); err != nil {
		return nil, err
	}
	out := &runDetail{Items: []itemDetail{}}
	var pred qaoa.Prediction
	if where := at(c.preds, ord); where.n > 0 {
		line, err := readSpan(w.files[c.run], where)
		if err != nil {
			return nil, err
		}
		var more struct {
			Requests []requestDetail `json:"requests"`
		}
		if pred, err = qaoa.DecodePrediction(line); err == nil {
			err = json.Unmarshal(line, &more)
		}
		if err != nil {
			return nil, err
		}
		out.Turns, out.Requests = turnsOf(pred.Turns), more.Requests
	}
	pair := pairer{opt: w.b.in.Preset, tools: rec.Tools}
	for _, it := range found {
		out.Missing = out.Missing || it.Missing
		d := itemDetail{Turn: it.Turn, Cell: it.Cell, SP: it.Score.SP, FP: it.Score.FP, SPA: it.Score.SPA, FPA: it.Score.FPA, FPAArg: it.Score.FPAArg, Outcome: it.Outcome}
		if it.Turn >= 0 {
			d.Lines = pair.lines(callsOf(rec.Turns, it.Turn), callsOf(pred.Turns, it.Turn), it.Lines)
		}
		out.Items = append(out.Items, d)
	}
	return out, nil
}

func callsOf(turns []qaoa.Turn, i int) []qaoa.Call {
	if i >= len(turns) {
		return nil
	}
	return turns[i].Calls()
}

func turnsOf(turns []qaoa.Turn) []turnDetail {
	out := make([]turnDetail, len(turns))
	for i, t := range turns {
		d := turnDetail{Query: t.Query, Answer: t.Answer}
		for _, s := range t.Steps {
			var calls []callDetail
			for _, c := range s.Calls {
				calls = append(calls, callOf(c))
			}
			d.Steps = append(d.Steps, calls)
			d.Observations = append(d.Observations, s.Observations)
		}
		if !slices.ContainsFunc(d.Observations, func(o []string) bool { return len(o) > 0 }) {
			d.Observations = nil
		}
		out[i] = d
	}
	return out
}

func callOf(c qaoa.Call) callDetail {
	d := callDetail{Name: c.Name, Raw: c.Raw}
	if c.Arguments.Kind() != qaoa.Object {
		d.Text = string(c.Arguments)
		return d
	}
	d.Args = membersOf(c.Arguments)
	return d
}

// membersOf returns the members of an object as name and JSON text.
func membersOf(j qaoa.JSON) [][2]string {
	out := [][2]string{}
	qaoa.EachMember(string(j), func(name, value string) bool {
		out = append(out, [2]string{name, value})
		return true
	})
	return out
}
