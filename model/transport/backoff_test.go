package transport

import (
	"testing"
	"time"
)

func TestBackoff(t *testing.T) {
	tests := []struct {
		name     string
		failures int
		u        float64
		want     time.Duration
	}{
		{"the first wait is half of it without jitter", 1, 0, 50 * time.Millisecond},
		{"jitter adds up to the other half", 1, 0.5, 75 * time.Millisecond},
		{"each failure doubles it", 3, 0, 200 * time.Millisecond},
		{"up to the most", 9, 0, 500 * time.Millisecond},
		{"however many there were", 1 << 40, 0, 500 * time.Millisecond},
	}
	for _, tt := range tests {
		if got := Backoff(tt.failures, 100*time.Millisecond, time.Second, tt.u); got != tt.want {
			t.Errorf("%s: Backoff(%d, 100ms, 1s, %v) = %v, want %v", tt.name, tt.failures, tt.u, got, tt.want)
		}
	}
}
