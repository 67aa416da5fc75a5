package toucan

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"assay/convert"
	"assay/convert/converttest"

	json "github.com/goccy/go-json"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestFixtures(t *testing.T) { converttest.Run(t, Source, "testdata/toucan") }

// The plain reader makes what the tree makes, or nothing.
func TestPlainAgreesWithTheTree(t *testing.T) {
	files, err := filepath.Glob("testdata/toucan/raw/*.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, profile := range []convert.Profile{convert.Paper, convert.Strict} {
		plain := 0
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(string(data)) {
				if agree(t, profile, strings.TrimSpace(line)) {
					plain++
				}
			}
		}
		if plain < 5 {
			t.Errorf("profile %s: only %d elements are read the plain way", profile, plain)
		}
	}
}

func FuzzPlain(f *testing.F) {
	for _, name := range []string{"toucan-sample", "x-toucan"} {
		data, err := os.ReadFile("testdata/toucan/raw/" + name + ".jsonl")
		if err != nil {
			f.Fatal(err)
		}
		for line := range strings.Lines(string(data)) {
			f.Add(strings.TrimSpace(line))
		}
	}
	f.Add(`{"uuid":"a\u0062","messages":"[{\"role\":\"user\",\"content\":\"\\ud83d\\ude00 \\/ é\"}]","tools":[]}`)
	f.Fuzz(func(t *testing.T, text string) {
		agree(t, convert.Paper, text)
		agree(t, convert.Strict, text)
	})
}

// agree checks that the two readers agree on an element, and reports whether
// the plain one could read it.
func agree(t *testing.T, profile convert.Profile, text string) bool {
	t.Helper()
	terms, err := convert.TermsOf(convert.Options{Profile: profile})
	if err != nil {
		t.Fatal(err)
	}
	c := &converter{terms: terms}
	el := convert.Element{Data: []byte(text)}
	rec, rej, ok := c.plain(el)
	if !ok {
		return false
	}
	if !json.Valid(el.Data) {
		t.Errorf("%q is no JSON, and was read", text)
	}
	want, wantRej := c.odd(el)
	if !cmp.Equal(rec, want, cmpopts.EquateEmpty()) || !cmp.Equal(rej, wantRej) {
		t.Errorf("%q: rejects %v and %v, records (-plain +tree):\n%s", text, rej, wantRej, cmp.Diff(rec, want))
	}
	return true
}
