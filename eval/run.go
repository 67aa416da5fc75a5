package eval

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"sync"
	"time"

	"assay/match"
	"assay/model"
	"assay/qaoa"
	"assay/toolcall"
)

// windowPerWorker is how many results per worker may wait for a slower one
// that comes before them.
const windowPerWorker = 4

// A GiveUpError ends a run whose back end no longer answers.
type GiveUpError struct {
	Failures int // in a row
	Last     Failure
}

// Error says what happened and what to do.
func (e *GiveUpError) Error() string {
	return fmt.Sprintf("the last %d conversations failed, the last one with %s: %s; mend the server and run the same command again, finished ones are kept",
		e.Failures, e.Last.Class, e.Last.Msg)
}

// Run asks m about every record of cases, opt.Repeats times each, and yields
// the results in the order of cases, repeats of a record in a row.
//
// In the free flow each turn of a record is a dialogue: ask, take the calls of the reply as
// one step, show what they returned, and ask again, until a reply without
// calls, [Options.MaxRounds] requests, or a call set that was made before in
// the turn and that no further gold call asks for. Such a repeated set ends
// the turn, is marked in its [Exchange] and is no step. In the guided flow
// there is one request per gold call, see [FlowGuided] and [Compat].
//
// A pair that m fails on is yielded with Fail set, and the run goes on: one
// bad reply must not cost a night's work. If cases ends in an error or ctx is
// done, no conversation is started any more, those in flight are finished
// (within opt.Grace after ctx is done; later ones are dropped) and yielded, and
// the error comes last. When the loop over the result ends, no goroutine of it
// is left.
//
// The content key of a pair is a hash over model name and digest, the prompt,
// the modes, the sampling, the seed, the repeat and the whole record. Pairs
// for which opt.Done holds are passed over.
func Run(ctx context.Context, m model.Chatter, cases iter.Seq2[qaoa.Record, error], opt Options) iter.Seq2[Result, error] {
	return func(yield func(Result, error) bool) {
		opt, err := opt.withDefaults()
		if err != nil {
			yield(Result{}, err)
			return
		}
		// Requests outlive an interrupt by the grace, starting pairs does not.
		work, cut := context.WithCancel(context.WithoutCancel(ctx))
		start, stop := context.WithCancelCause(ctx)
		r := newRunner(m, opt, stop)
		defer func() {
			stop(context.Canceled)
			cut()
			r.wg.Wait()
		}()
		r.wg.Go(func() { cutAfter(ctx, work, cut, opt.Grace) })
		var last error // written before queue is closed
		r.wg.Go(func() {
			defer close(r.queue)
			defer close(r.jobs)
			last = r.feed(start, work, cases)
		})
		for slot := range r.queue {
			if res, ok := <-slot; ok && !yield(res, nil) {
				return
			}
		}
		// Every slot is closed now, so nothing writes any more.
		if last == nil {
			last = r.fault
		}
		if last != nil {
			yield(Result{}, last)
		}
	}
}

// A runner is the state of one Run.
type runner struct {
	asker asker
	opt   Options

	// The queue is the order and the bound: a slot per pair, made before the
	// pair is asked and read in turn. A slot that is closed empty is passed
	// over. Tokens bound the pairs that are asked at a time.
	queue  chan chan Result
	tokens chan struct{}
	jobs   chan func() // taken by goroutines that have nothing to do

	stop context.CancelCauseFunc // of starting pairs
	wg   sync.WaitGroup

	mu       sync.Mutex // guards the rest, and calls of Save and Progress
	progress Progress
	sp, fpa  float64
	failures int   // in a row
	saveErr  error // of the first Save that failed
	fault    error // why the run ended early
	began    time.Time
}

func newRunner(m model.Chatter, opt Options, stop context.CancelCauseFunc) *runner {
	return &runner{
		asker:    asker{m, opt},
		opt:      opt,
		queue:    make(chan chan Result, windowPerWorker*opt.Workers),
		tokens:   make(chan struct{}, opt.Workers),
		jobs:     make(chan func()),
		stop:     stop,
		progress: Progress{Total: opt.Total, Classes: map[model.Class]int{}},
		began:    time.Now(),
	}
}

// cutAfter calls cut when ctx has been done for the grace, unless work is done
// before.
func cutAfter(ctx, work context.Context, cut context.CancelFunc, grace time.Duration) {
	select {
	case <-ctx.Done():
	case <-work.Done():
		return
	}
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-timer.C:
		cut()
	case <-work.Done():
	}
}

