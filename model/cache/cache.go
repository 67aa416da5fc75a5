package cache

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"
	"math"
	"reflect"

	"github.com/goccy/go-json"
	"github.com/zeebo/xxh3"

	"assay/model"
	"assay/qaoa"
)

// keyVersion changes when equal requests would lead to other replies.
const keyVersion = "assay-reply/1"

// An Identity is what decides replies besides the request.
type Identity struct {
	Model  string // name, with the kind of server: "ollama/qwen3:8b"
	Digest string // of the weights, "" if the server tells none
	Extra  string // what else the client sends with each request
}

// A Cached model answers from a store what it has answered before. It is a
// [model.Chatter], safe for concurrent use if the model below is.
type Cached struct {
	m  model.Chatter
	s  *Store
	id Identity
}

// New returns m behind a store. Failures are never stored.
func New(m model.Chatter, s *Store, id Identity) *Cached { return &Cached{m, s, id} }

// Unwrap returns the model below, for [model.As].
func (c *Cached) Unwrap() model.Chatter { return c.m }

// Chat implements [model.Chatter]. A reply that was stored before the store
// was opened has Cached set. What goes wrong with the file costs a request,
// never an answer: [Cached.Notes] tells.
func (c *Cached) Chat(ctx context.Context, req model.Request) (model.Reply, error) {
	key := c.id.key(req)
	data, err := c.s.get(ctx, key)
	if ctx.Err() != nil {
		return model.Reply{}, ctx.Err()
	}
	if err != nil {
		c.s.failed(err)
	}
	if data != nil {
		var reply model.Reply
		if err := json.Unmarshal(data, &reply); err == nil {
			c.s.count(func(st *Stats) { st.Hits++ })
			reply.Cached = true
			return reply, nil
		}
		c.s.count(func(st *Stats) { st.Bad++ })
	}
	c.s.count(func(st *Stats) { st.Misses++ })
	reply, err := c.m.Chat(ctx, req)
	if err != nil {
		return reply, err
	}
	if data, ok := encode(reply); ok {
		if err := c.s.put(key, data); err != nil {
			c.s.failed(err)
		}
	}
	return reply, nil
}

// encode returns what is stored of a reply. A reply that would come back
// different, such as one that is not Unicode, is not stored.
func encode(reply model.Reply) ([]byte, bool) {
	reply.Latency, reply.Attempts, reply.Cached = 0, 0, false
	data, err := json.Marshal(reply)
	if err != nil {
		return nil, false
	}
	var back model.Reply
	if err := json.Unmarshal(data, &back); err != nil || !reflect.DeepEqual(back, reply) {
		return nil, false
	}
	return data, true
}

// Notes says in words what the cache did, for the description of a run.
func (c *Cached) Notes() []string {
	var notes []string
	if inner, ok := model.As[interface{ Notes() []string }](c.m); ok {
		notes = inner.Notes()
	}
	st := c.s.Stats()
	notes = append(notes, fmt.Sprintf("%d of %d replies came from the response cache", st.Hits, st.Hits+st.Misses))
	if st.Bad > 0 {
		notes = append(notes, fmt.Sprintf("%d stored replies were damaged and are asked for again", st.Bad))
	}
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	if c.s.fault != nil {
		notes = append(notes, fmt.Sprintf("%d replies could not be read or stored: %v", st.Failed, c.s.fault))
	}
	return notes
}

// key returns the SHA-256 over everything that decides a reply.
func (id Identity) key(req model.Request) (sum [32]byte) {
	h := hasher{sha256.New()}
	for _, text := range []string{keyVersion, id.Model, id.Digest, id.Extra, req.ToolChoice, req.ParallelCalls} {
		h.text(text)
	}
	s := req.Sampling
	repeat := 0
	if req.Case != nil {
		repeat = req.Case.Repeat
	}
	think := 0
	if s.Think {
		think = 1
	}
	for _, n := range []int64{
		int64(math.Float64bits(s.Temperature)), int64(math.Float64bits(s.TopP)), s.Seed,
		int64(s.MaxTokens), int64(s.NumCtx), int64(think), int64(repeat), int64(len(req.Messages)), int64(len(req.Tools)),
	} {
		h.int(n)
	}
	for _, m := range req.Messages {
		h.text(string(m.Role))
		h.text(m.Content)
		h.text(m.CallID)
		h.int(int64(len(m.Calls)))
		for _, c := range m.Calls {
			h.text(string(qaoa.AppendCall(nil, c)))
		}
	}
	for _, t := range req.Tools {
		h.text(t.Name)
		h.text(t.Description)
		h.text(string(t.Parameters))
	}
	h.Sum(sum[:0])
	return sum
}

// A hasher writes texts with their lengths, so that no two lists of texts make
// the same bytes.
type hasher struct{ hash.Hash }

func (h hasher) text(s string) {
	h.int(int64(len(s)))
	_, _ = h.Write([]byte(s)) // a hash never fails
}

func (h hasher) int(n int64) {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], uint64(n))
	_, _ = h.Write(b[:])
}

func checksum(b []byte) int64 { return int64(xxh3.Hash(b)) }
