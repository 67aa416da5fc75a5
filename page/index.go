package page

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"slices"
	"strings"
	"sync"

	"github.com/goccy/go-json"

	"assay/eval"
)

// A row is an item as the list shows it: a turn of a record, with what each
// column did.
type row struct {
	Item  int       `json:"item"` // number from 0, in the order of the list
	ID    string    `json:"id"`
	Turn  int       `json:"turn"`
	Blob  int       `json:"blob"`  // place among the blobs of details
	Place int       `json:"place"` // of the record in its blob
	Shape int       `json:"shape"`
	Query string    `json:"q"` // its start
	Runs  []cellRow `json:"runs"`

	dataset, cell int
	tools         string // that gold calls
}

// A cellRow is what one column did with a row. Scores are in thousandths, -1
// where the record was not asked.
type cellRow struct {
	SPA   int `json:"SPA"`
	FPA   int `json:"FPA"`
	Class int `json:"c"` // what the list shows: the first error, or right
	Mask  int `json:"m"` // bit i: the turn has class i

	tools string
}

// The bits of a mark above those of classes.
const (
	markAsked = 1 << 31
	markRight = 1 << 30
)

// An Index answers what a served page asks about items: which pass a filter,
// how they look in the list, and where one is. It can be used by several
// goroutines.
//
// Memory holds 21 bytes for each item and 4 more for each column (33 for three
// runs), and the answers to the last few filters, 4 bytes for each item found.
// Rows and texts are in temporary files.
type Index struct {
	rows  *spool
	rowAt []int64 // where rows begin, and the end of the last
	texts *texts
	seed  maphash.Seed
	hash  []uint64 // of id and turn

	dataset []uint32
	shape   []uint8
	marks   [][]uint32 // by column: the classes of a turn, markAsked and markRight

	datasets []string
	classes  []eval.ErrorClass

	searches chan struct{} // bounds those at a time
	mu       sync.Mutex    // guards recent
	recent   []answer      // the latest last
}

// An answer is what a filter found. It is never changed.
type answer struct {
	filter Filter
	items  []uint32
}

// The bounds of an index.
const (
	maxRecent   = 8
	maxSearches = 2
)

func newIndex(columns int) (*Index, error) {
	rows, err := newSpool()
	if err != nil {
		return nil, err
	}
	t, err := newTexts()
	if err != nil {
		return nil, errors.Join(err, rows.close())
	}
	return &Index{
		rows: rows, rowAt: []int64{0}, texts: t, seed: maphash.MakeSeed(), marks: make([][]uint32, columns),
		classes: classNames(), searches: make(chan struct{}, maxSearches),
	}, nil
}

func (x *Index) hashOf(id string, turn int) uint64 {
	return maphash.String(x.seed, id) + uint64(turn)*0x9e3779b97f4a7c15
}

// add appends a row and its text.
func (x *Index) add(r *row, text []byte) error {
	where, err := x.rows.add(mustJSON(r))
	if err != nil {
		return err
	}
	x.rowAt = append(x.rowAt, where.off+int64(where.n))
	x.hash = append(x.hash, x.hashOf(r.ID, r.Turn))
	x.dataset, x.shape = append(x.dataset, uint32(r.dataset)), append(x.shape, uint8(r.Shape))
	for i, c := range r.Runs {
		mark := uint32(c.Mask)
		if c.SPA >= 0 {
			mark |= markAsked
		}
		if c.SPA == 1000 {
			mark |= markRight
		}
		x.marks[i] = append(x.marks[i], mark)
	}
	return x.texts.add(text)
}

// finish ends the building. What it appended to is cut to its length.
func (x *Index) finish(datasets []string) error {
	x.datasets = datasets
	x.rowAt, x.hash = slices.Clip(slices.Clone(x.rowAt)), slices.Clip(slices.Clone(x.hash))
	x.dataset, x.shape = slices.Clip(slices.Clone(x.dataset)), slices.Clip(slices.Clone(x.shape))
	for i := range x.marks {
		x.marks[i] = slices.Clip(slices.Clone(x.marks[i]))
	}
	err := x.texts.flush()
	x.texts.buf, x.texts.zip = nil, nil
	return err
}

func (x *Index) close() error { return errors.Join(x.rows.close(), x.texts.spool.close()) }

// Len returns the number of items.
func (x *Index) Len() int { return len(x.hash) }

