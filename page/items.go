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

// An indexColumn is what one run and repeat did with the rows. Scores are in
// thousandths, -1 where the record was not asked.
type indexColumn struct {
	SP    []int    `json:"SP"`
	FP    []int    `json:"FP"`
	SPA   []int    `json:"SPA"`
	FPA   []int    `json:"FPA"`
	Class []int    `json:"c"` // what the list shows: the first error, or right
	Mask  []int    `json:"m"` // bit i: the turn has class i
	Tools []string `json:"tools"`
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
	index   indexChunk
	chunks  []int // blobs of the index
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
	if len(w.index.ID) == 0 && len(w.chunks) > 0 {
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
	dataset := w.b.datasets.number(rec.Source.Name)
	for turn := range turns {
		w.items++
		x := &w.index
		x.Blob, x.Place, x.Turn = append(x.Blob, blob), append(x.Place, place), append(x.Turn, turn)
		x.ID, x.Dataset = append(x.ID, rec.ID), append(x.Dataset, dataset)
		w.turn(rec, shape, turn)
		for i := range x.Runs {
			w.cell(&x.Runs[i], d.Runs[i], turn)
		}
		if len(x.ID) >= indexRows {
			if err := w.flushIndex(); err != nil {
				return err
			}
		}
	}
	return nil
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

// turn writes what gold has in a turn; surplus turns have nothing.
func (w *itemWriter) turn(rec qaoa.Record, shape qaoa.Shape, turn int) {
	x := &w.index
	if turn >= len(rec.Turns) {
		x.Query, x.Tools = append(x.Query, ""), append(x.Tools, "")
		x.Shape, x.Cell = append(x.Shape, 0), append(x.Cell, slices.Index(cellNames, eval.CellSurplus))
		return
	}
	t := rec.Turns[turn]
	x.Query, x.Tools = append(x.Query, start(t.Query, queryStart)), append(x.Tools, toolsOf(t.Calls()))
	kind, cell := 0, eval.CellNoGold
	switch s := shape.Turns[turn]; {
	case s.Hop == qaoa.SingleHop:
		kind, cell = 1, eval.CellSH
	case s.Strategy == qaoa.Serial:
		kind, cell = 3, eval.CellMH
	case s.Hop == qaoa.MultiHop:
		kind, cell = 2, eval.CellMH
	}
	x.Shape, x.Cell = append(x.Shape, kind), append(x.Cell, slices.Index(cellNames, cell))
}

// cell writes what a column did with a turn.
func (w *itemWriter) cell(c *indexColumn, run *runDetail, turn int) {
	sp, fp, spa, fpa, class, mask, tools := -1, -1, -1, -1, -1, 0, ""
	if run != nil {
		for _, it := range run.Items {
			if it.Turn != turn {
				continue
			}
			sp, fp, spa, fpa = thousandths(it.SP), thousandths(it.FP), thousandths(it.SPA), thousandths(it.FPA)
			class, mask = w.class(it)
		}
		if turn < len(run.Turns) {
			tools = namesOf(run.Turns[turn])
		}
	}
	c.SP, c.FP, c.SPA, c.FPA = append(c.SP, sp), append(c.FP, fp), append(c.SPA, spa), append(c.FPA, fpa)
	c.Class, c.Mask, c.Tools = append(c.Class, class), append(c.Mask, mask), append(c.Tools, tools)
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
