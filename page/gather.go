package page

import (
	"bufio"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"os"
	"slices"

	"github.com/goccy/go-json"

	"assay/eval"
	"assay/qaoa"
)

// A builder puts a report together, pass by pass.
type builder struct {
	in      Input
	blobs   *blobs
	scratch *spool // what a diagnosis says of each record and column
	paged   *Index // nil for a page that holds its index itself

	datasets  *names
	variants  []*variant
	records   int // different ones over all variants
	columns   []*column
	tools     toolTable
	diagnoses []eval.Diagnosis // by run
}

// A variant is one list of gold records: the same records may be asked with
// other tools on offer.
type variant struct {
	key  string
	gold func(context.Context) iter.Seq2[qaoa.Record, error]
	ord  map[string]int32 // of the record with this id
	// offers are the tools on offer by ordinal, nil where the variant lacks the
	// record.
	offers [][]uint32
}

// A column is one repeat of one run.
type column struct {
	run, repeat int
	variant     int
	preds, done []span // by ordinal: the prediction line, and the diagnosis in the scratch
}

// at returns where list has its entry for ord.
func at(list []span, ord int32) span {
	if int(ord) < len(list) {
		return list[ord]
	}
	return span{}
}

func put(list *[]span, ord int32, s span) {
	for int(ord) >= len(*list) {
		*list = append(*list, make([]span, int(ord)+1-len(*list))...)
	}
	(*list)[ord] = s
}

func (b *builder) build(ctx context.Context) (data []byte, first []int, err error) {
	b.tools = toolTable{list: blobList{to: b.blobs, size: toolBlobSize, most: toolBlobMost}, index: map[[sha256.Size]byte]uint32{}}
	variantOf, err := b.readGold(ctx)
	if err != nil {
		return nil, nil, err
	}
	if err := b.tools.list.flush(); err != nil {
		return nil, nil, err
	}
	for i := range b.in.Runs {
		if err := b.readRun(ctx, i, variantOf[i]); err != nil {
			return nil, nil, err
		}
	}
	if b.in.Paged {
		if b.paged, err = newIndex(len(b.columns)); err != nil {
			return nil, nil, err
		}
	}
	index, details, items, err := b.writeItems(ctx)
	if err != nil {
		return nil, nil, err
	}
	if b.paged != nil {
		if err := b.paged.finish(b.datasets.list); err != nil {
			return nil, nil, err
		}
	}
	names, err := b.blobs.add(mustJSON(b.tools.names))
	if err != nil {
		return nil, nil, err
	}
	b.forget()
	o, err := b.overview(ctx)
	if err != nil {
		return nil, nil, err
	}
	o.Blobs = blobNumbers{Index: slices.Concat([]int{}, index), Details: details, Tools: b.tools.list.nums, ToolNames: names}
	o.Records, o.Items = b.records, items
	data, err = json.Marshal(o) // which escapes <, > and &
	return data, index, err
}

// forget drops what only the items needed.
func (b *builder) forget() {
	b.variants, b.tools.index, b.tools.names = nil, nil, nil
	for _, c := range b.columns {
		c.preds, c.done = nil, nil
	}
}

// mustJSON encodes plain data, which cannot fail.
func mustJSON(v any) []byte {
	data, err := json.MarshalWithOption(v, json.DisableHTMLEscape())
	if err != nil {
		panic(fmt.Sprintf("page: %v", err))
	}
	return data
}

// readGold reads the records of every variant once: their order, and the tools
// on offer.
func (b *builder) readGold(ctx context.Context) (variantOf []int, err error) {
	type form struct {
		ord int32
		sum [sha256.Size]byte
	}
	seen := map[string][]form{} // by id: records of other turns are other records
	for _, run := range b.in.Runs {
		i := slices.IndexFunc(b.variants, func(v *variant) bool { return v.key == run.Data })
		if i >= 0 {
			variantOf = append(variantOf, i)
			continue
		}
		v := &variant{key: run.Data, gold: run.Gold, ord: map[string]int32{}}
		variantOf = append(variantOf, len(b.variants))
		b.variants = append(b.variants, v)
		for rec, err := range run.Gold(ctx) {
			if err != nil {
				return nil, err
			}
			sum := sha256.Sum256(qaoa.AppendTurns(nil, rec.Turns))
			ord := int32(-1)
			for _, f := range seen[rec.ID] {
				if f.sum == sum {
					ord = f.ord
				}
			}
			if ord < 0 {
				ord = int32(b.records)
				b.records++
				seen[rec.ID] = append(seen[rec.ID], form{ord, sum})
			}
			v.ord[rec.ID] = ord
			offer := make([]uint32, len(rec.Tools))
			for k, t := range rec.Tools {
				if offer[k], err = b.tools.number(t); err != nil {
					return nil, err
				}
			}
			for int(ord) >= len(v.offers) {
				v.offers = append(v.offers, nil)
			}
			v.offers[ord] = offer
		}
	}
	return variantOf, nil
}

