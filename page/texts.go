package page

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"iter"
	"runtime"
	"slices"

	"github.com/klauspost/compress/s2"

	"assay/internal/ordered"
)

// textBlockSize is how much text is compressed together. A block is the unit
// of reading and the step at which a search can be stopped.
const textBlockSize = 1 << 20

// texts keep what search looks at, item by item, in a temporary file. Memory
// holds a block and, for each block of a megabyte, where it is.
type texts struct {
	spool *spool
	at    []textBlock
	buf   []byte // items that are not written yet, each after its length
	zip   []byte
	first uint32 // item in buf
	next  uint32 // item to come
}

// A textBlock is where the texts of the items from first on are.
type textBlock struct {
	where span
	first uint32
}

func newTexts() (*texts, error) {
	s, err := newSpool()
	return &texts{spool: s}, err
}

// add appends the text of the next item, which is folded already.
func (t *texts) add(text []byte) error {
	t.buf = append(binary.AppendUvarint(t.buf, uint64(len(text))), text...)
	t.next++
	if len(t.buf) >= textBlockSize {
		return t.flush()
	}
	return nil
}

func (t *texts) flush() error {
	if len(t.buf) == 0 {
		return nil
	}
	t.zip = s2.Encode(t.zip[:cap(t.zip)], t.buf)
	where, err := t.spool.add(t.zip)
	t.at = append(t.at, textBlock{where, t.first})
	t.buf, t.first = t.buf[:0], t.next
	return err
}

// find returns those of items, which ascend, whose texts hold every needle. It
// reads block by block, in parallel, and ends early when ctx is done.
func (t *texts) find(ctx context.Context, items []uint32, needles [][]byte) ([]uint32, error) {
	type hits struct {
		items []uint32
		err   error
	}
	out := []uint32{}
	blocks := func(yield func(int, error) bool) {
		for i := range t.at {
			if !yield(i, nil) {
				return
			}
		}
	}
	for h, err := range ordered.Map(ctx, iter.Seq2[int, error](blocks), runtime.GOMAXPROCS(0), func(i int) hits {
		among := t.among(items, i)
		if len(among) == 0 {
			return hits{}
		}
		found, err := t.search(i, among, needles)
		return hits{found, err}
	}) {
		if err = cmp.Or(err, h.err); err != nil {
			return nil, err
		}
		out = append(out, h.items...)
	}
	return out, nil
}

// among returns those of items that block i has.
func (t *texts) among(items []uint32, i int) []uint32 {
	from, _ := slices.BinarySearch(items, t.at[i].first)
	to := len(items)
	if i+1 < len(t.at) {
		to, _ = slices.BinarySearch(items, t.at[i+1].first)
	}
	return items[from:to]
}

// search looks for needles in the items of block i.
func (t *texts) search(i int, items []uint32, needles [][]byte) ([]uint32, error) {
	data, err := t.spool.read(t.at[i].where)
	if err != nil {
		return nil, err
	}
	if data, err = s2.Decode(nil, data); err != nil {
		return nil, fmt.Errorf("%s: texts of the search: %w", t.spool.file.Name(), err)
	}
	holds := func(text []byte) bool {
		return !slices.ContainsFunc(needles, func(n []byte) bool { return !bytes.Contains(text, n) })
	}
	if !holds(data) { // which most blocks do not, if the words are rare
		return nil, nil
	}
	var out []uint32
	for item := t.at[i].first; len(data) > 0 && len(items) > 0; item++ {
		n, size := binary.Uvarint(data)
		text := data[size : size+int(n)]
		data = data[size+int(n):]
		if item != items[0] {
			continue
		}
		items = items[1:]
		if holds(text) {
			out = append(out, item)
		}
	}
	return out, nil
}

// appendText appends what search looks at in a turn, folded: the id, the query,
// the calls, their results and the answer of gold, and for each run its calls,
// its answer, and the replies of the model with their thoughts. Parts end in a
// line break, so no word is found across two of them.
func appendText(dst []byte, d *detail, turn int) []byte {
	add := func(s string) {
		if s != "" {
			dst = append(appendFold(dst, s), '\n')
		}
	}
	addTurn := func(t turnDetail) {
		add(t.Answer)
		for _, c := range slices.Concat(t.Steps...) {
			add(c.Name)
			add(c.Text)
			add(c.Raw)
			for _, a := range c.Args {
				add(a[0])
				add(a[1])
			}
		}
	}
	add(d.ID)
	if turn < len(d.Turns) {
		t := d.Turns[turn]
		add(t.Query)
		addTurn(t)
		for _, o := range slices.Concat(t.Observations...) {
			add(o)
		}
	}
	for _, r := range d.Runs {
		if r == nil {
			continue
		}
		if turn < len(r.Turns) {
			addTurn(r.Turns[turn])
		}
		for _, q := range r.Requests {
			if q.Turn == turn {
				add(q.Text)
				add(q.Reasoning)
			}
		}
	}
	return dst
}
