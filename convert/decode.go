package convert

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"

	"assay/internal/raw"
	"assay/qaoa"
)

// ParseObject returns the element as a tree, or why it is no JSON object.
func ParseObject(el Element) (qaoa.Value, *Reject) {
	v, err := qaoa.ParseValue(el.Data)
	if err != nil {
		return qaoa.Value{}, Rejectf(ParseError, "", "%v", err)
	}
	if v.Kind != qaoa.Object {
		return qaoa.Value{}, Rejectf(ParseError, "", "want an object, have %s", describe(v))
	}
	return v, nil
}

// Field returns the member of the object v with that name and kind, or why
// there is none. The path is that of v.
func Field(v qaoa.Value, path, name string, kind qaoa.Kind) (qaoa.Value, *Reject) {
	f, ok := v.Get(name)
	if !ok {
		return qaoa.Value{}, Rejectf(ParseError, path+"/"+name, "want %s, have none", article(kind))
	}
	if f.Kind != kind {
		return qaoa.Value{}, Rejectf(ParseError, path+"/"+name, "want %s, have %s", article(kind), describe(f))
	}
	return f, nil
}

// article returns the name of k with its article.
func article(k qaoa.Kind) string {
	if k == qaoa.Array || k == qaoa.Object {
		return "an " + k.String()
	}
	return "a " + k.String()
}

// SideElements yields the elements of a side table: the file name of fsys, or
// else name.gz or name.zst. An error names the file and comes last.
func SideElements(ctx context.Context, fsys fs.FS, name string) iter.Seq2[Element, error] {
	return func(yield func(Element, error) bool) {
		f, err := openSide(fsys, name)
		if err != nil {
			yield(Element{}, fmt.Errorf("side table: %w", err))
			return
		}
		defer func() { _ = f.Close() }() // it was only read
		for el, err := range raw.Elements(ctx, f, name) {
			if err != nil {
				err = fmt.Errorf("side table %s: %w", name, err)
			}
			if !yield(el, err) || err != nil {
				return
			}
		}
	}
}

// openSide opens name, or a compressed file of that name. The error is that of
// name itself.
func openSide(fsys fs.FS, name string) (fs.File, error) {
	f, first := fsys.Open(name)
	if !errors.Is(first, fs.ErrNotExist) {
		return f, first
	}
	for _, suffix := range []string{".gz", ".zst"} {
		if f, err := fsys.Open(name + suffix); err == nil {
			return f, nil
		}
	}
	return nil, first
}
