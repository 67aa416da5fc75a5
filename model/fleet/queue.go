package fleet

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"
)

// A waiter is a request that waits for a host.
type waiter struct {
	last *host // where it failed before: another one is better
	got  chan grant
}

// A grant is the host that a waiter got, or why it gets none.
type grant struct {
	h     *host
	trial bool
	err   error
}

// acquire waits until a host can take a request and books it there. trial says
// that the host was down and this request is to find out.
func (f *Fleet) acquire(ctx context.Context, last *host) (h *host, trial bool, err error) {
	if err := ctx.Err(); err != nil {
		return nil, false, err
	}
	f.mu.Lock()
	w := &waiter{last: last, got: make(chan grant, 1)}
	f.queue = append(f.queue, w)
	f.dispatch()
	f.mu.Unlock()
	select {
	case g := <-w.got:
		return g.h, g.trial, g.err
	case <-ctx.Done():
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.queue = slices.DeleteFunc(f.queue, func(x *waiter) bool { return x == w })
	select {
	case g := <-w.got: // came in between: give it back
		if g.h != nil {
			g.h.inFlight--
			g.h.trial = g.h.trial && !g.trial
			f.dispatch()
		}
	default:
	}
	return nil, false, ctx.Err()
}

// finish gives a host back.
func (f *Fleet) finish(h *host, o outcome) {
	f.mu.Lock()
	defer f.mu.Unlock()
	h.finish(o, time.Now(), len(f.hosts) > 1)
	f.dispatch()
	select {
	case f.changed <- struct{}{}:
	default:
	}
}

func (f *Fleet) epoch(h *host) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return h.epoch
}

// dispatch gives hosts to waiters, in the order in which they came.
func (f *Fleet) dispatch() {
	now := time.Now()
	for len(f.queue) > 0 {
		w := f.queue[0]
		h := f.pick(w.last, now)
		if h == nil {
			break
		}
		h.inFlight++
		h.stats.Highest = max(h.stats.Highest, h.inFlight)
		trial := !h.downSince.IsZero()
		h.trial = h.trial || trial
		w.got <- grant{h: h, trial: trial}
		f.queue[0] = nil
		f.queue = f.queue[1:]
	}
	if len(f.queue) == 0 {
		f.queue = nil // lets go of the array that was walked through
		return
	}
	if err := f.lost(now); err != nil {
		for _, w := range f.queue {
			w.got <- grant{err: err}
		}
		f.queue = nil
		return
	}
	f.wakeAt(f.nextChange(now), now)
}

// pick returns the host that is ready and has the least in flight, one that
// never failed the waiter first, or nil.
func (f *Fleet) pick(last *host, now time.Time) *host {
	var best *host
	for _, h := range f.hosts {
		if !h.ready(now) {
			continue
		}
		if best == nil || (best == last) != (h == last) && best == last || (best == last) == (h == last) && h.inFlight < best.inFlight {
			best = h
		}
	}
	return best
}

// lost returns an error if no host has been up for as long as patience allows.
func (f *Fleet) lost(now time.Time) error {
	var newest *host
	for _, h := range f.hosts {
		if h.downSince.IsZero() || now.Before(h.downSince.Add(f.opt.Patience)) {
			return nil
		}
		if newest == nil || h.downSince.After(newest.downSince) {
			newest = h
		}
	}
	fail := *newest.lastFail
	fail.Msg = fmt.Sprintf("no server has answered for %s; %s", now.Sub(newest.downSince).Round(time.Second), fail.Msg)
	return &fail
}

// nextChange returns when a host may become ready, or all are given up, by
// time alone; zero if that does not come.
func (f *Fleet) nextChange(now time.Time) time.Time {
	var next, lost time.Time
	allDown := true
	for _, h := range f.hosts {
		for _, t := range []time.Time{h.pausedUntil, h.openUntil} {
			if t.After(now) && (next.IsZero() || t.Before(next)) {
				next = t
			}
		}
		allDown = allDown && !h.downSince.IsZero()
		lost = later(lost, h.downSince.Add(f.opt.Patience))
	}
	if allDown && lost.After(now) && (next.IsZero() || lost.Before(next)) {
		next = lost
	}
	return next
}

// wakeAt sees to it that dispatch runs at t.
func (f *Fleet) wakeAt(t, now time.Time) {
	if t.IsZero() {
		return
	}
	if f.timer != nil {
		f.timer.Stop()
	}
	f.timer = time.AfterFunc(t.Sub(now), func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.dispatch()
	})
}

// otherReady reports whether a host other than h can take a request now.
func (f *Fleet) otherReady(h *host) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := time.Now()
	return slices.ContainsFunc(f.hosts, func(o *host) bool { return o != h && o.ready(now) && o.downSince.IsZero() })
}

// Admit waits until the hosts can take one more conversation, whatever it
// needs at most, and returns what ends it: with it an adaptive fleet has about
// as many conversations under way as requests in flight. With fixed
// concurrency it never waits. One goroutine may call it at a time.
func (f *Fleet) Admit(ctx context.Context, _ int) (release func(), err error) {
	for {
		f.mu.Lock()
		if f.active < f.capacity() {
			f.active++
			f.mu.Unlock()
			return f.leave, nil
		}
		f.mu.Unlock()
		select {
		case <-f.changed:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func (f *Fleet) leave() {
	f.mu.Lock()
	f.active--
	f.mu.Unlock()
	select {
	case f.changed <- struct{}{}:
	default:
	}
}

// capacity is how many requests all hosts take that are not down, at least 1.
func (f *Fleet) capacity() int {
	n := 0
	for _, h := range f.hosts {
		if h.opt.Concurrency > 0 {
			return h.slots()
		}
		if h.downSince.IsZero() {
			n += h.slots()
		}
	}
	return max(n, 1)
}

// Limit returns how many requests an adaptive fleet may have in flight now, 0
// if concurrency is fixed.
func (f *Fleet) Limit() int {
	if f.opt.Concurrency > 0 {
		return 0
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.capacity()
}

// Stats returns what happened at each host so far.
func (f *Fleet) Stats() []HostStats {
	f.mu.Lock()
	defer f.mu.Unlock()
	out := make([]HostStats, len(f.hosts))
	for i, h := range f.hosts {
		out[i] = h.stats
		out[i].Failed = maps.Clone(h.stats.Failed)
		if f.opt.Concurrency == 0 {
			out[i].Limit = h.slots()
		}
	}
	return out
}
