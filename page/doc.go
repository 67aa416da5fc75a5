// Package page makes the report that a person reads in a browser: one HTML file
// with the scores of runs and a browser of every item behind them.
//
//	r, err := page.Build(ctx, page.Input{Title: "Two models", Runs: runs})
//	…
//	defer r.Close()
//	err = r.WriteHTML(w)
//
// The file opens from disk, asks no network, and holds everything: the
// overview as JSON, and the index and the items as compressed blobs that the
// page opens when they are needed. The same page can be served, with the blobs
// fetched one by one, when a run is too big for one file; see package view.
//
// What a model or a data set says is data. It travels as JSON in elements that
// no browser executes, the page puts it on the screen as text nodes only, and
// its Content-Security-Policy admits no script, style, image or connection
// beyond the one script and the one style sheet, which it names by hash.
// Characters that cannot be seen, such as changes of direction, are shown as
// their code points.
//
// Building streams: records, predictions and items go through temporary files,
// and memory holds an index of them. The same input gives the same bytes.
package page
