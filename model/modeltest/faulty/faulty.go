// Package faulty is a model server for tests that fails as servers do: too
// many requests, errors, cut and half-closed connections, answers that are no
// JSON, of another type, too long or too slow. It is built on package
// modeltest.
//
// Which request fails how follows from a seed and from the content of the
// request, and not from the order of requests, so that clients can be compared
// at any concurrency.
package faulty

import (
	"maps"
	"strings"
	"sync"
	"time"

	"github.com/zeebo/xxh3"

	"assay/model"
	"assay/model/modeltest"
)

// A Kind is a way to fail.
type Kind string

// The kinds.
const (
	TooMany     Kind = "429 with Retry-After"
	Internal    Kind = "500"
	Unavailable Kind = "503"
	NoStatus    Kind = "the connection is closed before the status line"
	CutBody     Kind = "the connection is closed within the body"
	HalfClosed  Kind = "the server ends its side within the body"
	CutJSON     Kind = "JSON that ends too early"
	HTML        Kind = "a page of a proxy"
	Stream      Kind = "an event stream"
	NotUTF8     Kind = "bytes that are not UTF-8 instead of JSON"
	Huge        Kind = "an answer of 10 MB"
	Drip        Kind = "an answer that trickles without end"
)

// Kinds returns all kinds, with the class of failure that a client should see.
func Kinds() map[Kind]model.Class {
	return map[Kind]model.Class{
		TooMany: model.ClassRateLimit, Internal: model.ClassServer, Unavailable: model.ClassServer,
		NoStatus: model.ClassConnection, CutBody: model.ClassConnection, HalfClosed: model.ClassConnection,
		CutJSON: model.ClassBadReply, HTML: model.ClassBadReply, Stream: model.ClassBadReply, NotUTF8: model.ClassBadReply,
		Huge: model.ClassBadReply, Drip: model.ClassTimeout,
	}
}

// A Plan says how often what fails. The zero Plan never fails.
type Plan struct {
	Seed  uint64
	Kinds []Kind
	// PerMille is how many of a thousand requests fail, and Most how often one
	// and the same request does before it is answered.
	PerMille int
	Most     int
	// Latency is the longest delay of an answer; it varies between 0 and that.
	Latency time.Duration
	// DripEvery is the wait between pieces of an answer that trickles.
	DripEvery time.Duration
}

// A Server answers by a script, after its faults. Its methods are safe for
// concurrent use.
type Server struct {
	plan   Plan
	answer modeltest.Script

	mu       sync.Mutex
	tries    map[uint64]int
	answered map[uint64]int
	faults   map[Kind]int
}

// New returns a server that answers by answer; its Script goes into
// [modeltest.NewServer].
func New(plan Plan, answer modeltest.Script) *Server {
	return &Server{plan: plan, answer: answer, tries: map[uint64]int{}, answered: map[uint64]int{}, faults: map[Kind]int{}}
}

// Script implements [modeltest.Script].
func (s *Server) Script(r modeltest.Request) modeltest.Reply {
	key := xxh3.Hash(r.Body)
	s.mu.Lock()
	try := s.tries[key]
	s.tries[key]++
	kind := s.fault(key, try)
	if kind == "" {
		s.answered[key]++
	} else {
		s.faults[kind]++
	}
	s.mu.Unlock()
	rep := s.reply(kind, r)
	if s.plan.Latency > 0 {
		rep.Delay = time.Duration(mix(s.plan.Seed, key, uint64(try), 2) % uint64(s.plan.Latency))
	}
	return rep
}

// fault returns how the try of a request fails, "" if it does not.
func (s *Server) fault(key uint64, try int) Kind {
	if len(s.plan.Kinds) == 0 || try >= s.plan.Most || mix(s.plan.Seed, key, uint64(try), 0)%1000 >= uint64(s.plan.PerMille) {
		return ""
	}
	return s.plan.Kinds[mix(s.plan.Seed, key, uint64(try), 1)%uint64(len(s.plan.Kinds))]
}

// reply returns what is sent.
func (s *Server) reply(kind Kind, r modeltest.Request) modeltest.Reply {
	const part = 40 // bytes of a body that is cut
	typed := func(t, body string) modeltest.Reply {
		return modeltest.Reply{Header: map[string]string{"Content-Type": t}, Body: body}
	}
	switch kind {
	case TooMany:
		return modeltest.Reply{Status: 429, Text: "slow down", Header: map[string]string{"Retry-After": "0.01"}}
	case Internal:
		return modeltest.Reply{Status: 500, Text: "oops"}
	case Unavailable:
		return modeltest.Reply{Status: 503, Text: "loading"}
	case NoStatus:
		return modeltest.Reply{Cut: -1}
	case CutBody:
		return modeltest.Reply{Text: "never seen", Cut: part}
	case HalfClosed:
		return modeltest.Reply{Text: "never seen", Cut: part, Half: true}
	case CutJSON:
		return typed("application/json", `{"choices":[{"message":{"content":"never se`)
	case HTML:
		return typed("text/html", "<html><body>502 Bad Gateway</body></html>")
	case Stream:
		return typed("text/event-stream", "data: {\"choices\":[{\"delta\":{\"content\":\"never seen\"}}]}\n\ndata: [DONE]\n\n")
	case NotUTF8:
		return typed("application/json", "\xff\xfe{\x00}")
	case Huge:
		return modeltest.Reply{Text: strings.Repeat("never seen ", 1<<20)[:10<<20]}
	case Drip:
		return modeltest.Reply{Text: strings.Repeat("never seen ", 1000), Trickle: max(s.plan.DripEvery, time.Millisecond)}
	}
	return s.answer(r)
}

// mix hashes numbers.
func mix(n ...uint64) uint64 {
	h := uint64(0x9e3779b97f4a7c15)
	for _, x := range n {
		h = (h ^ x) * 0xff51afd7ed558ccd
		h ^= h >> 32
	}
	return h
}

// Faults returns how often the server failed in which way.
func (s *Server) Faults() map[Kind]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.faults)
}

// Answered returns how many requests were answered well, and how many of these
// were the same as one before.
func (s *Server) Answered() (requests, again int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, n := range s.answered {
		requests += n
		again += n - 1
	}
	return requests, again
}
