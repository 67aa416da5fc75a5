//go:build e2e

package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/goccy/go-json"
)

// These tests ask the server itself. They hold what the clients of assay rely
// on, so that a failure above can be told from a change below.

const scriptedText = "<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Paris\"}}\n</tool_call>"

const toolsField = `,"tools":[{"type":"function","function":` + weatherTool + `}]`

// chatReply is the reply of /api/chat.
type chatReply struct {
	Message struct {
		Content   string `json:"content"`
		ToolCalls []struct {
			Function struct {
				Name      string         `json:"name"`
				Arguments map[string]any `json:"arguments"`
			} `json:"function"`
		} `json:"tool_calls"`
	} `json:"message"`
	DoneReason      string `json:"done_reason"`
	PromptEvalCount int    `json:"prompt_eval_count"`
	EvalCount       int    `json:"eval_count"`
}

// chat asks /api/chat with the messages and more members of the body.
func chat(t *testing.T, model, messages, more string) chatReply {
	t.Helper()
	status, body := post(t, server(t)+"/api/chat", fmt.Sprintf(`{"model":%q,"stream":false,"messages":[%s]%s}`, model, messages, more))
	if status != 200 {
		t.Fatalf("status %d: %s", status, body)
	}
	var r chatReply
	if err := json.Unmarshal(body, &r); err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	return r
}

func user(text string) string { return fmt.Sprintf(`{"role":"user","content":%q}`, text) }

const greedy = `,"options":{"temperature":0}`

func TestServerSaysTheScript(t *testing.T) {
	called := user("hi") + `,{"role":"assistant","content":"x"},` + user("<tool_response>\nsunny\n</tool_response>")
	tests := []struct{ name, model, messages, more, want, reason string }{
		{"a question is answered by a call", "tiny", user("What is the weather in Paris?"), greedy, scriptedText, "stop"},
		{"a result is answered by a text", "tiny", called, greedy, "<answer>It is sunny in Paris.</answer>", "stop"},
		{"a tool message is answered by a text", "tiny", user("hi") + `,{"role":"assistant","content":"x"},{"role":"tool","content":"sunny"}`, greedy, "<answer>It is sunny in Paris.</answer>", "stop"},
		{"a question after a result is answered by a call", "tiny", called + `,{"role":"assistant","content":"y"},` + user("and now?"), greedy, scriptedText, "stop"},
		{"the first side of the dice is the likeliest", "tiny-dice", user("hi"), greedy, scriptedText, "stop"},
		{"a call may be broken", "tiny-broken", user("hi"), greedy, "<tool_call>\n{\"name\": get_weather, and so on</tool_call>", "stop"},
		{"an endless answer is cut", "tiny-endless", user("hi"), `,"options":{"temperature":0,"num_predict":5}`, strings.TrimRight(strings.Repeat("la la ", 5), " "), "length"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := chat(t, tt.model, tt.messages, tt.more)
			if strings.TrimRight(got.Message.Content, " ") != tt.want || got.DoneReason != tt.reason {
				t.Errorf("the server says %q (%s), want %q (%s)", got.Message.Content, got.DoneReason, tt.want, tt.reason)
			}
		})
	}
}

func TestServerReadsCallsWhenGivenTools(t *testing.T) {
	got := chat(t, "tiny", user("What is the weather in Paris?"), greedy+toolsField)
	if len(got.Message.ToolCalls) != 1 || got.Message.Content != "" {
		t.Fatalf("reply %+v, want one call and no text", got)
	}
	if f := got.Message.ToolCalls[0].Function; f.Name != "get_weather" || f.Arguments["city"] != "Paris" {
		t.Errorf("call %+v", f)
	}
}

func TestServerSpeaksTheOtherProtocol(t *testing.T) {
	for _, tools := range []bool{false, true} {
		body := `{"model":"tiny","temperature":0,"messages":[` + user("What is the weather in Paris?") + `]`
		if tools {
			body += toolsField
		}
		status, data := post(t, server(t)+"/v1/chat/completions", body+"}")
		var got struct {
			Choices []struct {
				Finish  string `json:"finish_reason"`
				Message struct {
					Content string `json:"content"`
					Calls   []struct {
						Function struct{ Name, Arguments string } `json:"function"`
					} `json:"tool_calls"`
				} `json:"message"`
			} `json:"choices"`
			Usage struct {
				Prompt int `json:"prompt_tokens"`
			} `json:"usage"`
		}
		if err := json.Unmarshal(data, &got); err != nil || status != 200 || len(got.Choices) != 1 || got.Usage.Prompt == 0 {
			t.Fatalf("tools %v: status %d, %v: %s", tools, status, err, data)
		}
		c := got.Choices[0]
		if !tools && (c.Message.Content != scriptedText || c.Finish != "stop") {
			t.Errorf("text %q (%s), want %q", c.Message.Content, c.Finish, scriptedText)
		}
		if tools && (len(c.Message.Calls) != 1 || c.Message.Calls[0].Function.Name != "get_weather" ||
			c.Message.Calls[0].Function.Arguments != `{"city":"Paris"}` || c.Finish != "tool_calls") {
			t.Errorf("calls %+v (%s), want get_weather", c.Message.Calls, c.Finish)
		}
	}
}

// words is a text of n tokens or somewhat more.
func words(n int) string { return strings.Repeat("the city ", n) }

func TestServerTruncatesInSilenceUnlessTold(t *testing.T) {
	// Left alone, the server drops what does not fit and answers with 200.
	got := chat(t, "tiny", user(words(2000)), `,"options":{"temperature":0,"num_ctx":1024}`)
	if got.PromptEvalCount > 1024 {
		t.Errorf("%d tokens read in a context of 1024", got.PromptEvalCount)
	}
	status, body := post(t, server(t)+"/api/chat", `{"model":"tiny","stream":false,"truncate":false,"options":{"num_ctx":1024},"messages":[`+user(words(2000))+`]}`)
	if status != 400 {
		t.Errorf("status %d with truncate false, want 400: %s", status, body)
	}
	got = chat(t, "tiny", user(words(2000)), `,"truncate":false,"options":{"temperature":0,"num_ctx":8192}`)
	if got.PromptEvalCount < 4000 || got.Message.Content != scriptedText {
		t.Errorf("%d tokens read in a context of 8192, want 4000 or more, and the script: %q", got.PromptEvalCount, got.Message.Content)
	}
}

func TestServerDrawsBySeed(t *testing.T) {
	draw := func(seed int) string {
		return chat(t, "tiny-dice", user("hi"), fmt.Sprintf(`,"options":{"temperature":1,"seed":%d}`, seed)).Message.Content
	}
	seen := map[string]bool{}
	for seed := range 16 {
		text := draw(seed + 1)
		if again := draw(seed + 1); again != text {
			t.Errorf("seed %d: %q, then %q", seed+1, text, again)
		}
		seen[text] = true
	}
	if len(seen) < 2 {
		t.Errorf("16 seeds gave one text: %v", seen)
	}
}

func TestServerKnowsNoSuchModel(t *testing.T) {
	status, body := post(t, server(t)+"/api/chat", `{"model":"nobody","messages":[`+user("hi")+`]}`)
	if status != 404 || !strings.Contains(string(body), "nobody") {
		t.Errorf("status %d: %s", status, body)
	}
}
