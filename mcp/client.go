package mcp

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	stdjson "encoding/json"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"assay/qaoa"
)

// Options are the bounds of a [Client]. The zero value takes the defaults.
type Options struct {
	// Timeout is how long one request may take, 60 s if 0.
	Timeout time.Duration
	// ConnectTimeout is how long start and greeting may take, 30 s if 0.
	ConnectTimeout time.Duration
	// Grace is how long a command may take to end once its input has ended,
	// and then once more after it was asked to, 2 s if 0.
	Grace time.Duration
	// MaxReply is how many bytes one message of the server may have, 16 MiB
	// if 0.
	MaxReply int
	// MaxListing is how many bytes all pages of one list of tools may have,
	// 64 MiB if 0.
	MaxListing int
	// MaxPages and MaxTools are how long a list of tools may be, 1,000 and
	// 20,000 if 0.
	MaxPages, MaxTools int

	// Env and Dir are the environment and the folder of a command: those of
	// this process if nil and "".
	Env []string
	Dir string
	// Header goes with each request over HTTP to the host of the endpoint,
	// such as Authorization.
	Header http.Header
	// Transport sends the requests, http.DefaultTransport if nil.
	Transport http.RoundTripper
}

func (o Options) withDefaults() Options {
	for _, d := range []struct {
		field *time.Duration
		value time.Duration
	}{{&o.Timeout, time.Minute}, {&o.ConnectTimeout, 30 * time.Second}, {&o.Grace, 2 * time.Second}} {
		if *d.field <= 0 {
			*d.field = d.value
		}
	}
	for _, d := range []struct {
		field *int
		value int
	}{
		{&o.MaxReply, 16 << 20}, {&o.MaxListing, 64 << 20}, {&o.MaxPages, 1000}, {&o.MaxTools, 20_000},
	} {
		if *d.field <= 0 {
			*d.field = d.value
		}
	}
	if o.Env == nil {
		o.Env = os.Environ()
	}
	return o
}

// ErrClosed is wrapped by errors that mean that there is no server any more: it
// ended, or the client was closed. ErrLimit is wrapped by errors that mean that
// a server sent more than [Options] allow.
var (
	ErrClosed = errors.New("the server is gone")
	ErrLimit  = errors.New("more than allowed")
)

// errTimeout is the cause of a context of ours that ended.
var errTimeout = errors.New("time is up")

// An Error is why a server could not be asked. It is safe to show: it has no
// keys in it.
type Error struct {
	Endpoint string // without arguments and keys
	Op       string // what was asked for: "connect", "tools/list", "tools/call"
	Detail   string // what happened, and the end of what a command wrote to its standard error
	kind     error
}

// Error returns endpoint, request and fault.
func (e *Error) Error() string { return e.Endpoint + ": " + e.Op + ": " + e.Detail }

// Unwrap returns [ErrClosed], [ErrLimit], context.DeadlineExceeded or
// context.Canceled if the error is one of these, or nil.
func (e *Error) Unwrap() error { return e.kind }

// A Client is a connection to one server. Its methods may be called at the same
// time.
type Client struct {
	end     endpoint
	opt     Options
	scrub   scrubber
	reg     *registry
	p       *process // nil over HTTP
	session *sdk.ClientSession
	// bind returns a context of a request that ends with the client too.
	bind func(ctx context.Context) (context.Context, context.CancelFunc)
	hang func()        // closes the connection, whatever is in flight
	dead chan struct{} // closed once the connection is

	mu    sync.Mutex
	pages map[string]string // the raw pages that the library may have kept
}

// Connect connects to the server at an endpoint, and greets it.
//
// Endpoints are "stdio:COMMAND ARG…", a command line that the user gave, of
// which words are quoted as in a shell, but that no shell sees: nothing in it
// is put in place; and "http://…" or "https://…", the address of a server that
// speaks streamable HTTP. A command gets the environment of this process.
//
// The client lives until Close or until ctx ends: then a command is ended, with
// all that it started. Errors are of type [*Error].
func Connect(ctx context.Context, endpoint string, opt Options) (*Client, error) {
	return connect(ctx, ctx, endpoint, opt)
}

