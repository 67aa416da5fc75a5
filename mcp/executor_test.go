package mcp

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"assay/qaoa"
)

func TestExecutor(t *testing.T) {
	endpoint, opt := endpointOf("counts and dies")
	e, err := NewExecutor(t.Context(), endpoint, 2, opt)
	if err != nil {
		t.Fatal(err)
	}
	var lost, seen atomic.Int32
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 4 {
				got, err := e.Observe(t.Context(), qaoa.Call{Name: "f"})
				switch {
				case errors.Is(err, ErrClosed) && got == "":
					lost.Add(1)
				case err == nil && strings.HasPrefix(string(got), `{"call":`):
					seen.Add(1)
				default:
					t.Errorf("have %s, %v", got, err)
				}
			}
		})
	}
	group.Wait()
	// A server dies of its fourth call. Two connections share the calls as it
	// comes, and each has its last server alive in the end.
	if lost.Load()+seen.Load() != 32 || lost.Load() < 6 || lost.Load() > 8 {
		t.Errorf("%d calls were answered and %d lost, want 32 in all, and one in four lost", seen.Load(), lost.Load())
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	if _, err := e.Observe(t.Context(), qaoa.Call{Name: "f"}); !errors.Is(err, ErrClosed) {
		t.Errorf("after Close: have %v, want %v", err, ErrClosed)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}

func TestExecutorShowsFailures(t *testing.T) {
	endpoint, opt := endpointOf("sdk")
	e, err := NewExecutor(t.Context(), endpoint, 1, opt)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = e.Close() }()
	tests := []struct {
		call qaoa.Call
		want qaoa.JSON
	}{
		{qaoa.Call{Name: "prose"}, `"It rains."`},
		{qaoa.Call{Name: "fails"}, `{"error":"no such city"}`},
		{qaoa.Call{Name: "nobody"}, `{"error":"unknown tool \"nobody\""}`},
		{qaoa.Call{Raw: "f("}, `{"error":"invalid call: want a name and an object of arguments"}`},
		{qaoa.Call{Name: "echo", Arguments: `{"a":1.0}`}, `{"a":1.0}`},
	}
	for _, tt := range tests {
		if got, err := e.Observe(t.Context(), tt.call); err != nil || got != tt.want {
			t.Errorf("%+v: have %s, %v, want %s", tt.call, got, err, tt.want)
		}
	}
}

func TestExecutorEndsWithItsContext(t *testing.T) {
	endpoint, opt := endpointOf("sdk")
	ctx, cancel := context.WithCancel(t.Context())
	e, err := NewExecutor(ctx, endpoint, 1, opt)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Observe(t.Context(), qaoa.Call{Name: "prose"}); err != nil {
		t.Fatal(err)
	}
	c := <-e.slots
	e.slots <- c
	cancel()
	<-c.p.done
	if _, err := e.Observe(t.Context(), qaoa.Call{Name: "prose"}); err == nil {
		t.Error("a call after the end of the context has no error")
	}
	_ = e.Close()
}

func TestExecutorRefusesEndpoints(t *testing.T) {
	if _, err := NewExecutor(t.Context(), "ftp://host", 1, Options{}); err == nil || !strings.Contains(err.Error(), "stdio:COMMAND") {
		t.Errorf("have error %v, want one that lists the forms", err)
	}
}

func TestExecutorDialsAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		life, stop := context.WithCancel(t.Context())
		down := errors.New("down")
		attempts := 0
		e := newExecutor(life, stop, 1, func(context.Context) (*Client, error) {
			attempts++
			return nil, down
		})
		start := time.Now()
		if _, err := e.Observe(t.Context(), qaoa.Call{Name: "f"}); !errors.Is(err, down) {
			t.Errorf("have error %v, want %v", err, down)
		}
		if took, want := time.Since(start), 7*dialPause; attempts != dials || took != want {
			t.Errorf("%d attempts in %v, want %d in %v", attempts, took, dials, want)
		}
		ctx, cancel := context.WithTimeout(t.Context(), dialPause/2)
		defer cancel()
		if _, err := e.Observe(ctx, qaoa.Call{Name: "f"}); !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, down) {
			t.Errorf("have error %v, want the end of the context and its reason", err)
		}
		_ = e.Close()
	})
}

func TestExecutorBoundsCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		life, stop := context.WithCancel(t.Context())
		var now, most atomic.Int32
		e := newExecutor(life, stop, 3, func(ctx context.Context) (*Client, error) {
			if n := now.Add(1); n > most.Load() {
				most.Store(n)
			}
			<-time.After(time.Second)
			now.Add(-1)
			return nil, fmt.Errorf("down: %w", ctx.Err())
		})
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		var group sync.WaitGroup
		for range 20 {
			group.Go(func() { _, _ = e.Observe(ctx, qaoa.Call{Name: "f"}) })
		}
		group.Wait()
		if most.Load() != 3 {
			t.Errorf("%d calls in flight, want 3", most.Load())
		}
		_ = e.Close()
	})
}
