package page

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"assay/eval"
	"assay/match"
	"assay/qaoa"
	"assay/report"
)

// An Input is what a report is about.
type Input struct {
	Title  string // "" is "Report"
	Preset match.Options
	// Runs share one preset. Those of one model under one setting are averaged
	// where they are repeats of one experiment, and shown singly where not.
	Runs []Run
	// Options are those of intervals.
	Options report.Options
	// Paged builds a report to be served: its index of items stays with the
	// server, see [Report.Index], and [Report.WriteHTML] refuses it.
	Paged bool
}

// A Run is one scored run with what is behind it.
type Run struct {
	report.Run
	// LoadItems returns the Items of the run. It is called once, when all else
	// is read, so that memory does not hold items beside gold. If it is nil,
	// they are in Items.
	LoadItems func(context.Context) ([]eval.Item, error)
	// Info is what the run folder says of itself, nil if there is none.
	Info *eval.RunInfo
	// Data is equal for runs whose Gold yields the same records.
	Data string
	// Gold yields the records that the run was about, and Preds what was
	// predicted. They are called several times.
	Gold  func(context.Context) iter.Seq2[qaoa.Record, error]
	Preds func(context.Context) iter.Seq2[qaoa.Prediction, error]
	// File is the uncompressed file of prediction lines, for the text of
	// replies; "" if there is none.
	File string
	// Failed and Repeats are as in [eval.ScoreOptions].
	Failed, Repeats int
	// Scores has the scores of the run under every preset it was scored under.
	Presets []eval.Scores
}

// maxColumns bounds the runs × repeats of one report: beyond it nobody can
// read them side by side.
const maxColumns = 60

// A Report is a built report. Close it to remove its temporary files.
type Report struct {
	title    string
	overview []byte // JSON
	index    []int  // the blobs that the page opens first
	blobs    *blobs
	paged    *Index
}

// Build reads the runs and puts the report together. The error of a record or
// a prediction that cannot be read ends it.
func Build(ctx context.Context, in Input) (r *Report, err error) {
	if len(in.Runs) == 0 {
		return nil, fmt.Errorf("no runs: want at least one scored run")
	}
	store, err := newBlobs()
	if err != nil {
		return nil, err
	}
	scratch, err := newSpool()
	if err != nil {
		return nil, errors.Join(err, store.spool.close())
	}
	b := &builder{in: in, blobs: store, scratch: scratch, datasets: newNames()}
	defer func() {
		err = errors.Join(err, scratch.close())
		if err != nil {
			err = errors.Join(err, store.spool.close())
			if b.paged != nil {
				err = errors.Join(err, b.paged.close())
			}
			r = nil
		}
	}()
	overview, index, err := b.build(ctx)
	if err != nil {
		return nil, err
	}
	title := in.Title
	if title == "" {
		title = "Report"
	}
	return &Report{title: title, overview: overview, index: index, blobs: store, paged: b.paged}, nil
}

// Blobs is the number of blobs.
func (r *Report) Blobs() int { return len(r.blobs.at) }

// Blob returns blob n, a JSON array compressed by gzip. It can be called by
// several goroutines.
func (r *Report) Blob(n int) ([]byte, error) {
	if n < 0 || n >= len(r.blobs.at) {
		return nil, fmt.Errorf("blob %d: the report has %d", n, len(r.blobs.at))
	}
	return r.blobs.spool.read(r.blobs.at[n])
}

// Index returns what answers the questions of a served page, nil if the report
// was not built with [Input.Paged]. It ends with the report.
func (r *Report) Index() *Index { return r.paged }

// Close removes the temporary files.
func (r *Report) Close() error {
	err := r.blobs.spool.close()
	if r.paged != nil {
		err = errors.Join(err, r.paged.close())
	}
	return err
}

// names number strings in the order in which they are met.
type names struct {
	list  []string
	index map[string]int
}

func newNames(list ...string) *names {
	n := &names{list: []string{}, index: map[string]int{}}
	for _, s := range list {
		n.number(s)
	}
	return n
}

func (n *names) number(s string) int {
	i, ok := n.index[s]
	if !ok {
		i = len(n.list)
		n.index[s] = i
		n.list = append(n.list, s)
	}
	return i
}
