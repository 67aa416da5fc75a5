package census_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"assay/census"
	"assay/qaoa"
)

func TestDistAgainstSorting(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, top := range []int{3, 50, 9_999, 5_000_000} {
		var d census.Dist
		var xs []int
		sum := 0
		for range 2_000 {
			x := rng.IntN(top)
			d.Add(x)
			xs = append(xs, x)
			sum += x
		}
		slices.Sort(xs)
		if d.N != 2_000 || d.Min != xs[0] || d.Max != xs[1_999] || d.Sum != sum {
			t.Errorf("top %d: n %d, min %d, max %d, sum %d; want 2000, %d, %d, %d", top, d.N, d.Min, d.Max, d.Sum, xs[0], xs[1_999], sum)
		}
		for _, q := range []float64{.001, .5, .9, .99, 1} {
			want := xs[int(q*2_000)-1]
			got := d.Quantile(q)
			if got > want || float64(got) < .99*float64(want) || (top <= 10_000 && got != want) {
				t.Errorf("top %d: Quantile(%v) = %d, want %d", top, q, got, want)
			}
		}
	}
}

func TestCensus(t *testing.T) {
	const tools = `"tools":[{"name":"f","description":""}]`
	lines := []string{
		`{"id":"a","source":{"name":"x"},` + tools + `,"turns":[{"query":"é","steps":[{"calls":[{"name":"f","arguments":{}},{"name":"f","arguments":{"a":1}}]}],"answer":"ok"},{"query":"hi"}]}`,
		`{"id":"b","source":{"name":"y"},` + tools + `,"turns":[{"query":"q","steps":[{"calls":[{"name":"f","arguments":{}}],"observations":["AB-1"]},{"calls":[{"name":"g","arguments":{"z":"AB-1"}}]}]}]}`,
	}
	var c census.Census
	for _, l := range lines {
		rec, err := qaoa.DecodeRecord([]byte(l))
		if err != nil {
			t.Fatal(err)
		}
		c.Add(rec)
	}
	got := fmt.Sprint(c.Records, c.SingleTurn, c.MultiTurn, c.Turns, c.SingleHop, c.MultiHop, c.NoCall, c.SerialTurns, c.ParallelTurns, c.Calls, c.Parallel, c.Unusable)
	if want := "2 1 1 3 0 2 1 1 1 4 1 1"; got != want {
		t.Errorf("counts are %s, want %s", got, want)
	}
	// "é" f {} f {"a":1} "ok" "hi" and "q" f {} AB-1 g {"z":"AB-1"}
	if c.Characters.Min != 16 || c.Characters.Max != 21 {
		t.Errorf("characters are %v, want 16 and 21", &c.Characters)
	}
	// 17 and 21 bytes.
	if c.Tokens.Min != 5 || c.Tokens.Max != 6 {
		t.Errorf("tokens are %v, want 5 and 6", &c.Tokens)
	}
	if x := c.Sources["x"]; x.Records != 1 || x.Calls != 2 {
		t.Errorf("source x has %d records, %d calls; want 1, 2", x.Records, x.Calls)
	}
	var text strings.Builder
	if err := c.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"serial:parallel, multi-hop turns           1:1.00", "finding error unknown_tool", "by source "} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the text has no %q:\n%s", want, &text)
		}
	}
	data, err := json.Marshal(&c)
	if err != nil {
		t.Fatal(err)
	}
	var back struct {
		Records        int            `json:"records"`
		CallsPerRecord map[string]any `json:"calls_per_record"`
	}
	if err := json.Unmarshal(data, &back); err != nil || back.Records != 2 || back.CallsPerRecord["mean"] != 2.0 {
		t.Errorf("JSON is %s (%v)", data, err)
	}
}
