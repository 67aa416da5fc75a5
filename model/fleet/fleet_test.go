package fleet_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"assay/model"
	"assay/model/fleet"
)

// A script plays a server: it is told the number of the request, from 0, and
// how many are in flight with it.
type script func(n, inFlight int) error

// A server plays one host, and takes a while to answer.
type server struct {
	takes  time.Duration
	script script

	mu           sync.Mutex
	n, now, most int
	at           []time.Duration // when each request came, from the first
	began        time.Time
	probed       int
	info         model.Info
	probeErr     error
}

func (s *server) Chat(ctx context.Context, _ model.Request) (model.Reply, error) {
	s.mu.Lock()
	n := s.n
	s.n++
	s.now++
	now := s.now
	s.most = max(s.most, s.now)
	if s.began.IsZero() {
		s.began = time.Now()
	}
	s.at = append(s.at, time.Since(s.began))
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		s.now--
		s.mu.Unlock()
	}()
	select {
	case <-time.After(s.takes):
	case <-ctx.Done():
		return model.Reply{}, ctx.Err()
	}
	if s.script != nil {
		if err := s.script(n, now); err != nil {
			return model.Reply{}, err
		}
	}
	return model.Reply{Text: "ok", Attempts: 1}, nil
}

func (s *server) Probe(context.Context) (model.Info, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.probed++
	return s.info, s.probeErr
}

func (s *server) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.n
}

func fault(class model.Class) *model.Error {
	return &model.Error{Class: class, Attempts: 1, Msg: "it is " + string(class)}
}

// fails returns the script that fails the first requests and no others.
func fails(first int, class model.Class) script {
	return func(n, _ int) error {
		if n < first {
			return fault(class)
		}
		return nil
	}
}

func build(t *testing.T, opt fleet.Options, servers ...*server) *fleet.Fleet {
	t.Helper()
	var hosts []fleet.Host
	for i, s := range servers {
		hosts = append(hosts, fleet.Host{Name: fmt.Sprint("host", i), Chatter: s})
	}
	f, err := fleet.New(hosts, opt)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// flood asks n requests by workers goroutines and returns the errors.
func flood(t *testing.T, f *fleet.Fleet, workers, n int) []error {
	t.Helper()
	var wg sync.WaitGroup
	var mu sync.Mutex
	var errs []error
	next := make(chan struct{}, n)
	for range n {
		next <- struct{}{}
	}
	close(next)
	for range workers {
		wg.Go(func() {
			for range next {
				if _, err := f.Chat(t.Context(), model.Request{}); err != nil {
					mu.Lock()
					errs = append(errs, err)
					mu.Unlock()
				}
			}
		})
	}
	wg.Wait()
	return errs
}

func TestLeastInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fast, slow := &server{takes: time.Second}, &server{takes: 3 * time.Second}
		f := build(t, fleet.Options{Concurrency: 8}, fast, slow)
		if errs := flood(t, f, 8, 400); errs != nil {
			t.Fatal(errs[0])
		}
		// Both hold four at a time, so the fast one answers three of four.
		if fast.most != 4 || slow.most != 4 || fast.n < 290 || fast.n > 310 {
			t.Errorf("the fast host had %d requests, %d at a time, the slow one %d and %d; want 300, 4, 100, 4", fast.n, fast.most, slow.n, slow.most)
		}
	})
}

// A server that refuses what is over its capacity is found out: the fleet ends
// close to what it can take, and nothing is lost.
func TestAdaptiveFindsTheCapacity(t *testing.T) {
	for _, capacity := range []int{1, 3, 20} {
		t.Run(fmt.Sprint("capacity ", capacity), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &server{takes: time.Second, script: func(_, inFlight int) error {
					if inFlight > capacity {
						return fault(model.ClassRateLimit)
					}
					return nil
				}}
				f := build(t, fleet.Options{Retries: 50}, s)
				began := time.Now()
				if errs := flood(t, f, 64, 2000); errs != nil {
					t.Fatal(errs[0])
				}
				ideal := 2000 * time.Second / time.Duration(capacity)
				if took := time.Since(began); took > 2*ideal {
					t.Errorf("took %s, want at most twice the ideal %s", took, ideal)
				}
				st := f.Stats()[0]
				if refused := st.Failed[model.ClassRateLimit]; capacity > 1 && refused > st.Requests/4 {
					t.Errorf("%d of %d requests were refused", refused, st.Requests)
				}
				if s.n != st.Requests || st.Requests-st.Failed[model.ClassRateLimit] != 2000 {
					t.Errorf("%d requests at the server, stats %+v; want 2000 answered", s.n, st)
				}
			})
		})
	}
}

func TestAdaptiveBounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{takes: time.Second}
		f := build(t, fleet.Options{Most: 7}, s)
		flood(t, f, 64, 200)
		if s.most != 7 || f.Limit() != 7 {
			t.Errorf("at most %d at a time, limit %d; want 7", s.most, f.Limit())
		}
	})
	synctest.Test(t, func(t *testing.T) {
		s := &server{takes: 30 * time.Second}
		f := build(t, fleet.Options{Timeout: time.Minute}, s)
		flood(t, f, 64, 50)
		if s.most != 2 {
			t.Errorf("%d at a time though replies take half of the time-out; want the 2 of the start", s.most)
		}
	})
}

// One overload halves the limit once, however many requests met it.
func TestShrinksOncePerOverload(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		overloaded := false
		s := &server{takes: time.Second, script: func(int, int) error {
			if overloaded {
				return &model.Error{Class: model.ClassServer, Status: 503, Attempts: 1}
			}
			return nil
		}}
		f := build(t, fleet.Options{Most: 16, Trip: 1000}, s)
		flood(t, f, 16, 100)
		overloaded = true
		flood(t, f, 16, 16)
		if f.Limit() != 8 {
			t.Errorf("limit %d after one overload of 16 requests; want 8", f.Limit())
		}
	})
}

func TestRetryAfterPausesTheHost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{script: func(n, _ int) error {
			if n == 0 {
				return &model.Error{Class: model.ClassRateLimit, Status: 429, RetryAfter: 20 * time.Second, Attempts: 1}
			}
			return nil
		}}
		f := build(t, fleet.Options{Concurrency: 4, Retries: 3}, s)
		if errs := flood(t, f, 1, 1); errs != nil {
			t.Fatal(errs[0])
		}
		if s.at[1] != 20*time.Second {
			t.Errorf("asked again after %s; want 20s", s.at[1])
		}
	})
}

func TestRetries(t *testing.T) {
	tests := []struct {
		name     string
		first    script
		second   bool // there is a second host
		retries  int
		attempts int // in all
		class    model.Class
	}{
		{"success at once", nil, false, 3, 1, ""},
		{"a failure that passes", fails(2, model.ClassServer), false, 3, 3, ""},
		{"a failure that stays", fails(99, model.ClassServer), false, 2, 3, model.ClassServer},
		{"a refusal is final", fails(99, model.ClassRequest), true, 3, 1, model.ClassRequest},
		{"a prompt that is too long is final", fails(99, model.ClassTruncated), true, 3, 1, model.ClassTruncated},
		{"a stop is final", fails(99, model.ClassStopped), true, 3, 1, model.ClassStopped},
		{"another host takes over", fails(99, model.ClassConnection), true, 3, 2, ""},
		{"another host may have the model", fails(99, model.ClassUnavailable), true, 3, 2, ""},
		{"no host has it", fails(99, model.ClassUnavailable), false, 3, 1, model.ClassUnavailable},
		{"a Retry-After beyond patience", func(int, int) error {
			return &model.Error{Class: model.ClassRateLimit, RetryAfter: 24 * time.Hour, Attempts: 1}
		}, false, 3, 1, model.ClassRateLimit},
		{"no retries asked for", fails(1, model.ClassServer), false, 0, 1, model.ClassServer},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				servers := []*server{{script: tt.first}}
				if tt.second {
					servers = append(servers, &server{})
				}
				f := build(t, fleet.Options{Concurrency: 1, Retries: tt.retries}, servers...)
				reply, err := f.Chat(t.Context(), model.Request{})
				fail, _ := errors.AsType[*model.Error](err)
				switch {
				case tt.class == "" && (err != nil || reply.Attempts != tt.attempts):
					t.Errorf("%d attempts, %v; want %d and an answer", reply.Attempts, err, tt.attempts)
				case tt.class != "" && (fail == nil || fail.Class != tt.class || fail.Attempts != tt.attempts):
					t.Errorf("error %+v; want class %s after %d attempts", fail, tt.class, tt.attempts)
				}
			})
		})
	}
}

