package mcp

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"assay/qaoa"
)

// errNoAnswer means that the library answered by itself.
var errNoAnswer = errors.New("no answer of the server")

// A refusal is a request that the server answered with an error.
type refusal struct {
	err     *Error
	code    int64
	message string
}

func (r *refusal) Error() string { return r.err.Error() }
func (r *refusal) Unwrap() error { return r.err }

// request makes one request and returns its raw result. What the library makes
// of the result is of no matter: it refuses a whole list for one tool.
func (c *Client) request(ctx context.Context, op string, ask func(context.Context) error) (string, error) {
	ctx, unbind := c.bind(ctx)
	defer unbind()
	ctx, cancel := context.WithTimeoutCause(ctx, c.opt.Timeout, errTimeout)
	defer cancel()
	ctx, captured := c.reg.begin(ctx)
	err := ask(ctx)
	answer := c.reg.end(captured)
	switch {
	case answer.fault != nil:
		return "", c.fail(op, answer.fault)
	case answer.refusal != "":
		// Not from err: the library has errors of this kind of its own, and
		// what its transports cannot send looks like an answer.
		code, message := c.refused(answer.refusal)
		return "", &refusal{
			err:  c.fail(op, fmt.Errorf("the server answers with an error (code %d): %s", code, message)),
			code: code, message: message,
		}
	case answer.result != "":
		return answer.result, nil
	case err == nil:
		return "", errNoAnswer
	}
	return "", c.fail(op, c.cause(ctx, err))
}

// refused returns code and message of the raw error of an answer.
func (c *Client) refused(raw string) (code int64, message string) {
	v, err := qaoa.ParseValue(raw)
	if err != nil {
		return jsonrpc.CodeParseError, "an error that is no JSON"
	}
	if n, ok := v.Get("code"); ok {
		code, _ = strconv.ParseInt(n.Text, 10, 64)
	}
	if code == 0 {
		code = jsonrpc.CodeInternalError // 0 means that the tool was called
	}
	return code, clip(c.scrub.clean(textOf(v, "message")), 2000)
}

// cause returns why a request failed with err, in our words where we know
// better than the library.
func (c *Client) cause(ctx context.Context, err error) error {
	switch fault := c.reg.failed(); {
	case fault != nil:
		return fault
	case errors.Is(context.Cause(ctx), errTimeout):
		return fmt.Errorf("no answer in time: %w", context.DeadlineExceeded)
	case errors.Is(context.Cause(ctx), ErrClosed), errors.Is(err, sdk.ErrConnectionClosed) && c.p == nil:
		return fmt.Errorf("%w: the connection is closed", ErrClosed)
	case ctx.Err() != nil:
		return ctx.Err()
	case c.p != nil && c.p.within(c.opt.Grace):
		return fmt.Errorf("%w (%s)", ErrClosed, c.p.status)
	}
	return err
}

// fail returns the error of a request, with all that is known and no keys.
func (c *Client) fail(op string, cause error) *Error {
	text := cause.Error()
	if c.end.url != nil {
		// net/http puts the address, keys and all, into its errors.
		text = strings.ReplaceAll(text, c.end.url.String(), c.end.String())
	}
	e := &Error{Endpoint: c.end.String(), Op: op, Detail: clip(c.scrub.clean(text), 600)}
	for _, kind := range []error{ErrLimit, ErrClosed, context.DeadlineExceeded, context.Canceled} {
		if errors.Is(cause, kind) {
			e.kind = kind
			break
		}
	}
	if e.kind == nil && c.isDead() {
		e.kind = ErrClosed
	}
	if c.p != nil {
		if said := c.scrub.clean(c.p.said()); said != "" {
			e.Detail += "; it wrote: " + said
		}
	}
	if op == "connect" && c.end.url != nil {
		e.Detail += "; is this the address of a server that speaks streamable HTTP (it often ends in /mcp)?"
	}
	return e
}

// isDead is Dead for a client that may not be connected yet.
func (c *Client) isDead() bool { return c.session != nil && c.Dead() }

// clip returns the beginning of text.
func clip(text string, n int) string {
	if len(text) <= n {
		return text
	}
	return strings.ToValidUTF8(text[:n], "") + "…"
}
