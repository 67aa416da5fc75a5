//go:build !(darwin || dragonfly || freebsd || illumos || linux || netbsd || openbsd)

package filelock

import (
	"errors"
	"io/fs"
	"os"
)

// Take takes the lock at path by making the file. Where there is no flock,
// a process that is killed leaves it behind, and it must be deleted by hand.
// [ErrLocked] says that the file exists.
func Take(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return nil, ErrLocked
	}
	return f, err
}

// Held reports whether the file at path exists, and so, but for what a killed
// process left behind, whether somebody holds the lock.
func Held(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// Release gives the lock back.
func Release(f *os.File) error {
	return errors.Join(f.Close(), os.Remove(f.Name()))
}
