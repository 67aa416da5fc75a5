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
	"runtime/debug"
	"syscall"
)

// stdio are the streams of a command: data goes to out, talk to err.
type stdio struct {
	in       io.Reader
	out, err io.Writer
}

// gcPercent is how much the heap may grow between two garbage collections. The
// commands stream: they make much garbage and keep little, so that the memory
// saved by collecting more often is not worth its time.
const gcPercent = 200

func main() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// After the first signal the work in flight is finished; a second one ends
	// the process at once.
	context.AfterFunc(ctx, stop)
	code := run(ctx, os.Args[1:], stdio{os.Stdin, os.Stdout, os.Stderr})
	stop() // os.Exit runs no deferred calls
	os.Exit(code)
}
