package main

import (
	"context"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strings"

	"assay/convert"
	"assay/convert/all"
	"assay/internal/raw"
	"assay/qaoa"
	"assay/train"
)

// A shardInput opens the records of files: as they are, or converted from raw
// files of SOURCE:PATH.
type shardInput struct {
	std   stdio
	files []string
	bad   int            // records that could not be read, in the last pass
	read  map[string]int // records by element of files, in the last pass
	reads int
	// onReject is told of what a conversion rejects, in the first pass.
	onReject func(*convert.Reject) error
	rejected int
}

func newShardInput(std stdio, files []string) *shardInput {
	return &shardInput{std: std, files: files, onReject: func(*convert.Reject) error { return nil }}
}

func (in *shardInput) records(ctx context.Context) iter.Seq2[qaoa.Record, error] {
	return func(yield func(qaoa.Record, error) bool) {
		in.reads++
		in.bad, in.read = 0, map[string]int{}
		std := in.std
		if in.reads > 1 {
			std.err = io.Discard // told before
		}
		for _, path := range in.files {
			r := &reader{std: std, paths: []string{path}}
			recs := r.records(ctx)
			if src, rawPath, ok := rawSource(path); ok {
				recs = in.converted(ctx, src, rawPath)
			}
			for rec, err := range recs {
				if err == nil {
					in.read[path]++
				}
				if !yield(rec, err) || err != nil {
					return
				}
			}
			in.bad += r.bad
		}
	}
}

// rawSource splits SOURCE:PATH, unless a file has that name.
func rawSource(path string) (convert.Source, string, bool) {
	name, rawPath, ok := strings.Cut(path, ":")
	if !ok || exists(path) {
		return convert.Source{}, "", false
	}
	src, err := all.Lookup(name)
	return src, rawPath, err == nil
}

// converted yields what raw files of src make, and tells of rejects.
func (in *shardInput) converted(ctx context.Context, src convert.Source, path string) iter.Seq2[qaoa.Record, error] {
	return func(yield func(qaoa.Record, error) bool) {
		inputs, _, err := convert.Find(src, []string{path})
		if err != nil {
			yield(qaoa.Record{}, inputError(err))
			return
		}
		for o, err := range convert.Run(ctx, src, inputs, convert.RunOptions{}) {
			for _, rej := range o.Rejects {
				if in.reads == 1 && err == nil {
					in.rejected++
					err = in.onReject(rej)
				}
			}
			if err != nil {
				yield(qaoa.Record{}, inputError(err))
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

func (in *shardInput) err() error { return (&reader{bad: in.bad}).err() }

// inputs describes the files of records, by their base names: a manifest holds
// no path of a machine. What cannot be read any more is left out, since its
// records have been read.
func (in *shardInput) inputs() []train.Input {
	var out []train.Input
	for _, path := range in.files {
		files, err := inputFiles(path)
		if err != nil {
			continue
		}
		if len(files) == 1 {
			// Of several files only the sum is known.
			files[0].Records = in.read[path]
		}
		out = append(out, files...)
	}
	return out
}

// inputFiles describes the files that path names.
func inputFiles(path string) ([]train.Input, error) {
	var out []train.Input
	add := func(name, path string) {
		sum, err := hashFile(path)
		info, err2 := os.Stat(path)
		if err == nil && err2 == nil {
			out = append(out, train.Input{Name: name, SHA256: sum, Bytes: info.Size()})
		}
	}
	if src, rawPath, ok := rawSource(path); ok {
		inputs, _, err := convert.Find(src, []string{rawPath})
		for _, in := range inputs {
			for _, name := range in.Files {
				add(src.Name+":"+name, filepath.Join(in.Root, filepath.FromSlash(name)))
			}
		}
		return out, err
	}
	files, err := raw.Expand([]string{path})
	for _, f := range files {
		if f.Root == "" {
			out = append(out, train.Input{Name: f.Name})
			continue
		}
		add(f.Name, filepath.Join(f.Root, filepath.FromSlash(f.Name)))
	}
	return out, err
}
