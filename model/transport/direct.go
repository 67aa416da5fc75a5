package transport

import (
	"bufio"
	"context"
	"errors"
	"io"
	"math"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
	"unicode"
)

// Limits of a [direct].
const (
	idleTimeout = 90 * time.Second // how long a connection that nobody uses is kept
	dialTimeout = 30 * time.Second
	maxHead     = 1 << 20 // bytes of status line and headers
	maxInterim  = 5       // answers of status 1xx before the one that counts
)

// A direct sends requests over plain connections of HTTP/1.1 in the goroutine
// of the caller. The two goroutines that net/http keeps for each connection
// cost as much as all that the runner does itself for a request. What it is not
// for, TLS and proxies, goes to next. It is an [http.RoundTripper] that asks
// for no compression.
type direct struct {
	next *http.Transport
	most int // connections kept for each host
	dial net.Dialer

	mu   sync.Mutex
	free map[string][]*wire // by host and port, the last used last
}

// A wire is one connection.
type wire struct {
	net.Conn
	addr string
	head io.LimitedReader // of Conn, bounded while a head is read
	r    *bufio.Reader    // of head
	w    *bufio.Writer
	used time.Time // when it last became idle
}

func newDirect(next *http.Transport, most int) *direct {
	return &direct{next: next, most: most, free: map[string][]*wire{}, dial: net.Dialer{Timeout: dialTimeout, KeepAlive: dialTimeout}}
}

// RoundTrip implements [http.RoundTripper].
func (d *direct) RoundTrip(req *http.Request) (*http.Response, error) {
	// A host name that is not ASCII has to be written in another way first.
	if req.URL.Scheme != "http" || strings.ContainsFunc(req.URL.Host, func(r rune) bool { return r > unicode.MaxASCII }) {
		return d.next.RoundTrip(req)
	}
	if d.next.Proxy != nil {
		if via, err := d.next.Proxy(req); err != nil || via != nil {
			return d.next.RoundTrip(req)
		}
	}
	if req.Body != nil {
		defer func() { _ = req.Body.Close() }() // it is memory
	}
	c, err := d.take(req.Context(), req)
	if err != nil {
		return nil, err
	}
	resp, err := d.exchange(req.Context(), c, req)
	if err != nil {
		_ = c.Close() // what went wrong is known
	}
	return resp, err
}

// take returns a connection to the host of req that is not known to be closed.
func (d *direct) take(ctx context.Context, req *http.Request) (*wire, error) {
	addr := req.URL.Host
	if req.URL.Port() == "" {
		addr = net.JoinHostPort(req.URL.Hostname(), "80")
	}
	for {
		c := d.pop(addr)
		if c == nil {
			break
		}
		if time.Since(c.used) < idleTimeout && quiet(c.Conn) {
			return c, nil
		}
		_ = c.Close() // nothing was written
	}
	conn, err := d.dial.DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	c := &wire{Conn: conn, addr: addr, w: bufio.NewWriterSize(conn, bufferSize)}
	c.head.R = conn
	c.r = bufio.NewReaderSize(&c.head, bufferSize)
	return c, nil
}

// pop returns the idle connection that was used last, or nil.
func (d *direct) pop(addr string) *wire {
	d.mu.Lock()
	defer d.mu.Unlock()
	list := d.free[addr]
	if len(list) == 0 {
		return nil
	}
	c := list[len(list)-1]
	list[len(list)-1] = nil
	d.free[addr] = list[:len(list)-1]
	return c
}

// push keeps a connection for later, or closes it.
func (d *direct) push(c *wire) {
	c.used = time.Now()
	d.mu.Lock()
	keep := len(d.free[c.addr]) < d.most
	if keep {
		d.free[c.addr] = append(d.free[c.addr], c)
	}
	d.mu.Unlock()
	if !keep {
		_ = c.Close() // all was read
	}
}

// CloseIdleConnections closes what is kept; [http.Client] looks for it.
func (d *direct) CloseIdleConnections() {
	d.mu.Lock()
	free := d.free
	d.free = map[string][]*wire{}
	d.mu.Unlock()
	for _, list := range free {
		for _, c := range list {
			_ = c.Close() // nobody uses it
		}
	}
	d.next.CloseIdleConnections()
}

// exchange sends the request and reads the head of the answer. The body of the
// answer gives the connection back when it was read to its end.
func (d *direct) exchange(ctx context.Context, c *wire, req *http.Request) (*http.Response, error) {
	deadline, _ := ctx.Deadline() // zero is none
	if err := c.SetDeadline(deadline); err != nil {
		return nil, err
	}
	// A deadline that is over ends every read and write at once.
	stop := context.AfterFunc(ctx, func() { _ = c.SetDeadline(time.Unix(1, 0)) })
	sendErr := req.Write(c.w)
	if sendErr == nil {
		sendErr = c.w.Flush()
	}
	// A server may answer, and hang up, before it has read all of a request.
	resp, err := c.readHead(req)
	if err != nil {
		stop()
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case sendErr != nil:
			return nil, sendErr
		}
		return nil, err
	}
	resp.Body = &wireBody{body: resp.Body, d: d, c: c, stop: stop, keep: sendErr == nil && !resp.Close}
	return resp, nil
}

// errInterim is the error of a server that never comes to the point.
var errInterim = errors.New("the server sent nothing but answers of status 1xx")

// readHead reads the first answer that is not of status 1xx, but for its body.
func (c *wire) readHead(req *http.Request) (*http.Response, error) {
	c.head.N = maxHead
	defer func() { c.head.N = math.MaxInt64 }()
	for range maxInterim {
		resp, err := http.ReadResponse(c.r, req)
		if err != nil {
			if c.head.N <= 0 {
				return nil, errors.New("the head of the answer is longer than 1 MB")
			}
			return nil, err
		}
		if resp.StatusCode >= http.StatusOK || resp.StatusCode == http.StatusSwitchingProtocols {
			return resp, nil
		}
	}
	return nil, errInterim
}

// A wireBody is the body of an answer.
type wireBody struct {
	body io.ReadCloser
	d    *direct
	c    *wire // nil once it is given back or closed
	stop func() bool
	keep bool
}

// Read implements [io.Reader]. At the end it gives the connection back.
func (b *wireBody) Read(p []byte) (int, error) {
	n, err := b.body.Read(p)
	if err != nil {
		b.done(errors.Is(err, io.EOF))
	}
	return n, err
}

// Close implements [io.Closer]. A body that was not read to its end takes its
// connection with it.
func (b *wireBody) Close() error {
	b.done(false)
	return nil
}

func (b *wireBody) done(whole bool) {
	c := b.c
	if c == nil {
		return
	}
	b.c = nil
	// What stands behind the answer belongs to nobody: do not read on there.
	if !b.stop() || !whole || !b.keep || c.r.Buffered() > 0 {
		_ = c.Close() // the answer is read or given up
		return
	}
	b.d.push(c)
}
