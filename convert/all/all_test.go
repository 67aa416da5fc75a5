package all

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"assay/convert/converttest"
)

// TestSources runs the suite that every source must pass on each folder
// convert/*/testdata/SOURCE.
func TestSources(t *testing.T) {
	dirs, err := filepath.Glob("../*/testdata/*/raw")
	if err != nil {
		t.Fatal(err)
	}
	tested := map[string]bool{}
	for _, raw := range dirs {
		dir := filepath.Dir(raw)
		if filepath.Base(filepath.Dir(filepath.Dir(dir))) == "converttest" {
			continue // the suite's own
		}
		name := filepath.Base(dir)
		tested[name] = true
		t.Run(name, func(t *testing.T) {
			src, err := Lookup(name)
			if err != nil {
				t.Fatalf("%s is no listed source: add it to Sources in convert/all/all.go", name)
			}
			converttest.Run(t, src, dir)
		})
	}
	for _, src := range Sources() {
		if !tested[src.Name] {
			t.Errorf("%s has no folder testdata/%s/raw beside its code", src.Name, src.Name)
		}
	}
}

func TestNamesAreUnique(t *testing.T) {
	seen := map[string]bool{}
	for _, src := range Sources() {
		if seen[src.Name] {
			t.Errorf("%s is listed twice", src.Name)
		}
		seen[src.Name] = true
	}
}

func ExampleLookup() {
	src, err := Lookup("api-bank")
	fmt.Println(src.Licence, err)
	_, err = Lookup("apibank")
	if unknown, ok := errors.AsType[*UnknownSourceError](err); ok {
		fmt.Println(unknown.Near)
	}
	// Output:
	// Apache-2.0 <nil>
	// api-bank
}

func TestLookup(t *testing.T) {
	for _, src := range Sources() {
		if got, err := Lookup(src.Name); err != nil || got.Name != src.Name {
			t.Errorf("Lookup(%q) = %q, %v", src.Name, got.Name, err)
		}
	}
	tests := []struct{ name, in, near string }{
		{"a letter too many", "bfcll", "bfcl"},
		{"two letters swapped", "acebnech", "acebench"},
		{"another spelling", "Seal_Tools", "seal-tools"},
		{"no hyphen", "apibank", "api-bank"},
		{"something else", "imagenet", ""},
		{"nothing", "", ""},
		{"a text", string(slices.Repeat([]byte("bfcl "), 1000)), ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Lookup(tt.in)
			unknown, ok := errors.AsType[*UnknownSourceError](err)
			if !ok {
				t.Fatalf("Lookup(%.40q) = %v, want an UnknownSourceError", tt.in, err)
			}
			if unknown.Near != tt.near {
				t.Errorf("Lookup(%.40q) suggests %q, want %q", tt.in, unknown.Near, tt.near)
			}
		})
	}
	_, err := Lookup("bfcll")
	want := `source "bfcll": did you mean "bfcl"? want one of `
	for i, src := range Sources() {
		if i > 0 {
			want += ", "
		}
		want += src.Name
	}
	if err.Error() != want {
		t.Errorf("have %q, want %q", err, want)
	}
}
