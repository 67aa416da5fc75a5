package train

import (
	"strings"
	"testing"

	"assay/chat"
	"assay/qaoa"
)

// What a template is given is the row that Shard writes: with its choices, and
// without what it leaves out.
func TestConversation(t *testing.T) {
	weather := qaoa.Call{Name: "weather", Arguments: `{"city":"Oslo"}`}
	rec := qaoa.Record{ID: "a", System: "own", Tools: []qaoa.Tool{{Name: "weather", Category: "travel"}}, Turns: []qaoa.Turn{{
		Query: "Both?", Answer: "Sunny.",
		Steps: []qaoa.Step{{Calls: []qaoa.Call{weather, weather}, Observations: []string{"sun", "rain"}}},
	}}}
	for _, tt := range []struct {
		name string
		opt  ShardOptions
		want string // role:content(calls), joined by " | "
	}{
		{"defaults", ShardOptions{}, "user:Both? | assistant:(2) | tool: | tool: | assistant:<answer></answer>"},
		{"full", ShardOptions{Projection: Full}, "user:Both? | assistant:(2) | tool:sun | tool:rain | assistant:<answer>Sunny.</answer>"},
		{"each call, a system text", ShardOptions{Projection: Full, Grouping: EachCall, SystemPrompt: "s"}, "system:s | user:Both? | assistant:(1) | tool:sun | assistant:(1) | tool:rain | assistant:<answer>Sunny.</answer>"},
		{"the record's system text, no tags", ShardOptions{KeepSystem: true, SystemPrompt: "s", PlainAnswers: true, FinalAnswer: KeepAnswer, Format: OpenAI}, "system:own | user:Both? | assistant:(2) | tool: | tool: | assistant:Sunny."},
		{"no last answer", ShardOptions{FinalAnswer: DropAnswer}, "user:Both? | assistant:(2)"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			// The manifest keeps what decides the text.
			opt, err := tt.opt, error(nil)
			for range 2 {
				var c chat.Conversation
				var rej *Reject
				if c, rej, err = Conversation(rec, opt); err != nil || rej != nil {
					t.Fatal(rej, err)
				}
				var parts []string
				for _, m := range c.Messages {
					s := string(m.Role) + ":" + m.Content
					if len(m.Calls) > 0 {
						s += "(" + string(rune('0'+len(m.Calls))) + ")"
					}
					parts = append(parts, s)
				}
				if got := strings.Join(parts, " | "); got != tt.want {
					t.Errorf("got  %s\nwant %s", got, tt.want)
				}
				if len(c.Tools) != 1 || c.Tools[0].Category != "" || c.Tools[0].Parameters == "" {
					t.Errorf("tools %+v; want the one of the row", c.Tools)
				}
				whole := tt.opt
				whole.Out = "x"
				if whole, err = whole.complete(); err != nil {
					t.Fatal(err)
				}
				opt = Choices{
					Format: whole.Format, Projection: whole.Projection, FinalAnswer: whole.FinalAnswer, Grouping: whole.Grouping, Container: whole.Container,
					PlainAnswers: whole.PlainAnswers, SystemPrompt: whole.SystemPrompt, KeepSystem: whole.KeepSystem,
				}.Options()
			}
		})
	}
	if _, rej, err := Conversation(qaoa.Record{ID: "b"}, ShardOptions{}); err != nil || rej == nil || rej.Code != NoQuery {
		t.Errorf("a record without a turn: %v, %v", rej, err)
	}
	if _, _, err := Conversation(rec, ShardOptions{Format: Hermes}); err == nil {
		t.Error("rows that are text meet no template")
	}
	if _, _, err := Conversation(rec, ShardOptions{Projection: "half"}); err == nil {
		t.Error("an unknown projection was taken")
	}
}
