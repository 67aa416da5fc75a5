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
//	dataset_info.json                   by which LLaMA-Factory finds them
//	manifest.json                       see [Manifest], written last
//
// Every record makes one row or one [Reject]. Each row is parsed and compared
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
	if err := writeJSON(out.temp(infoName), datasetInfo(opt.Name)); err != nil {
		return Manifest{}, err
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
	made := ordered.Map(ctx, recs, opt.Workers, func(rec qaoa.Record) outcome { return makeRow(rec, opt) })
	for o, err := range made {
		if err == nil {
			err = o.err
		}
		if err != nil {
			return Manifest{}, err
		}
		m.Records++
		if o.reject != nil {
			m.Rejected++
			m.Rejects[o.reject.Code]++
			if opt.OnReject != nil {
				opt.OnReject(*o.reject)
			}
			continue
		}
		m.Rows++
		m.Sources[o.rec.Source.Name]++
		m.Counts.add(o.rec)
		m.Counts.TextBytes += len(o.line) + 1
		for l, n := range o.losses {
			m.Losses[l] += n
		}
		if err := s.write(o.rec.ID, o.line, o.digest); err != nil {
			return Manifest{}, err
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

// An outcome is a row, a reject or an error.
type outcome struct {
	rec    qaoa.Record
	line   []byte
	digest [16]byte
	losses map[Loss]int
	reject *Reject
	err    error
}

// makeRow renders rec, reads the row back and compares.
func makeRow(rec qaoa.Record, opt *ShardOptions) outcome {
	want, losses, rej := project(rec, opt)
	if rej != nil {
		return outcome{reject: rej}
	}
	line := renderRow(want)
	got, err := parseRow(line)
	if err != nil {
		return outcome{err: fmt.Errorf("%s: the row does not read back: %w", rec.ID, err)}
	}
	if d := diff(want, got); d != "" {
		return outcome{err: fmt.Errorf("%s: the row reads back as another: %s", rec.ID, d)}
	}
	return outcome{rec: rec, line: line, digest: want.digest(), losses: losses}
}
