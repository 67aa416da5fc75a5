package eval

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/zeebo/xxh3"

	"assay/model"
	"assay/qaoa"
)

// maxShards bounds the parts of a run. More than that is a slip of the pen.
const maxShards = 100_000

// A Shard is one of Count parts of a run, so that several machines can share
// one. A record belongs to the shard that the hash of its id names, whatever
// its place in the data. The zero Shard is the whole run.
type Shard struct {
	Index int // from 0
	Count int
}

// ParseShard reads "i/n" with 0 <= i < n; "" is the whole run.
func ParseShard(s string) (Shard, error) {
	if s == "" {
		return Shard{}, nil
	}
	i, n, _ := strings.Cut(s, "/")
	index, err1 := strconv.Atoi(i)
	count, err2 := strconv.Atoi(n)
	if err1 != nil || err2 != nil || count < 1 || count > maxShards || index < 0 || index >= count {
		return Shard{}, fmt.Errorf("--shard %q: want i/n with i from 0 to n-1 and n up to %d, such as 0/8", s, maxShards)
	}
	return Shard{index, count}, nil
}

// String returns "i/n", or "" for the whole run.
func (s Shard) String() string {
	if s.Count == 0 {
		return ""
	}
	return fmt.Sprintf("%d/%d", s.Index, s.Count)
}

// Takes reports whether the record with this id belongs to s: the XXH3 hash of
// the id modulo Count is Index.
func (s Shard) Takes(id string) bool {
	return s.Count <= 1 || xxh3.HashString(id)%uint64(s.Count) == uint64(s.Index)
}

// check returns an error if s is no part of a run.
func (s Shard) check() error {
	if s == (Shard{}) || s.Count >= 1 && s.Count <= maxShards && s.Index >= 0 && s.Index < s.Count {
		return nil
	}
	return fmt.Errorf("shard %d of %d: want an index from 0 to one below the count, and at most %d", s.Index, s.Count, maxShards)
}

// A StopError ends a run at a limit that the user set. What is finished is
// kept, and the run can be resumed.
type StopError struct{ Msg string }

// Error says which limit it was.
func (e *StopError) Error() string { return e.Msg }

// mostRequests returns how many requests a conversation about rec can take at
// most, retries not counted.
func (opt Options) mostRequests(rec qaoa.Record) int {
	n := 0
	for _, t := range rec.Turns {
		if opt.MaxRounds > 0 {
			n += opt.MaxRounds
			continue
		}
		calls := 0
		for _, s := range t.Steps {
			calls += len(s.Calls)
		}
		n += max(DefaultMaxRounds, calls+1)
	}
	return n
}

// admit asks Options.Admit whether p may start.
func (r *runner) admit(ctx context.Context, p pair) (release func(), err error) {
	if r.opt.Admit == nil {
		return func() {}, nil
	}
	release, err = r.opt.Admit(ctx, r.opt.mostRequests(p.rec))
	if fail, ok := errors.AsType[*model.Error](err); ok && fail.Class == model.ClassStopped {
		err = &StopError{fail.Msg}
	}
	return release, err
}
