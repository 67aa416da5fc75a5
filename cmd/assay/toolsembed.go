package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/pflag"

	"assay/embed"
	"assay/model"
	"assay/toolset"
	"assay/vector"
)

// An embedOptions says where vectors come from.
type embedOptions struct {
	spec, cache, baseURL, keyEnv string
	batch, workers, dimensions   int
	retries                      int
}

func (o *embedOptions) bind(flags *pflag.FlagSet) {
	flags.StringVar(&o.spec, "embed", embed.Lexical, "source of vectors: lexical (words and n-grams, embedded), ollama:MODEL or openai:MODEL")
	flags.StringVar(&o.cache, "vectors-cache", "", "keep the vectors of the model in `FILE`; a file of another model is refused")
	flags.StringVar(&o.baseURL, "base-url", "", "`URL` of the server of vectors; default: OLLAMA_HOST, or OPENAI_BASE_URL")
	flags.StringVar(&o.keyEnv, "key-env", "", "environment variable that holds the key for openai; default: "+embed.DefaultKeyEnv)
	flags.IntVar(&o.batch, "embed-batch", 0, fmt.Sprintf("texts in a request; 0 is %d", embed.DefaultBatch))
	flags.IntVar(&o.workers, "embed-workers", 0, fmt.Sprintf("requests at a time; 0 is %d", embed.DefaultWorkers))
	flags.IntVar(&o.retries, "retries", embed.DefaultRetries, "how often a failed request for vectors is sent again")
	flags.IntVar(&o.dimensions, "dimensions", 0, "length of the vectors to ask for; 0 is what the model has")
}

// open returns the source that o names, nil for lexical: packages that compare
// words do so without vectors.
func (o *embedOptions) open(std stdio) (toolset.Embedder, error) {
	if o.spec == embed.Lexical {
		if o.cache != "" {
			return nil, usagef("--vectors-cache %s: lexical makes no vectors; name a model with --embed ollama:MODEL or openai:MODEL", o.cache)
		}
		return nil, nil //nolint:nilnil // no source of vectors is one of the choices
	}
	if o.retries < 0 {
		return nil, usagef("--retries %d: want no negative number", o.retries)
	}
	if o.retries == 0 {
		o.retries = -1 // which is what package embed calls never
	}
	status := newStatusLine(std.err, 20)
	src, err := embed.Open(o.spec, embed.Options{
		BaseURL: o.baseURL, KeyEnv: o.keyEnv, CacheFile: o.cache, Batch: o.batch, Workers: o.workers, Dimensions: o.dimensions, Retries: o.retries,
		Progress: func(done, total int) { status.update("vectors: %d of %d texts", done, total) },
	})
	if err != nil {
		return nil, usagef("--embed: %v", err)
	}
	return &told{src, status}, nil
}

// told is a source whose progress is on a status line.
type told struct {
	embed.Source
	status *statusLine
}

// Vectors returns the vectors and leaves the line.
func (t *told) Vectors(ctx context.Context, texts []string) (*vector.Matrix, error) {
	defer t.status.end()
	return t.Source.Vectors(ctx, texts)
}

// vectorError is inputError for what a server of vectors may have failed on.
func vectorError(err error) error {
	if _, ok := errors.AsType[*model.Error](err); ok && !errors.Is(err, context.Canceled) {
		return &exitError{exitBackend, err}
	}
	return inputError(err)
}
