package preflight

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goccy/go-json"

	"assay/internal/raw"
)

// maxInfo is the size of the largest dataset_info.json that is read.
const maxInfo = 16 << 20

// Columns say where the fields of a row are, as dataset_info.json does.
type Columns struct {
	Messages, System, Tools                           string
	Role, Content                                     string
	User, Assistant, Observation, Function, SystemTag string
	Formatting                                        string
	// Described tells that a dataset_info.json was read.
	Described bool
}

// shareGPT are the columns that train shard writes and LLaMA-Factory documents.
func shareGPT() Columns {
	return Columns{
		Messages: "conversations", System: "system", Tools: "tools", Role: "from", Content: "value",
		User: "human", Assistant: "gpt", Observation: "observation", Function: "function_call", SystemTag: "system",
		Formatting: "sharegpt",
	}
}

// An Input is what a trainer reads.
type Input struct {
	Files   []string
	Columns Columns
	Notes   []string
}

// Open finds the files of paths for a trainer. A folder with
// dataset_info.json is read by it for LLaMA-Factory (dataset names one of
// several data sets), a folder with data/ is what is in there, any other its
// files; a file is itself.
func Open(t Trainer, paths []string, dataset string) (Input, error) {
	in := Input{Columns: shareGPT()}
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			return in, err
		}
		switch {
		case !info.IsDir():
			in.Files = append(in.Files, path)
		case t == LlamaFactory:
			err = in.described(path, dataset)
		default:
			err = in.folder(path)
		}
		if err != nil {
			return in, err
		}
	}
	if t == LlamaFactory && !in.Columns.Described {
		in.Notes = append(in.Notes, "no dataset_info.json was read: the columns and tags are those of its sharegpt examples (from, value; human, gpt, function_call, observation)")
	}
	if len(in.Files) == 0 {
		return in, fmt.Errorf("%s: no files of rows", strings.Join(paths, ", "))
	}
	return in, nil
}

// folder adds the files of a folder, or of data/ in it.
func (in *Input) folder(dir string) error {
	if info, err := os.Stat(filepath.Join(dir, "data")); err == nil && info.IsDir() {
		dir = filepath.Join(dir, "data")
	}
	entries, err := os.ReadDir(dir)
	for _, e := range entries { // sorted
		name := e.Name()
		if e.IsDir() || strings.HasPrefix(name, ".") || name == "manifest.json" || name == "dataset_info.json" || strings.HasSuffix(name, ".md") {
			continue
		}
		in.Files = append(in.Files, filepath.Join(dir, name))
	}
	return err
}

// described adds the files of a data set of dataset_info.json.
func (in *Input) described(dir, dataset string) error {
	path := filepath.Join(dir, "dataset_info.json")
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return in.folder(dir)
	}
	if err != nil {
		return err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxInfo+1))
	if err != nil || len(data) > maxInfo {
		return errors.Join(err, fmt.Errorf("%s: larger than %d bytes, or cannot be read", path, maxInfo))
	}
	var all map[string]struct {
		File       string            `json:"file_name"`
		Formatting string            `json:"formatting"`
		Columns    map[string]string `json:"columns"`
		Tags       map[string]string `json:"tags"`
	}
	if err := json.Unmarshal(data, &all); err != nil {
		return fmt.Errorf("%s: want an object of data sets: %w", path, err)
	}
	var names []string
	for name := range all {
		names = append(names, name)
	}
	slices.Sort(names)
	if dataset == "" && len(names) == 1 {
		dataset = names[0]
	}
	d, ok := all[dataset]
	switch {
	case !ok:
		return fmt.Errorf("%s: want a data set of it by --dataset, one of %s; have %q", path, strings.Join(names, ", "), dataset)
	case d.File == "" || !filepath.IsLocal(d.File):
		return fmt.Errorf("%s: %s: /file_name: want a file or folder beside it, have %.60q", path, dataset, d.File)
	}
	in.Columns = columnsOf(d.Formatting, d.Columns, d.Tags)
	target := filepath.Join(dir, d.File)
	info, err := os.Stat(target)
	switch {
	case err != nil:
		return fmt.Errorf("%s: %s: /file_name: %w", path, dataset, err)
	case info.IsDir():
		return in.folder(target)
	}
	in.Files = append(in.Files, target)
	return nil
}

// columnsOf applies a description over what LLaMA-Factory takes without one.
func columnsOf(formatting string, columns, tags map[string]string) Columns {
	c := shareGPT()
	// Columns that are not named are not read.
	c.System, c.Tools, c.Described = "", "", true
	c.Formatting = formatting
	if formatting == "" {
		c.Formatting = "alpaca"
	}
	set := func(from map[string]string, name string, to *string) {
		if v, ok := from[name]; ok {
			*to = v
		}
	}
	set(columns, "messages", &c.Messages)
	set(columns, "system", &c.System)
	set(columns, "tools", &c.Tools)
	set(tags, "role_tag", &c.Role)
	set(tags, "content_tag", &c.Content)
	set(tags, "user_tag", &c.User)
	set(tags, "assistant_tag", &c.Assistant)
	set(tags, "observation_tag", &c.Observation)
	set(tags, "function_tag", &c.Function)
	set(tags, "system_tag", &c.SystemTag)
	return c
}

// A rawRow is a row as it stands in a file, or why the file has none.
type rawRow struct {
	file  string
	index int
	data  []byte
	bad   *Finding
}

// rows yields the rows of the files in their order.
func (in Input) rows(ctx context.Context, t Trainer) iter.Seq2[rawRow, error] {
	return func(yield func(rawRow, error) bool) {
		first := ""
		for _, path := range in.Files {
			name := filepath.Base(path)
			bad := in.fileType(t, name, &first)
			f, err := os.Open(path)
			if err != nil {
				yield(rawRow{}, err)
				return
			}
			ok := eachRow(ctx, f, name, bad, yield)
			f.Close()
			if !ok {
				return
			}
		}
	}
}

func eachRow(ctx context.Context, r io.Reader, name string, bad *Finding, yield func(rawRow, error) bool) bool {
	for el, err := range raw.Elements(ctx, r, name) {
		row := rawRow{file: name, index: el.Pos.Index, data: el.Data, bad: bad}
		if pos, skip := raw.Skippable(err); skip {
			row.index, row.bad, err = pos.Index, &Finding{NotJSON, "", err.Error()}, nil
		}
		if !yield(row, err) || err != nil {
			return false
		}
	}
	return true
}

// fileType returns what is wrong with the type of a file for LLaMA-Factory,
// which goes by the last extension (extras/constants.py, data/loader.py).
func (in Input) fileType(t Trainer, name string, first *string) *Finding {
	if t != LlamaFactory {
		return nil
	}
	ext := strings.TrimPrefix(filepath.Ext(name), ".")
	kind := map[string]string{"arrow": "arrow", "csv": "csv", "json": "json", "jsonl": "json", "parquet": "parquet", "txt": "text"}[ext]
	switch {
	case kind == "":
		return &Finding{FileType, "", fmt.Sprintf("want arrow, csv, json, jsonl, parquet or txt at the end of the name, have %.60q", name)}
	case *first == "":
		*first = kind
	case *first != kind:
		return &Finding{FileType, "", fmt.Sprintf("want all files of one type, have %s after %s", kind, *first)}
	}
	return nil
}
