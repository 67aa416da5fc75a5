//go:build darwin || dragonfly || freebsd || illumos || linux || netbsd || openbsd

package filelock

import (
	"errors"
	"os"
	"syscall"
	"time"
)

// How often Take looks at a lock that is held, and the time between.
const (
	looks   = 4
	between = 5 * time.Millisecond
)

// Take takes the lock at path until the file is closed, or the process
// ends in whatever way. [ErrLocked] says that somebody else holds
// it.
func Take(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	// [Held] takes the lock for a moment to find out, so one look is not enough.
	for range looks {
		if err = flock(f); !errors.Is(err, syscall.EWOULDBLOCK) {
			break
		}
		time.Sleep(between)
	}
	if err == nil {
		return f, nil
	}
	if errors.Is(err, syscall.EWOULDBLOCK) {
		err = ErrLocked
	}
	return nil, errors.Join(err, f.Close())
}

func flock(f *os.File) error {
	for {
		if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}

// Held reports whether somebody holds the lock at path. It does not make the
// file.
func Held(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }() // it was not written
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB)
	return errors.Is(err, syscall.EWOULDBLOCK)
}

// Release gives the lock back.
func Release(f *os.File) error { return f.Close() }
