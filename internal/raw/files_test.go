package raw

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestExpand(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"b.jsonl", "a/z.json", "a/x/y.json", "a/.hidden/q.json", "a/.q.json", "c[1].json"} {
		p := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "empty"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(dir, "b.jsonl"), filepath.Join(dir, "a", "link.json")); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name  string
		paths string // below dir, divided by blanks
		want  string // root|name, with ! if named
	}{
		{"a file is itself", "b.jsonl", "|b.jsonl!"},
		{"a folder is its files in order, links to files included", "a", "a|link.json a|x/y.json a|z.json"},
		{"an empty folder is nothing", "empty", ""},
		{"a pattern is files and folders in order", "*", "a|link.json a|x/y.json a|z.json |b.jsonl! |c[1].json!"},
		{"a file whose name looks like a pattern is itself", "c[1].json", "|c[1].json!"},
		{"a file that is named twice comes twice", "b.jsonl a/x b.jsonl", "|b.jsonl! a/x|y.json |b.jsonl!"},
		{"a file that does not exist", "nope", "no such file"},
		{"a pattern without a match", "*.nope", "no file matches this pattern"},
		{"a malformed pattern", "[", "syntax error in pattern"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var paths, got []string
			for p := range strings.FieldsSeq(tt.paths) {
				paths = append(paths, filepath.Join(dir, filepath.FromSlash(p)))
			}
			files, err := Expand(paths)
			if err != nil {
				if !strings.Contains(err.Error(), tt.want) || tt.want == "" {
					t.Errorf("error %v, want %s", err, tt.want)
				}
				return
			}
			for _, f := range files {
				root, err := filepath.Rel(dir, f.Root)
				if err != nil {
					t.Fatal(err)
				}
				s := strings.TrimPrefix(filepath.ToSlash(root), ".") + "|" + f.Name
				if f.Named {
					s += "!"
				}
				got = append(got, s)
				r, err := f.Open()
				if err != nil {
					t.Fatal(err)
				}
				text, err := io.ReadAll(r)
				if err != nil || int64(len(text)) != f.Size {
					t.Errorf("%s holds %q (%v), has the size %d", f.Name, text, err, f.Size)
				}
				if err := r.Close(); err != nil {
					t.Error(err)
				}
			}
			if diff := cmp.Diff(tt.want, strings.Join(got, " ")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestStdin(t *testing.T) {
	files, err := Expand([]string{Stdin})
	if want := (InputFile{Name: "stdin", Size: -1, Named: true}); err != nil || len(files) != 1 || files[0] != want {
		t.Fatalf("Expand(-) = %v, %v", files, err)
	}
	r, err := files[0].Open()
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stdin.Stat(); err != nil {
		t.Errorf("standard input was closed: %v", err)
	}
	if _, err := files[0].FS().Open("other"); err == nil {
		t.Error("standard input has another file")
	}
}
