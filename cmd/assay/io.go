package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"

	"github.com/goccy/go-json"

	"assay/convert"
	"assay/convert/all"
	"assay/qaoa"
)

// maxShown is how many faults of one kind a command prints; the rest are
// counted.
const maxShown = 20

// A reader yields the good records of files and keeps count of the bad ones.
type reader struct {
	std   stdio
	paths []string
	bad   int
	onBad func(*qaoa.Error) error // also told of each bad record; may be nil
}

// records yields the records of the files. A record that cannot be read is
// told on stderr and left out, so that its neighbours are not lost; a broken
// container ends the stream with an error.
func (r *reader) records(ctx context.Context) iter.Seq2[qaoa.Record, error] {
	return func(yield func(qaoa.Record, error) bool) {
		for rec, err := range convert.ReadFiles(ctx, r.paths) {
			if bad, ok := errors.AsType[*qaoa.Error](err); ok {
				r.bad++
				if r.bad <= maxShown {
					fmt.Fprintln(r.std.err, printable(bad.Error()))
				}
				if r.onBad != nil {
					if err := r.onBad(bad); err != nil {
						yield(qaoa.Record{}, err)
						return
					}
				}
				continue
			}
			if !yield(rec, inputError(err)) || err != nil {
				return
			}
		}
	}
}

// err returns an error if a record was bad.
func (r *reader) err() error {
	if r.bad == 0 {
		return nil
	}
	return &exitError{exitInput, fmt.Errorf("%d records could not be read and were left out; the others were taken", r.bad)}
}

// strictRecords yields the records of the files and ends at the first bad one:
// for commands that would ask or score a part without saying so. A path that is
// SOURCE:PATH, and no file, is converted as it is read.
func strictRecords(ctx context.Context, paths []string) iter.Seq2[qaoa.Record, error] {
	return func(yield func(qaoa.Record, error) bool) {
		for _, path := range paths {
			recs := convert.ReadFiles(ctx, []string{path})
			if name, raw, ok := strings.Cut(path, ":"); ok && !exists(path) {
				if src, err := all.Lookup(name); err == nil {
					recs = converted(ctx, src, raw)
				}
			}
			for rec, err := range recs {
				if !yield(rec, inputError(err)) || err != nil {
					return
				}
			}
		}
	}
}

// converted yields what the raw files of a source make in profile paper. What
// is rejected is no gold.
func converted(ctx context.Context, src convert.Source, path string) iter.Seq2[qaoa.Record, error] {
	return func(yield func(qaoa.Record, error) bool) {
		inputs, _, err := convert.Find(src, []string{path})
		if err != nil {
			yield(qaoa.Record{}, err)
			return
		}
		for o, err := range convert.Run(ctx, src, inputs, convert.RunOptions{}) {
			if err != nil {
				yield(qaoa.Record{}, err)
				return
			}
			for _, rec := range o.Records {
				if !yield(rec, nil) {
					return
				}
			}
		}
	}
}

// writeJSON writes v as one indented JSON object, without HTML escapes.
func writeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// wantFiles returns a usage error if there is no argument.
func wantFiles(verb string, args []string) error {
	if len(args) == 0 {
		return usagef("%s: want at least one file of records (- is stdin), have none", verb)
	}
	return nil
}
