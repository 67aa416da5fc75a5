package converttest

import (
	"context"
	"testing"

	"assay/convert"
	"assay/qaoa"

	json "github.com/goccy/go-json"
)

// Fuzz fuzzes the elements of src. Whatever valid JSON an element is, the
// source makes records, rejects or both, never nothing; it does not panic, and
// its records can be written and read again. A source that vouches for elements
// makes nothing of what is no JSON. The input, with its side tables,
// is that of dir/raw; an element is said to be in its first file of records.
func Fuzz(f *testing.F, src convert.Source, dir string, seeds ...string) {
	f.Helper()
	inputs, _, err := convert.Find(src, []string{dir + "/raw"})
	if err != nil {
		f.Fatal(err)
	}
	type target struct {
		file string
		fn   convert.Func
	}
	var targets []target
	for _, profile := range []convert.Profile{convert.Paper, convert.Strict} {
		in := inputs[0]
		in.Options.Profile = profile
		fn, err := src.Open(context.Background(), in)
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range in.Files {
			targets = append(targets, target{file, fn})
		}
	}
	for o, err := range convert.Run(context.Background(), raws(src), inputs, convert.RunOptions{Workers: 1}) {
		if err != nil {
			break // cut off on purpose
		}
		for _, rec := range o.Records {
			f.Add(rec.Turns[0].Query, uint(0))
		}
	}
	for _, s := range seeds {
		f.Add(s, uint(0))
	}
	f.Fuzz(func(t *testing.T, text string, which uint) {
		to := targets[which%uint(len(targets))]
		el := convert.Element{Pos: qaoa.Pos{File: to.file, Line: 1}, Data: []byte(text)}
		if el.Valid = json.Valid(el.Data); !el.Valid {
			if !src.Vouches {
				t.Skip("this source gets valid JSON only")
			}
			if recs, rejects := to.fn(el); len(recs)+len(rejects) > 0 {
				t.Errorf("the source vouches for %q, which is no JSON", text)
			}
			return
		}
		recs, rejects := to.fn(el)
		checkCopies(t, src, el, recs, rejects)
		if len(recs)+len(rejects) == 0 {
			t.Errorf("neither a record nor a reject comes of %q", text)
		}
		for _, rec := range recs {
			rec.ID = "x/" + rec.ID
			line := qaoa.AppendRecord(nil, rec)
			if _, err := qaoa.DecodeRecord(line); err != nil {
				t.Errorf("the record of %q cannot be read again: %v\n%s", text, err, line)
			}
		}
		for _, rej := range rejects {
			if rej.Code == "" || rej.Detail == "" {
				t.Errorf("a reject of %q lacks code or detail: %+v", text, rej)
			}
		}
	})
}

// checkCopies checks that a source that says so shares no memory with its
// element.
func checkCopies(t *testing.T, src convert.Source, el convert.Element, recs []qaoa.Record, rejects []*convert.Reject) {
	t.Helper()
	if !src.Copies {
		return
	}
	text := func() string {
		var b []byte
		for _, rec := range recs {
			b = qaoa.AppendRecord(b, rec)
		}
		for _, rej := range rejects {
			b = convert.AppendLedger(b, rej)
		}
		return string(b)
	}
	before := text()
	for i := range el.Data {
		el.Data[i] = '?'
	}
	if after := text(); before != after {
		t.Errorf("the result changes with the element:\n%s\n%s", before, after)
	}
}

// raws returns a source that makes a record of each element of the files of
// src, with the element as its query.
func raws(src convert.Source) convert.Source {
	src.Open = func(context.Context, convert.Input) (convert.Func, error) {
		return func(el convert.Element) ([]qaoa.Record, []*convert.Reject) {
			return []qaoa.Record{{Turns: []qaoa.Turn{{Query: string(el.Data)}}}}, nil
		}, nil
	}
	return src
}
