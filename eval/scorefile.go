package eval

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/goccy/go-json"

	"assay/match"
)

// A ScoreWriter writes the scores of a run folder: scores/PRESET.json and
// scores/PRESET.items.jsonl. Its method Item serves [ScoreOptions].
type ScoreWriter struct {
	dir   string
	files map[string]*itemFile
}

type itemFile struct {
	file *os.File
	w    *bufio.Writer
	enc  *json.Encoder
}

// NewScoreWriter makes dir/scores and begins an items file for each preset.
// What was there stays until [ScoreWriter.Commit].
func NewScoreWriter(dir string, presets []match.Options) (*ScoreWriter, error) {
	w := &ScoreWriter{dir: filepath.Join(dir, ScoresDir), files: map[string]*itemFile{}}
	if err := os.MkdirAll(w.dir, 0o755); err != nil {
		return nil, err
	}
	for _, p := range presets {
		name := p.Resolved().Name
		if name != filepath.Base(name) || name == "." || name == ".." {
			return nil, errors.Join(fmt.Errorf("preset %.40q: want a name that can be a file", name), w.Abort())
		}
		file, err := os.Create(w.path(name, ".items.jsonl") + tempSuffix)
		if err != nil {
			return nil, errors.Join(err, w.Abort())
		}
		f := &itemFile{file: file, w: bufio.NewWriterSize(file, 1<<16)}
		f.enc = json.NewEncoder(f.w)
		f.enc.SetEscapeHTML(false)
		w.files[name] = f
	}
	return w, nil
}

func (w *ScoreWriter) path(preset, suffix string) string {
	return filepath.Join(w.dir, preset+suffix)
}

// Item writes one line.
func (w *ScoreWriter) Item(preset string, it Item) error {
	f := w.files[preset]
	if f == nil {
		return fmt.Errorf("an item of preset %q, which is not written", preset)
	}
	return f.enc.Encode(it)
}

// Commit writes the scores and puts all files in place.
func (w *ScoreWriter) Commit(scores []Scores) error {
	for _, s := range scores {
		f := w.files[s.Preset]
		if f == nil {
			return errors.Join(fmt.Errorf("scores of preset %q, which is not written", s.Preset), w.Abort())
		}
		delete(w.files, s.Preset)
		if err := errors.Join(f.w.Flush(), f.file.Close()); err != nil {
			return errors.Join(err, os.Remove(f.file.Name()), w.Abort())
		}
		if err := os.Rename(f.file.Name(), w.path(s.Preset, ".items.jsonl")); err != nil {
			return errors.Join(err, w.Abort())
		}
		err := replaceFile(w.path(s.Preset, ".json"), func(out io.Writer) error { return encodeJSON(out, s, "  ") })
		if err != nil {
			return errors.Join(err, w.Abort())
		}
	}
	return w.Abort() // of what has no scores
}

// Abort drops what was not committed.
func (w *ScoreWriter) Abort() error {
	var err error
	for name, f := range w.files {
		delete(w.files, name)
		err = errors.Join(err, f.file.Close(), os.Remove(f.file.Name()))
	}
	return err
}

// ReadScores reads the scores of a preset from a run folder.
func ReadScores(dir, preset string) (Scores, error) {
	path := filepath.Join(dir, ScoresDir, preset+".json")
	data, err := os.ReadFile(path)
	if err != nil {
		return Scores{}, err
	}
	var s Scores
	if err := json.Unmarshal(data, &s); err != nil {
		return Scores{}, fmt.Errorf("%s: want the scores of a run: %w", path, err)
	}
	return s, nil
}

// ReadItems reads the items of a preset from a run folder, in the order in
// which they were written.
func ReadItems(dir, preset string) (items []Item, err error) {
	err = eachItemLine(dir, preset, func(line []byte) error {
		var it Item
		err := json.Unmarshal(line, &it)
		items = append(items, it)
		return err
	})
	if err != nil {
		return nil, err
	}
	return items, nil
}

// ReadItemScores is [ReadItems] without the pairs, which take most of the
// memory that items need: those of statistics take the size of an [Item] each,
// and one id for all instances of a record that follow each other.
func ReadItemScores(dir, preset string) ([]Item, error) {
	n := 0
	if err := eachItemLine(dir, preset, func([]byte) error { n++; return nil }); err != nil {
		return nil, err
	}
	items := make([]Item, 0, n)
	id, names := "", map[string]string{}
	err := eachItemLine(dir, preset, func(line []byte) error {
		var it struct {
			Item
			Pairs json.RawMessage `json:"pairs"` // as it is, and dropped with the line
		}
		err := json.Unmarshal(line, &it)
		if it.ID != id {
			id = strings.Clone(it.ID)
		}
		it.ID, it.Dataset, it.Cell = id, shared(names, it.Dataset), shared(names, it.Cell)
		items = append(items, it.Item)
		return err
	})
	if err != nil {
		return nil, err
	}
	return items, nil
}

// shared returns a string equal to s that is kept in names, for strings that
// come again and again, each out of a text that need not be kept for it.
func shared(names map[string]string, s string) string {
	known, ok := names[s]
	if !ok {
		known = strings.Clone(s)
		names[known] = known
	}
	return known
}

// eachItemLine calls f for each line of the items of a preset. The line is
// valid until f returns.
func eachItemLine(dir, preset string, f func(line []byte) error) (err error) {
	path := filepath.Join(dir, ScoresDir, preset+".items.jsonl")
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	r := bufio.NewReaderSize(file, 1<<16)
	for n := 1; ; n++ {
		line, err := r.ReadBytes('\n')
		if err != nil && err != io.EOF {
			return err
		}
		if len(line) > 0 {
			if err := f(line); err != nil {
				return fmt.Errorf("%s:%d: want the score of an instance: %w; score the run again", path, n, err)
			}
		}
		if err == io.EOF {
			return nil
		}
	}
}
