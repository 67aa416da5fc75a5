package train

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"assay/internal/ordered"
	"assay/qaoa"
)

// ErrNoRows is returned when no record made a row: trainers fail on an empty
// data set, with a message that tells nobody why.
var ErrNoRows = errors.New("no record made a row")

// Shard writes recs as training shards into a folder of its own:
//
//	data/train-00000-of-00008.jsonl …   the rows
//	dataset_info.json                   by which LLaMA-Factory finds them, for its format
//	manifest.json                       see [Manifest], written last
//
// Every record makes one row (or several, see [SplitLong]) or one [Reject]. Each row is parsed and compared
// with its record as soon as it is made, and each finished shard is read back
// from the disk and compared again; a mismatch beyond the declared losses
// fails the export. Memory does not grow with the number of records.
//
// The bytes depend on the records, their order and the options, never on the
// number of workers. When Shard fails (an error of recs, the end of ctx, a
// full disk) nothing is left behind, and what an earlier run wrote is as it
// was, unless the failure comes while files are moved into their places.
func Shard(ctx context.Context, recs iter.Seq2[qaoa.Record, error], opt ShardOptions) (Manifest, error) {
	opt, err := opt.complete()
	if err != nil {
		return Manifest{}, err
	}
	out, err := openFolder(opt.Out, opt.Overwrite)
	if err != nil {
		return Manifest{}, err
	}
	defer out.abandon()
	m, err := shard(ctx, recs, &opt, out)
	if err != nil {
		return Manifest{}, err
	}
	if opt.Format == LlamaFactory {
		if err := writeJSON(out.temp(infoName), datasetInfo(opt.Name)); err != nil {
			return Manifest{}, err
		}
	}
	if opt.Finish != nil {
		if err := opt.Finish(m, out.temp()); err != nil {
			return Manifest{}, err
		}
	}
	if err := writeJSON(out.temp(manifestName), m); err != nil {
		return Manifest{}, err
	}
	return m, out.publish()
}

// shard writes the shards of recs and returns the manifest.
func shard(ctx context.Context, recs iter.Seq2[qaoa.Record, error], opt *ShardOptions, out *folder) (Manifest, error) {
	s, err := newSpool(opt, out)
	if err != nil {
		return Manifest{}, err
	}
	defer s.close()
	m := newManifest(*opt)
	recs = opt.Candidates.list(ctx, recs, opt.Workers)
	made := ordered.Map(ctx, recs, opt.Workers, func(rec qaoa.Record) outcome { return makeRows(rec, opt) })
	for o, err := range made {
		if err == nil {
			err = o.err
		}
		if err != nil {
			return Manifest{}, err
		}
		m.Records++
		o.tell(opt)
		if o.reject != nil {
			m.Rejected++
			m.Rejects[o.reject.Code]++
			continue
		}
		for l, n := range o.losses {
			m.Losses[l] += n
		}
		m.Split += len(o.rows) - 1
		for _, r := range o.rows {
			m.addRow(r)
			if opt.OnRow != nil {
				opt.OnRow(r.rec, r.tokens)
			}
			if err := s.write(r.id, r.line, r.digest); err != nil {
				return Manifest{}, err
			}
		}
	}
	if m.Rows == 0 {
		return Manifest{}, fmt.Errorf("%w: %s", ErrNoRows, m.whyNone())
	}
	if opt.Inputs != nil {
		m.Inputs = append(m.Inputs, opt.Inputs()...)
	}
	m.Files, err = s.finish(ctx)
	return m, err
}

// whyNone says what became of the records when there are no rows.
func (m Manifest) whyNone() string {
	if m.Records == 0 {
		return "there were no records"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "all %d records were rejected", m.Records)
	for _, code := range slices.Sorted(maps.Keys(m.Rejects)) {
		fmt.Fprintf(&b, ", %d with %s", m.Rejects[code], code)
	}
	return b.String()
}

// An outcome is what became of a record: rows, a reject or an error.
type outcome struct {
	rows   []made
	losses map[Loss]int
	reject *Reject
	notice *Reject
	err    error
}

// tell calls who wants to hear of rejects and notices.
func (o outcome) tell(opt *ShardOptions) {
	if o.reject != nil && opt.OnReject != nil {
		opt.OnReject(*o.reject)
	}
	if o.notice != nil && opt.OnNotice != nil {
		opt.OnNotice(*o.notice)
	}
}

// A made is a row that was made and read back.
type made struct {
	id     string
	rec    qaoa.Record // the part of the record that the row is of
	line   []byte
	digest [16]byte
	tokens int
	long   bool
}

// makeRows renders rec, reads each row back and compares.
func makeRows(rec qaoa.Record, opt *ShardOptions) outcome {
	whole, losses, rej := project(rec, opt)
	if rej != nil {
		rej.Source = rec.Source
		return outcome{reject: rej}
	}
	pieces, notice, rej, err := opt.Length.measure(whole)
	for _, r := range []*Reject{notice, rej} {
		if r != nil {
			r.Source = rec.Source
		}
	}
	if err != nil || rej != nil {
		return outcome{reject: rej, err: err}
	}
	if len(pieces) > 1 {
		losses[LostHistory] += len(pieces) - 1
	}
	o := outcome{losses: losses, notice: notice}
	for _, p := range pieces {
		m, err := makeRow(p.row, opt)
		if err != nil {
			return outcome{err: err}
		}
		m.rec, m.tokens, m.long = rec, p.tokens, opt.Length.Max > 0 && p.tokens > opt.Length.Max
		m.rec.ID, m.rec.Turns = p.row.id, rec.Turns[p.from:p.to]
		o.rows = append(o.rows, m)
	}
	return o
}

func makeRow(want row, opt *ShardOptions) (made, error) {
	c := opt.codec()
	line := c.render(want, opt.PlainAnswers)
	got, err := c.parse(line, opt.PlainAnswers)
	if err != nil {
		return made{}, fmt.Errorf("%s: the row does not read back: %w", want.id, err)
	}
	if d := diff(want, got); d != "" {
		return made{}, fmt.Errorf("%s: the row reads back as another: %s", want.id, d)
	}
	return made{id: want.id, line: line, digest: want.digest()}, nil
}
