package train

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/goccy/go-json"

	"assay/qaoa"
)

// A Fault is something in a folder of shards that is not as its manifest says.
type Fault struct {
	File   string `json:"file"` // relative to the folder, with slashes
	Detail string `json:"detail"`
}

// String returns the file and what is wrong with it.
func (f Fault) String() string { return f.File + ": " + f.Detail }

// Verify reads a folder that [Shard] wrote and returns what differs from its
// manifest: shards that are missing, have another size, hash or number of rows,
// or rows that do not parse; sums over the rows; files among the shards that
// nobody wrote, which a trainer would read too; and a description of the data
// set that does not lead to the shards. A folder without a manifest is an
// error, and so is one of another version. OnFile is called for each shard that
// was read; it may be nil.
func Verify(ctx context.Context, dir string, onFile func(File)) (Manifest, []Fault, error) {
	m, err := ReadManifest(dir)
	if err != nil {
		return m, nil, err
	}
	v := verifier{dir: dir, m: m, onFile: onFile}
	known := map[string]bool{}
	for i, f := range m.Files {
		known[f.Name] = true
		if err := v.shard(ctx, i, f); err != nil {
			return m, nil, err
		}
	}
	v.sums()
	if err := v.strangers(known); err != nil {
		return m, nil, err
	}
	return m, append(v.faults, v.info()...), nil
}

type verifier struct {
	dir    string
	m      Manifest
	onFile func(File)
	faults []Fault
	// counted over the rows
	rows, turns, calls, tools int
	broken                    bool
}

func (v *verifier) fault(file, format string, args ...any) {
	v.faults = append(v.faults, Fault{file, fmt.Sprintf(format, args...)})
}

// shard compares one shard with its entry.
func (v *verifier) shard(ctx context.Context, i int, want File) error {
	name := fmt.Sprintf("%s/train-%05d-of-%05d.%s", dataFolder, i, len(v.m.Files), v.m.Choices.Container)
	if want.Name != name {
		// The manifest may say anything; what it says is never a path.
		v.fault(manifestName, "shard %d: want the name %s, have %.60q", i, name, want.Name)
		v.broken = true
		return nil
	}
	got, err := readShard(ctx, filepath.Join(v.dir, filepath.FromSlash(name)), v.m.Choices.Format, v.m.Choices.Container, v.m.Choices.PlainAnswers, func(r row) {
		v.rows++
		v.turns += len(r.turns)
		v.tools += len(r.tools)
		for _, t := range r.turns {
			for _, s := range t.Steps {
				v.calls += len(s.Calls)
			}
		}
	})
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	if v.onFile != nil {
		v.onFile(got)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		v.fault(name, "is missing")
	case err != nil:
		v.fault(name, "%v", err)
	case got.Bytes != want.Bytes:
		v.fault(name, "want %d bytes, have %d", want.Bytes, got.Bytes)
	case got.SHA256 != want.SHA256:
		v.fault(name, "want SHA-256 %s, have %s", want.SHA256, got.SHA256)
	case got.Rows != want.Rows:
		v.fault(name, "want %d rows, have %d", want.Rows, got.Rows)
	default:
		return nil
	}
	v.broken = true
	return nil
}

// sums compares what was counted over all rows.
func (v *verifier) sums() {
	if v.broken {
		return // each shard has its own fault
	}
	sources := 0
	for _, n := range v.m.Sources {
		sources += n
	}
	for _, c := range []struct {
		what       string
		want, have int
	}{
		{"rows", v.m.Rows, v.rows},
		{"rows of all sources", v.m.Rows, sources},
		{"records and split rows", v.m.Rows + v.m.Rejected, v.m.Records + v.m.Split},
		{"turns", v.m.Counts.Turns, v.turns},
		{"calls", v.m.Counts.Calls, v.calls},
		{"tools", v.m.Counts.Tools, v.tools},
	} {
		if c.want != c.have {
			v.fault(manifestName, "want %d %s, counted %d", c.want, c.what, c.have)
		}
	}
}

// strangers looks for files among the shards that are none.
func (v *verifier) strangers(known map[string]bool) error {
	entries, err := os.ReadDir(filepath.Join(v.dir, dataFolder))
	if errors.Is(err, fs.ErrNotExist) {
		return nil // each shard has its own fault
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		if name := dataFolder + "/" + e.Name(); !known[name] {
			v.fault(name, "is no shard of the manifest, and a trainer reads all files of the folder")
		}
	}
	return nil
}

// info compares the description of the data set.
func (v *verifier) info() []Fault {
	if v.m.Choices.Format != LlamaFactory {
		return nil
	}
	want, err := json.Marshal(datasetInfo(v.m.Choices.Name))
	if err != nil {
		return []Fault{{infoName, err.Error()}}
	}
	have, err := os.ReadFile(filepath.Join(v.dir, infoName))
	if errors.Is(err, fs.ErrNotExist) {
		return []Fault{{infoName, "is missing"}}
	}
	if err != nil {
		return []Fault{{infoName, err.Error()}}
	}
	a, err1 := qaoa.Compact(want)
	b, err2 := qaoa.Compact(bytes.TrimSpace(have))
	if err := errors.Join(err1, err2); err != nil {
		return []Fault{{infoName, err.Error()}}
	}
	if a != b {
		at := 0
		for at < min(len(a), len(b)) && a[at] == b[at] {
			at++
		}
		return []Fault{{infoName, fmt.Sprintf("want %.60s at byte %d of its compact form, have %.60s", strings.TrimSpace(string(a[at:])), at, b[at:])}}
	}
	return nil
}
