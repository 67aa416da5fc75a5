// Assay turns tool-calling corpora and benchmarks into one record form, makes
// training shards from it, runs a model on it, and says how good the model is
// and how sure that is.
//
// Usage:
//
//	assay VERB [flags] [arguments]
//
// "assay help" lists the verbs, "assay help VERB" tells about one.
package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"runtime"
	"syscall"
)

// stdio are the streams of a command: data goes to out, talk to err.
type stdio struct {
	in       io.Reader
	out, err io.Writer
}

func main() {
	floor := prepareHeap()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// After the first signal the work in flight is finished; a second one ends
	// the process at once.
	context.AfterFunc(ctx, stop)
	code := run(ctx, os.Args[1:], stdio{os.Stdin, os.Stdout, os.Stderr})
	stop()
	runtime.KeepAlive(floor)
	os.Exit(code) // which runs no deferred calls
}
