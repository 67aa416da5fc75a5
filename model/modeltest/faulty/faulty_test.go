package faulty_test

import (
	"bytes"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"assay/eval"
	"assay/model"
	"assay/model/fleet"
	"assay/model/modeltest"
	"assay/model/modeltest/faulty"
	"assay/model/openai"
	"assay/model/transport"
	"assay/qaoa"
)

const records = 60

// The ways in which models write calls. All but the last is the call; in the
// last, it is a thought.
var spellings = []modeltest.Reply{
	{Text: "<tool_call>\n{\"name\":\"f\",\"arguments\":{\"n\":1}}\n</tool_call>"},
	{Text: "{\"name\":\"f\",\"arguments\":\"{\\\"n\\\":1}\"}"},
	{Calls: []qaoa.Call{{Name: "f", Arguments: `{"n":1}`}}},
	{Text: "Bad bytes \xff before.\n```json\n{\"name\":\"f\",\"arguments\":{\"n\":1}}\n```"},
	{Text: "<think>{\"name\":\"f\",\"arguments\":{\"n\":1}}</think>I think so."},
}

func answer(r modeltest.Request) modeltest.Reply {
	if strings.Contains(r.Last(), "<tool_response>") {
		return modeltest.Reply{Text: "Done."}
	}
	var n int
	if _, err := fmt.Sscanf(r.Last(), "Question %d", &n); err != nil {
		return modeltest.Reply{Status: 400, Text: "no question: " + r.Last()}
	}
	rep := spellings[n%len(spellings)]
	rep.Text = strings.ReplaceAll(rep.Text, ":1}", fmt.Sprintf(":%d}", n))
	return rep
}

func cases() iter.Seq2[qaoa.Record, error] {
	return func(yield func(qaoa.Record, error) bool) {
		for i := range records {
			call := qaoa.Call{Name: "f", Arguments: qaoa.JSON(fmt.Sprintf(`{"n":%d}`, i))}
			if !yield(qaoa.Record{
				ID: fmt.Sprint("r", i), Tools: []qaoa.Tool{{Name: "f", Description: "Does f.", Parameters: `{"type":"object","properties":{"n":{"type":"integer"}}}`}},
				Turns: []qaoa.Turn{{Query: fmt.Sprintf("Question %d", i), Steps: []qaoa.Step{{Calls: []qaoa.Call{call}, Observations: []string{"ok"}}}}},
			}, nil) {
				return
			}
		}
	}
}

// run asks all cases and returns the prediction lines and what the fleet saw.
func run(t *testing.T, s *faulty.Server, workers int, timeout time.Duration) ([]byte, fleet.HostStats) {
	t.Helper()
	url := modeltest.NewServer(t, s.Script).URL
	c, err := openai.New(openai.Config{BaseURL: url + "/v1", Model: modeltest.ModelName, HTTP: transport.Options{
		Timeout: timeout, Concurrency: workers,
	}})
	if err != nil {
		t.Fatal(err)
	}
	f, err := fleet.New([]fleet.Host{{Name: url, Chatter: c}}, fleet.Options{
		Concurrency: workers, Retries: 20, Backoff: time.Millisecond, MaxBackoff: 4 * time.Millisecond, Trip: 1000,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Close)
	var out []byte
	for res, err := range eval.Run(t.Context(), f, cases(), eval.Options{Workers: workers}) {
		if err != nil {
			t.Fatal(err)
		}
		if res.Fail != nil {
			t.Errorf("%s failed: %+v", res.ID, res.Fail)
			continue
		}
		out = append(eval.AppendResult(out, res), '\n')
	}
	return out, f.Stats()[0]
}

// Whatever the server does, at any concurrency: nothing is lost, nothing that
// was answered is asked again, and each failure has its class.
func TestNothingIsLostAndNothingIsAskedTwice(t *testing.T) {
	clean, _ := run(t, faulty.New(faulty.Plan{}, answer), 4, time.Minute)
	if n := bytes.Count(clean, []byte("\n")); n != records {
		t.Fatalf("%d of %d records answered by a good server", n, records)
	}
	// Slow answers and long ones take their time, so they get a plan of their own.
	quick := slices.DeleteFunc(slices.Sorted(maps.Keys(faulty.Kinds())), func(k faulty.Kind) bool { return k == faulty.Drip || k == faulty.Huge })
	plans := map[string]faulty.Plan{
		"all that is quick": {Seed: 1, Kinds: quick, PerMille: 400, Most: 6, Latency: 3 * time.Millisecond},
		"long":              {Seed: 2, Kinds: []faulty.Kind{faulty.Huge}, PerMille: 45, Most: 1},
		"slow":              {Seed: 3, Kinds: []faulty.Kind{faulty.Drip}, PerMille: 25, Most: 1, DripEvery: 20 * time.Millisecond},
	}
	for name, plan := range plans {
		for _, workers := range []int{1, 8, 64} {
			t.Run(fmt.Sprintf("%s at %d", name, workers), func(t *testing.T) {
				t.Parallel()
				s := faulty.New(plan, answer)
				timeout := time.Minute
				if plan.DripEvery > 0 {
					timeout = 3 * time.Second
				}
				got, stats := run(t, s, workers, timeout)
				if !bytes.Equal(got, clean) {
					t.Error("the predictions differ from those of a good server")
				}
				requests, again := s.Answered()
				if again != 0 {
					t.Errorf("%d requests were answered and asked again", again)
				}
				want := map[model.Class]int{}
				faults := 0
				for kind, n := range s.Faults() {
					want[faulty.Kinds()[kind]] += n
					faults += n
				}
				if len(s.Faults()) != len(plan.Kinds) {
					t.Errorf("only these faults came up: %v", s.Faults())
				}
				if !maps.Equal(stats.Failed, want) {
					t.Errorf("failures by class %v, want %v", stats.Failed, want)
				}
				if stats.Requests != requests+faults {
					t.Errorf("%d requests counted, want %d answers and %d faults", stats.Requests, requests, faults)
				}
			})
		}
	}
}
