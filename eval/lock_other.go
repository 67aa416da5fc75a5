//go:build !(darwin || dragonfly || freebsd || illumos || linux || netbsd || openbsd)

package eval

import (
	"errors"
	"io/fs"
	"os"
)

// lockFile takes the lock at path by making the file. Where there is no flock,
// a process that is killed leaves it behind, and it must be deleted by hand.
// errLocked says that the file exists.
func lockFile(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return nil, errLocked
	}
	return f, err
}

func unlockFile(f *os.File) error {
	return errors.Join(f.Close(), os.Remove(f.Name()))
}
