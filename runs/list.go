package runs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"assay/eval"
)

// maxDepth is how far below a folder runs are looked for.
const maxDepth = 4

// StateKilled is the state of a run that says running while no process works
// on it. Resume it.
const StateKilled eval.State = "killed"

// A Run is one run folder as it is now.
type Run struct {
	Dir   string     `json:"dir"`
	State eval.State `json:"state"`
	// Holder is the process that works on it, "" if none does.
	Holder string        `json:"holder,omitempty"`
	Info   eval.RunInfo  `json:"run"`
	Scores []eval.Scores `json:"scores,omitempty"` // by preset, in order of name
	// Bytes is the size of all files, and Updated when the journal or run.json
	// last changed.
	Bytes   int64     `json:"bytes"`
	Updated time.Time `json:"updated"`
	// Fault is why the folder cannot be read; the rest but Dir is empty then.
	Fault string `json:"fault,omitempty"`
}

// List returns the run folders in and below root, at most four levels deep, in
// the order of their paths. Hidden folders are passed over, and so are
// symbolic links. A run folder that cannot be read is listed with its Fault.
func List(ctx context.Context, root string) ([]Run, error) {
	var found []Run
	base := strings.Count(filepath.Clean(root), string(filepath.Separator))
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			if path == root {
				return err
			}
			return fs.SkipDir // not ours to read
		}
		if !d.IsDir() {
			return nil
		}
		if path != root && strings.HasPrefix(d.Name(), ".") {
			return fs.SkipDir
		}
		if _, err := os.Lstat(filepath.Join(path, eval.RunFile)); err == nil {
			found = append(found, look(path))
			return fs.SkipDir
		}
		if strings.Count(filepath.Clean(path), string(filepath.Separator))-base >= maxDepth {
			return fs.SkipDir
		}
		return nil
	})
	return found, err
}

// Look returns one run folder. A folder without a run is an error that says so.
func Look(dir string) (Run, error) {
	if _, err := eval.ReadRun(dir); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return Run{}, fmt.Errorf("%s holds no run (no %s); \"assay runs ls\" lists those below a folder", dir, eval.RunFile)
		}
		return Run{}, err
	}
	return look(dir), nil
}

func look(dir string) Run {
	r := Run{Dir: dir}
	info, err := eval.ReadRun(dir)
	if err != nil {
		r.Fault = err.Error()
		return r
	}
	r.Info, r.State = info, info.State
	if eval.Busy(dir) {
		r.State, r.Holder = eval.StateRunning, eval.Holder(dir)
	} else if r.State == eval.StateRunning {
		r.State = StateKilled
	}
	r.size()
	for _, preset := range presets(dir) {
		if s, err := eval.ReadScores(dir, preset); err == nil { // scores can be made again
			r.Scores = append(r.Scores, s)
		}
	}
	return r
}

// size sums the files, as far as they can be looked at.
func (r *Run) size() {
	_ = filepath.WalkDir(r.Dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil //nolint:nilerr // what cannot be looked at has no size
		}
		info, err := d.Info()
		if err != nil {
			return nil //nolint:nilerr // it was removed meanwhile
		}
		r.Bytes += info.Size()
		if name := filepath.Base(path); (name == eval.JournalFile || name == eval.RunFile) && info.ModTime().After(r.Updated) {
			r.Updated = info.ModTime()
		}
		return nil
	})
	r.Updated = r.Updated.UTC().Truncate(time.Second)
}

// presets returns the presets that the run was scored by, sorted.
func presets(dir string) []string {
	files, err := os.ReadDir(filepath.Join(dir, eval.ScoresDir))
	if err != nil {
		return nil // not scored
	}
	var names []string
	for _, f := range files {
		if name, ok := strings.CutSuffix(f.Name(), ".json"); ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// Remove deletes a run folder; see [eval.Remove] for what is refused.
func Remove(dir string) error { return eval.Remove(dir) }