// The waits between tries double within their bounds and are the same for the
// same seed.
func TestBackoff(t *testing.T) {
	waits := func(seed uint64) (at []time.Duration) {
		synctest.Test(t, func(t *testing.T) {
			s := &server{script: fails(99, model.ClassBadReply)}
			f := build(t, fleet.Options{Concurrency: 1, Retries: 5, Backoff: time.Second, MaxBackoff: 4 * time.Second, Seed: seed}, s)
			_, _ = f.Chat(t.Context(), model.Request{}) // fails
			at = s.at
		})
		return at
	}
	at := waits(1)
	for i, most := range []time.Duration{1, 2, 4, 4, 4} {
		d := at[i+1] - at[i]
		if d < most*time.Second/2 || d > most*time.Second {
			t.Errorf("wait %d took %s; want half to all of %d s", i, d, most)
		}
	}
	if !slices.Equal(at, waits(1)) || slices.Equal(at, waits(2)) {
		t.Error("the waits do not follow from the seed")
	}
}

// A host that is down gets no requests but one now and then, and takes part
// again when it is back.
func TestCircuit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		back := time.Now().Add(100 * time.Second)
		flaky := &server{takes: time.Second, script: func(int, int) error {
			if time.Now().Before(back) {
				return fault(model.ClassConnection)
			}
			return nil
		}}
		good := &server{takes: time.Second}
		f := build(t, fleet.Options{Concurrency: 4, Retries: 10, Trip: 5, Cooldown: 10 * time.Second, MaxCool: 20 * time.Second}, flaky, good)
		if errs := flood(t, f, 4, 380); errs != nil {
			t.Fatal(errs[0])
		}
		// Until then: about five to notice, and a trial after 10, 20, 20 … s.
		if n := flaky.count(); n > 14 {
			t.Errorf("a host that was down got %d requests", n)
		}
		time.Sleep(30 * time.Second)
		before := flaky.count()
		if errs := flood(t, f, 4, 100); errs != nil {
			t.Fatal(errs[0])
		}
		if n := flaky.count() - before; n < 40 {
			t.Errorf("a host that is back got %d of 100 requests; want about half", n)
		}
		if notes := strings.Join(f.Notes(), "; "); !strings.Contains(notes, "host0 was down once") {
			t.Errorf("notes %q", notes)
		}
	})
}

// The check goes before the first request to a host that was down, so that no
// request is spent on finding out.
func TestCheckBeforeTrial(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		back := time.Now().Add(15 * time.Second)
		checks := 0
		s := &server{script: func(int, int) error {
			if time.Now().Before(back) {
				return fault(model.ClassConnection)
			}
			return nil
		}}
		f, err := fleet.New([]fleet.Host{{Name: "h", Chatter: s, Check: func(context.Context) error {
			checks++
			if time.Now().Before(back) {
				return errors.New("still down")
			}
			return nil
		}}}, fleet.Options{Concurrency: 1, Retries: 3, Trip: 2, Cooldown: 4 * time.Second, MaxCool: 4 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Chat(t.Context(), model.Request{}); err != nil {
			t.Fatal(err)
		}
		if s.n != 3 || checks < 3 {
			t.Errorf("%d requests and %d checks; want 2 requests that failed, checks until it is back, and 1 request", s.n, checks)
		}
	})
}

// When no host comes back, requests end with what is the matter, and do not
// wait for ever.
func TestPatience(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{script: fails(1<<30, model.ClassConnection)}
		f := build(t, fleet.Options{Concurrency: 8, Retries: 1000, Trip: 3, Patience: time.Minute}, s)
		began := time.Now()
		errs := flood(t, f, 8, 8)
		if len(errs) != 8 {
			t.Fatalf("%d requests failed, want 8", len(errs))
		}
		for _, err := range errs {
			fail, ok := errors.AsType[*model.Error](err)
			if !ok || fail.Class != model.ClassConnection || !strings.Contains(fail.Msg, "no server has answered for 1m") {
				t.Errorf("error %v", err)
			}
		}
		if took := time.Since(began); took < time.Minute || took > 2*time.Minute {
			t.Errorf("took %s; want the patience of a minute and little more", took)
		}
	})
}

