package eval_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"assay/eval"
	"assay/model"
	"assay/qaoa"
)

// slow answers like golden after a while that differs from request to request.
func slow(next chatter) chatter {
	var mu sync.Mutex
	rng := rand.New(rand.NewPCG(1, 2))
	return func(ctx context.Context, req model.Request) (model.Reply, error) {
		mu.Lock()
		d := time.Duration(rng.IntN(1000)+1) * time.Millisecond
		mu.Unlock()
		select {
		case <-time.After(d):
			return next(ctx, req)
		case <-ctx.Done():
			return model.Reply{}, ctx.Err()
		}
	}
}

func TestRunOrderAndBound(t *testing.T) {
	for _, workers := range []int{1, 3, 16} {
		t.Run(fmt.Sprint(workers, " workers"), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var now, most atomic.Int64
				m := slow(golden)
				counted := chatter(func(ctx context.Context, req model.Request) (model.Reply, error) {
					n := now.Add(1)
					for old := most.Load(); n > old && !most.CompareAndSwap(old, n); old = most.Load() {
					}
					defer now.Add(-1)
					return m(ctx, req)
				})
				recs := many(40)
				list, err := collect(eval.Run(t.Context(), counted, each(recs...), eval.Options{Workers: workers, Repeats: 2}))
				if err != nil || len(list) != 80 {
					t.Fatalf("%d results, %v; want 80", len(list), err)
				}
				for i, res := range list {
					if res.Index != i || res.ID != recs[i/2].ID || res.Repeat != i%2 {
						t.Fatalf("result %d is %s repeat %d, index %d; want the order of cases", i, res.ID, res.Repeat, res.Index)
					}
				}
				if got := int(most.Load()); got != workers {
					t.Errorf("at most %d requests at a time; want %d", got, workers)
				}
			})
		})
	}
}

// A slow consumer holds the run back: cases are not read ahead without bound.
func TestRunReadsAheadWithBound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var read atomic.Int64
		endless := func(yield func(qaoa.Record, error) bool) {
			for i := range 1 << 30 {
				read.Add(1)
				if !yield(record(fmt.Sprint(i), "set", "f:1"), nil) {
					return
				}
			}
		}
		for _, err := range eval.Run(t.Context(), chatter(golden), endless, eval.Options{Workers: 2}) {
			synctest.Wait()
			if err != nil {
				t.Error(err)
			}
			if n := read.Load(); n > 16 {
				t.Errorf("%d cases read before the first result was taken; want a bound", n)
			}
			break // and no goroutine is left, or synctest.Test fails
		}
	})
}

func TestRunBreakCutsRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var cut atomic.Int64
		m := chatter(func(ctx context.Context, req model.Request) (model.Reply, error) {
			if req.Case.Record.ID == "set/000" {
				return golden(ctx, req)
			}
			<-ctx.Done()
			cut.Add(1)
			return model.Reply{}, ctx.Err()
		})
		n := 0
		for _, err := range eval.Run(t.Context(), m, each(many(9)...), eval.Options{Workers: 4}) {
			if err == nil {
				n++
			}
			synctest.Wait()
			break
		}
		if n != 1 || cut.Load() == 0 {
			t.Errorf("%d results, %d requests cut off; want 1 and some", n, cut.Load())
		}
	})
}

func TestRunInterruptFinishesWhatIsInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var started atomic.Int64
		m := chatter(func(ctx context.Context, req model.Request) (model.Reply, error) {
			if req.Turn == 0 && rounds(req) == 0 {
				started.Add(1)
			}
			select {
			case <-time.After(time.Second):
				return golden(ctx, req)
			case <-ctx.Done():
				return model.Reply{}, ctx.Err()
			}
		})
		time.AfterFunc(1500*time.Millisecond, cancel)
		list, err := collect(eval.Run(ctx, m, each(many(50)...), eval.Options{Workers: 3, Grace: time.Hour}))
		if !eval.Interrupted(err) {
			t.Errorf("last error %v; want that of the context", err)
		}
		if len(list) != 3 || started.Load() != 3 {
			t.Errorf("%d results of %d conversations; want the 3 in flight and no other", len(list), started.Load())
		}
		for _, res := range list {
			if res.Fail != nil || len(res.Turns) != 2 {
				t.Errorf("result %+v; want a whole one", res)
			}
		}
	})
}

func TestRunGraceEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		m := chatter(func(ctx context.Context, _ model.Request) (model.Reply, error) {
			<-ctx.Done() // hangs
			return model.Reply{}, ctx.Err()
		})
		time.AfterFunc(time.Second, cancel)
		began := time.Now()
		saved := 0
		list, err := collect(eval.Run(ctx, m, each(many(5)...), eval.Options{
			Workers: 2, Grace: 10 * time.Second, Save: func(eval.Result) error { saved++; return nil },
		}))
		if !eval.Interrupted(err) || len(list) != 0 || saved != 0 {
			t.Errorf("%d results, %d saved, error %v; want none, and the context's", len(list), saved, err)
		}
		if took := time.Since(began); took != 11*time.Second {
			t.Errorf("took %v; want 1 s and the grace of 10 s", took)
		}
	})
}

