package model

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
)

// An Embedder turns texts into vectors. The result holds one vector for each
// text, in order, as the model gave them: not scaled to length 1. All have one
// dimension, hold finite numbers only, and are not zero. Implementations are
// safe for concurrent use. No text may be blank: most servers refuse it, and
// the others give it a vector that means nothing.
type Embedder interface {
	Embed(ctx context.Context, texts []string) ([][]float32, error)
}

// DecodeVector returns the numbers of a JSON array, rounded to float32 once.
// Anything else in the array, null included, is an error that says where. It
// never returns NaN or an infinity.
func DecodeVector(data []byte) ([]float32, error) {
	s := strings.TrimSpace(string(data))
	if len(s) < 2 || s[0] != '[' || s[len(s)-1] != ']' {
		return nil, fmt.Errorf("want an array of numbers, have %.20q", s)
	}
	s = strings.TrimSpace(s[1 : len(s)-1])
	if s == "" {
		return nil, nil
	}
	out := make([]float32, 0, strings.Count(s, ",")+1)
	for item := range strings.SplitSeq(s, ",") {
		item = strings.TrimSpace(item)
		f, err := strconv.ParseFloat(item, 32)
		// ParseFloat takes words (NaN, Inf) and hexadecimal floats, JSON does not.
		if err != nil || strings.ContainsAny(item, "nNxX_") {
			return nil, fmt.Errorf("/%d: want a number in the range of a float32, have %.20q", len(out), item)
		}
		out = append(out, float32(f))
	}
	return out, nil
}

// DecodeVectorBase64 returns the numbers of a string of the embeddings
// protocol's encoding_format "base64": float32, little-endian. NaN and
// infinities are errors.
func DecodeVectorBase64(text string) ([]float32, error) {
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(raw)%4 != 0 {
		return nil, fmt.Errorf("want the base64 of float32 numbers, have %.20q", text)
	}
	out := make([]float32, len(raw)/4)
	for i := range out {
		out[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:]))
		if f := float64(out[i]); math.IsNaN(f) || math.IsInf(f, 0) {
			return nil, fmt.Errorf("/%d: want a finite number, have %v", i, out[i])
		}
	}
	return out, nil
}

// CheckVectors returns what is wrong with vectors that answer so many texts,
// or nil: another number of vectors than of texts, a vector without numbers,
// dimensions that differ from dim (or from each other if dim is 0), and
// vectors of zeros, which have no direction. The label begins the message, as
// in "ollama/bge-m3".
func CheckVectors(label string, vectors [][]float32, texts, dim int) *Error {
	if len(vectors) != texts {
		return &Error{Class: ClassBadReply, Msg: fmt.Sprintf("%s: want %d vectors for %d texts, have %d; is there a proxy that cuts or joins answers?", label, texts, texts, len(vectors))}
	}
	// Asking again helps against none of the rest.
	fail := func(format string, args ...any) *Error {
		return &Error{Class: ClassRequest, Msg: label + ": " + fmt.Sprintf(format, args...)}
	}
	asked := dim > 0
	for i, v := range vectors {
		switch {
		case len(v) == 0:
			return fail("vector %d of %d is empty; is this a model for embeddings?", i, texts)
		case dim == 0:
			dim = len(v)
		case len(v) != dim && asked:
			return fail("vector %d of %d: want %d dimensions, as asked, have %d; the model has no other length: leave the dimension out, or choose another model", i, texts, dim, len(v))
		case len(v) != dim:
			return fail("vector %d of %d has %d dimensions, those before it %d; is there more than one model behind the address?", i, texts, len(v), dim)
		}
		if zero(v) {
			return fail("vector %d of %d is all zeros; the server computes with too little precision for the model, or this is no model for embeddings", i, texts)
		}
	}
	return nil
}

func zero(v []float32) bool {
	for _, x := range v {
		if x != 0 {
			return false
		}
	}
	return true
}

// TooMany reports whether a failure of a request with several texts may come
// from their number or length: status 413, any other refusal of the request
// with 400 or 422, a status of 500, which servers send when a batch exhausts
// their memory, and a text that does not fit the context.
func TooMany(e *Error) bool {
	switch e.Status {
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity, http.StatusInternalServerError:
		return true
	}
	return e.Class == ClassTruncated
}

// Halving asks for vectors, in halves if a server refuses a list for its size.
// It learns: when both halves of a refused list went through, longer lists than
// these halves are not tried again. The zero value is ready, and safe for
// concurrent use.
type Halving struct{ most atomic.Int64 }

// Embed returns the vectors of texts from ask, which is called with parts of
// texts, one after the other. The first error ends it; that of one text which
// is refused alone names it.
//
// Ask should not repeat a request that [TooMany] holds for while it has more
// than one text: halves are the better repetition. See [OrHalve].
func (h *Halving) Embed(ctx context.Context, texts []string, ask func(context.Context, []string) ([][]float32, error)) ([][]float32, error) {
	out := make([][]float32, 0, len(texts))
	for len(texts) > 0 {
		n := len(texts)
		if most := int(h.most.Load()); most > 0 {
			n = min(n, most)
		}
		vectors, _, err := h.part(ctx, texts[:n], ask)
		if err != nil {
			return nil, err
		}
		out, texts = append(out, vectors...), texts[n:]
	}
	return out, nil
}

// part embeds texts and reports whether that took one request.
func (h *Halving) part(ctx context.Context, texts []string, ask func(context.Context, []string) ([][]float32, error)) ([][]float32, bool, error) {
	vectors, err := ask(ctx, texts)
	if err == nil {
		return vectors, true, nil
	}
	fail, ok := errors.AsType[*Error](err)
	if !ok || !TooMany(fail) || ctx.Err() != nil {
		return nil, false, err
	}
	if len(texts) == 1 {
		fail.Msg += fmt.Sprintf("; the text has %d bytes and begins %.60q", len(texts[0]), texts[0])
		return nil, false, err
	}
	half := (len(texts) + 1) / 2
	left, one, err := h.part(ctx, texts[:half], ask)
	if err != nil {
		return nil, false, err
	}
	right, other, err := h.part(ctx, texts[half:], ask)
	if err != nil {
		return nil, false, err
	}
	if one && other {
		h.learn(int64(half))
	}
	return slices.Concat(left, right), false, nil
}

// learn lowers the longest list to n.
func (h *Halving) learn(n int64) {
	for {
		most := h.most.Load()
		if most > 0 && most <= n || h.most.CompareAndSwap(most, n) {
			return
		}
	}
}

// Most returns the longest list that is still sent whole, 0 for any length.
func (h *Halving) Most() int { return int(h.most.Load()) }

// OrHalve makes a failure of a request with so many texts one that a transport
// does not repeat, if [Halving] will repeat it in halves. It returns e.
func OrHalve(e *Error, texts int) *Error {
	if e != nil && texts > 1 && TooMany(e) && e.Class.Retryable() {
		e.Class = ClassRequest
	}
	return e
}
