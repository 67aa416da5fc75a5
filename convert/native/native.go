package native

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"assay/convert"
	"assay/qaoa"
)

// name is that of the source.
const name = "qaoa"

// Source is the source "qaoa".
var Source = convert.Source{
	Name:    name,
	Kind:    convert.Train,
	Home:    "https://github.com/EIT-NLP/UniToolCall",
	Licence: "that of the data",
	About:   "records of this program, in native or interchange form",
	Files: []convert.File{
		{Glob: "*.jsonl", Role: convert.Records, Note: "records, one a line"},
		{Glob: "*.json", Role: convert.Records, Note: "a JSON array of records"},
	},
	Open: open,
}

// A converter holds the options of one conversion.
type converter struct {
	terms convert.Terms
}

func open(_ context.Context, in convert.Input) (convert.Func, error) {
	terms, err := convert.TermsOf(in.Options)
	if err != nil {
		return nil, err
	}
	c := &converter{terms: terms}
	return convert.One(c.record), nil
}

// record converts one element.
func (c *converter) record(el convert.Element) (qaoa.Record, *convert.Reject) {
	decode := qaoa.DecodeRecord
	if interchange(el.Data) {
		decode = qaoa.DecodeInterchange
	}
	rec, err := decode(el.Data)
	if err != nil {
		path, msg := "", err.Error()
		if fault, ok := errors.AsType[*qaoa.Error](err); ok {
			path, msg = fault.Path, fault.Msg
		}
		return qaoa.Record{}, convert.Rejectf(convert.ParseError, path, "%s", msg)
	}
	rec.ID = strings.TrimPrefix(rec.ID, name+"/")
	if rej := unusable(rec); rej != nil {
		return rec, rej
	}
	if rej := c.terms.Check(rec); rej != nil {
		return rec, rej
	}
	rec.Meta = withSource(rec.Meta, rec.Source)
	return rec, nil
}

// interchange reports whether an element is in interchange form.
func interchange(data []byte) (found bool) {
	qaoa.EachMember(string(data), func(name, _ string) bool {
		found = name == "conversations"
		return !found
	})
	return found
}

// unusable returns the first finding that makes a record unusable whatever
// profile it is of: no query, no call, or observations that fit no call.
// Arguments that are no object and tools that are not on offer are left to the
// profile Strict and to the filter, since records of the profile Paper have
// them.
func unusable(rec qaoa.Record) *convert.Reject {
	for _, f := range qaoa.Validate(rec) {
		if f.Severity != qaoa.Fault {
			continue
		}
		switch f.Code {
		case qaoa.NoQuery:
			return convert.Rejectf(convert.NoQuery, f.Path, "%s", f.Detail)
		case qaoa.CallMissing:
			return convert.Rejectf(convert.NoCall, f.Path, "%s", f.Detail)
		case qaoa.ObservationCount:
			return convert.Rejectf(convert.IncompleteFlow, f.Path, "%s", f.Detail)
		}
	}
	return nil
}

// withSource adds what the record said of its source to meta.
func withSource(meta qaoa.JSON, src qaoa.Source) qaoa.JSON {
	if src == (qaoa.Source{}) {
		return meta
	}
	v, err := meta.Value()
	if _, ok := v.Get("source"); ok || err != nil {
		return meta
	}
	v.Kind = qaoa.Object // also if there was no meta
	v.Members = append(v.Members, qaoa.Member{Name: "source", Value: qaoa.ObjectValue(
		qaoa.Member{Name: "name", Value: qaoa.StringValue(src.Name)},
		qaoa.Member{Name: "file", Value: qaoa.StringValue(src.File)},
		qaoa.Member{Name: "index", Value: qaoa.NumberValue(strconv.Itoa(src.Index))},
		qaoa.Member{Name: "split", Value: qaoa.StringValue(src.Split)},
	)})
	return v.JSON()
}
