package mcp

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// A process is a server that we started.
type process struct {
	cmd    *exec.Cmd
	in     *os.File // its standard input
	out    *os.File // its standard output
	noise  *tail    // the end of its standard error
	grace  time.Duration
	done   chan struct{} // closed once it has ended
	drain  chan struct{} // closed once its standard error is read
	status string        // how it ended, once done is closed
	stop   sync.Once
}

// start starts the command args.
func start(args []string, opt Options) (*process, error) {
	cmd := exec.Command(args[0], args[1:]...) // no shell
	cmd.Env, cmd.Dir = opt.Env, opt.Dir
	inGroup(cmd)
	// Pipes of our own: those of exec are closed when the process ends, and
	// what it wrote last would be lost.
	var files []*os.File
	pipe := func() (r, w *os.File, err error) {
		r, w, err = os.Pipe()
		if err == nil {
			files = append(files, r, w)
		}
		return r, w, err
	}
	inR, inW, err1 := pipe()
	outR, outW, err2 := pipe()
	errR, errW, err3 := pipe()
	for _, err := range []error{err1, err2, err3} {
		if err != nil {
			closeAll(files...)
			return nil, fmt.Errorf("no pipe to the server: %w", err)
		}
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = inR, outW, errW
	if err := cmd.Start(); err != nil {
		closeAll(files...)
		return nil, fmt.Errorf("the command does not start: %w", err)
	}
	closeAll(inR, outW, errW)
	p := &process{
		cmd: cmd, in: inW, out: outR, grace: opt.Grace, noise: &tail{},
		done: make(chan struct{}), drain: make(chan struct{}),
	}
	go func() {
		_, _ = io.Copy(p.noise, errR)
		closeAll(errR)
		close(p.drain)
	}()
	go func() {
		_ = cmd.Wait()
		kill(cmd) // what it started and left behind
		p.status = cmd.ProcessState.String()
		close(p.done)
	}()
	return p, nil
}

func closeAll(files ...*os.File) {
	for _, f := range files {
		_ = f.Close()
	}
}

// end ends the process, as the protocol says: its input ends, and if that is
// not enough it is asked to, and then made to. It returns when it has ended.
func (p *process) end() {
	p.stop.Do(func() {
		closeAll(p.in)
		// What it still writes is read and forgotten: a server that waits for
		// its reader does not see that its input has ended.
		go func() { _, _ = io.Copy(io.Discard, p.out) }()
		if !p.within(p.grace) {
			terminate(p.cmd)
			if !p.within(p.grace) {
				kill(p.cmd)
			}
		}
		closeAll(p.out)
	})
	<-p.done
}

// within waits until the process has ended, for at most d.
func (p *process) within(d time.Duration) bool {
	if p.ended() {
		return true
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-p.done:
		return true
	case <-timer.C:
		return false
	}
}

// ended reports whether the process has ended.
func (p *process) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// said returns the end of what the process wrote to its standard error, after
// it had a moment to write it.
func (p *process) said() string {
	if p.ended() {
		timer := time.NewTimer(p.grace) // another process may hold the pipe
		defer timer.Stop()
		select {
		case <-p.drain:
		case <-timer.C:
		}
	}
	return p.noise.String()
}

// maxTail is how much of a server's standard error is kept: the end, where the
// reason stands.
const maxTail = 2048

// A tail keeps the last bytes that are written to it.
type tail struct {
	mu  sync.Mutex
	buf []byte
}

// Write keeps the end of p.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := len(p)
	p = p[max(n-maxTail, 0):]
	if over := len(t.buf) + len(p) - maxTail; over > 0 {
		t.buf = append(t.buf[:0], t.buf[over:]...)
	}
	t.buf = append(t.buf, p...)
	return n, nil
}

// String returns what is kept.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.TrimSpace(string(t.buf))
}