// connect is Connect for a client that lives until life ends, of which ctx is
// the context of the call.
func connect(life, ctx context.Context, at string, opt Options) (*Client, error) {
	end, err := parseEndpoint(at)
	if err != nil {
		return nil, err
	}
	opt = opt.withDefaults()
	// The version of 2025 first: every server of today knows it, and some end
	// at a request that they do not know. One that refuses it is asked again.
	c, refused, err := greet(life, ctx, end, opt, "2025-11-25")
	if refused {
		if again, _, err := greet(life, ctx, end, opt, ""); err == nil {
			return again, nil
		}
	}
	return c, err
}

// greet connects with a version of the protocol, the newest if "". It reports
// whether the server answered that it will not have it.
func greet(life, ctx context.Context, end endpoint, opt Options, version string) (c *Client, refused bool, err error) {
	c = &Client{
		end: end, opt: opt, scrub: newScrubber(end, opt.Env, opt.Header),
		reg: &registry{}, dead: make(chan struct{}), pages: map[string]string{},
	}
	transport, hangUp, err := c.dial()
	if err != nil {
		return nil, false, c.fail("connect", err)
	}
	c.live(life, hangUp)
	ctx, unbind := c.bind(ctx)
	defer unbind()
	ctx, cancel := context.WithTimeoutCause(ctx, opt.ConnectTimeout, errTimeout)
	defer cancel()
	ctx, captured := c.reg.begin(ctx)
	client := sdk.NewClient(&sdk.Implementation{Name: "assay", Version: "1"}, &sdk.ClientOptions{Capabilities: &sdk.ClientCapabilities{}})
	c.session, err = client.Connect(ctx, transport, &sdk.ClientSessionOptions{ProtocolVersion: version})
	answer := c.reg.end(captured)
	if err != nil {
		if life.Err() != nil {
			err = life.Err()
		}
		if answer.fault == nil {
			answer.fault = c.cause(ctx, err)
		}
		failure := c.fail("connect", answer.fault)
		c.hang()
		return nil, answer.refusal != "" || strings.Contains(err.Error(), "unsupported protocol version"), failure
	}
	go func() {
		_ = c.session.Wait()
		close(c.dead)
	}()
	return c, false, nil
}

// live makes c end when life does, and what is in flight with it.
func (c *Client) live(life context.Context, hangUp func()) {
	alive, die := context.WithCancel(life)
	context.AfterFunc(alive, hangUp)
	c.hang = func() {
		die()
		hangUp()
	}
	c.bind = func(ctx context.Context) (context.Context, context.CancelFunc) {
		ctx, cancel := context.WithCancelCause(ctx)
		stop := context.AfterFunc(alive, func() { cancel(ErrClosed) })
		return ctx, func() {
			stop()
			cancel(nil)
		}
	}
}

// dial makes the transport, and what ends it.
func (c *Client) dial() (sdk.Transport, func(), error) {
	if c.end.url != nil {
		t := newHTTPTransport(c.end.url, c.reg, c.opt)
		return t, t.hangUp, nil
	}
	p, err := start(c.end.args, c.opt)
	if err != nil {
		return nil, nil, err
	}
	c.p = p
	return newStdioConn(p, c.reg, c.opt.MaxReply), p.end, nil
}

// Close ends the connection, and a command with all that it started. Requests
// in flight fail. It may be called more than once.
func (c *Client) Close() error {
	c.hang()
	_ = c.session.Close() // of a connection that is closed
	return nil
}

// Dead reports whether the connection has ended: no request will succeed.
func (c *Client) Dead() bool {
	select {
	case <-c.dead:
		return true
	default:
		return false
	}
}

