package eval

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"assay/model"
)

// DefaultMaxRounds is how many requests one turn may take unless
// [Options.MaxRounds] says otherwise.
const DefaultMaxRounds = 10

// DefaultGrace is how long conversations in flight may go on after an
// interrupt.
const DefaultGrace = 30 * time.Second

// A History says what a model is shown of the turns before the current one.
type History string

// The histories.
const (
	HistoryOwn  History = "own"  // what it said itself
	HistoryGold History = "gold" // what the record says
)

// ParseHistory returns the history of that name; "" is [HistoryOwn].
func ParseHistory(s string) (History, error) {
	switch h := History(s); h {
	case "":
		return HistoryOwn, nil
	case HistoryOwn, HistoryGold:
		return h, nil
	}
	return "", fmt.Errorf("--history %q: want own or gold", s)
}

// Options say how [Run] asks. The zero value asks each record once, one at a
// time, with the built-in prompt and the defaults of every field.
type Options struct {
	Model  string // name and digest, which go into content keys only
	Digest string

	Prompt  Prompt // zero: the built-in prompt of the mode
	Calls   CallMode
	Flow    Flow
	History History
	Observe Observe
	// Observer makes the calls of a run with [ObserveMCP], and ObserverName
	// says in content keys and in run.json which one it is, without secrets.
	Observer     Observer
	ObserverName string
	// Compat asks as another runner does. It wants a guided flow in mode
	// [CallsPrompt] with [HistoryOwn], and a prompt without [ToolsMark].
	Compat Compat
	// ToolChoice and ParallelCalls are told to the server in mode
	// [CallsNative], see [model.Request].
	ToolChoice, ParallelCalls string

	Strict bool // no repairs when parsing
	// MaxRounds bounds the requests of one turn. 0 is [DefaultMaxRounds], but
	// never fewer than the steps of the gold turn and one for the answer, so
	// that every turn can be solved; another number holds as it is.
	MaxRounds int
	// Sampling goes into every request; repeat r is asked with Seed + r.
	Sampling model.Sampling
	Repeats  int // 0 is 1

	// Shard takes a part of the records only; the zero Shard takes all. Places
	// and content keys are those of the whole run.
	Shard Shard

	Workers int // conversations at a time; 0 is 1
	// Admit, if not nil, is asked before each conversation starts, in order
	// and by one goroutine, with the most requests that the conversation can
	// take. It may wait; release is called when the conversation is over. Its
	// error ends the run, and those in flight are finished.
	Admit func(ctx context.Context, most int) (release func(), err error)
	Grace time.Duration // 0 is [DefaultGrace]
	// GiveUp ends the run with a [*GiveUpError] after that many conversations
	// in a row failed; 0 is never.
	GiveUp int

	// Done reports whether the pair with this content key needs no asking; nil
	// asks all. It is called in the order of cases, from one goroutine.
	Done func(key string) bool
	// Save is called once for each result, as soon as it is there and before
	// it is yielded, one call at a time. Its error ends the run.
	Save func(Result) error
	// Sync says when a [Folder] flushes its journal; "" is [SyncInterval].
	Sync SyncPolicy
	// Progress is called after Save, one call at a time.
	Progress func(Progress)
	Total    int // pairs in all, for Progress; 0 is unknown

	// Notes, if not nil, returns what the client has to tell after the run,
	// and Price, if not nil, is that of the model. Both are for [Folder.Run].
	Notes func() []string
	Price *Price
}

// Check returns an error that says which option is out of its range, or nil.
// [Run] and [Look] check by themselves.
func (opt Options) Check() error {
	_, err := opt.withDefaults()
	return err
}

