package train

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
)

// What a folder of shards holds. The manifest is written last: a folder
// without it is not finished.
const (
	dataFolder   = "data" // of its own, since the trainer reads every file in it
	infoName     = "dataset_info.json"
	manifestName = "manifest.json"
	unfinished   = ".unfinished" // where all is made, then moved up
)

var shardName = regexp.MustCompile(`^train-\d{5,}-of-\d{5,}\.(jsonl(\.gz|\.zst)?|parquet)$`)

// ExtraFiles returns the names of files and folders that may stand beside the
// shards: the data card with its figures, and recipes. They are replaced with
// the shards.
func ExtraFiles() []string { return []string{"README.md", "figures", "recipe", "preflight.json"} }

// A folder is an output folder in the making.
type folder struct {
	out  string
	made bool // out was not there before
}

// openFolder makes the folder out, or takes it if it is empty, or if it is to
// be overwritten and holds nothing but what an earlier run wrote.
func openFolder(out string, overwrite bool) (*folder, error) {
	f := &folder{out: out}
	entries, err := os.ReadDir(out)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		f.made = true
	case err != nil:
		return nil, err
	case len(entries) > 0 && !overwrite:
		return nil, fmt.Errorf("%s is not empty (it holds %s): name another folder, or have it overwritten by --overwrite", out, entries[0].Name())
	case len(entries) > 0:
		if err := f.replaceable(entries); err != nil {
			return nil, err
		}
	}
	if err := os.RemoveAll(f.temp()); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(f.temp(dataFolder), 0o777); err != nil {
		return nil, err
	}
	return f, nil
}

// replaceable returns an error if anything in the folder is not ours.
func (f *folder) replaceable(entries []fs.DirEntry) error {
	foreign := func(name string) error {
		return fmt.Errorf("%s is not overwritten, since it holds %s, which no shard run wrote: name another folder, or take that away", f.out, name)
	}
	started := false
	for _, e := range entries {
		switch name := e.Name(); {
		case name == infoName || slices.Contains(ExtraFiles(), name):
		case name == unfinished && e.IsDir():
			started = true // and killed
		case name == manifestName:
			if _, err := ReadManifest(f.out); err != nil {
				return fmt.Errorf("%w; %w", foreign(name), err)
			}
			started = true
		case name == dataFolder && e.IsDir():
			files, err := os.ReadDir(filepath.Join(f.out, name))
			if err != nil {
				return err
			}
			for _, file := range files {
				if !shardName.MatchString(file.Name()) {
					return foreign(name + "/" + file.Name())
				}
			}
		default:
			return foreign(name)
		}
	}
	if !started {
		return foreign(entries[0].Name() + " and no manifest")
	}
	return nil
}

// temp returns a path in the folder where all is made.
func (f *folder) temp(elem ...string) string {
	return filepath.Join(append([]string{f.out, unfinished}, elem...)...)
}

// publish moves what was made to where it belongs, the manifest last.
func (f *folder) publish() error {
	if err := os.RemoveAll(filepath.Join(f.out, manifestName)); err != nil {
		return err
	}
	names := append([]string{dataFolder, infoName}, ExtraFiles()...)
	for _, name := range append(names, manifestName) {
		to := filepath.Join(f.out, name)
		if err := os.RemoveAll(to); err != nil {
			return err
		}
		if err := os.Rename(f.temp(name), to); err != nil && (!errors.Is(err, fs.ErrNotExist) || name == dataFolder || name == manifestName) {
			return err
		}
	}
	return os.Remove(f.temp())
}

// abandon takes away what publish did not move. After publish it does nothing.
func (f *folder) abandon() {
	// The error that led here matters more than one of cleaning up.
	_ = os.RemoveAll(f.temp())
	if f.made {
		_ = os.Remove(f.out) // fails if it is not empty, as it should
	}
}
