package converttest_test

import (
	"context"
	"testing"

	"assay/convert"
	"assay/convert/converttest"
	"assay/qaoa"

	json "github.com/goccy/go-json"
)

// acme is a sound source, invented for this test.
var acme = convert.Source{
	Name: "acme", Kind: convert.Test, Home: "https://example.com", Licence: "MIT", About: "invented",
	Files: []convert.File{{Glob: "acme.jsonl", Role: convert.Records, Note: "questions"}},
	Open: func(_ context.Context, in convert.Input) (convert.Func, error) {
		return func(el convert.Element) ([]qaoa.Record, []*convert.Reject) {
			var q struct {
				Q string          `json:"q"`
				A json.RawMessage `json:"a"`
			}
			if err := json.Unmarshal(el.Data, &q); err != nil {
				return nil, []*convert.Reject{convert.Rejectf(convert.ParseError, "", "want an object with q and a: %v", err)}
			}
			if q.Q == "" {
				return nil, []*convert.Reject{convert.Rejectf(convert.NoQuery, "/q", "want a question, have none")}
			}
			args, err := qaoa.Compact(q.A)
			if err != nil || in.Options.Profile == convert.Strict && args.Kind() != qaoa.Object {
				return nil, []*convert.Reject{convert.Rejectf(convert.ArgumentsNotObject, "/a", "want an object, have %.40q", q.A)}
			}
			call := qaoa.Call{Name: "f", Arguments: args}
			return []qaoa.Record{{Turns: []qaoa.Turn{{Query: q.Q, Steps: []qaoa.Step{{Calls: []qaoa.Call{call}}}}}}}, nil
		}, nil
	},
}

func TestRun(t *testing.T) {
	converttest.Run(t, acme, "testdata/acme")
}

func FuzzAcme(f *testing.F) {
	converttest.Fuzz(f, acme, "testdata/acme", `{"q":"x"}`, `[]`)
}
