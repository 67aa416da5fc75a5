package main

import (
	"bytes"
	"net/http"
	"runtime"
	"testing"

	"assay/eval"
	"assay/qaoa"
)

// After 100,000 requests there are as many goroutines, and as much memory in
// use, as after 20,000: the runner keeps nothing of what is done.
func TestHundredThousandRequestsLeaveNothing(t *testing.T) {
	const workers, requests, early = 16, 100_000, 20_000
	f, err := client("http://host", workers, &http.Client{Transport: trip(answered)})
	if err != nil {
		t.Fatal(err)
	}
	var heap float64
	var goroutines, most int
	n := 0
	before := runtime.NumGoroutine()
	err = ask(f, workers, requests, func(eval.Result) error {
		n++
		switch {
		case n == early:
			heap, goroutines = liveHeap(), most
			most = 0
		case n%1000 == 0:
			most = max(most, runtime.NumGoroutine())
		}
		return nil
	})
	if err != nil || n != requests {
		t.Fatalf("%d requests, %v", n, err)
	}
	if late := liveHeap(); late > heap+1 {
		t.Errorf("%.1f MB in use after %d requests, %.1f MB after %d", heap, early, late, requests)
	}
	// Each conversation is a goroutine, and some have ended without being gone.
	if bound := goroutines + workers; most > bound {
		t.Errorf("%d goroutines at most later, %d before", most, goroutines)
	}
	if after := runtime.NumGoroutine(); after > before {
		t.Errorf("%d goroutines after the run, %d before", after, before)
	}
}

// What is told to other clients is what the runner sends.
func TestBody(t *testing.T) {
	var b bytes.Buffer
	if err := printBody(&b); err != nil {
		t.Fatal(err)
	}
	v, err := qaoa.ParseValue(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	list, _ := v.Get("tools")
	if len(list.Items) != 20 || b.Len() < 6000 {
		t.Errorf("%d tools in %d bytes, want 20 in about 7 kB", len(list.Items), b.Len())
	}
}

// BenchmarkRun is a whole conversation of one request without the network.
func BenchmarkRun(b *testing.B) {
	f, err := client("http://host", 2, &http.Client{Transport: trip(answered)})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	b.ResetTimer()
	if err := ask(f, 2, b.N, nil); err != nil { // Run takes the number, so no b.Loop
		b.Fatal(err)
	}
}
