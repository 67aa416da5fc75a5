package raw

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Stdin is the path that means standard input.
const Stdin = "-"

// stdinName is the name of standard input in positions.
const stdinName = "stdin"

// An InputFile is one file to read.
type InputFile struct {
	Root string // folder that Name is relative to, as the user gave it; "" for standard input
	Name string // path below Root, with slashes; "stdin" for standard input
	Size int64  // bytes, -1 if not known
	// Named is set if the user named the file, by its path or a pattern, and
	// not a folder that it is in.
	Named bool
}

// FS returns the file system that Name is a path in.
func (f InputFile) FS() fs.FS {
	if f.Root == "" {
		return stdinFS{}
	}
	return os.DirFS(f.Root)
}

// Open opens the file for reading. Closing standard input does nothing.
func (f InputFile) Open() (io.ReadCloser, error) { return f.FS().Open(f.Name) }

// stdinFS holds standard input as its one file.
type stdinFS struct{}

func (stdinFS) Open(name string) (fs.File, error) {
	if name != stdinName {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return stdinFile{os.Stdin}, nil
}

// A stdinFile stays open when it is closed, so that it can be opened again.
type stdinFile struct{ *os.File }

func (stdinFile) Close() error { return nil }

// Expand returns the files that paths name, in the order of paths: a file is
// itself, "-" is standard input, a folder is every file below it in the order
// of their names, and a pattern that is no file (*.jsonl) is every file and
// folder that it matches, in the same order. Files and folders whose name
// begins with a dot are left out of folders. A file that is named twice is
// returned twice. A path that does not exist, a pattern that matches nothing
// and a folder that cannot be read are errors; an empty folder is none.
func Expand(paths []string) ([]InputFile, error) {
	var files []InputFile
	for _, p := range paths {
		if p == Stdin {
			files = append(files, InputFile{Name: stdinName, Size: -1, Named: true})
			continue
		}
		matches := []string{p}
		_, err := os.Stat(p)
		if err != nil && strings.ContainsAny(p, "*?[") {
			if matches, err = filepath.Glob(p); err != nil {
				return nil, fmt.Errorf("%s: %w", p, err)
			}
			if len(matches) == 0 {
				return nil, fmt.Errorf("%s: no file matches this pattern", p)
			}
		}
		if err != nil {
			return nil, err
		}
		slices.Sort(matches)
		for _, m := range matches {
			if files, err = expandOne(files, m); err != nil {
				return nil, err
			}
		}
	}
	return files, nil
}

// expandOne appends the file p, or the files of the folder p.
func expandOne(files []InputFile, p string) ([]InputFile, error) {
	info, err := os.Stat(p)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return append(files, InputFile{
			Root: filepath.Dir(p), Name: filepath.Base(p), Size: size(info), Named: true,
		}), nil
	}
	err = fs.WalkDir(os.DirFS(p), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return fmt.Errorf("%s: %w", p, err)
		case name != "." && strings.HasPrefix(path.Base(name), "."):
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case d.IsDir():
			return nil
		}
		// A link is followed to a file, but not into a folder.
		info, err := os.Stat(filepath.Join(p, filepath.FromSlash(name)))
		if err != nil {
			return err
		}
		if info.Mode().IsRegular() {
			files = append(files, InputFile{Root: p, Name: name, Size: size(info)})
		}
		return nil
	})
	return files, err
}

// size returns the size of a regular file, else -1.
func size(info fs.FileInfo) int64 {
	if info.Mode().IsRegular() {
		return info.Size()
	}
	return -1
}
