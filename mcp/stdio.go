package mcp

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"assay/qaoa"
)

// A stdioConn speaks to a process: one message a line.
//
// The library has a transport for that too, but its bound on a reply is fixed,
// it dies of the first line that is no message (many servers greet on standard
// output), a server that does not read holds it forever, and it does not end
// what a server started.
type stdioConn struct {
	p        *process
	in       *bufio.Reader
	queue    []jsonrpc.Message // of a batch
	reg      *registry
	maxReply int
	writing  chan struct{} // holds one token: who has it writes
	asked    int           // requests of the server since its last answer
}

// maxAsked is how many requests a server may make of us between two answers. We
// answer none but pings, so that more are an attack.
const maxAsked = 500

func newStdioConn(p *process, reg *registry, maxReply int) *stdioConn {
	c := &stdioConn{p: p, in: bufio.NewReaderSize(p.out, 64<<10), reg: reg, maxReply: maxReply, writing: make(chan struct{}, 1)}
	c.writing <- struct{}{}
	return c
}

// Connect makes c a transport of itself.
func (c *stdioConn) Connect(context.Context) (sdk.Connection, error) { return c, nil }

// SessionID returns "": there is one session.
func (c *stdioConn) SessionID() string { return "" }

// Read returns the next message. Lines that are none are passed over; they are
// kept with the standard error, to be shown on failure.
func (c *stdioConn) Read(context.Context) (jsonrpc.Message, error) {
	for {
		for len(c.queue) > 0 {
			msg := c.queue[0]
			c.queue = c.queue[1:]
			switch m := msg.(type) {
			case *jsonrpc.Response:
				c.asked = 0
				c.deliver(m)
				return msg, nil
			case *jsonrpc.Request:
				// Notifications (progress, logs, changed lists) are of no use
				// to us, and a queue of them would grow without a bound.
				if !m.IsCall() {
					continue
				}
				if c.asked++; c.asked > maxAsked {
					return nil, c.reg.fail(fmt.Errorf("%w: the server made more than %d requests without an answer", ErrLimit, maxAsked))
				}
				return msg, nil
			}
		}
		line, err := c.line()
		if err != nil {
			return nil, err
		}
		if c.queue, err = messages(line); err != nil {
			return nil, c.reg.fail(err)
		}
		if c.queue == nil && len(line) > 0 {
			_, _ = c.p.noise.Write(append(line[:min(len(line), maxTail)], '\n'))
		}
	}
}

// deliver hands over an answer.
func (c *stdioConn) deliver(m *jsonrpc.Response) {
	if !m.ID.IsValid() {
		return
	}
	id, refusal := fmt.Sprint(m.ID.Raw()), ""
	if m.Error != nil {
		if answer, ok := errors.AsType[*jsonrpc.Error](m.Error); ok && answer != nil {
			refusal = string(qaoa.ObjectValue(
				qaoa.Member{Name: "code", Value: qaoa.NumberValue(strconv.FormatInt(answer.Code, 10))},
				qaoa.Member{Name: "message", Value: qaoa.StringValue(answer.Message)},
			).JSON())
		}
	}
	c.reg.deliver(id, string(m.Result), refusal)
}

// line returns the next line without blanks around it.
func (c *stdioConn) line() ([]byte, error) {
	var line []byte
	for {
		piece, err := c.in.ReadSlice('\n')
		if len(line)+len(piece) > c.maxReply {
			return nil, c.reg.fail(fmt.Errorf("%w: want a reply of at most %d bytes, have more", ErrLimit, c.maxReply))
		}
		line = append(line, piece...)
		switch {
		case err == nil, errors.Is(err, io.EOF) && len(bytes.TrimSpace(line)) > 0:
			return bytes.TrimSpace(line), nil
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		}
		return nil, io.EOF // closed by one side or the other
	}
}

// messages returns the messages in line: none if it is some other text, an
// error if it is meant as one and is none.
func messages(line []byte) ([]jsonrpc.Message, error) {
	if len(line) == 0 || line[0] != '{' && line[0] != '[' || !bytes.Contains(line, []byte(`"jsonrpc"`)) {
		return nil, nil
	}
	if line[0] == '{' {
		msg, err := jsonrpc.DecodeMessage(line)
		if err != nil {
			return nil, fmt.Errorf("want JSON-RPC messages, have %.60q: %w", line, err)
		}
		return []jsonrpc.Message{msg}, nil
	}
	var all []jsonrpc.Message
	var err error
	ok := qaoa.EachItem(string(line), func(item string) bool {
		var msg jsonrpc.Message
		if msg, err = jsonrpc.DecodeMessage([]byte(item)); err != nil {
			return false
		}
		all = append(all, msg)
		return true
	})
	if !ok && err == nil {
		err = errors.New("no array")
	}
	if err != nil {
		return nil, fmt.Errorf("want a batch of JSON-RPC messages, have %.60q: %w", line, err)
	}
	return all, nil
}

// Write sends one message. When ctx ends before the server has read it, the
// connection is of no more use, and is closed.
func (c *stdioConn) Write(ctx context.Context, msg jsonrpc.Message) error {
	data, err := jsonrpc.EncodeMessage(msg)
	if err != nil {
		return fmt.Errorf("no JSON-RPC message: %w", err)
	}
	if m, ok := msg.(*jsonrpc.Request); ok && m.IsCall() {
		c.reg.expect(ctx, fmt.Sprint(m.ID.Raw()))
	}
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-c.writing:
	}
	defer func() { c.writing <- struct{}{} }()
	fired := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		_ = c.p.in.SetWriteDeadline(time.Unix(1, 0))
		close(fired)
	})
	_, err = c.p.in.Write(append(data, '\n'))
	if !stop() {
		<-fired
		_ = c.p.in.SetWriteDeadline(time.Time{}) // it is not that of the next message
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, os.ErrDeadlineExceeded):
		return c.reg.fail(errors.New("the server does not read its input"))
	}
	return io.EOF // it is gone
}

// Close ends the server.
func (c *stdioConn) Close() error {
	c.p.end()
	return nil
}
