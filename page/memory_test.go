package page_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"strings"
	"testing"

	"assay/eval"
	"assay/match"
	"assay/page"
	"assay/qaoa"
	"assay/report"
)

func TestItemsThatAreLoadedMakeTheReportOfItemsThatAreThere(t *testing.T) {
	in := two(t)
	want := html(t, build(t, in))
	for i := range in.Runs {
		items := in.Runs[i].Items
		in.Runs[i].Items = nil
		in.Runs[i].LoadItems = func(context.Context) ([]eval.Item, error) { return items, nil }
	}
	if got := html(t, build(t, in)); got != want {
		t.Error("the report differs")
	}
	broken := errors.New("the items are gone")
	in.Runs[1].LoadItems = func(context.Context) ([]eval.Item, error) { return nil, broken }
	if _, err := page.Build(t.Context(), in); !errors.Is(err, broken) {
		t.Errorf("error %v, want that of loading", err)
	}
}

// live is the size of what is reachable.
func live() int64 {
	runtime.GC()
	runtime.GC() // pools keep what they have for one more
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// Lines of records are much longer than what scoring needs of them, so holding
// them, or the definitions of tools again for each record, shows.
func TestBuildingHoldsLittleOfEachRecord(t *testing.T) {
	const (
		n        = 3000
		most     = 2000 // bytes of a record while its run is diagnosed
		mostLeft = 1000 // and when the items are loaded
	)
	schema := `{"type":"object","properties":{"city":{"type":"string","description":"` + strings.Repeat("A city. ", 200) + `"}}}`
	records := func(context.Context) iter.Seq2[qaoa.Record, error] {
		return func(yield func(qaoa.Record, error) bool) {
			for i := range n {
				rec, err := qaoa.DecodeRecord(fmt.Appendf(nil, `{"schema":"qaoa/1","id":"made/%d","source":{"name":"made"},"tools":[{"name":"weather","description":"Tells.","parameters":%s}],`+
					`"turns":[{"query":"%s","steps":[{"calls":[{"name":"weather","arguments":{"city":"Oslo"}}]}],"answer":""}]}`, i, schema, strings.Repeat("Really? ", 500)))
				if !yield(rec, err) {
					return
				}
			}
		}
	}
	preset, err := match.Preset("paper")
	if err != nil {
		t.Fatal(err)
	}
	before := live()
	var diagnosed, left int64
	preds := func(context.Context) iter.Seq2[qaoa.Prediction, error] {
		return func(yield func(qaoa.Prediction, error) bool) {
			diagnosed = live() - before
			for i := range n {
				if !yield(prediction(fmt.Sprintf("made/%d", i), calls(call("weather", `{"city":"Oslo"}`))), nil) {
					return
				}
			}
		}
	}
	build(t, page.Input{Title: "Large", Preset: preset, Options: report.Options{Resamples: 50}, Paged: true, Runs: []page.Run{{
		Run: report.Run{Name: "a", Model: "a", Setting: "gt"}, Data: "gold", Gold: records, Preds: preds,
		LoadItems: func(context.Context) ([]eval.Item, error) { left = live() - before; return nil, nil },
	}}})
	if diagnosed > n*most || left > n*mostLeft {
		t.Errorf("%d and %d bytes a record, want at most %d and %d", diagnosed/n, left/n, most, mostLeft)
	}
}