func TestCancel(t *testing.T) {
	tests := []struct {
		name string
		s    *server
	}{
		{"during a request", &server{takes: time.Hour}},
		{"during a wait", &server{script: fails(99, model.ClassServer)}},
		{"while the host is paused", &server{script: func(int, int) error {
			return &model.Error{Class: model.ClassRateLimit, RetryAfter: time.Minute, Attempts: 1}
		}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := build(t, fleet.Options{Concurrency: 1, Retries: 9, Backoff: 10 * time.Second}, tt.s)
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				began := time.Now()
				_, err := f.Chat(ctx, model.Request{})
				if !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != time.Second {
					t.Errorf("error %v after %s", err, time.Since(began))
				}
				if n := tt.s.count(); n != 1 {
					t.Errorf("%d requests; want 1", n)
				}
			})
		})
	}
}

// An adaptive fleet admits about as many conversations as it has requests in
// flight; the rest is not begun.
func TestAdmit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{takes: time.Second}
		f := build(t, fleet.Options{Most: 8}, s)
		var wg sync.WaitGroup
		most, now := 0, 0
		var mu sync.Mutex
		for range 100 {
			release, err := f.Admit(t.Context(), 1)
			if err != nil {
				t.Fatal(err)
			}
			mu.Lock()
			now++
			most = max(most, now)
			mu.Unlock()
			wg.Go(func() {
				defer release()
				for range 3 {
					if _, err := f.Chat(t.Context(), model.Request{}); err != nil {
						t.Error(err)
					}
				}
				mu.Lock()
				now--
				mu.Unlock()
			})
		}
		wg.Wait()
		if most != 8 || s.most != 8 {
			t.Errorf("%d conversations and %d requests at a time; want 8", most, s.most)
		}
		ctx, cancel := context.WithCancel(t.Context())
		for range 8 {
			if _, err := f.Admit(ctx, 1); err != nil {
				t.Fatal(err)
			}
		}
		time.AfterFunc(time.Second, cancel)
		if _, err := f.Admit(ctx, 1); !errors.Is(err, context.Canceled) {
			t.Errorf("Admit of a full fleet = %v; want to wait until the context is done", err)
		}
	})
}

func TestProbe(t *testing.T) {
	info := func(digest string, length int) model.Info {
		return model.Info{Server: "s" + digest, Digest: digest, Context: length}
	}
	down := fault(model.ClassConnection)
	tests := []struct {
		name    string
		hosts   []*server
		context int
		err     string // part of the error
		skipped bool   // the first host is left alone
	}{
		{"one host", []*server{{info: info("a", 10)}}, 10, "", false},
		{"the shortest context counts", []*server{{info: info("a", 10)}, {info: info("a", 8)}, {info: info("a", 0)}}, 8, "", false},
		{"other weights", []*server{{info: info("a", 10)}, {info: info("b", 10)}}, 0, "same weights", false},
		{"one is down", []*server{{probeErr: down}, {info: info("a", 9)}}, 9, "", true},
		{"all are down", []*server{{probeErr: down}, {probeErr: errors.New("other")}}, 0, "it is connection", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := build(t, fleet.Options{Concurrency: 2}, tt.hosts...)
				got, err := f.Probe(t.Context())
				if tt.err != "" {
					if err == nil || !strings.Contains(err.Error(), tt.err) {
						t.Errorf("Probe = %v; want an error with %q", err, tt.err)
					}
					return
				}
				if err != nil || got.Context != tt.context {
					t.Errorf("Probe = %+v, %v; want a context of %d", got, err, tt.context)
				}
				if _, err := f.Chat(t.Context(), model.Request{}); err != nil {
					t.Error(err)
				}
				if asked := tt.hosts[0].count(); tt.skipped != (asked == 0) {
					t.Errorf("the first host got %d requests", asked)
				}
			})
		})
	}
}

func TestNewRefuses(t *testing.T) {
	s := &server{}
	for _, tt := range []struct {
		name  string
		hosts []fleet.Host
		opt   fleet.Options
		says  string
	}{
		{"no host", nil, fleet.Options{}, "--base-url"},
		{"the same twice", []fleet.Host{{Name: "a", Chatter: s}, {Name: "a", Chatter: s}}, fleet.Options{}, "named twice"},
		{"negative", []fleet.Host{{Name: "a", Chatter: s}}, fleet.Options{Retries: -1}, "retries -1"},
	} {
		if _, err := fleet.New(tt.hosts, tt.opt); err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: %v; want an error with %q", tt.name, err, tt.says)
		}
	}
}
