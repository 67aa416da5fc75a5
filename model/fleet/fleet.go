package fleet

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"assay/model"
	"assay/model/transport"
)

// The values of [Options] that are zero.
const (
	DefaultMost       = 256
	DefaultTrip       = 5
	DefaultCooldown   = 2 * time.Second
	DefaultMaxCool    = time.Minute
	DefaultPatience   = 5 * time.Minute
	DefaultBackoff    = 500 * time.Millisecond
	DefaultMaxBackoff = 30 * time.Second
)

// startLimit is how many requests an adaptive host begins with.
const startLimit = 2

// A Host is one server of a fleet.
type Host struct {
	// Name is what messages call it: the base URL, without credentials.
	Name string
	// Chatter asks the server, and sends each request once: sending again is
	// the business of the fleet. If it is a [model.Prober], so is the fleet.
	Chatter model.Chatter
	// Check tells cheaply whether the server is up. It is asked before the
	// first request to a server that was down; nil lets that request find out.
	Check func(context.Context) error
}

// Options say how a fleet behaves. The zero value adapts concurrency, sends
// nothing again, and has the defaults above.
type Options struct {
	// Concurrency is how many requests the caller has in flight at a time over
	// all hosts; 0 lets the fleet find out by itself: each host starts with 2,
	// gets one more for each success until the first sign of overload and then
	// one more for each round of successes, and half as many after a status of
	// 429 or 503 or a time-out, but always 1 to Most.
	Concurrency int
	Most        int // upper bound of adaptive concurrency, for each host
	// Timeout is that of one request. Replies that take more than a quarter of
	// it are no reason to ask for more at a time. 0 is no such bound.
	Timeout time.Duration

	// Retries is how often a request that failed for a reason that may pass is
	// sent again, to another host if there is one.
	Retries int
	// Backoff is the wait before the first retry where no other host is ready;
	// it doubles up to MaxBackoff, and is multiplied by a random number in
	// [0.5,1). Seed makes these numbers repeatable.
	Backoff    time.Duration
	MaxBackoff time.Duration
	Seed       uint64

	// Trip is how many connection failures, time-outs and errors of a server
	// (5xx) in a row make the fleet leave it alone, for Cooldown at first, and
	// up to MaxCool if it is still down. Then one request tries it.
	Trip     int
	Cooldown time.Duration
	MaxCool  time.Duration
	// Patience is how long requests wait for any host to be back. It is also
	// the longest Retry-After that is waited for.
	Patience time.Duration
}

// A Fleet asks the hosts. It is a [model.Chatter], safe for concurrent use.
type Fleet struct {
	opt   Options
	hosts []*host

	mu      sync.Mutex // guards the rest, and the hosts
	rng     *rand.Rand
	queue   []*waiter
	timer   *time.Timer // of the next change that comes with time, or nil
	active  int         // conversations admitted
	changed chan struct{}
}

// New returns a fleet, or an error if there is no host or a number is negative.
func New(hosts []Host, opt Options) (*Fleet, error) {
	if len(hosts) == 0 {
		return nil, errors.New("fleet: want at least one server, have none; give --base-url")
	}
	if opt.Concurrency < 0 || opt.Most < 0 || opt.Retries < 0 || opt.Trip < 0 {
		return nil, fmt.Errorf("fleet: concurrency %d, most %d, retries %d, trip %d: want no negative number", opt.Concurrency, opt.Most, opt.Retries, opt.Trip)
	}
	setDefault(&opt.Most, DefaultMost)
	setDefault(&opt.Trip, DefaultTrip)
	setDefault(&opt.Cooldown, DefaultCooldown)
	setDefault(&opt.MaxCool, DefaultMaxCool)
	setDefault(&opt.Patience, DefaultPatience)
	setDefault(&opt.Backoff, DefaultBackoff)
	setDefault(&opt.MaxBackoff, DefaultMaxBackoff)
	f := &Fleet{opt: opt, rng: rand.New(rand.NewPCG(opt.Seed, 1)), changed: make(chan struct{}, 1)}
	seen := map[string]bool{}
	for _, h := range hosts {
		if seen[h.Name] {
			return nil, fmt.Errorf("fleet: server %s is named twice", h.Name)
		}
		seen[h.Name] = true
		f.hosts = append(f.hosts, newHost(h, opt))
	}
	return f, nil
}

func setDefault[T ~int | ~int64](v *T, def T) {
	if *v <= 0 {
		*v = def
	}
}

// Chat implements [model.Chatter]. The error of a request that failed too
// often is that of its last failure, with Attempts counting all requests sent.
func (f *Fleet) Chat(ctx context.Context, req model.Request) (model.Reply, error) {
	sent := 0
	var last *host
	for try := 0; ; {
		h, trial, err := f.acquire(ctx, last)
		if err != nil {
			return model.Reply{}, total(err, sent)
		}
		if trial && h.Check != nil {
			if err := h.Check(ctx); err != nil {
				f.finish(h, outcome{err: err, trial: true, check: true, canceled: ctx.Err() != nil})
				if ctx.Err() != nil {
					return model.Reply{}, ctx.Err()
				}
				last = h
				continue
			}
		}
		began := time.Now()
		epoch := f.epoch(h)
		reply, err := h.Chatter.Chat(ctx, req)
		canceled := ctx.Err() != nil
		f.finish(h, outcome{err: err, trial: trial, epoch: epoch, took: time.Since(began), canceled: canceled})
		if err == nil {
			sent += max(reply.Attempts, 1)
			reply.Attempts = sent
			return reply, nil
		}
		fail, ok := errors.AsType[*model.Error](err)
		if canceled || !ok {
			return model.Reply{}, err
		}
		sent += fail.Attempts
		try++
		if !f.again(fail, try, h) {
			return model.Reply{}, total(fail, sent)
		}
		if last = h; !f.otherReady(h) {
			if err := transport.Sleep(ctx, f.backoff(try)); err != nil {
				return model.Reply{}, err
			}
		}
	}
}

// again reports whether a request that failed try times is sent again.
func (f *Fleet) again(fail *model.Error, try int, h *host) bool {
	if try > f.opt.Retries {
		return false
	}
	if fail.Class == model.ClassUnavailable {
		return f.otherReady(h) // has the model, or can be found
	}
	return fail.Class.Retryable() && (fail.RetryAfter <= f.opt.Patience || f.otherReady(h))
}

// total returns err with the number of all requests sent.
func total(err error, sent int) error {
	fail, ok := errors.AsType[*model.Error](err)
	if !ok {
		return err
	}
	out := *fail
	out.Attempts = sent
	return &out
}

// backoff returns the wait after that many failures.
func (f *Fleet) backoff(try int) time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	return transport.Backoff(try, f.opt.Backoff, f.opt.MaxBackoff, f.rng.Float64())
}

// Close closes the hosts that can be closed.
func (f *Fleet) Close() {
	for _, h := range f.hosts {
		if c, ok := model.As[interface{ Close() }](h.Chatter); ok {
			c.Close()
		}
	}
}
