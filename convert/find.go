package convert

import (
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"assay/internal/raw"
)

// A Skipped is a file in a given folder that is not converted.
type Skipped struct {
	Root string // the folder, as it was given
	Name string // path below Root, with slashes
	Role Role   // Extra, Side or Trap; "" for a file that the source does not know
	Note string // what it holds, as far as the source says
}

// Find returns what paths hold of src: one Input for each folder that files
// are relative to, in the order of paths, and the files that were left out.
//
// In a folder, and below it, the files with the role Records are converted, in
// the order of their names. A file that is named by its path or a pattern is
// converted if its role is Records or Extra, or if src does not know it; "-"
// is standard input. To name a side table or a trap is an error that says what
// to name instead, and so is a folder without a file to convert.
func Find(src Source, paths []string) ([]Input, []Skipped, error) {
	var inputs []Input
	var skipped []Skipped
	add := func(f raw.InputFile) {
		i := slices.IndexFunc(inputs, func(in Input) bool { return in.Root == f.Root })
		if i < 0 {
			i = len(inputs)
			inputs = append(inputs, Input{Root: f.Root, FS: f.FS()})
		}
		if !slices.Contains(inputs[i].Files, f.Name) {
			inputs[i].Files = append(inputs[i].Files, f.Name)
		}
	}
	for _, p := range paths {
		files, err := raw.Expand([]string{p})
		if err != nil {
			return nil, nil, err
		}
		found, extra := 0, 0
		for _, f := range files {
			known, ok := src.match(f.Name)
			switch {
			case f.Named && ok && known.Role != Records && known.Role != Extra:
				// The path may say more than the name alone.
				return nil, nil, fmt.Errorf("%s: not records of %s but a %s file (%s); name one of: %s",
					filepath.Join(f.Root, f.Name), src.Name, known.Role, known.Note, src.wanted())
			case f.Named, ok && known.Role == Records:
				add(f)
				found++
				continue
			case known.Role == Extra:
				extra++
			}
			skipped = append(skipped, Skipped{Root: f.Root, Name: f.Name, Role: known.Role, Note: known.Note})
		}
		if found == 0 {
			hint := ""
			if extra > 0 {
				hint = fmt.Sprintf("; %d files are converted only if they are named themselves", extra)
			}
			return nil, nil, fmt.Errorf("%s: none of its %d files holds records of %s%s; want one of: %s",
				p, len(files), src.Name, hint, src.wanted())
		}
	}
	return inputs, skipped, nil
}

// match returns what src says of the file with that path.
func (src Source) match(name string) (best File, ok bool) {
	name = uncompressed(name)
	parts := strings.Split(name, "/")
	most := 0
	for _, f := range src.Files {
		n := strings.Count(f.Glob, "/") + 1
		if n <= most || n > len(parts) {
			continue
		}
		// A malformed pattern matches nothing; converttest reports it.
		if hit, _ := path.Match(f.Glob, strings.Join(parts[len(parts)-n:], "/")); hit {
			best, ok, most = f, true, n
		}
	}
	return best, ok
}

// wanted lists the files of src that can be named.
func (src Source) wanted() string {
	var globs []string
	for _, f := range src.Files {
		if f.Role == Records || f.Role == Extra {
			globs = append(globs, fmt.Sprintf("%s (%s)", f.Glob, f.Note))
		}
	}
	return strings.Join(globs, ", ")
}

// uncompressed returns name without a suffix of compression.
func uncompressed(name string) string {
	for _, suffix := range []string{".gz", ".zst"} {
		if cut, ok := strings.CutSuffix(name, suffix); ok {
			return cut
		}
	}
	return name
}

// fileSize returns the size of a regular file, or -1.
func fileSize(fsys fs.FS, name string) int64 {
	info, err := fs.Stat(fsys, name)
	if err != nil || !info.Mode().IsRegular() {
		return -1
	}
	return info.Size()
}
