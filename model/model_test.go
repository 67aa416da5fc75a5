package model_test

import (
	"testing"

	"assay/model"
	"assay/qaoa"
)

func TestRound(t *testing.T) {
	notation := map[rune]model.Message{
		's': {Role: model.System}, 'q': {Role: model.User, Content: "hi"}, 'a': {Role: model.Assistant},
		'o': {Role: model.User, Content: "\n<tool_response>\n</tool_response>"}, 't': {Role: model.ToolRole},
	}
	tests := []struct {
		name, messages string
		want           int
	}{
		{"nothing yet", "", 0},
		{"the query", "sq", 0},
		{"after one step, as text", "sqao", 1},
		{"after two steps, native", "sqattat", 2},
		{"the next turn begins at 0", "sqaoaq", 0},
		{"its second request", "sqaoaqao", 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var req model.Request
			for _, c := range tt.messages {
				req.Messages = append(req.Messages, notation[c])
			}
			if got := req.Round(); got != tt.want {
				t.Errorf("Round of %q = %d, want %d", tt.messages, got, tt.want)
			}
		})
	}
}

func TestNativeCall(t *testing.T) {
	twice := string(qaoa.Quote(`{"a":1.0}`))
	tests := []struct {
		name, tool string
		args       qaoa.JSON
		want       qaoa.Call
	}{
		{"object", "f", `{"a":1.0,"b":9007199254740993}`, qaoa.Call{Name: "f", Arguments: `{"a":1.0,"b":9007199254740993}`}},
		{"string", "f", qaoa.Quote(`{ "a": 1.0 }`), qaoa.Call{Name: "f", Arguments: `{"a":1.0}`}},
		{"string in a string", "f", qaoa.Quote(twice), qaoa.Call{Name: "f", Arguments: `{"a":1.0}`}},
		{"no arguments", "f", "", qaoa.Call{Name: "f"}},
		{"empty string", "f", `""`, qaoa.Call{Name: "f"}},
		{"null", "f", `null`, qaoa.Call{Name: "f"}},
		{"not JSON", "f", `"{'a'"`, qaoa.Call{Raw: `{"name":"f","arguments":"{'a'"}`}},
		{"no name", "", `{}`, qaoa.Call{Raw: `{"name":"","arguments":{}}`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			v, err := tt.args.Value()
			if err != nil {
				t.Fatal(err)
			}
			if got := model.NativeCall(tt.tool, v); got != tt.want {
				t.Errorf("NativeCall(%q, %s) = %+v, want %+v", tt.tool, tt.args, got, tt.want)
			}
		})
	}
}

func TestRetryable(t *testing.T) {
	for class, want := range map[model.Class]bool{
		model.ClassTimeout: true, model.ClassRateLimit: true, model.ClassServer: true, model.ClassConnection: true, model.ClassBadReply: true,
		model.ClassRequest: false, model.ClassTruncated: false, model.ClassUnavailable: false, "": false,
	} {
		if got := class.Retryable(); got != want {
			t.Errorf("%q.Retryable() = %t, want %t", class, got, want)
		}
	}
}
