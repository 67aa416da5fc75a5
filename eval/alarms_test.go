package eval_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"assay/eval"
	"assay/model"
	"assay/qaoa"
)

// alarmsOf runs n records whose queries grow, and returns the alarms.
func alarmsOf(t *testing.T, n int, opt eval.Options, reply func(i int, req model.Request) model.Reply) string {
	t.Helper()
	var recs []qaoa.Record
	for i := range n {
		rec := record(fmt.Sprint(i), "s", "f:1")
		rec.Turns[0].Query = strings.Repeat("long ", 100*i) + "query"
		recs = append(recs, rec)
	}
	m := chatter(func(_ context.Context, req model.Request) (model.Reply, error) {
		var i int
		_, err := fmt.Sscan(req.Case.Record.ID, &i)
		return reply(i, req), err
	})
	opt.MaxRounds = 1
	sum, err := runFolder(t, t.TempDir(), m, opt, recs...)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(sum.Alarms, "; ")
}

func TestAlarmsOfTruncation(t *testing.T) {
	answer := func(i, tokens int) model.Reply {
		return model.Reply{Text: fmt.Sprint("answer ", i), Finish: "stop", Usage: model.Usage{Prompt: tokens, Completion: 1}}
	}
	bytes := func(req model.Request) (n int) {
		for _, m := range req.Messages {
			n += len(m.Content)
		}
		return n
	}
	tests := []struct {
		name  string
		reply func(i int, req model.Request) model.Reply
		want  string // "" is no alarm
	}{
		{"a token for four bytes", func(i int, req model.Request) model.Reply { return answer(i, bytes(req)/4) }, ""},
		{"the long ones cut to one length", func(i int, req model.Request) model.Reply { return answer(i, min(bytes(req)/4, 1000)) }, "all had 1000 tokens, and none had more"},
		{"all cut to one length", func(i int, _ model.Request) model.Reply { return answer(i, 300) }, "every prompt had 300 tokens"},
		{"a part of each", func(i int, req model.Request) model.Reply { return answer(i, bytes(req)/40+i) }, "count fewer tokens than one for 20 bytes"},
		{"not reported", func(i int, _ model.Request) model.Reply { return answer(i, -1) }, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := alarmsOf(t, 16, eval.Options{}, tt.reply)
			if (tt.want == "") != (got == "") || !strings.Contains(got, tt.want) {
				t.Errorf("alarms %q; want %q", got, tt.want)
			}
		})
	}
}

func TestAlarmOfRepeats(t *testing.T) {
	const mark = "all repeats of each of 6 records are the same"
	by := func(draw func(i, repeat int) string) string {
		return alarmsOf(t, 6, eval.Options{Repeats: 3}, func(i int, req model.Request) model.Reply {
			return model.Reply{Text: draw(i, req.Case.Repeat), Usage: model.Usage{Prompt: -1, Completion: -1}}
		})
	}
	if got := by(func(i, _ int) string { return fmt.Sprint("answer ", i) }); !strings.Contains(got, mark) {
		t.Errorf("alarms %q; want %q", got, mark)
	}
	if got := by(func(i, repeat int) string { return fmt.Sprint("answer ", i, repeat*(i/5)) }); strings.Contains(got, "repeats") {
		t.Errorf("one record that differs is enough, have alarms %q", got)
	}
	if got := alarmsOf(t, 6, eval.Options{}, func(i int, _ model.Request) model.Reply { return model.Reply{Text: fmt.Sprint(i)} }); strings.Contains(got, "repeats") {
		t.Errorf("without repeats: alarms %q", got)
	}
}

func TestAlarmOfTools(t *testing.T) {
	for _, tt := range []struct {
		fail bool
		want string
	}{{true, "6 of 6 calls that were made for real failed"}, {false, ""}} {
		real := tools(func(context.Context, qaoa.Call) (qaoa.JSON, error) {
			if tt.fail {
				return "", errors.New("down")
			}
			return "1", nil
		})
		got := alarmsOf(t, 6, eval.Options{Observe: eval.ObserveMCP, Observer: real}, func(i int, _ model.Request) model.Reply {
			return model.Reply{Text: fmt.Sprint(i, block("f:1")), Usage: model.Usage{Prompt: -1, Completion: -1}}
		})
		if (tt.want == "") != (got == "") || !strings.Contains(got, tt.want) {
			t.Errorf("fail %v: alarms %q; want %q", tt.fail, got, tt.want)
		}
	}
}
