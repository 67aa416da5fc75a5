package transport

import (
	"context"
	"time"
)

// Backoff returns the wait after that many failures, of at least one: first,
// doubled with each further one, most at most, of which the jitter u in [0,1)
// leaves from half to all.
func Backoff(failures int, first, most time.Duration, u float64) time.Duration {
	d := first
	for i := 1; i < failures && d < most; i++ {
		d *= 2
	}
	return time.Duration(float64(min(d, most)) * (0.5 + u/2))
}

// Sleep waits for d, or returns the error of ctx when that is done.
func Sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