// All cases are already in flight when the interrupt comes: if they can
// finish, nothing is lost and there is no error; if not, there is.
func TestRunInterruptAtTheEnd(t *testing.T) {
	for _, grace := range []time.Duration{time.Minute, time.Millisecond} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			m := slow(golden)
			list, err := collect(func(yield func(eval.Result, error) bool) {
				time.AfterFunc(time.Millisecond/2, cancel)
				eval.Run(ctx, m, each(many(2)...), eval.Options{Workers: 2, Grace: grace})(yield)
			})
			if whole := grace > time.Second; whole != (err == nil) || whole != (len(list) == 2) {
				t.Errorf("grace %v: %d results, %v", grace, len(list), err)
			}
		})
	}
}

func TestRunGoesOnAfterAFailure(t *testing.T) {
	m := chatter(func(ctx context.Context, req model.Request) (model.Reply, error) {
		switch req.Case.Record.ID {
		case "set/001":
			if req.Turn == 1 {
				return model.Reply{}, fmt.Errorf("asking: %w", &model.Error{Class: model.ClassServer, Status: 500, Attempts: 3, Msg: "internal"})
			}
		case "set/002":
			return model.Reply{}, errors.New("boom")
		}
		return golden(ctx, req)
	})
	var last eval.Progress
	list, err := collect(eval.Run(t.Context(), m, each(many(4)...), eval.Options{Progress: func(p eval.Progress) { last = p }}))
	if err != nil || len(list) != 4 {
		t.Fatalf("%d results, %v; want 4", len(list), err)
	}
	if f := list[1].Fail; f == nil || *f != (eval.Failure{Class: model.ClassServer, Msg: "internal", Turn: 1, Attempts: 3}) || list[1].Turns != nil {
		t.Errorf("failure %+v with turns %v", f, list[1].Turns)
	}
	if f := list[2].Fail; f == nil || f.Class != eval.ClassOther || f.Msg != "boom" {
		t.Errorf("failure %+v; want class other", f)
	}
	if list[3].Fail != nil {
		t.Errorf("the case after the failures failed too: %+v", list[3].Fail)
	}
	if last.Done != 4 || last.Failed != 2 || last.Classes[model.ClassServer] != 1 || last.Scored != 2 || last.SP != 1 {
		t.Errorf("progress %+v", last)
	}
}

func TestRunGivesUp(t *testing.T) {
	var asked atomic.Int64
	m := chatter(func(context.Context, model.Request) (model.Reply, error) {
		asked.Add(1)
		return model.Reply{}, &model.Error{Class: model.ClassConnection, Msg: "refused"}
	})
	list, err := collect(eval.Run(t.Context(), m, each(many(50)...), eval.Options{GiveUp: 5}))
	gave, ok := errors.AsType[*eval.GiveUpError](err)
	if !ok || gave.Failures != 5 || gave.Last.Class != model.ClassConnection {
		t.Errorf("error %v; want a GiveUpError after 5", err)
	}
	if len(list) < 5 || asked.Load() > 7 {
		t.Errorf("%d results of %d requests; want the run to stop", len(list), asked.Load())
	}
}

func TestRunErrorOfCasesComesLast(t *testing.T) {
	broken := errors.New("cut off")
	cases := func(yield func(qaoa.Record, error) bool) {
		for _, rec := range many(3) {
			if !yield(rec, nil) {
				return
			}
		}
		yield(qaoa.Record{}, broken)
	}
	n := 0
	var last error
	for _, err := range eval.Run(t.Context(), chatter(golden), iter.Seq2[qaoa.Record, error](cases), eval.Options{Workers: 2}) {
		if last != nil {
			t.Error("something comes after the error")
		}
		if last = err; err == nil {
			n++
		}
	}
	if n != 3 || !errors.Is(last, broken) {
		t.Errorf("%d results, then %v; want 3, then %v", n, last, broken)
	}
}

func TestRunEndsWhenSaveFails(t *testing.T) {
	full := errors.New("disk full")
	saves := 0
	list, err := collect(eval.Run(t.Context(), chatter(golden), each(many(20)...), eval.Options{
		Workers: 2,
		Save: func(eval.Result) error {
			if saves++; saves == 4 {
				return full
			}
			return nil
		},
	}))
	if !errors.Is(err, full) || saves != 4 || len(list) > 3 {
		t.Errorf("%d results after %d saves, %v; want the run to end with the error", len(list), saves, err)
	}
}

