package mcp

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"assay/qaoa"
)

// An Executor executes calls on a server, some at a time, each on a connection
// of its own: many servers answer one call after the other, and one that died
// takes no other call with it. Connections are made when they are needed, and
// made anew when the server is gone.
//
// A command is started once for each connection, so a server that keeps state
// in itself must be given one worker, or be one behind HTTP.
type Executor struct {
	dial    func(ctx context.Context) (*Client, error)
	slots   chan *Client // as many as calls may be in flight; nil is not connected
	workers int
	stop    context.CancelFunc
	stopped <-chan struct{}
	close   sync.Once
}

// The retries of a connection: so many, with a pause that doubles.
const (
	dials     = 4
	dialPause = 250 * time.Millisecond
)

// NewExecutor returns an executor for the server at an endpoint, see [Connect],
// with at most workers calls in flight (at least one). No connection is made
// before the first call; an error is one about the endpoint. The connections
// live until Close or until ctx ends.
func NewExecutor(ctx context.Context, endpoint string, workers int, opt Options) (*Executor, error) {
	if err := CheckEndpoint(endpoint); err != nil {
		return nil, err
	}
	life, stop := context.WithCancel(ctx)
	return newExecutor(life, stop, workers, func(ctx context.Context) (*Client, error) {
		return connect(life, ctx, endpoint, opt)
	}), nil
}

func newExecutor(life context.Context, stop context.CancelFunc, workers int, dial func(context.Context) (*Client, error)) *Executor {
	workers = max(workers, 1)
	e := &Executor{dial: dial, slots: make(chan *Client, workers), workers: workers, stop: stop, stopped: life.Done()}
	for range workers {
		e.slots <- nil
	}
	return e
}

// Observe calls a tool and returns what a model is to see: what the tool
// returned, as [Client.Call] has it. Of a tool that failed, and of a call that
// the server refused, this is {"error": what was said}; if that is an object
// with an error already, it stays as it is.
//
// An error is one of the server or the connection, and then there is no
// observation: of type [*Error], or that of ctx. The call was not asked again,
// since it may have done its work; the next call gets a new connection.
func (e *Executor) Observe(ctx context.Context, call qaoa.Call) (qaoa.JSON, error) {
	var c *Client
	select {
	case <-ctx.Done():
		return "", ctx.Err()
	case <-e.stopped:
		return "", fmt.Errorf("mcp: %w: the executor is closed", ErrClosed)
	case c = <-e.slots:
	}
	defer func() { e.slots <- c }()
	if c != nil && c.Dead() {
		_ = c.Close()
		c = nil
	}
	if c == nil {
		var err error
		if c, err = e.connect(ctx); err != nil {
			c = nil
			return "", err
		}
	}
	seen, err := c.Call(ctx, call)
	if failure, ok := errors.AsType[*Failure](err); ok {
		return failed(failure), nil
	}
	if err != nil {
		// Whatever it was, there may be half an answer on the way, or a server
		// that hangs: a new connection is cheap.
		_ = c.Close()
		c = nil
	}
	return seen, err
}

// connect makes a connection, in several attempts: a server that died may be
// about to come back.
func (e *Executor) connect(ctx context.Context) (*Client, error) {
	pause := dialPause
	for attempt := 1; ; attempt++ {
		c, err := e.dial(ctx)
		if err == nil || attempt == dials {
			return c, err
		}
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil, errors.Join(ctx.Err(), err)
		case <-e.stopped:
			timer.Stop()
			return nil, err
		case <-timer.C:
		}
		pause *= 2
	}
}

// failed returns what a model sees of a failure.
func failed(f *Failure) qaoa.JSON {
	v, err := f.Observation.Value()
	if err != nil {
		return errorObservation(qaoa.StringValue(string(f.Observation)))
	}
	if _, ok := v.Get("error"); ok {
		return f.Observation
	}
	return errorObservation(v)
}

// Close ends all connections, with the commands that were started. Calls in
// flight fail, and later ones too. It returns when all have ended.
func (e *Executor) Close() error {
	e.close.Do(func() {
		e.stop()
		for range e.workers {
			if c := <-e.slots; c != nil {
				_ = c.Close()
			}
		}
	})
	return nil
}
