package all

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"path"
	"strings"
	"testing"
	"testing/fstest"

	"assay/convert"
	"assay/internal/raw"
	"assay/qaoa"

	json "github.com/goccy/go-json"
)

const (
	corruptRuns  = 1000     // together
	corruptSlice = 64 << 10 // bytes of each file that are corrupted
)

// A victim is the beginning of a real file, to be corrupted.
type victim struct {
	src   convert.Source // opened once, on the sound files
	name  string
	text  []byte
	table bool      // Parquet, where a changed bit may change any row
	clean []outcome // of the text itself
}

// TestRealCorrupted corrupts real files and checks that every raw instance
// ends as a record or in the ledger, that only the container ends a run early,
// and that what was read before the first changed byte is as it was.
func TestRealCorrupted(t *testing.T) {
	victims := victims(t)
	rng := rand.New(rand.NewPCG(20240607, 5))
	breaks, rejected, same := 0, 0, 0
	for i := range corruptRuns {
		v := victims[i%len(victims)]
		bad, first := corrupt(rng, v.text)
		got, sum, err := outcomesOf(t, v, bad)
		if err != nil {
			if _, ok := errors.AsType[*raw.ContainerError](err); !ok {
				t.Errorf("run %d, %s %s: the run ends with a %T, want a *raw.ContainerError: %v", i, v.src.Name, v.name, err, err)
			}
			breaks++
		}
		rejected += sum.Rejected
		if v.table {
			continue
		}
		for j := 0; j+1 < len(v.clean) && v.clean[j+1].offset < first; j++ {
			if j >= len(got) || got[j] != v.clean[j] {
				t.Errorf("run %d, %s %s: element %d is before the first changed byte %d and yet differs\nhave %.300v\nwant %.300v",
					i, v.src.Name, v.name, j, first, at(got, j), v.clean[j])
				break
			}
			same++
		}
	}
	t.Logf("%d victims; %d runs broke off, %d instances were rejected, %d elements before the damage were the same",
		len(victims), breaks, rejected, same)
	if breaks < corruptRuns/20 || rejected < corruptRuns || same < corruptRuns {
		t.Errorf("%d breaks, %d rejects, %d elements kept are too few: the test corrupts too little or too much", breaks, rejected, same)
	}
}

func at(got []outcome, j int) any {
	if j < len(got) {
		return got[j]
	}
	return fmt.Sprintf("only %d elements", len(got))
}

// An outcome is what became of an element, as text.
type outcome struct {
	offset int64
	text   string
}

// outcomesOf converts text as if it were the file of v, and checks the balance.
func outcomesOf(t *testing.T, v victim, text []byte) ([]outcome, convert.Summary, error) {
	t.Helper()
	in := convert.Input{Root: "x", FS: fstest.MapFS{v.name: &fstest.MapFile{Data: text}}, Files: []string{v.name}}
	var out []outcome
	var sum convert.Summary
	var lines bytes.Buffer
	ledger := convert.NewLedger(&lines)
	var end error
	for o, err := range convert.Run(t.Context(), v.src, []convert.Input{in}, convert.RunOptions{Workers: 1}) {
		if err != nil {
			end = err
			break
		}
		if o.Read != len(o.Records)+len(o.Rejects) || o.Read == 0 {
			t.Errorf("%s %s: %d instances are %d records and %d rejects", v.src.Name, o.Pos, o.Read, len(o.Records), len(o.Rejects))
		}
		sum.Add(o)
		var b []byte
		for _, rec := range o.Records {
			b = qaoa.AppendRecord(b, rec)
		}
		for _, rej := range o.Rejects {
			if strings.Contains(rej.Detail, "a fault of the source") {
				t.Errorf("%s panics: %v", v.src.Name, rej)
			}
			if err := ledger.Write(rej); err != nil {
				t.Fatal(err)
			}
			b = append(b, rej.Error()...)
		}
		out = append(out, outcome{o.Pos.Offset, string(b)})
	}
	if err := sum.Check(); err != nil {
		t.Errorf("%s %s: %v", v.src.Name, v.name, err)
	}
	if n := bytes.Count(lines.Bytes(), []byte{'\n'}); n != sum.Rejected || sum.Read != sum.Converted+n {
		t.Errorf("%s %s: %d read, %d converted, %d rejected, %d lines in the ledger", v.src.Name, v.name, sum.Read, sum.Converted, sum.Rejected, n)
	}
	for line := range bytes.Lines(lines.Bytes()) {
		if !json.Valid(line) {
			t.Errorf("%s: a line of the ledger is not valid JSON: %.200s", v.src.Name, line)
		}
	}
	return out, sum, end
}

