package budget_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"assay/model"
	"assay/model/budget"
)

type talker struct {
	reply model.Reply
	err   error
	n     int
}

func (c *talker) Chat(context.Context, model.Request) (model.Reply, error) {
	c.n++
	return c.reply, c.err
}

func isStop(err error) bool {
	fail, ok := errors.AsType[*model.Error](err)
	return ok && fail.Class == model.ClassStopped && fail.Attempts == 0
}

func TestRequestsAreNeverExceeded(t *testing.T) {
	for name, m := range map[string]*talker{
		"answers":  {reply: model.Reply{Attempts: 1}},
		"failures": {err: &model.Error{Class: model.ClassServer, Attempts: 1}},
	} {
		b, err := budget.New(budget.Limits{Requests: 5})
		if err != nil {
			t.Fatal(err)
		}
		c := b.Chatter(m)
		for i := range 8 {
			_, err := c.Chat(t.Context(), model.Request{})
			if isStop(err) != (i >= 5) {
				t.Errorf("%s: request %d: %v", name, i, err)
			}
		}
		if m.n != 5 || b.Spent().Requests != 5 {
			t.Errorf("%s: %d requests sent, %+v; want 5", name, m.n, b.Spent())
		}
	}
}

func TestTokens(t *testing.T) {
	usage := func(p, c int) model.Reply {
		return model.Reply{Text: strings.Repeat("x", 30), Attempts: 1, Usage: model.Usage{Prompt: p, Completion: c}}
	}
	req := model.Request{Messages: []model.Message{{Content: strings.Repeat("y", 60)}}}
	tests := []struct {
		name      string
		reply     model.Reply
		want      int
		estimated int
	}{
		{"as reported", usage(7, 5), 12, 0},
		{"no counts: a third of the bytes", usage(-1, -1), 30, 1},
		{"no count of the answer", usage(7, -1), 17, 1},
		{"zero is a count", usage(0, 0), 0, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b, err := budget.New(budget.Limits{Tokens: 1})
			if err != nil {
				t.Fatal(err)
			}
			c := b.Chatter(&talker{reply: tt.reply})
			if _, err := c.Chat(t.Context(), req); err != nil {
				t.Fatal(err)
			}
			if s := b.Spent(); s.Tokens != tt.want || s.Estimated != tt.estimated {
				t.Errorf("spent %+v; want %d tokens, %d estimated", s, tt.want, tt.estimated)
			}
			_, admitErr := b.Admit(t.Context(), 1)
			if _, err = c.Chat(t.Context(), req); err != nil || isStop(admitErr) != (tt.want > 0) {
				t.Errorf("after %d of 1 token: a new conversation %v, a request of one under way %v; want it to be finished", tt.want, admitErr, err)
			}
		})
	}
}

// Conversations that need 3 of at most 10 requests share 25: all that begin
// can end, and no more than one need is left over.
func TestNoConversationBeginsInVain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, err := budget.New(budget.Limits{Requests: 25})
		if err != nil {
			t.Fatal(err)
		}
		c := b.Chatter(&talker{reply: model.Reply{Attempts: 1}})
		var wg sync.WaitGroup
		var ended atomic.Int64
		var stop error
		for {
			release, err := b.Admit(t.Context(), 10)
			if err != nil {
				stop = err
				break
			}
			wg.Go(func() {
				defer release()
				for range 3 {
					time.Sleep(time.Second)
					if _, err := c.Chat(t.Context(), model.Request{}); err != nil {
						t.Errorf("a conversation that had begun was cut off: %v", err)
					}
				}
				ended.Add(1)
			})
			synctest.Wait()
		}
		wg.Wait()
		if !isStop(stop) || ended.Load() != 6 || b.Spent().Requests != 18 {
			t.Errorf("%d conversations ended, %+v, %v; want 6 with 18 requests, as 7 left may not be enough", ended.Load(), b.Spent(), stop)
		}
	})
}

func TestSmallBudgetDoesSomething(t *testing.T) {
	b, err := budget.New(budget.Limits{Requests: 2})
	if err != nil {
		t.Fatal(err)
	}
	release, err := b.Admit(t.Context(), 10)
	if err != nil {
		t.Fatalf("the first conversation: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := b.Admit(ctx, 10); !errors.Is(err, context.Canceled) {
		t.Errorf("the second one, while the first is under way: %v; want to wait", err)
	}
	release()
	if _, err := b.Admit(t.Context(), 10); !isStop(err) {
		t.Errorf("the second one: %v; want a stop", err)
	}
	if _, err := budget.New(budget.Limits{Tokens: -1}); err == nil {
		t.Error("a negative limit was taken")
	}
}
