package embed

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"

	"assay/internal/ordered"
	"assay/model"
	"assay/vector"
)

// A remote asks a model, through a cache if there is one.
type remote struct {
	name, label string
	model       model.Embedder
	digest      func(_ context.Context, retry bool) (string, error) // nil if the protocol has none
	opt         Options

	mu    sync.Mutex // one call of Vectors at a time: the cache has one writer
	cache *cache     // of the last call, closed, for what it knows of the file
}

func (r *remote) Name() string { return r.name }

// A job is one call of Vectors.
type job struct {
	*remote
	want    header
	cache   *cache
	texts   []string // distinct, not blank, in order of first occurrence
	rows    []int    // of each text that was asked for; -1 is blank
	out     *vector.Matrix
	done    int // texts that have a vector
	missing int // texts that the cache did not have
}

// Vectors implements [Source].
func (r *remote) Vectors(ctx context.Context, texts []string) (_ *vector.Matrix, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	j := &job{remote: r, want: header{Model: r.name, Dim: r.opt.Dimensions}}
	j.index(texts)
	if r.opt.CacheFile != "" {
		if j.cache, err = openCache(r.opt.CacheFile, r.cache); err != nil {
			return nil, err
		}
		defer func() {
			err = errors.Join(err, j.cache.Close())
			r.cache = j.cache
		}()
	}
	if err := j.run(ctx); err != nil {
		return nil, err
	}
	return j.matrix(), nil
}

// index finds the distinct texts.
func (j *job) index(texts []string) {
	seen := make(map[string]int, len(texts))
	j.rows = make([]int, len(texts))
	for i, text := range texts {
		if strings.TrimSpace(text) == "" {
			j.rows[i] = -1
			continue
		}
		row, ok := seen[text]
		if !ok {
			row = len(j.texts)
			seen[text] = row
			j.texts = append(j.texts, text)
		}
		j.rows[i] = row
	}
}

// run fills j.out with the vectors of j.texts.
func (j *job) run(ctx context.Context) error {
	keys := make([]key, len(j.texts))
	missing := make([]int, 0, len(j.texts))
	for i, text := range j.texts {
		keys[i] = sha256.Sum256([]byte(text))
		if j.cache == nil || !j.cache.has(keys[i]) {
			missing = append(missing, i)
		}
	}
	j.missing = len(missing)
	if err := j.identify(ctx); err != nil {
		return err
	}
	if j.cache != nil && j.cache.header.Dim > 0 {
		j.want.Dim = j.cache.header.Dim
		j.out = vector.NewMatrix(len(j.texts), j.want.Dim)
		for i, k := range keys {
			if !j.cache.has(k) {
				continue
			}
			if err := j.cache.read(k, j.out.Row(i)); err != nil {
				return err
			}
		}
	}
	return j.ask(ctx, keys, missing)
}

// identify finds the digest of the model and holds the cache against it.
func (j *job) identify(ctx context.Context) error {
	if j.cache == nil {
		return nil // a digest would serve nobody
	}
	// Told at once, before a server is asked, and whether or not one runs.
	if err := j.cache.accept(j.want); err != nil {
		return err
	}
	if j.digest == nil {
		return nil
	}
	digest, err := j.digest(ctx, j.missing > 0)
	if fail, ok := errors.AsType[*model.Error](err); ok && j.missing == 0 &&
		(fail.Class == model.ClassConnection || fail.Class == model.ClassUnavailable) {
		return nil // no server, and none is needed
	}
	if err != nil {
		return err
	}
	j.want.Digest = digest
	return j.cache.accept(j.want)
}

// ask gets the vectors of the texts that are missing. A batch is a function of
// the set of missing texts, not of their order: servers round differently in
// different company. The longest come first, so that one that is too long for
// the model is found at once and not after an hour.
func (j *job) ask(ctx context.Context, keys []key, missing []int) error {
	slices.SortFunc(missing, func(a, b int) int {
		return cmp.Or(cmp.Compare(len(j.texts[b]), len(j.texts[a])), cmp.Compare(j.texts[a], j.texts[b]))
	})
	type answer struct {
		batch   []int
		vectors [][]float32
		err     error
	}
	// The first failure stops what has not begun; what is in flight is received.
	begin, stop := context.WithCancel(ctx)
	defer stop()
	answers := ordered.Map(begin, chunks(missing, j.opt.Batch), j.opt.Workers, func(batch []int) answer {
		if err := begin.Err(); err != nil {
			return answer{err: err}
		}
		texts := make([]string, len(batch))
		for i, t := range batch {
			texts[i] = j.texts[t]
		}
		vectors, err := j.model.Embed(ctx, texts)
		if err != nil {
			stop()
		}
		return answer{batch, vectors, err}
	})
	var failed error
	for a, err := range answers {
		if err == nil {
			err = a.err
		}
		if err != nil {
			// That a batch was stopped is not the cause, it follows from it.
			if failed == nil || errors.Is(failed, context.Canceled) {
				failed = err
			}
			continue // what else was received is kept
		}
		if err := j.keep(keys, a.batch, a.vectors); err != nil {
			return err
		}
	}
	return j.explain(failed)
}

// keep writes a batch to the cache and to the matrix.
func (j *job) keep(keys []key, batch []int, vectors [][]float32) error {
	if j.out == nil {
		j.want.Dim = len(vectors[0])
		j.out = vector.NewMatrix(len(j.texts), j.want.Dim)
	}
	got := j.want
	if got.Dim = len(vectors[0]); got.Dim != j.want.Dim {
		if j.cache != nil {
			if err := j.cache.accept(got); err != nil {
				return err
			}
		}
		return fmt.Errorf("%s: %d dimensions, and %d before; is there more than one model behind the address?", j.label, got.Dim, j.want.Dim)
	}
	if j.cache != nil {
		ks := make([]key, len(batch))
		for i, t := range batch {
			ks[i] = keys[t]
		}
		if err := j.cache.add(got, ks, vectors); err != nil {
			return err
		}
	}
	for i, t := range batch {
		copy(j.out.Row(t), vectors[i])
	}
	j.done += len(batch)
	if j.opt.Progress != nil {
		j.opt.Progress(j.done, j.missing)
	}
	return nil
}

// explain adds to a failure how much of the work is kept.
func (j *job) explain(err error) error {
	if err == nil || j.done == 0 {
		return err
	}
	if j.cache == nil {
		return fmt.Errorf("%w (after %d of %d texts, which are lost; a cache file would keep them)", err, j.done, j.missing)
	}
	return fmt.Errorf("%w (%d of %d texts are done and in %s; the next call goes on from there)", err, j.done, j.missing, j.cache.path)
}

// matrix returns a row for each text that was asked for.
func (j *job) matrix() *vector.Matrix {
	if j.out == nil { // nothing but blank texts
		j.out = vector.NewMatrix(0, j.want.Dim)
	}
	j.out.Normalize()
	if len(j.rows) == len(j.texts) {
		return j.out // all distinct, none blank: rows are in order
	}
	m := vector.NewMatrix(len(j.rows), j.out.Dim())
	for i, row := range j.rows {
		if row >= 0 {
			copy(m.Row(i), j.out.Row(row))
		}
	}
	return m
}

// chunks yields list in parts of n, the last one shorter.
func chunks(list []int, n int) iter.Seq2[[]int, error] {
	return func(yield func([]int, error) bool) {
		for part := range slices.Chunk(list, n) {
			if !yield(part, nil) {
				return
			}
		}
	}
}