func TestRunSeedsAndKeys(t *testing.T) {
	var seeds []int64
	m := chatter(func(ctx context.Context, req model.Request) (model.Reply, error) {
		if rounds(req) == 0 {
			seeds = append(seeds, req.Sampling.Seed)
			if req.Case.Seed != uint64(req.Sampling.Seed) {
				t.Errorf("case seed %d, sampling seed %d; want the same", req.Case.Seed, req.Sampling.Seed)
			}
		}
		return golden(ctx, req)
	})
	base := eval.Options{Model: "m", Repeats: 3, Sampling: model.Sampling{Seed: 40}}
	rec := record("x", "set", "f:1")
	list, err := collect(eval.Run(t.Context(), m, each(rec), base))
	if err != nil || !slices.Equal(seeds, []int64{40, 41, 42}) {
		t.Errorf("seeds %v, %v; want 40 41 42", seeds, err)
	}
	keys := map[string]string{}
	for _, res := range list {
		keys[res.Key] = "the first run"
	}
	if len(keys) != 3 {
		t.Fatalf("%d keys for 3 repeats", len(keys))
	}
	again, _ := collect(eval.Run(t.Context(), m, each(rec), base))
	for i := range list {
		if again[i].Key != list[i].Key {
			t.Errorf("key %d differs between equal runs", i)
		}
	}
	own, err := eval.NewPrompt("other {tools}", eval.CallsPrompt)
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*eval.Options, *qaoa.Record){
		"model":       func(o *eval.Options, _ *qaoa.Record) { o.Model = "n" },
		"digest":      func(o *eval.Options, _ *qaoa.Record) { o.Digest = "1" },
		"calls":       func(o *eval.Options, _ *qaoa.Record) { o.Calls = eval.CallsNative },
		"history":     func(o *eval.Options, _ *qaoa.Record) { o.History = eval.HistoryGold },
		"observe":     func(o *eval.Options, _ *qaoa.Record) { o.Observe = eval.ObserveEmpty },
		"strict":      func(o *eval.Options, _ *qaoa.Record) { o.Strict = true },
		"rounds":      func(o *eval.Options, _ *qaoa.Record) { o.MaxRounds = 4 },
		"temperature": func(o *eval.Options, _ *qaoa.Record) { o.Sampling.Temperature = 0.5 },
		"top p":       func(o *eval.Options, _ *qaoa.Record) { o.Sampling.TopP = 0.5 },
		"max tokens":  func(o *eval.Options, _ *qaoa.Record) { o.Sampling.MaxTokens = 5 },
		"num ctx":     func(o *eval.Options, _ *qaoa.Record) { o.Sampling.NumCtx = 5 },
		"think":       func(o *eval.Options, _ *qaoa.Record) { o.Sampling.Think = true },
		"seed":        func(o *eval.Options, _ *qaoa.Record) { o.Sampling.Seed = 90 },
		"prompt":      func(o *eval.Options, _ *qaoa.Record) { o.Prompt = own },
		"query":       func(_ *eval.Options, r *qaoa.Record) { r.Turns[0].Query = "else" },
		"tool":        func(_ *eval.Options, r *qaoa.Record) { r.Tools[0].Description = "else" },
	} {
		opt, other := base, record("x", "set", "f:1")
		change(&opt, &other)
		changed, err := collect(eval.Run(t.Context(), m, each(other), opt))
		if err != nil {
			t.Fatal(err)
		}
		for _, res := range changed {
			if who, ok := keys[res.Key]; ok {
				t.Errorf("%s: same key as %s", name, who)
			}
			keys[res.Key] = name
		}
	}
}

func TestRunRefusesOptions(t *testing.T) {
	for _, opt := range []eval.Options{
		{Calls: "sung"},
		{History: "none"},
		{Observe: "all"},
		{Workers: -1},
		{Repeats: -1},
		{MaxRounds: -1},
		{GiveUp: -1},
		{Sampling: model.Sampling{Temperature: -0.1}},
		{Sampling: model.Sampling{Temperature: math.NaN()}},
		{Sampling: model.Sampling{Temperature: math.Inf(1)}},
		{Sampling: model.Sampling{TopP: 1.1}},
		{Sampling: model.Sampling{TopP: math.NaN()}},
		{Sampling: model.Sampling{MaxTokens: -1}},
		{Sampling: model.Sampling{NumCtx: -1}},
		{Prompt: mustPrompt("no mark", eval.CallsNative)},
	} {
		list, err := collect(eval.Run(t.Context(), chatter(golden), each(many(1)...), opt))
		if err == nil || len(list) > 0 {
			t.Errorf("Run with %+v: %d results, %v; want an error", opt, len(list), err)
		}
		if opt.Check() == nil {
			t.Errorf("Check of %+v finds no fault", opt)
		}
	}
}

func mustPrompt(text string, mode eval.CallMode) eval.Prompt {
	p, err := eval.NewPrompt(text, mode)
	if err != nil {
		panic(err)
	}
	return p
}
