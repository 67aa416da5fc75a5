// Package ordered maps a stream in parallel and keeps its order.
package ordered

import (
	"context"
	"iter"
	"sync"
)

// Map yields f of each element of in, in the order of in, with up to
// workers calls of f at a time. If in ends in an error or ctx is done, nothing
// more is started, what was started is yielded, and the error comes last. When
// the loop over the result ends, no goroutine of it is left.
func Map[I, O any](ctx context.Context, in iter.Seq2[I, error], workers int, f func(I) O) iter.Seq2[O, error] {
	type slot struct {
		out chan O
		err error
	}
	return func(yield func(O, error) bool) {
		stop := make(chan struct{})
		// The queue is the order and the bound. It is a little longer than
		// the workers are many, so that one slow element stalls none of them.
		queue := make(chan slot, 4*workers)
		running := make(chan struct{}, workers)
		var wg sync.WaitGroup
		wg.Go(func() {
			defer close(queue)
			put := func(s slot) bool {
				select {
				case queue <- s:
					return true
				case <-stop:
					return false
				}
			}
			for elem, err := range in {
				select {
				case <-stop:
					return
				default:
				}
				if err == nil {
					err = ctx.Err()
				}
				s := slot{make(chan O, 1), err}
				if !put(s) || err != nil {
					return
				}
				running <- struct{}{}
				wg.Go(func() {
					s.out <- f(elem)
					<-running
				})
			}
		})
		defer wg.Wait()
		defer close(stop)
		for s := range queue {
			if s.err != nil {
				var none O
				yield(none, s.err)
				return
			}
			if !yield(<-s.out, nil) {
				return
			}
		}
	}
}
