package fleet

import (
	"errors"
	"math"
	"net/http"
	"time"

	"assay/model"
)

// A host is a server with what is known about it. Fleet.mu guards it.
type host struct {
	Host
	opt      Options
	inFlight int

	// Adaptive concurrency. The limit grows by one a success until the first
	// overload (starting), then by one a round. A request that was sent before
	// the last shrinking (an older epoch) does not shrink it again: all of
	// them met the same overload.
	limit    float64
	starting bool
	epoch    int

	pausedUntil time.Time // by Retry-After

	// The circuit is open until openUntil, then half open: one request, the
	// trial, finds out. A success closes it: downSince is zero then.
	failures  int // in a row
	downSince time.Time
	openUntil time.Time
	cooldown  time.Duration
	trial     bool
	lastFail  *model.Error

	stats HostStats
}

// HostStats are what happened at one host.
type HostStats struct {
	Name     string
	Requests int                 // sent, without checks
	Failed   map[model.Class]int // of these
	Opened   int                 // how often the host was found to be down
	Limit    int                 // concurrency at the end, 0 if fixed
	Highest  int                 // most requests in flight
}

func newHost(h Host, opt Options) *host {
	out := &host{Host: h, opt: opt, limit: math.Inf(1), stats: HostStats{Name: h.Name, Failed: map[model.Class]int{}}}
	if opt.Concurrency == 0 {
		out.limit, out.starting = float64(min(startLimit, opt.Most)), true
	}
	return out
}

// slots is how many requests the host may have in flight.
func (h *host) slots() int {
	if math.IsInf(h.limit, 1) {
		return math.MaxInt
	}
	return int(h.limit)
}

// ready reports whether a request may be sent now.
func (h *host) ready(now time.Time) bool {
	if h.inFlight >= h.slots() || now.Before(h.pausedUntil) {
		return false
	}
	return h.downSince.IsZero() || !now.Before(h.openUntil) && !h.trial
}

// An outcome is how a request ended.
type outcome struct {
	err      error
	trial    bool // it was the one that tries a host that was down
	check    bool // it was a check only
	canceled bool // by the caller: says nothing about the host
	epoch    int
	took     time.Duration
}

// finish takes in how a request ended.
func (h *host) finish(o outcome, now time.Time, others bool) {
	full := h.inFlight >= h.slots()
	h.inFlight--
	if o.trial {
		h.trial = false
	}
	fail, isFail := errors.AsType[*model.Error](o.err)
	if !o.check {
		h.stats.Requests++
		if isFail && !o.canceled {
			h.stats.Failed[fail.Class]++
		}
	}
	switch {
	case o.canceled || isFail && fail.Class == model.ClassStopped:
	case o.check:
		h.down(o, fail, now)
	case o.err == nil:
		h.up()
		h.grow(o, full)
	case isFail:
		h.fail(fail, o, now, others)
	}
}

// fail takes in a failure of a request.
func (h *host) fail(fail *model.Error, o outcome, now time.Time, others bool) {
	if fail.RetryAfter > 0 && fail.RetryAfter <= h.opt.Patience {
		h.pausedUntil = later(h.pausedUntil, now.Add(fail.RetryAfter))
	}
	overload := fail.Class == model.ClassRateLimit || fail.Class == model.ClassTimeout || fail.Status == http.StatusServiceUnavailable
	if overload && h.opt.Concurrency == 0 && o.epoch == h.epoch {
		h.limit = max(1, math.Floor(h.limit/2))
		h.starting = false
		h.epoch++
	}
	switch fail.Class {
	case model.ClassConnection, model.ClassTimeout, model.ClassServer:
		h.failures++
		if h.failures >= h.opt.Trip || !h.downSince.IsZero() {
			h.down(o, fail, now)
		}
	case model.ClassUnavailable: // no such model, no such host: no need to count
		if others || o.trial {
			h.down(o, fail, now)
		}
	default:
		h.up()
	}
}

// down opens the circuit, or keeps it open if the trial failed.
func (h *host) down(o outcome, fail *model.Error, now time.Time) {
	if fail != nil {
		h.lastFail = fail
	} else if o.err != nil {
		h.lastFail = &model.Error{Class: model.ClassConnection, Msg: o.err.Error()}
	}
	switch {
	case h.downSince.IsZero():
		h.downSince, h.cooldown = now, h.opt.Cooldown
		h.stats.Opened++
	case o.trial:
		h.cooldown = min(2*h.cooldown, h.opt.MaxCool)
	default:
		return // sent before it was found to be down
	}
	h.openUntil = now.Add(h.cooldown)
}

// up closes the circuit.
func (h *host) up() {
	h.failures, h.downSince, h.openUntil, h.lastFail = 0, time.Time{}, time.Time{}, nil
}

// grow raises the limit after a success, if the limit was what held us back.
func (h *host) grow(o outcome, full bool) {
	slow := h.opt.Timeout > 0 && o.took > h.opt.Timeout/4
	if h.opt.Concurrency > 0 || !full || slow || o.epoch != h.epoch {
		return
	}
	step := 1.0
	if !h.starting {
		step = 1 / h.limit
	}
	h.limit = min(h.limit+step, float64(h.opt.Most))
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
