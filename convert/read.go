package convert

import (
	"bytes"
	"context"
	"errors"
	"io"
	"iter"

	"assay/internal/raw"
	"assay/qaoa"
)

// ReadRecords yields the records in r, in native or interchange form, from any
// container and in file order. The form is told for each element: one with a
// member "conversations" is interchange. In an object map, and in interchange
// form without an id, the ID of a record is left as the decoder found it.
//
// An element that is no record is yielded as a *[qaoa.Error] with its place,
// and the stream goes on. Any other error comes last: a container that is cut
// off (a *ContainerError of package raw, with the byte), a fault of r, the end
// of ctx.
func ReadRecords(ctx context.Context, r io.Reader, name string) iter.Seq2[qaoa.Record, error] {
	return decoded(ctx, r, name, func(data []byte) (qaoa.Record, error) {
		if isInterchange(data) {
			return qaoa.DecodeInterchange(data)
		}
		return qaoa.DecodeRecord(data)
	})
}

// ReadPredictions yields the predictions in r, as [ReadRecords] does records.
func ReadPredictions(ctx context.Context, r io.Reader, name string) iter.Seq2[qaoa.Prediction, error] {
	return decoded(ctx, r, name, func(data []byte) (qaoa.Prediction, error) {
		if isInterchange(data) {
			return qaoa.DecodeInterchangePrediction(data)
		}
		return qaoa.DecodePrediction(data)
	})
}

// ReadFiles is [ReadRecords] for the files that paths name: files, folders (all
// files below, in the order of their names), patterns, and "-" for standard
// input. The first error that is not a *[qaoa.Error] ends the stream.
func ReadFiles(ctx context.Context, paths []string) iter.Seq2[qaoa.Record, error] {
	return readFiles(ctx, paths, ReadRecords)
}

// ReadPredictionFiles is [ReadFiles] for predictions.
func ReadPredictionFiles(ctx context.Context, paths []string) iter.Seq2[qaoa.Prediction, error] {
	return readFiles(ctx, paths, ReadPredictions)
}

func readFiles[T any](ctx context.Context, paths []string, read func(context.Context, io.Reader, string) iter.Seq2[T, error]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var zero T
		files, err := raw.Expand(paths)
		if err != nil {
			yield(zero, err)
			return
		}
		for _, f := range files {
			r, err := f.Open()
			if err != nil {
				yield(zero, err)
				return
			}
			ok := true
			for v, err := range read(ctx, r, f.Name) {
				if _, bad := errors.AsType[*qaoa.Error](err); err != nil && !bad {
					ok = false
				}
				if !yield(v, err) {
					ok = false
					break
				}
			}
			_ = r.Close() // it was only read
			if !ok {
				return
			}
		}
	}
}

// decoded yields what decode makes of the elements of r.
func decoded[T any](ctx context.Context, r io.Reader, name string, decode func([]byte) (T, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var zero T
		for el, err := range raw.Elements(ctx, r, name) {
			v := zero
			switch pos, ok := raw.Skippable(err); {
			case ok:
				err = &qaoa.Error{Pos: pos, Msg: err.Error()}
			case err != nil:
				yield(zero, err)
				return
			default:
				v, err = decode(el.Data)
				err = placed(err, el.Pos)
			}
			if !yield(v, err) {
				return
			}
		}
	}
}

// placed returns err as a *qaoa.Error with that place, or nil.
func placed(err error, pos qaoa.Pos) error {
	if err == nil {
		return nil
	}
	if qe, ok := errors.AsType[*qaoa.Error](err); ok {
		at := *qe
		at.Pos = pos
		return &at
	}
	return &qaoa.Error{Pos: pos, Msg: err.Error()}
}

// isInterchange reports whether the object in data has a member
// "conversations". It looks at the members of the object itself: the word may
// be in any text.
func isInterchange(data []byte) bool {
	const name = `"conversations"`
	if !bytes.Contains(data, []byte(name)) {
		return false
	}
	depth := 0
	for i := 0; i < len(data); i++ {
		switch data[i] {
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		case '"':
			start := i
			for i++; i < len(data) && data[i] != '"'; i++ {
				if data[i] == '\\' {
					i++
				}
			}
			if depth != 1 || i >= len(data) || string(data[start:i+1]) != name {
				continue
			}
			if after := bytes.TrimLeft(data[i+1:], " \t\r\n"); len(after) > 0 && after[0] == ':' {
				return true
			}
		}
	}
	return false
}

// Elements yields the raw elements of r, whatever its container, for readers of
// lists that are no records. They may hold invalid JSON. Every error names
// the place and is one to end with.
func Elements(ctx context.Context, r io.Reader, name string) iter.Seq2[Element, error] {
	return raw.Elements(ctx, r, name)
}
