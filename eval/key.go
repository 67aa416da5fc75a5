package eval

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"math"

	"assay/qaoa"
)

// keyVersion changes when the same settings would put other requests to a
// model than before.
const keyVersion = "assay-pair/1"

// A keyer makes content keys for one set of options.
type keyer struct {
	opt    Options
	prefix []byte // state of the hash after the options
	buf    []byte
}

func newKeyer(opt Options) *keyer {
	h := sha256.New()
	s := opt.Sampling
	for _, text := range []string{
		keyVersion, opt.Model, opt.Digest, opt.Prompt.Text(),
		string(opt.Calls), string(opt.History), string(opt.Observe),
	} {
		writeText(h, text)
	}
	for _, n := range []int64{
		int64(opt.MaxRounds), flag(opt.Strict), flag(s.Think), int64(s.MaxTokens), int64(s.NumCtx),
		int64(math.Float64bits(s.Temperature)), int64(math.Float64bits(s.TopP)),
	} {
		writeInt(h, n)
	}
	// What came later is written only where it is used, so that older folders
	// can still be resumed.
	for _, later := range []struct{ name, value, usual string }{
		{"flow", string(opt.Flow), string(FlowFree)},
		{"compat", string(opt.Compat), ""},
		{"observer", opt.ObserverName, ""},
		{"tool choice", opt.ToolChoice, ""},
		{"parallel calls", opt.ParallelCalls, ""},
	} {
		if later.value != later.usual {
			writeText(h, later.name)
			writeText(h, later.value)
		}
	}
	return &keyer{opt: opt, prefix: h.Sum(nil)}
}

// key returns the content key of a pair: 32 hexadecimal digits of the SHA-256
// over everything that decides what is asked and how replies are read.
func (k *keyer) key(rec qaoa.Record, repeat int) string {
	h := sha256.New()
	_, _ = h.Write(k.prefix)
	writeInt(h, k.opt.Sampling.Seed+int64(repeat))
	writeInt(h, int64(repeat))
	k.buf = qaoa.AppendRecord(k.buf[:0], rec)
	_, _ = h.Write(k.buf)
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// writeText writes s with its length, so that no two lists of texts make the
// same bytes.
func writeText(h hash.Hash, s string) {
	writeInt(h, int64(len(s)))
	_, _ = h.Write([]byte(s)) // a hash never fails
}

func writeInt(h hash.Hash, n int64) {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], uint64(n))
	_, _ = h.Write(b[:])
}

func flag(b bool) int64 {
	if b {
		return 1
	}
	return 0
}
