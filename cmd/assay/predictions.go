package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"assay/eval"
	"assay/predfile"
	"assay/qaoa"
)

// A goldIndex is what reading foreign predictions needs of the gold records:
// their ids, and the tools on offer, which name positional arguments.
type goldIndex struct {
	ids    []string
	tools  map[string][]qaoa.Tool
	shared map[qaoa.Tool]qaoa.Tool // equal tools share their texts
}

// indexGold reads the gold records once.
func indexGold(recs iter.Seq2[qaoa.Record, error]) (*goldIndex, error) {
	g := &goldIndex{tools: map[string][]qaoa.Tool{}, shared: map[qaoa.Tool]qaoa.Tool{}}
	for rec, err := range recs {
		if err != nil {
			return nil, err
		}
		g.ids = append(g.ids, rec.ID)
		tools := make([]qaoa.Tool, len(rec.Tools))
		for i, t := range rec.Tools {
			same, ok := g.shared[t]
			if !ok {
				same = t
				g.shared[t] = t
			}
			tools[i] = same
		}
		g.tools[rec.ID] = tools
	}
	g.shared = nil
	return g, nil
}

// A predictionReader reads prediction files of any known form and keeps count
// of what is amiss.
type predictionReader struct {
	std         stdio
	paths       []string
	opt         predfile.Options
	gold        *goldIndex // nil to take ids as they are
	skipUnknown bool       // drop predictions whose id is not in gold

	bad, unanswered, unknown int
}

// predictions yields what can be read. A line that is no prediction is told and
// left out, so that its neighbours are not lost; a request that the back end
// failed on comes as eval.ErrUnanswered.
func (r *predictionReader) predictions(ctx context.Context) iter.Seq2[qaoa.Prediction, error] {
	return func(yield func(qaoa.Prediction, error) bool) {
		opt := r.opt
		known := map[string]bool{}
		if r.gold != nil {
			opt.IDs = predfile.NewIDs(slices.Values(r.gold.ids))
			opt.Tools = func(id string) []qaoa.Tool { return r.gold.tools[id] }
			for _, id := range r.gold.ids {
				known[id] = true
			}
		}
		opt.Note = r.note
		for p, err := range predfile.Read(ctx, r.paths, opt) {
			if lost, ok := errors.AsType[*predfile.UnansweredError](err); ok {
				r.unanswered++
				if !yield(qaoa.Prediction{ID: lost.ID, Repeat: lost.Repeat}, eval.ErrUnanswered) {
					return
				}
				continue
			}
			if r.amiss(err) {
				continue
			}
			if err == nil && r.skipUnknown && r.gold != nil && !known[p.ID] {
				r.unknown++
				continue
			}
			if !yield(p, inputError(err)) || err != nil {
				return
			}
		}
	}
}

// amiss counts and tells an error after which the stream goes on.
func (r *predictionReader) amiss(err error) bool {
	if err == nil || !predfile.Skippable(err) {
		return false
	}
	if r.bad++; r.bad <= maxShown {
		fmt.Fprintln(r.std.err, printable(err.Error()))
	}
	return true
}

// note tells what a file turned out to hold, if that is not plain to see.
func (r *predictionReader) note(n predfile.FileNote) {
	if n.Skipped != "" {
		fmt.Fprintf(r.std.err, "%s: not read: %s\n", printable(n.File), printable(n.Skipped))
		return
	}
	if n.Format != predfile.Assay {
		fmt.Fprintf(r.std.err, "%s: %d predictions in the form %q\n", printable(n.File), n.Predictions, n.Format)
	}
	if n.Joined > 0 {
		fmt.Fprintf(r.std.err, "%s: %d ids are joined by a part of the record's id", printable(n.File), n.Joined)
		if len(n.Examples) > 0 {
			fmt.Fprintf(r.std.err, ", such as %q to %q", n.Examples[0][0], n.Examples[0][1])
		}
		fmt.Fprintln(r.std.err)
	}
}

// finish tells the counts, and returns an error if a line was bad.
func (r *predictionReader) finish() error {
	if r.unanswered > 0 {
		fmt.Fprintf(r.std.err, "%d predictions say that the back end failed: they are missing, not wrong\n", r.unanswered)
	}
	if r.unknown > 0 {
		fmt.Fprintf(r.std.err, "%d predictions are for records that are not in the gold data; they are left out\n", r.unknown)
	}
	if r.bad > 0 {
		return &exitError{exitInput, fmt.Errorf("%d predictions could not be read and count as missing; the others were scored", r.bad)}
	}
	return nil
}