// Tools yields the tools of the server in its order, page after page, as they
// come. Names may repeat. The schema of a tool is the server's, member for
// member.
//
// An element that is no tool is yielded as a [*Reject], and the list goes on;
// any other error, of type [*Error], comes last: a server that cannot be asked,
// a list that is longer than the options allow, a cursor that comes again.
func (c *Client) Tools(ctx context.Context) iter.Seq2[qaoa.Tool, error] {
	return func(yield func(qaoa.Tool, error) bool) {
		cursor, seen := "", map[string]bool{}
		size, tools := 0, 0
		for page := 0; ; page++ {
			raw, err := c.page(ctx, cursor)
			if err != nil {
				yield(qaoa.Tool{}, err)
				return
			}
			if size += len(raw); size > c.opt.MaxListing {
				yield(qaoa.Tool{}, c.fail("tools/list", fmt.Errorf("%w: want at most %d bytes of tools, have more", ErrLimit, c.opt.MaxListing)))
				return
			}
			v, err := qaoa.ParseValue(raw)
			list, _ := v.Get("tools")
			if err == nil && list.Kind != qaoa.Array {
				err = fmt.Errorf("want a result with a list of tools, have %s", short(v))
			}
			if err != nil {
				yield(qaoa.Tool{}, c.fail("tools/list", err))
				return
			}
			if tools += len(list.Items); tools > c.opt.MaxTools {
				yield(qaoa.Tool{}, c.fail("tools/list", fmt.Errorf("%w: want at most %d tools, have more", ErrLimit, c.opt.MaxTools)))
				return
			}
			for i, item := range list.Items {
				tool, rej := toolOf(item, fmt.Sprintf("/pages/%d/tools/%d", page, i))
				if rej != nil {
					if !yield(qaoa.Tool{}, rej) {
						return
					}
					continue
				}
				if !yield(tool, nil) {
					return
				}
			}
			seen[cursor] = true
			if cursor = textOf(v, "nextCursor"); cursor == "" {
				return
			}
			if seen[cursor] {
				yield(qaoa.Tool{}, c.fail("tools/list", fmt.Errorf("want pages that end, have the cursor %.60q again after %d pages", cursor, page+1)))
				return
			}
			if page+1 >= c.opt.MaxPages {
				yield(qaoa.Tool{}, c.fail("tools/list", fmt.Errorf("%w: want at most %d pages, have more", ErrLimit, c.opt.MaxPages)))
				return
			}
		}
	}
}

// page returns the raw result of tools/list at a cursor.
func (c *Client) page(ctx context.Context, cursor string) (string, error) {
	asked := false
	raw, err := c.request(ctx, "tools/list", func(ctx context.Context) error {
		asked = true
		_, err := c.session.ListTools(ctx, &sdk.ListToolsParams{Cursor: cursor})
		return err
	})
	c.mu.Lock()
	defer c.mu.Unlock()
	if raw != "" {
		// Newer versions of the protocol say how long a page holds, and until
		// then the library does not ask again.
		if v := c.session.InitializeResult(); v != nil && v.ProtocolVersion > "2025-11-25" {
			c.pages[cursor] = raw
		}
		return raw, nil
	}
	if kept, ok := c.pages[cursor]; ok && asked && errors.Is(err, errNoAnswer) {
		return kept, nil
	}
	if no, ok := errors.AsType[*refusal](err); ok {
		err = no.err
	}
	return "", err
}

// Call calls a tool and returns what it returned: its structured content if
// there is any, or else its content. Of a text that is JSON it is this JSON,
// with key order and numbers as they are, of another text the text; of several
// blocks an array; of none null. Images, sound and other binary data stand as
// their size.
//
// A tool that failed, and a call that the server refused, is returned with an
// error of type [*Failure], beside what there is to see. Any other error is of
// type [*Error], and then there is no observation. Arguments that are absent
// are sent as {}; if they are no object, or the call did not parse, the call is
// refused here.
func (c *Client) Call(ctx context.Context, call qaoa.Call) (qaoa.JSON, error) {
	arguments := call.Arguments
	if arguments == "" {
		arguments = "{}"
	}
	if call.Raw != "" || call.Name == "" || arguments.Kind() != qaoa.Object {
		f := &Failure{Tool: call.Name, Code: jsonrpc.CodeInvalidParams}
		f.Observation = errorObservation(qaoa.StringValue("invalid call: want a name and an object of arguments"))
		return f.Observation, f
	}
	raw, err := c.request(ctx, "tools/call", func(ctx context.Context) error {
		_, err := c.session.CallTool(ctx, &sdk.CallToolParams{Name: call.Name, Arguments: stdjson.RawMessage(arguments)})
		return err
	})
	if no, ok := errors.AsType[*refusal](err); ok {
		f := &Failure{Tool: call.Name, Code: no.code, Observation: errorObservation(qaoa.StringValue(no.message))}
		return f.Observation, f
	}
	if err != nil {
		return "", err
	}
	v, err := qaoa.ParseValue(raw)
	if err == nil && v.Kind != qaoa.Object {
		err = fmt.Errorf("want a result as an object, have %s", short(v))
	}
	if err != nil {
		return "", c.fail("tools/call", err)
	}
	seen, failed := observation(v)
	if failed {
		f := &Failure{Tool: call.Name, Observation: seen.JSON()}
		return f.Observation, f
	}
	return seen.JSON(), nil
}
