package mcp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"assay/qaoa"
)

// A httpTransport speaks streamable HTTP. It keeps the connection, so that it
// can be closed while requests are in flight.
type httpTransport struct {
	sdk.StreamableClientTransport

	mu   sync.Mutex
	conn sdk.Connection
}

// Connect connects. The library asks the connection for more than the interface
// has, so it gets the very one that it made, and what passes through it is read
// a level below.
func (t *httpTransport) Connect(ctx context.Context) (sdk.Connection, error) {
	conn, err := t.StreamableClientTransport.Connect(ctx)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.conn = conn
	return conn, err
}

// hangUp closes the connection.
func (t *httpTransport) hangUp() {
	t.mu.Lock()
	conn := t.conn
	t.mu.Unlock()
	if conn != nil {
		_ = conn.Close()
	}
}

func newHTTPTransport(u *url.URL, reg *registry, opt Options) *httpTransport {
	base := opt.Transport
	if base == nil {
		base = http.DefaultTransport
	}
	return &httpTransport{StreamableClientTransport: sdk.StreamableClientTransport{
		Endpoint:             u.String(),
		HTTPClient:           &http.Client{Transport: &recorder{base: base, to: u, reg: reg, opt: opt}},
		MaxEventSize:         opt.MaxReply,
		DisableStandaloneSSE: true, // nothing that a server says unasked is of use
	}}
}

// A recorder is a round tripper that bounds what comes back, and keeps the
// results in it.
type recorder struct {
	base http.RoundTripper
	to   *url.URL
	reg  *registry
	opt  Options
}

// RoundTrip sends req.
func (t *recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	if req.URL.Scheme == t.to.Scheme && req.URL.Host == t.to.Host {
		// Behind a redirect to another host there is another server, which
		// must not get the keys of this one.
		for name, values := range t.opt.Header {
			req.Header[http.CanonicalHeaderKey(name)] = values
		}
	}
	if req.Method == http.MethodPost && req.GetBody != nil {
		if err := t.expect(req); err != nil {
			return nil, err
		}
	}
	resp, err := t.base.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	resp.Body = &recording{body: resp.Body, reg: t.reg, fail: t.failOf(req.Context()), limit: t.opt.MaxReply, stream: kind == "text/event-stream"}
	return resp, nil
}

// failOf returns what keeps the fault of the request of ctx.
func (t *recorder) failOf(ctx context.Context) func(error) error {
	return func(err error) error { return t.reg.failRequest(ctx, err) }
}

// expect tells the registry which request req is.
func (t *recorder) expect(req *http.Request) error {
	body, err := req.GetBody()
	if err != nil {
		return fmt.Errorf("the request cannot be read: %w", err)
	}
	data, err := io.ReadAll(body)
	_ = body.Close()
	if err != nil {
		return fmt.Errorf("the request cannot be read: %w", err)
	}
	id, call := "", false
	qaoa.EachMember(string(data), func(name, value string) bool {
		switch name {
		case "id":
			id = value
		case "method":
			call = true
		}
		return true
	})
	if call && id != "" {
		t.reg.expect(req.Context(), id)
	}
	return nil
}

// A recording is the body of a response. What is read from it is looked at on
// the way: a result is with the registry before the library has its last byte.
type recording struct {
	body   io.ReadCloser
	reg    *registry
	fail   func(error) error
	limit  int
	stream bool

	line  []byte // of a stream: the line that has no end yet
	data  []byte // the message so far
	size  int    // bytes of this message
	total int    // bytes of the body
}

// maxStream is how many replies one stream may be long: before the one that
// was asked for it may hold notifications.
const maxStream = 4

// Read reads from the body.
func (r *recording) Read(p []byte) (int, error) {
	n, err := r.body.Read(p)
	r.size += n
	r.total += n
	if r.stream {
		r.events(p[:n])
	} else if r.reg.busy() && r.size <= r.limit {
		r.data = append(r.data, p[:n]...)
	}
	if r.size > r.limit || r.total > maxStream*r.limit {
		return 0, r.fail(fmt.Errorf("%w: want a reply of at most %d bytes, have more", ErrLimit, r.limit))
	}
	if errors.Is(err, io.EOF) {
		r.flush()
	}
	return n, err
}

// Close closes the body.
func (r *recording) Close() error { return r.body.Close() }

// events looks at a piece of a stream of server-sent events: a message is the
// data lines of one event, and an empty line ends it.
func (r *recording) events(piece []byte) {
	for len(piece) > 0 {
		part, rest, ended := bytes.Cut(piece, []byte("\n"))
		piece = rest
		r.line = append(r.line, part...)
		if !ended {
			return
		}
		line := bytes.TrimRight(r.line, "\r")
		if data, ok := bytes.CutPrefix(line, []byte("data:")); ok {
			if len(r.data) > 0 {
				r.data = append(r.data, '\n')
			}
			r.data = append(r.data, bytes.TrimSpace(data)...)
		}
		if len(line) == 0 {
			r.flush()
			r.size = len(piece)
		}
		r.line = r.line[:0]
	}
}

// flush hands over the message that is complete.
func (r *recording) flush() {
	if len(r.data) > 0 && r.reg.busy() {
		r.reg.deliverMessage(string(r.data))
	}
	r.data = r.data[:0]
}