// withDefaults returns opt with every default filled in.
func (opt Options) withDefaults() (Options, error) {
	var err error
	if opt.Calls, err = ParseCallMode(string(opt.Calls)); err != nil {
		return opt, err
	}
	if opt.Compat, err = ParseCompat(string(opt.Compat)); err != nil {
		return opt, err
	}
	if opt.Flow == "" && opt.Compat.on() {
		opt.Flow = FlowGuided
	}
	if opt.Flow, err = ParseFlow(string(opt.Flow)); err != nil {
		return opt, err
	}
	if opt.History, err = ParseHistory(string(opt.History)); err != nil {
		return opt, err
	}
	if opt.Observe, err = ParseObserve(string(opt.Observe)); err != nil {
		return opt, err
	}
	if err := opt.fit(); err != nil {
		return opt, err
	}
	switch {
	case opt.Prompt.given:
	case opt.Compat.on():
		opt.Prompt = cutPrompt(referenceText)
	default:
		opt.Prompt = PromptFor(opt.Calls)
	}
	switch {
	case opt.Compat.on() && opt.Prompt.marked:
		return opt, errMark
	case opt.Calls == CallsPrompt && !opt.Compat.on() && !opt.Prompt.marked:
		return opt, errNoMark
	}
	if opt.MaxRounds < 0 || opt.Repeats < 0 || opt.Workers < 0 || opt.GiveUp < 0 {
		return opt, fmt.Errorf("rounds %d, repeats %d, workers %d, failures in a row %d: want no negative number",
			opt.MaxRounds, opt.Repeats, opt.Workers, opt.GiveUp)
	}
	// Written so that NaN, which is in no range, is refused too.
	switch s := opt.Sampling; {
	case !(s.Temperature >= 0 && s.Temperature <= math.MaxFloat64):
		return opt, fmt.Errorf("temperature %v: want 0 or a positive number", s.Temperature)
	case !(s.TopP >= 0 && s.TopP <= 1):
		return opt, fmt.Errorf("top p %v: want a number from 0, which leaves it to the server, to 1", s.TopP)
	case s.MaxTokens < 0 || s.NumCtx < 0:
		return opt, fmt.Errorf("max tokens %d, context length %d: want no negative number", s.MaxTokens, s.NumCtx)
	}
	if err := opt.Shard.check(); err != nil {
		return opt, err
	}
	if opt.Sync, err = ParseSyncPolicy(string(opt.Sync)); err != nil {
		return opt, err
	}
	opt.Repeats = max(opt.Repeats, 1)
	opt.Workers = max(opt.Workers, 1)
	if opt.Grace == 0 {
		opt.Grace = DefaultGrace
	}
	return opt, nil
}

// fit returns an error if options do not go together.
func (opt Options) fit() error {
	switch {
	case opt.Compat.on() && (opt.Flow != FlowGuided || opt.Calls != CallsPrompt || opt.History != HistoryOwn):
		return fmt.Errorf("--compat %s: want --flow guided, --calls prompt and --history own, have %s, %s and %s", opt.Compat, opt.Flow, opt.Calls, opt.History)
	case opt.Observe == ObserveMCP && opt.Observer == nil:
		return errors.New("--observe mcp: want something that makes the calls; give mcp:ENDPOINT")
	case opt.Observe != ObserveMCP && opt.Observer != nil:
		return fmt.Errorf("--observe %s: the calls would never be made; want mcp:ENDPOINT", opt.Observe)
	case !slices.Contains([]string{"", "auto", "required", "none"}, opt.ToolChoice):
		return fmt.Errorf("--tool-choice %q: want auto, required or none", opt.ToolChoice)
	case !slices.Contains([]string{"", "on", "off"}, opt.ParallelCalls):
		return fmt.Errorf("--parallel-tool-calls %q: want on or off", opt.ParallelCalls)
	case opt.Calls != CallsNative && (opt.ToolChoice != "" || opt.ParallelCalls != ""):
		return errors.New("--tool-choice and --parallel-tool-calls are about the server's own tool calling; give --calls native")
	}
	return nil
}

// A Progress is the state of a run after a result.
type Progress struct {
	Done    int // results so far, failures included
	Skipped int // pairs that needed no asking
	Failed  int // by the back end
	Total   int // pairs in all, 0 if unknown
	Classes map[model.Class]int
	// SP and FPA are the running means of these scores at the level of
	// conversations, under preset paper, over the Scored pairs asked in this
	// session that have a gold call.
	SP, FPA float64
	Scored  int
	// Replies are those of the pairs answered in this session, with those
	// among them that hold a call that does not parse, and Tokens are their
	// completion tokens, as far as reported.
	Replies   int
	Malformed int
	Tokens    int
	Elapsed   time.Duration // since the run began
}

// Rate returns results per second, 0 at the start.
func (p Progress) Rate() float64 {
	if p.Elapsed <= 0 {
		return 0
	}
	return float64(p.Done) / p.Elapsed.Seconds()
}

// Left returns the time that the rest takes at the rate so far, 0 if that is
// not known.
func (p Progress) Left() time.Duration {
	rest := p.Total - p.Done - p.Skipped
	if rate := p.Rate(); rest > 0 && rate > 0 {
		return time.Duration(float64(rest) / rate * float64(time.Second))
	}
	return 0
}
