package native

import (
	"testing"

	"assay/convert"
	"assay/convert/converttest"
	"assay/qaoa"

	"github.com/google/go-cmp/cmp"
)

func TestSource(t *testing.T) { converttest.Run(t, Source, "testdata/qaoa") }

// one converts one element.
func one(t *testing.T, opt convert.Options, text string) ([]qaoa.Record, []*convert.Reject) {
	t.Helper()
	f, err := Source.Open(t.Context(), convert.Input{Options: opt})
	if err != nil {
		t.Fatal(err)
	}
	return f(convert.Element{Data: []byte(text)})
}

const record = `{"schema":"qaoa/1","id":"acme/7","source":{"name":"acme","file":"a.json","index":7,"split":"test"},` +
	`"tools":[{"name":"add","description":"Adds","parameters":{"type":"int","x":1.0}}],` +
	`"turns":[{"query":"2 + 3? 東","steps":[{"calls":[{"name":"add","arguments":{"a":2.0}}],"observations":["5"]}],"answer":"5"}],"system":"s","meta":{"k":1e2}}`

// TestSecondRun: what was read once is the same when it is read again, in
// either form.
func TestSecondRun(t *testing.T) {
	first, rejs := one(t, convert.Options{}, record)
	if len(first) != 1 {
		t.Fatalf("no record, but %v", rejs)
	}
	rec := first[0]
	rec.ID = "qaoa/" + rec.ID // as a run does
	rec.Source = qaoa.Source{Name: "qaoa", File: "b.jsonl", Split: "train"}
	for name, text := range map[string][]byte{"native": qaoa.AppendRecord(nil, rec), "interchange": qaoa.AppendInterchange(nil, rec)} {
		second, rejs := one(t, convert.Options{}, string(text))
		if len(second) != 1 {
			t.Fatalf("%s: no record, but %v", name, rejs)
		}
		want := first[0]
		want.Source = rec.Source // a run sets another one
		if diff := cmp.Diff(want, second[0]); diff != "" {
			t.Errorf("%s (-first +second):\n%s", name, diff)
		}
	}
}

func TestOptions(t *testing.T) {
	if _, rejs := one(t, convert.Options{Language: "cjk"}, record); len(rejs) != 1 || rejs[0].Code != convert.NonEnglish || rejs[0].ID != "acme/7" {
		t.Errorf("with the rule cjk: %v", rejs)
	}
	if _, err := Source.Open(t.Context(), convert.Input{Options: convert.Options{Language: "l9"}}); err == nil {
		t.Error("an unknown language rule opens")
	}
}
