package sharegpt

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"assay/convert"
	"assay/convert/converttest"
	"assay/filter"
	"assay/qaoa"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

func TestSource(t *testing.T) { converttest.Run(t, Source, "testdata/sharegpt") }

// one converts one element.
func one(t testing.TB, opt convert.Options, text string) ([]qaoa.Record, []*convert.Reject) {
	f, err := Source.Open(t.Context(), convert.Input{Options: opt})
	if err != nil {
		t.Fatal(err)
	}
	return f(convert.Element{Data: []byte(text)})
}

func TestOptions(t *testing.T) {
	const text = `{"conversations":[{"from":"human","value":"東京"},{"from":"function_call","value":"{\"name\":\"f\",\"arguments\":{}}"}]}`
	if recs, rejs := one(t, convert.Options{}, text); len(recs) != 1 {
		t.Errorf("without a rule: %v", rejs)
	}
	if _, rejs := one(t, convert.Options{Language: "cjk"}, text); len(rejs) != 1 || rejs[0].Code != convert.NonEnglish {
		t.Errorf("with the rule cjk: %v", rejs)
	}
	if _, err := Source.Open(t.Context(), convert.Input{Options: convert.Options{Language: "l9"}}); err == nil {
		t.Error("an unknown language rule opens")
	}
}

// TestInterchangeComesBack: what this program writes as interchange is the same
// record again, but for its ID and source.
func TestInterchangeComesBack(t *testing.T) {
	text := rapid.StringMatching(`[a-z<&"é\\ ]{0,6}`)
	word := rapid.StringMatching(`[a-z]{1,4}`)
	rapid.Check(t, func(rt *rapid.T) {
		rec := qaoa.Record{ID: "x/1", System: word.Draw(rt, "system")}
		for range rapid.IntRange(0, 2).Draw(rt, "tools") {
			rec.Tools = append(rec.Tools, qaoa.Tool{
				Name: word.Draw(rt, "tool"), Description: text.Draw(rt, "description"),
				Parameters: `{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"]}`,
			})
		}
		for i := range rapid.IntRange(1, 3).Draw(rt, "turns") {
			turn := qaoa.Turn{Query: word.Draw(rt, "query"), Answer: rapid.SampledFrom([]string{"", "It is 5.", "a\nb"}).Draw(rt, "answer")}
			least := 0
			if i == 0 {
				least = 1
			}
			for range rapid.IntRange(least, 3).Draw(rt, "steps") {
				var s qaoa.Step
				for range rapid.IntRange(1, 3).Draw(rt, "calls") {
					s.Calls = append(s.Calls, qaoa.Call{Name: word.Draw(rt, "name"), Arguments: qaoa.ObjectValue(qaoa.Member{Name: "a", Value: qaoa.StringValue(text.Draw(rt, "argument"))}).JSON()})
					s.Observations = append(s.Observations, text.Draw(rt, "observation"))
				}
				if strings.Join(s.Observations, "") == "" {
					s.Observations = nil
				}
				turn.Steps = append(turn.Steps, s)
			}
			rec.Turns = append(rec.Turns, turn)
		}
		recs, rejs := one(t, convert.Options{}, string(qaoa.AppendInterchange(nil, rec)))
		if len(recs) != 1 {
			rt.Fatalf("no record but %v", rejs)
		}
		got := recs[0]
		got.Meta, got.Source = "", qaoa.Source{}
		if diff := cmp.Diff(rec, got, cmpopts.EquateEmpty()); diff != "" {
			rt.Errorf("(-want +got):\n%s", diff)
		}
	})
}

func TestRealGlaiveDemo(t *testing.T) {
	file := filepath.Join("..", "..", "..", "shared", "data", "raw", "glaive-sharegpt-demo", "glaive_toolcall_en_demo.json")
	if _, err := os.Stat(file); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("no ../shared/data: %v", err)
		}
		t.Skip("no ../shared/data: put glaive_toolcall_en_demo.json of LLaMA-Factory beside the project under ../shared/data/raw/glaive-sharegpt-demo")
	}
	inputs, _, err := convert.Find(Source, []string{file})
	if err != nil {
		t.Fatal(err)
	}
	var sum convert.Summary
	rule := filter.Filter{KeepTemporal: true, SchemaFilter: filter.Off, DirectAnswer: true}
	codes := map[convert.Code]int{}
	kept := 0
	for o, err := range convert.Run(t.Context(), Source, inputs, convert.RunOptions{}) {
		if err != nil {
			t.Fatal(err)
		}
		sum.Add(o)
		for _, rec := range o.Records {
			if rej := rule.Check(rec); rej != nil {
				codes[rej.Code]++
			} else {
				kept++
			}
		}
	}
	got := fmt.Sprintf("%d read, %d converted, %d calls, %v; %d kept, %v", sum.Read, sum.Converted, sum.Calls, sum.Codes, kept, codes)
	want := "300 read, 153 converted, 211 calls, map[no_call:147]; 63 kept, map[direct_answer:90]"
	if got != want {
		t.Errorf("have %s\nwant %s", got, want)
	}
}

func BenchmarkConvert(b *testing.B) {
	element := []byte(`{"conversations":[{"from":"human","value":"What is 2 + 3?"},` +
		strings.Repeat(`{"from":"function_call","value":"{\"name\":\"add\",\"arguments\":{\"a\":2,\"b\":3}}"},{"from":"observation","value":"5"},`, 3) +
		`{"from":"gpt","value":"It is 5."}],"system":"You add.","tools":"[{\"name\":\"add\",\"description\":\"Adds\",\"inputSchema\":{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"int\"},\"b\":{\"type\":\"int\"}},\"required\":[\"a\"]}}]","properties":{"hop":"multi-hop","turn":"single-turn"}}`)
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
