package convert

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"assay/qaoa"
)

func TestSideElements(t *testing.T) {
	var zipped bytes.Buffer
	w := gzip.NewWriter(&zipped)
	if _, err := w.Write([]byte("{\"a\":1}\n{\"a\":2}\n")); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	fsys := fstest.MapFS{
		"plain.json":   &fstest.MapFile{Data: []byte(`[{"a":1},{"a":2}]`)},
		"zip.jsonl.gz": &fstest.MapFile{Data: zipped.Bytes()},
		"cut.json":     &fstest.MapFile{Data: []byte(`[{"a":1},{"a"`)},
	}
	for _, name := range []string{"plain.json", "zip.jsonl"} {
		n := 0
		for el, err := range SideElements(t.Context(), fsys, name) {
			if err != nil {
				t.Fatal(err)
			}
			if v, rej := ParseObject(el); rej != nil || v.Members[0].Name != "a" {
				t.Errorf("%s: have %s, %v", name, el.Data, rej)
			}
			n++
		}
		if n != 2 {
			t.Errorf("%s: %d elements, want 2", name, n)
		}
	}
	last := func(name string) (err error) {
		for _, err = range SideElements(t.Context(), fsys, name) {
		}
		return err
	}
	if err := last("none.json"); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "none.json") {
		t.Errorf("a missing table: %v", err)
	}
	if err := last("cut.json"); err == nil || !strings.Contains(err.Error(), "side table cut.json") {
		t.Errorf("a table that is cut off: %v", err)
	}
	for _, err := range SideElements(t.Context(), fsys, "plain.json") {
		if err != nil {
			t.Error(err)
		}
		break // must not go on
	}
}

func TestField(t *testing.T) {
	v := qaoa.ObjectValue(qaoa.Member{Name: "a", Value: qaoa.NumberValue("1")})
	if f, rej := Field(v, "", "a", qaoa.Number); rej != nil || f.Text != "1" {
		t.Errorf("have %v, %v", f, rej)
	}
	for _, tt := range []struct {
		name, field, path, detail string
		kind                      qaoa.Kind
	}{
		{"a missing member", "b", "/x/0/b", "want a string, have none", qaoa.String},
		{"a member of another kind", "a", "/x/0/a", "want an array, have number", qaoa.Array},
	} {
		_, rej := Field(v, "/x/0", tt.field, tt.kind)
		if rej == nil || rej.Path != tt.path || rej.Detail != tt.detail || rej.Code != ParseError {
			t.Errorf("%s: have %+v", tt.name, rej)
		}
	}
}

func TestLanguageRule(t *testing.T) {
	tests := []struct {
		name, rule, fallback string
		foreign, fine        string
	}{
		{"l1", "l1", "", "ц", "ä"},
		{"l2", "l2", "", "ä", "a"},
		{"cjk", "cjk", "", "桌", "ц"},
		{"the fallback", "", "l2", "ä", "a"},
		{"off", "off", "l1", "", "桌"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			rule, err := LanguageRule(tt.rule, tt.fallback)
			if err != nil {
				t.Fatal(err)
			}
			if tt.foreign != "" && !rule(tt.foreign) || rule(tt.fine) {
				t.Errorf("%q: %v, %q: %v", tt.foreign, rule(tt.foreign), tt.fine, rule(tt.fine))
			}
		})
	}
	if _, err := LanguageRule("x", "l1"); err == nil {
		t.Error("an unknown rule: no error")
	}
}
