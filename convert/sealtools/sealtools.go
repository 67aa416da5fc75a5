package sealtools

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"assay/convert"
	"assay/qaoa"
)

// Source is the source "seal-tools".
var Source = convert.Source{
	Name:    "seal-tools",
	Kind:    convert.Test,
	Home:    "https://github.com/fairyshine/Seal-Tools",
	Licence: "Apache-2.0",
	About:   "Seal-Tools: single, parallel and nested calls in and out of domain",
	Files: []convert.File{
		{Glob: "tool.jsonl", Role: convert.Side, Note: "tools"},
		{Glob: "field.jsonl", Role: convert.Side, Note: "fields of tools, not read"},
		{Glob: "dataset_in_old_format/*.jsonl", Role: convert.Extra, Note: "the same records without ids and responses"},
		{Glob: "test_in_domain.jsonl", Role: convert.Records, Note: "test split, fields of the training split"},
		{Glob: "test_out_domain.jsonl", Role: convert.Records, Note: "test split, other fields"},
	},
	Open: open,
}

// A converter holds the tools of one conversion.
type converter struct {
	strict  bool
	foreign func(text string) bool
	tools   map[string]map[string]qaoa.Tool // folder of records → name → tool
}

func open(ctx context.Context, in convert.Input) (convert.Func, error) {
	c := &converter{strict: in.Options.Profile == convert.Strict, tools: map[string]map[string]qaoa.Tool{}}
	var err error
	if c.foreign, err = convert.LanguageRule(in.Options.Language, "off"); err != nil {
		return nil, err
	}
	for _, file := range in.Files {
		dir := path.Dir(file)
		if c.tools[dir] != nil {
			continue
		}
		fsys, name, err := table(in, dir)
		if err != nil {
			return nil, err
		}
		if c.tools[dir], err = readTools(ctx, fsys, name); err != nil {
			return nil, err
		}
	}
	return c.convert, nil
}

// table returns where the tools of the records in dir stand: in the file that
// the options name, else in tool.jsonl of dir or the folder above it.
func table(in convert.Input, dir string) (fs.FS, string, error) {
	if p := in.Options.Tools; p != "" {
		return os.DirFS(filepath.Dir(p)), filepath.Base(p), nil
	}
	type place struct {
		fsys fs.FS
		dir  string
	}
	places := []place{{in.FS, dir}, {in.FS, path.Dir(dir)}}
	if dir == "." && in.Root != "" {
		// A file that is named itself: the root is its folder.
		places = append(places, place{os.DirFS(filepath.Join(in.Root, "..")), "."})
	}
	for _, p := range places {
		for _, suffix := range []string{"", ".gz", ".zst"} {
			name := path.Join(p.dir, "tool.jsonl")
			if _, err := fs.Stat(p.fsys, name+suffix); err == nil {
				return p.fsys, name, nil
			} else if !errors.Is(err, fs.ErrNotExist) {
				return nil, "", err
			}
		}
	}
	return nil, "", fmt.Errorf("%s: want tool.jsonl in this folder or the one above it; fetch it, or name a tool list by the option tools", dir)
}

// readTools returns the tools of a table by their names.
func readTools(ctx context.Context, fsys fs.FS, name string) (map[string]qaoa.Tool, error) {
	out := map[string]qaoa.Tool{}
	for el, err := range convert.SideElements(ctx, fsys, name) {
		if err != nil {
			return nil, err
		}
		v, rej := convert.ParseObject(el)
		if rej != nil {
			return nil, fmt.Errorf("%s: %s", el.Pos, rej.Detail)
		}
		t, err := convert.NormalizeTool(v)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", el.Pos, err)
		}
		if _, ok := out[t.Name]; ok {
			return nil, fmt.Errorf("%s: %.60q was there before; want each tool once", el.Pos, t.Name)
		}
		if field, _ := v.Get("field"); field.Text != "" {
			t.Domain, t.Category, _ = strings.Cut(field.Text, "/")
		}
		out[t.Name] = t
	}
	return out, nil
}

// convert is the Func of this source.
func (c *converter) convert(el convert.Element) ([]qaoa.Record, []*convert.Reject) {
	rec, rej := c.record(el)
	if rej != nil {
		rej.ID = rec.ID
		return nil, []*convert.Reject{rej}
	}
	return []qaoa.Record{rec}, nil
}

// record converts one element.
func (c *converter) record(el convert.Element) (qaoa.Record, *convert.Reject) {
	var rec qaoa.Record
	v, err := qaoa.ParseValue(el.Data)
	if err != nil {
		return rec, convert.Rejectf(convert.ParseError, "", "%v", err)
	}
	callingPath, queryPath := "/calling", "/query"
	if n := len(v.Items); v.Kind == qaoa.Array && n > 0 { // the old form
		calling := qaoa.ArrayValue(v.Items[:n-1]...)
		callingPath, queryPath = "", fmt.Sprintf("/%d", n-1)
		if n == 2 && v.Items[0].Kind == qaoa.Array {
			calling, callingPath = v.Items[0], "/0"
		}
		v = qaoa.ObjectValue(qaoa.Member{Name: "calling", Value: calling}, qaoa.Member{Name: "query", Value: v.Items[n-1]})
	}
	if v.Kind != qaoa.Object {
		return rec, convert.Rejectf(convert.ParseError, "", "want an object, or an array that ends in the query, have %s", v.Kind)
	}
	if id, _ := v.Get("id"); id.Kind == qaoa.String {
		rec.ID = id.Text
	}
	query, _ := v.Get("query")
	if query.Kind != qaoa.String || strings.TrimSpace(query.Text) == "" {
		return rec, convert.Rejectf(convert.NoQuery, queryPath, "want a string with something in it, have %.60s", query.JSON())
	}
	if c.foreign(query.Text) {
		return rec, convert.Rejectf(convert.NonEnglish, queryPath, "the query breaks the language rule: %.60q", query.Text)
	}
	calling, _ := v.Get("calling")
	if calling.Kind != qaoa.Array || len(calling.Items) == 0 {
		return rec, convert.Rejectf(convert.NoCall, callingPath, "want a list with something in it, have %.60s", calling.JSON())
	}
	b := builder{tools: c.tools[path.Dir(el.Pos.File)]}
	for i, item := range calling.Items {
		if rej := b.add(item, fmt.Sprintf("%s/%d", callingPath, i)); rej != nil {
			return rec, rej
		}
	}
	rec.Tools = b.offered
	rec.Turns = []qaoa.Turn{{Query: query.Text, Steps: b.finish()}}
	rec.Meta = b.meta(rec.ID)
	if !c.strict {
		return rec, nil
	}
	if len(b.unresolved) > 0 {
		return rec, convert.Rejectf(convert.UnresolvedPlace, callingPath, "no earlier call returns %s", b.unresolved[0].Text)
	}
	return rec, convert.CheckStrict(rec)
}
