package mcp

import (
	"context"
	"sync"

	"assay/qaoa"
)

// A capture holds the raw answer to one request.
type capture struct {
	result  string
	refusal string // the raw error, if the server answered with one
	fault   error  // why there is no answer, in our words
}

type captureKey struct{}

// A registry brings the raw results that a transport sees to those who asked.
// The library between them only hands on what it made of a result, without the
// order of members; and what it cannot read, not at all.
type registry struct {
	mu      sync.Mutex
	waiting map[string]*capture // by the text of the ID of the request
	fault   error               // the first fault of the transport
}

// begin returns a context for one request, and its capture.
func (r *registry) begin(ctx context.Context) (context.Context, *capture) {
	c := &capture{}
	return context.WithValue(ctx, captureKey{}, c), c
}

// expect says that the request with that ID is what ctx was made for.
func (r *registry) expect(ctx context.Context, id string) {
	c, ok := ctx.Value(captureKey{}).(*capture)
	if !ok {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.waiting == nil {
		r.waiting = map[string]*capture{}
	}
	r.waiting[id] = c
}

// busy reports whether somebody waits for a result.
func (r *registry) busy() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.waiting) > 0
}

// deliver hands over the answer to the request with that ID: a result, or an
// error.
func (r *registry) deliver(id, result, refusal string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if c, ok := r.waiting[id]; ok {
		c.result, c.refusal = result, refusal
	}
}

// deliverMessage hands over the answer in the text of a message, if it is one.
func (r *registry) deliverMessage(text string) {
	var id, result, refusal string
	ok := qaoa.EachMember(text, func(name, value string) bool {
		switch name {
		case "id":
			id = value
		case "result":
			result = value
		case "error":
			refusal = value
		}
		return true
	})
	if ok && id != "" && (result != "" || refusal != "") {
		r.deliver(id, result, refusal)
	}
}

// end returns what c holds, and forgets it.
func (r *registry) end(c *capture) capture {
	r.mu.Lock()
	defer r.mu.Unlock()
	for id, waiting := range r.waiting {
		if waiting == c {
			delete(r.waiting, id)
		}
	}
	return *c
}

// failRequest keeps the fault of the request that ctx was made for, or that of
// the transport.
func (r *registry) failRequest(ctx context.Context, err error) error {
	c, ok := ctx.Value(captureKey{}).(*capture)
	if !ok {
		return r.fail(err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	c.fault = err
	return err
}

// fail keeps the first fault of the transport.
func (r *registry) fail(err error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.fault == nil {
		r.fault = err
	}
	return err
}

// failed returns the first fault of the transport.
func (r *registry) failed() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.fault
}