// feed starts the pairs. It returns why it stopped, nil at the end of cases.
func (r *runner) feed(start, work context.Context, cases iter.Seq2[qaoa.Record, error]) error {
	keys := newKeyer(r.opt)
	n := 0
	for rec, err := range cases {
		if start.Err() != nil {
			return context.Cause(start)
		}
		if err != nil {
			return err
		}
		if !r.opt.Shard.Takes(rec.ID) {
			n++
			continue
		}
		system := ""
		for repeat := range r.opt.Repeats {
			p := pair{rec: rec, repeat: repeat, index: n*r.opt.Repeats + repeat, key: keys.key(rec, repeat)}
			if r.opt.Done != nil && r.opt.Done(p.key) {
				r.mu.Lock()
				r.progress.Skipped++
				r.mu.Unlock()
				continue
			}
			if system == "" {
				system = r.opt.Prompt.systemFor(rec.Tools, r.opt.Calls)
			}
			p.system = system
			if !r.launch(start, work, p) {
				return context.Cause(start)
			}
		}
		n++
	}
	return nil
}

// launch starts one pair as soon as there is room, and reports whether it did.
func (r *runner) launch(start, work context.Context, p pair) bool {
	slot := make(chan Result, 1)
	select {
	case r.queue <- slot:
	case <-start.Done():
		return false
	}
	select {
	case r.tokens <- struct{}{}:
	case <-start.Done():
		close(slot)
		return false
	}
	release, err := r.admit(start, p)
	if err != nil || start.Err() != nil { // select may have chosen the token all the same
		switch {
		case err == nil:
			release()
		case start.Err() == nil:
			r.mu.Lock()
			r.halt(err)
			r.mu.Unlock()
		}
		close(slot)
		return false
	}
	r.work(func() {
		defer close(slot)
		defer func() { <-r.tokens }()
		defer release()
		res := r.asker.ask(work, p)
		if res.Fail != nil && work.Err() != nil {
			r.mu.Lock()
			r.fault = context.Cause(start)
			r.mu.Unlock()
			return // cut off, not failed
		}
		if res.Fail != nil && res.Fail.Class == model.ClassStopped {
			r.mu.Lock()
			r.halt(&StopError{res.Fail.Msg})
			r.mu.Unlock()
			return // not asked to its end, so not failed
		}
		if r.finish(p.rec, res) {
			slot <- res
		}
	})
	return true
}

// work runs job in a goroutine that has nothing to do, or in a new one: a
// goroutine that has led a conversation has the stack for the next.
func (r *runner) work(job func()) {
	select {
	case r.jobs <- job:
		return
	default:
	}
	r.wg.Go(func() {
		job()
		for job := range r.jobs {
			job()
		}
	})
}

// finish saves and counts a result, and reports whether it may be yielded.
func (r *runner) finish(rec qaoa.Record, res Result) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.opt.Save != nil {
		if r.saveErr != nil {
			return false
		}
		if r.saveErr = r.opt.Save(res); r.saveErr != nil {
			r.halt(r.saveErr)
			return false
		}
	}
	p := &r.progress
	p.Done++
	if res.Fail != nil {
		p.Failed++
		p.Classes[res.Fail.Class]++
		r.failures++
		if r.opt.GiveUp > 0 && r.failures >= r.opt.GiveUp {
			r.halt(&GiveUpError{r.failures, *res.Fail})
		}
	} else {
		r.failures = 0
		for _, x := range res.Requests {
			p.Replies++
			p.Tokens += max(x.Usage.Completion, 0)
			if x.Class == string(toolcall.ClassMalformed) {
				p.Malformed++
			}
		}
		r.score(rec, res)
	}
	if r.opt.Progress != nil {
		p.Elapsed = time.Since(r.began)
		seen := *p
		seen.Classes = maps.Clone(p.Classes)
		r.opt.Progress(seen)
	}
	return true
}

// halt stops the starting of pairs because of err.
func (r *runner) halt(err error) {
	if r.fault == nil {
		r.fault = err
	}
	r.stop(err)
}

// score adds res to the running scores.
func (r *runner) score(rec qaoa.Record, res Result) {
	gold := rec.Calls()
	if r.opt.Progress == nil || len(gold) == 0 {
		return
	}
	var pred []qaoa.Call
	for _, t := range res.Turns {
		pred = append(pred, t.Calls()...)
	}
	r.progress.Scored++
	score := match.Instance(gold, pred, rec.Tools, match.Options{})
	r.sp += score.SP
	r.fpa += score.FPA
	r.progress.SP = r.sp / float64(r.progress.Scored)
	r.progress.FPA = r.fpa / float64(r.progress.Scored)
}

// Interrupted reports whether err, the last of a [Run], says that its context
// was done, or that a limit of the user's was reached ([*StopError]).
func Interrupted(err error) bool {
	if _, ok := errors.AsType[*StopError](err); ok {
		return true
	}
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}
