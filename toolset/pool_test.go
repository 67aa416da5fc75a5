package toolset_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/qaoa"
	"assay/toolset"
)

func TestNewPool(t *testing.T) {
	tools := []qaoa.Tool{
		{Name: "a", Description: "x", Origin: "one", Category: "first"},
		{Name: " a ", Description: "x\n", Origin: "two"},
		{Name: "a", Description: "y", Origin: "two"},
		{Name: " ", Description: "x", Origin: "two"},
		{Name: "b", Origin: "one"},
	}
	p, stats, err := toolset.NewPool(seqOf(tools...), nil)
	if err != nil {
		t.Fatal(err)
	}
	want := toolset.PoolStats{Read: 5, Kept: 3, Duplicates: 1, Nameless: 1, Origins: []toolset.OriginOfTools{{"one", 2, 2}, {"two", 3, 1}}}
	if d := cmp.Diff(want, stats); d != "" {
		t.Errorf("statistics: -want +got\n%s", d)
	}
	if got := slices.Collect(p.Tools()); len(got) != p.Len() || names(got) != "a a b" || got[0].Category != "first" {
		t.Errorf("tools of the pool = %+v, want the first a, the other a and b", got)
	}
	for range p.Tools() {
		break
	}
}

func TestNewPoolFails(t *testing.T) {
	broken := errors.New("broken")
	_, _, err := toolset.NewPool(func(yield func(qaoa.Tool, error) bool) { yield(qaoa.Tool{}, broken) }, nil)
	if !errors.Is(err, broken) {
		t.Errorf("err = %v, want %v", err, broken)
	}
	recs := func(yield func(qaoa.Record, error) bool) { yield(qaoa.Record{}, broken) }
	if _, _, err := toolset.NewPool(toolset.ToolsOf(recs), nil); !errors.Is(err, broken) {
		t.Errorf("err = %v, want %v", err, broken)
	}
}

func TestToolsOf(t *testing.T) {
	rec := record("r", "q", []qaoa.Tool{{Name: "a"}, {Name: "b", Origin: "elsewhere"}})
	rec.Source.Name = "bench"
	var got []string
	for tl, err := range toolset.ToolsOf(seqOf(rec, rec)) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, tl.Name+"/"+tl.Origin)
		if len(got) == 3 {
			break
		}
	}
	if s := strings.Join(got, " "); s != "a/bench b/elsewhere a/bench" {
		t.Errorf("ToolsOf = %s", s)
	}
}
