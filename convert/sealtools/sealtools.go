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
		{Glob: "dataset_in_old_format/test_*.jsonl", Role: convert.Extra, Note: "the same records without ids and responses"},
		{Glob: "dataset_for_finetune/test_*.json", Role: convert.Extra, Note: "the same records as prompts, with five tools each"},
		{Glob: "train.jsonl", Role: convert.Trap, Note: "the training split, for seal-tools-train"},
		{Glob: "dev.jsonl", Role: convert.Trap, Note: "the development split, for seal-tools-train"},
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
		switch {
		case err == nil:
			c.tools[dir], err = readTools(ctx, fsys, name)
		case errors.Is(err, errNoTable) && promptFile(file):
			err = nil // prompts bring their tools; another element is rejected
		}
		if err != nil {
			return nil, err
		}
	}
	return convert.One(c.record), nil
}

// errNoTable says that no tool list was found.
var errNoTable = errors.New("want tool.jsonl in this folder or the one above it; fetch it, or name a tool list by the option tools")

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
	return nil, "", fmt.Errorf("%s: %w", dir, errNoTable)
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
		out[t.Name] = t
	}
	return out, nil
}

// record converts one element.
func (c *converter) record(el convert.Element) (qaoa.Record, *convert.Reject) {
	in, rej := readInstance(el)
	rec := qaoa.Record{ID: in.id}
	if rej != nil {
		return rec, rej
	}
	if in.query.Kind != qaoa.String || strings.TrimSpace(in.query.Text) == "" {
		return rec, convert.Rejectf(convert.NoQuery, in.queryPath, "want a string with something in it, have %s", show(in.query))
	}
	if c.foreign(in.query.Text) {
		return rec, convert.Rejectf(convert.NonEnglish, in.queryPath, "the query breaks the language rule: %.60q", in.query.Text)
	}
	if in.calling.Kind != qaoa.Array || len(in.calling.Items) == 0 {
		return rec, convert.Rejectf(convert.NoCall, in.callingPath, "want a list with something in it, have %s", show(in.calling))
	}
	table := c.tools[path.Dir(el.Pos.File)]
	if !in.prompt && table == nil {
		return rec, convert.Rejectf(convert.EmptyTools, "", "%v", errNoTable)
	}
	b := builder{tools: table}
	for i, item := range in.calling.Items {
		if rej := b.add(item, fmt.Sprintf("%s/%d", in.callingPath, i)); rej != nil {
			if in.prompt { // the calls are a text, which no pointer reaches into
				rej.Path, rej.Detail = in.callingPath, fmt.Sprintf("call %d: %s", i, rej.Detail)
			}
			return rec, rej
		}
	}
	rec.Tools = b.offered
	if in.prompt {
		rec.Tools = in.tools
	}
	rec.Turns = []qaoa.Turn{{Query: in.query.Text, Steps: b.finish()}}
	rec.Meta = b.meta(rec.ID)
	if !c.strict {
		return rec, nil
	}
	if len(b.unresolved) > 0 {
		return rec, convert.Rejectf(convert.UnresolvedPlace, in.callingPath, "no earlier call returns %s", b.unresolved[0].Text)
	}
	return rec, convert.CheckStrict(rec)
}

// show returns v for a message, cut to a few characters.
func show(v qaoa.Value) string {
	if v.Kind == qaoa.Invalid {
		return "none"
	}
	return fmt.Sprintf("%.60s", v.JSON())
}