// The sizes of blobs of tools, before compression.
const (
	toolBlobSize = 128 << 10
	toolBlobMost = 500
)

// A toolTable numbers tools and writes each once.
type toolTable struct {
	list  blobList
	index map[[sha256.Size]byte]uint32
	names []toolName
}

// A toolName is a tool's name and where its definition is: the place of the
// blob among those of tools, and its own place in the blob.
type toolName struct {
	Name  string `json:"n"`
	Blob  int    `json:"b"`
	Place int    `json:"p"`
}

func (t *toolTable) number(tool qaoa.Tool) (uint32, error) {
	sum := sha256.Sum256(qaoa.AppendTool(nil, tool))
	if i, ok := t.index[sum]; ok {
		return i, nil
	}
	i := uint32(len(t.names))
	t.index[sum] = i
	blob, place, err := t.list.add(mustJSON(toolDetail{tool.Description, string(tool.Parameters), tool.Category, tool.Origin}))
	t.names = append(t.names, toolName{tool.Name, blob, place})
	return i, err
}

// A toolDetail is a tool without its name. Parameters are text, so that numbers
// stay as they were written.
type toolDetail struct {
	Description string `json:"d"`
	Parameters  string `json:"p,omitempty"`
	Category    string `json:"c,omitempty"`
	Origin      string `json:"o,omitempty"`
}

// readRun finds the prediction lines of run i, and diagnoses it.
func (b *builder) readRun(ctx context.Context, i, variantAt int) error {
	run := b.in.Runs[i]
	v := b.variants[variantAt]
	repeats := map[int]*column{}
	columnOf := func(repeat int) (*column, error) {
		c := repeats[repeat]
		if c == nil {
			if len(b.columns)+len(repeats) >= maxColumns {
				return nil, fmt.Errorf("%s: the runs have more than %d repeats together; give fewer runs", run.Name, maxColumns)
			}
			c = &column{run: i, repeat: repeat, variant: variantAt}
			repeats[repeat] = c
		}
		return c, nil
	}
	if run.File != "" {
		err := eachLine(run.File, func(line []byte, where span) error {
			var head struct {
				ID     string `json:"id"`
				Repeat int    `json:"repeat"`
			}
			if err := json.Unmarshal(line, &head); err != nil {
				return fmt.Errorf("%s: byte %d: want a prediction: %w", run.File, where.off, err)
			}
			ord, ok := v.ord[head.ID]
			if !ok {
				return nil
			}
			c, err := columnOf(head.Repeat)
			if err == nil {
				put(&c.preds, ord, where)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	d, err := eval.Diagnose(ctx, run.Gold(ctx), run.Preds(ctx), eval.DiagnoseOptions{
		Preset: b.in.Preset, Aligned: run.Scores.Aligned, Failed: run.Failed, Repeats: run.Repeats, Examples: -1,
		Each: func(list []eval.Diagnosed) error {
			ord, ok := v.ord[list[0].ID]
			if !ok {
				return nil
			}
			c, err := columnOf(list[0].Repeat)
			if err != nil {
				return err
			}
			for k := range list {
				list[k].Pairs = nil // the lines have them
			}
			where, err := b.scratch.add(mustJSON(list))
			put(&c.done, ord, where)
			return err
		},
	})
	if err != nil {
		return err
	}
	b.diagnoses = append(b.diagnoses, d)
	for _, repeat := range slices.Sorted(maps.Keys(repeats)) {
		b.columns = append(b.columns, repeats[repeat])
	}
	return nil
}

// eachLine calls f for each line of a file, with where it is. The line is valid
// until f returns.
func eachLine(path string, f func(line []byte, where span) error) (err error) {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	r := bufio.NewReaderSize(file, 1<<18)
	var off int64
	var long []byte
	for {
		line, err := r.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			long = append(long, line...)
			continue
		}
		if err != nil && err != io.EOF {
			return fmt.Errorf("%s: %w", path, err)
		}
		if len(long) > 0 {
			long = append(long, line...)
			line = long
		}
		if len(line) > 0 {
			if err := f(line, span{off, len(line)}); err != nil {
				return err
			}
		}
		off += int64(len(line))
		long = long[:0]
		if err == io.EOF {
			return nil
		}
	}
}
