// Package filelock keeps two processes from writing the same file or folder.
//
// Where the system has flock the lock ends with the process, however it ends.
// Elsewhere the lock is the existence of the file, and a process that is killed
// leaves it behind.
package filelock

import "errors"

// ErrLocked is returned by [Take] if another process, or another call of Take
// in this one, holds the lock.
var ErrLocked = errors.New("locked by another process")
