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