// Columns returns the number of columns: the repeats of all runs.
func (x *Index) Columns() int { return len(x.marks) }

// Row returns an item, from 0 to Len-1, as a JSON object with its number, id,
// turn, the place of its detail, and what each column did. It panics if there
// is no such item.
func (x *Index) Row(item int) ([]byte, error) {
	return x.rows.read(span{x.rowAt[item], int(x.rowAt[item+1] - x.rowAt[item])})
}

// Lookup returns the first item of the record with an id in a turn, and false
// if there is none.
func (x *Index) Lookup(id string, turn int) (item int, ok bool, err error) {
	hash := x.hashOf(id, turn)
	for i, h := range x.hash {
		if h != hash {
			continue
		}
		data, err := x.Row(i)
		if err != nil {
			return 0, false, err
		}
		var r row
		if err := json.Unmarshal(data, &r); err != nil {
			return 0, false, err
		}
		if r.ID == id && r.Turn == turn {
			return i, true, nil
		}
	}
	return 0, false, nil
}

// Find returns the items that pass a filter, in order. A filter that names what
// the report does not have gives a [*FilterError]; when ctx is done, its error
// is returned within the time of one block of a megabyte of text.
func (x *Index) Find(ctx context.Context, f Filter) (Found, error) {
	want, err := x.compile(f)
	if err != nil {
		return Found{}, err
	}
	f.Query = strings.Join(strings.FieldsFunc(f.Query, isSpace), " ")
	if items, ok := x.recall(f); ok {
		return Found{x, items}, nil
	}
	items := []uint32{}
	for i := range x.Len() {
		if want(i) {
			items = append(items, uint32(i))
		}
	}
	if words := needles(f.Query); len(words) > 0 && len(items) > 0 {
		select {
		case x.searches <- struct{}{}:
		case <-ctx.Done():
			return Found{}, ctx.Err()
		}
		items, err = x.texts.find(ctx, items, words)
		<-x.searches
		if err != nil {
			return Found{}, err
		}
	}
	x.keep(answer{f, slices.Clip(items)})
	return Found{x, items}, nil
}

// recall returns what a filter found lately.
func (x *Index) recall(f Filter) ([]uint32, bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	i := slices.IndexFunc(x.recent, func(a answer) bool { return a.filter == f })
	if i < 0 {
		return nil, false
	}
	a := x.recent[i]
	x.recent = append(slices.Delete(x.recent, i, i+1), a)
	return a.items, true
}

func (x *Index) keep(a answer) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(x.recent) == maxRecent {
		x.recent = slices.Delete(x.recent, 0, 1)
	}
	x.recent = append(x.recent, a)
}

// Found are the items that passed a filter.
type Found struct {
	index *Index
	items []uint32
}

// Len returns how many there are.
func (f Found) Len() int { return len(f.items) }

// Item returns the number of the item at a place from 0 to Len-1.
func (f Found) Item(at int) int { return int(f.items[at]) }

// At returns the place of an item, and false if it is not among them.
func (f Found) At(item int) (int, bool) {
	if item < 0 || item >= f.index.Len() {
		return 0, false
	}
	return slices.BinarySearch(f.items, uint32(item))
}

// Next returns the place of the first item after item, or before it if back.
// item need not be among those found; -1 is before all of them, or after if
// back. If wrong is at least 0, items that this column did not get wrong are
// passed over.
func (f Found) Next(item int, back bool, wrong int) (int, bool) {
	at, step := 0, 1
	switch {
	case back && item < 0:
		at, step = len(f.items)-1, -1
	case item >= 0:
		i, here := slices.BinarySearch(f.items, uint32(min(item, f.index.Len())))
		at = i
		if here {
			at++
		}
		if back {
			at, step = i-1, -1
		}
	}
	for ; at >= 0 && at < len(f.items); at += step {
		if wrong < 0 || f.index.marks[wrong][f.items[at]]&(markAsked|markRight) == markAsked {
			return at, true
		}
	}
	return 0, false
}

// A FilterError is a filter that names what a report does not have.
type FilterError struct {
	Name  string // of the part, as in an address: status, cls, shape, ds, run, against, q
	Value string
	Want  string
}

func (e *FilterError) Error() string {
	return fmt.Sprintf("%s %q: want %s", e.Name, start(e.Value, 80), e.Want)
}
