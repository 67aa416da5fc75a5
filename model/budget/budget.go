package budget

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"assay/model"
)

// Limits are what may be used; 0 is no limit.
type Limits struct {
	// Requests are those sent to servers, again after failures included. The
	// limit is not exceeded, but for a client that finds out what a server
	// refuses by asking again in another way.
	Requests int
	// Tokens are those of prompts and answers as the servers report them, or a
	// third of the bytes where they do not. No conversation is started once
	// they are used up. Those under way are finished, since what they have used
	// would be lost, and exceed the limit.
	Tokens int
}

// A Budget counts. It is safe for concurrent use.
type Budget struct {
	limits Limits

	mu       sync.Mutex
	spent    Spent
	reserved int // the most that conversations under way can take
	admitted int // conversations in all
	changed  chan struct{}
}

// Spent is what has been used so far.
type Spent struct {
	Requests  int
	Tokens    int
	Estimated int // requests whose tokens are an estimate
}

// New returns a budget of which nothing is spent, or an error if a limit is
// negative.
func New(l Limits) (*Budget, error) {
	if l.Requests < 0 || l.Tokens < 0 {
		return nil, fmt.Errorf("budget of %d requests and %d tokens: want no negative number; 0 is no limit", l.Requests, l.Tokens)
	}
	return &Budget{limits: l, changed: make(chan struct{}, 1)}, nil
}

// Spent returns what has been used so far.
func (b *Budget) Spent() Spent {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.spent
}

// Admit waits until a conversation that takes most requests at most can be
// asked to its end, and returns what ends it. Near its end the budget thus
// serves few conversations at a time, and none is begun in vain; a few
// requests may be left over. Only the first of all may begin with less than it
// may need, or a small budget would do nothing. One goroutine may call Admit
// at a time. The error that there is not enough left is a [*model.Error] of
// class Stopped.
func (b *Budget) Admit(ctx context.Context, most int) (release func(), err error) {
	for {
		b.mu.Lock()
		left := b.limits.Requests - b.spent.Requests
		fits := b.limits.Requests == 0 || most <= left-b.reserved
		switch {
		case b.usedUp() != nil:
			err = b.usedUp()
		case fits || b.admitted == 0:
			b.admitted++
			b.reserved += most
			b.mu.Unlock()
			return func() { b.release(most) }, nil
		case b.reserved == 0:
			err = stopped("%d of --max-requests %d are left, and the next conversation may take %d", left, b.limits.Requests, most)
		}
		b.mu.Unlock()
		if err != nil {
			return nil, err
		}
		select {
		case <-b.changed:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func (b *Budget) release(most int) {
	b.mu.Lock()
	b.reserved -= most
	b.mu.Unlock()
	select {
	case b.changed <- struct{}{}:
	default:
	}
}

// usedUp returns the error of a budget that has nothing left, or nil.
func (b *Budget) usedUp() error {
	switch l := b.limits; {
	case l.Requests > 0 && b.spent.Requests >= l.Requests:
		return stopped("--max-requests %d are used up", l.Requests)
	case l.Tokens > 0 && b.spent.Tokens >= l.Tokens:
		return stopped("--max-tokens-total %d are used up (%d spent)", l.Tokens, b.spent.Tokens)
	}
	return nil
}

func stopped(format string, args ...any) error {
	return &model.Error{Class: model.ClassStopped, Msg: fmt.Sprintf(format, args...)}
}

// Chatter returns m with its requests counted. One that would exceed the
// budget is not sent: the error is a [*model.Error] of class Stopped. m should
// send each request once.
func (b *Budget) Chatter(m model.Chatter) model.Chatter { return chatter{m, b} }

type chatter struct {
	m model.Chatter
	b *Budget
}

// Unwrap returns the model below, for [model.As].
func (c chatter) Unwrap() model.Chatter { return c.m }

// Chat implements [model.Chatter].
func (c chatter) Chat(ctx context.Context, req model.Request) (model.Reply, error) {
	b := c.b
	b.mu.Lock()
	if l := b.limits.Requests; l > 0 && b.spent.Requests >= l {
		b.mu.Unlock()
		return model.Reply{}, stopped("--max-requests %d are used up", l)
	}
	b.spent.Requests++
	b.mu.Unlock()
	reply, err := c.m.Chat(ctx, req)
	b.mu.Lock()
	defer b.mu.Unlock()
	if fail, ok := errors.AsType[*model.Error](err); ok {
		b.spent.Requests += fail.Attempts - 1 // a client may ask in several ways
	}
	if err != nil {
		return reply, err
	}
	b.spent.Requests += max(reply.Attempts, 1) - 1
	b.spend(req, reply)
	return reply, nil
}

// bytesPerToken is the estimate where a server reports no tokens.
const bytesPerToken = 3

// spend counts the tokens of a reply.
func (b *Budget) spend(req model.Request, reply model.Reply) {
	prompt, answer := reply.Usage.Prompt, reply.Usage.Completion
	if prompt < 0 || answer < 0 {
		b.spent.Estimated++
	}
	if prompt < 0 {
		n := 0
		for _, m := range req.Messages {
			n += len(m.Content)
		}
		for _, t := range req.Tools {
			n += len(t.Name) + len(t.Description) + len(t.Parameters)
		}
		prompt = n / bytesPerToken
	}
	if answer < 0 {
		answer = (len(reply.Text) + len(reply.Reasoning)) / bytesPerToken
	}
	b.spent.Tokens += prompt + answer
}