// corrupt returns text with one to four faults, and the place of the first
// changed byte.
func corrupt(rng *rand.Rand, text []byte) (bad []byte, first int64) {
	bad = bytes.Clone(text)
	at := len(bad)
	for range 1 + rng.IntN(4) {
		if len(bad) < 2 {
			break
		}
		i := rng.IntN(len(bad))
		switch rng.IntN(6) {
		case 0: // a flipped bit
			bad[i] ^= 1 << rng.IntN(8)
		case 1: // another byte
			bad[i] = byte(rng.Uint32())
		case 2: // a byte of the grammar
			bad[i] = "\"{}[],:\\\n\x00"[rng.IntN(10)]
		case 3: // bytes that are lost
			bad = append(bad[:i], bad[min(i+1+rng.IntN(50), len(bad)):]...)
		case 4: // bytes that are there twice
			j := min(i+1+rng.IntN(50), len(bad))
			bad = append(bad[:j:j], append(bytes.Clone(bad[i:j]), bad[j:]...)...)
			i = j
		default: // a download that broke off, sometimes
			if rng.IntN(4) == 0 {
				bad = bad[:i]
			}
		}
		at = min(at, i)
	}
	return bad, int64(at)
}

// victims returns beginnings of real files of every source that has any.
func victims(t *testing.T) []victim {
	t.Helper()
	tests := []struct {
		source string
		paths  [][]string // below the real data
	}{
		{"bfcl", [][]string{{"bfcl"}}},
		{"acebench", [][]string{{"acebench"}}},
		{"seal-tools", [][]string{{"seal-tools"}, {"seal-tools", "Seal-Tools_Dataset", "dataset_in_old_format", "test_in_domain.jsonl"}}},
		{"hammerbench", [][]string{{"hammerbench"}}},
		{"api-bank", [][]string{{"api-bank"}, {"api-bank", "test-data", "level-3-batch-inf.json"}}},
		{"toolalpaca", [][]string{{"toolalpaca"}}},
		{"api-bank-train", [][]string{{"api-bank-train"}}},
		{"toolhop", [][]string{{"toolhop"}}},
		{"apigen", [][]string{{"xlam"}}},
		{"seal-tools-train", [][]string{{"seal-tools-train", "dev.jsonl"}}},
		{"toucan", [][]string{{"toucan"}}},
		{"sharegpt", [][]string{{"glaive-sharegpt-demo"}, {"parquet-sample"}}},
	}
	var out []victim
	for _, tt := range tests {
		src, err := Lookup(tt.source)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range tt.paths {
			inputs, _, err := convert.Find(src, []string{realdata(t, p...)})
			if err != nil {
				t.Fatal(err)
			}
			for _, in := range inputs {
				f, err := src.Open(t.Context(), in)
				if err != nil {
					t.Fatal(err)
				}
				opened := src
				opened.Open = func(context.Context, convert.Input) (convert.Func, error) { return f, nil }
				// The first, the middle and the last file show the forms.
				n := len(in.Files)
				seen := map[string]bool{}
				for _, name := range []string{in.Files[0], in.Files[n/2], in.Files[n-1]} {
					if text := beginning(t, in.FS, name); len(text) > 0 && !seen[name] {
						v := victim{src: opened, name: name, text: text, table: path.Ext(name) == ".parquet"}
						if v.clean, _, err = outcomesOf(t, v, text); err != nil {
							t.Errorf("%s %s: the sound beginning ends with %v", v.src.Name, name, err)
						}
						out = append(out, v)
					}
					seen[name] = true
				}
			}
		}
	}
	return out
}

// beginning returns the first elements of a file in its own container, as many
// as fit; a Parquet file is returned whole.
func beginning(t *testing.T, fsys fs.FS, name string) []byte {
	t.Helper()
	text, err := fs.ReadFile(fsys, name)
	if err != nil {
		t.Fatal(err)
	}
	if path.Ext(name) == ".parquet" || len(text) <= corruptSlice {
		return text
	}
	isArray := bytes.HasPrefix(bytes.TrimSpace(text), []byte{'['})
	var out []byte
	for el, err := range convert.Elements(t.Context(), bytes.NewReader(text), name) {
		if err != nil {
			t.Fatal(err)
		}
		end := int(el.Pos.Offset) + len(el.Data)
		if end > corruptSlice && len(out) > 0 {
			break
		}
		out = text[:end]
	}
	if isArray && !bytes.HasPrefix(bytes.TrimSpace(text[len(out):]), []byte{'['}) {
		return append(bytes.Clone(out), ']')
	}
	return bytes.Clone(out)
}

// TestCorruptKeepsFirst checks the test itself: what is before the place that
// corrupt returns is untouched.
func TestCorruptKeepsFirst(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	text := []byte(strings.Repeat("0123456789", 20))
	for range 1000 {
		bad, first := corrupt(rng, text)
		if n := cmp.Compare(first, int64(len(bad))); n > 0 || !bytes.HasPrefix(bad, text[:first]) {
			t.Fatalf("%q differs before byte %d", bad, first)
		}
	}
}
