package openaichat

import (
	"strings"
	"testing"

	"assay/convert"
	"assay/convert/converttest"
	"assay/qaoa"
)

func TestSource(t *testing.T) { converttest.Run(t, Source, "testdata/openai") }

func TestOptions(t *testing.T) {
	const text = `{"messages":[{"role":"user","content":"東京"},{"role":"assistant","tool_calls":[{"function":{"name":"f","arguments":"{}"}}]}]}`
	one := func(opt convert.Options) ([]qaoa.Record, []*convert.Reject) {
		f, err := Source.Open(t.Context(), convert.Input{Options: opt})
		if err != nil {
			t.Fatal(err)
		}
		return f(convert.Element{Data: []byte(text)})
	}
	if recs, rejs := one(convert.Options{}); len(recs) != 1 {
		t.Errorf("without a rule: %v", rejs)
	}
	if _, rejs := one(convert.Options{Language: "cjk"}); len(rejs) != 1 || rejs[0].Code != convert.NonEnglish {
		t.Errorf("with the rule cjk: %v", rejs)
	}
	if _, err := Source.Open(t.Context(), convert.Input{Options: convert.Options{Language: "l9"}}); err == nil {
		t.Error("an unknown language rule opens")
	}
}

// TestPlainIsTheSame: a message that is read without a tree adds what the
// shared code adds.
func TestPlainIsTheSame(t *testing.T) {
	messages := []string{
		`{"role":"system","content":"Be brief."}`,
		`{"role":"developer","content":"Be\nbrief."}`,
		`{"role":"user","content":"2 + 3?","name":"ann"}`,
		`{"role":"assistant","content":"<think>x</think> Let me see.","tool_calls":null,"refusal":null}`,
		`{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"add","arguments":"{\"a\": 2}"}},{"id":"c2","index":1,"function":{"name":"add","arguments":{"a": 3.0}}}]}`,
		`{"role":"tool","tool_call_id":"c2","content":"7"}`,
		`{"role":"function","name":"add","content":"6"}`,
		`{"role":"assistant","content":"5","weight":1}`,
	}
	finish := func(add func(chat *convert.Chat, item, path string) *convert.Reject) string {
		var chat convert.Chat
		chat.User("before")
		for i, m := range messages {
			if rej := add(&chat, m, "/messages"); rej != nil {
				t.Fatalf("message %d: %v", i, rej)
			}
		}
		rec := qaoa.Record{ID: "x"}
		if rej := chat.Finish(&rec, "/messages"); rej != nil {
			t.Fatal(rej)
		}
		return string(qaoa.AppendRecord(nil, rec))
	}
	plain := finish(func(chat *convert.Chat, item, path string) *convert.Reject {
		done, rej := addPlain(chat, item, path)
		if !done {
			t.Errorf("%s is not read without a tree", item)
		}
		return rej
	})
	tree := finish(func(chat *convert.Chat, item, path string) *convert.Reject {
		v, err := qaoa.ParseValue(item)
		if err != nil {
			t.Fatal(err)
		}
		return chat.Add(v, path)
	})
	if plain != tree {
		t.Errorf("\nplain %s\ntree  %s", plain, tree)
	}
}

func BenchmarkConvert(b *testing.B) {
	element := []byte(`{"messages":[{"role":"system","content":"You add."},{"role":"user","content":"What is 2 + 3?"},` +
		strings.Repeat(`{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"add","arguments":"{\"a\":2,\"b\":3}"}}]},{"role":"tool","tool_call_id":"c1","content":"5"},`, 3) +
		`{"role":"assistant","content":"It is 5."}],"tools":[{"type":"function","function":{"name":"add","description":"Adds","parameters":{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"integer"}},"required":["a"]}}}]}`)
	f, err := Source.Open(b.Context(), convert.Input{})
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(element)))
	b.ReportAllocs()
	for b.Loop() {
		if recs, rejs := f(convert.Element{Data: element}); len(recs) != 1 {
			b.Fatal(rejs)
		}
	}
}
