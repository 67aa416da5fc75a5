//go:build unix

package transport

import (
	"errors"
	"net"
	"syscall"
)

// quiet reports whether an idle connection is still open and nothing waits to
// be read: a server that has closed it has sent its end, and one that speaks
// unasked is out of step.
func quiet(c net.Conn) bool {
	sc, ok := c.(syscall.Conn)
	if !ok {
		return true
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return false
	}
	open := false
	err = raw.Control(func(fd uintptr) {
		var b [1]byte
		_, _, err := syscall.Recvfrom(int(fd), b[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		open = errors.Is(err, syscall.EAGAIN)
	})
	return err == nil && open
}
