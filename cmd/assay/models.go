package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"assay/model"
	"assay/model/baseline"
	"assay/model/budget"
	"assay/model/fleet"
	"assay/model/ollama"
	"assay/model/openai"
	"assay/model/transport"
)

// modelOptions say whom to ask.
type modelOptions struct {
	model, baseURL, keepAlive string
	numThread, retries        int
	timeout                   time.Duration
	budget                    *budget.Budget // of the command, nil for none
}

func (o *modelOptions) bind(flags *pflag.FlagSet) {
	flags.StringVar(&o.model, "model", "", "ollama/NAME, openai/NAME (any OpenAI-compatible server), or baseline/"+strings.Join(baseline.Names(), "|"))
	flags.StringVar(&o.baseURL, "base-url", "", "address of the server, or several with commas between; default: OLLAMA_HOST or OPENAI_BASE_URL")
	flags.DurationVar(&o.timeout, "timeout", 5*time.Minute, "longest wait for one answer")
	flags.IntVar(&o.retries, "retries", 4, "how often a request that the server failed is sent again")
	flags.StringVar(&o.keepAlive, "keep-alive", "", "how long Ollama keeps the model loaded, such as 30m")
	flags.IntVar(&o.numThread, "num-thread", 0, "threads that Ollama computes with; 0 leaves it to the server")
}

// A backend is a model to ask, and what it says of itself if it can.
type backend struct {
	model.Chatter
	kind  string // ollama, openai, baseline
	name  string
	fleet *fleet.Fleet // nil for baselines
}

// prober returns the back end as one that can be probed, or nil.
func (b *backend) prober() model.Prober {
	p, _ := model.As[model.Prober](b.Chatter)
	return p
}

// open returns the model that o names, to be asked by that many at a time; 0
// lets it find out. It sends nothing.
func (o *modelOptions) open(concurrency int) (*backend, error) {
	kind, name, ok := strings.Cut(o.model, "/")
	if !ok || name == "" {
		return nil, usagef("--model %q: want ollama/NAME, openai/NAME or baseline/NAME", o.model)
	}
	http := transport.Options{Timeout: o.timeout, Concurrency: cmp.Or(concurrency, fleet.DefaultMost), UserAgent: "assay/" + version}
	b := &backend{kind: kind, name: name}
	var err error
	switch kind {
	case "baseline":
		b.Chatter, err = baseline.New(name)
	case "ollama":
		host := o.baseURL
		if host == "" {
			host = os.Getenv("OLLAMA_HOST")
		}
		b.fleet, err = o.newFleet(host, concurrency, func(address string) (client, error) {
			return ollama.New(ollama.Config{Host: address, Model: name, KeepAlive: o.keepAlive, NumThread: o.numThread, HTTP: http})
		})
	case "openai":
		base := o.baseURL
		if base == "" {
			base = os.Getenv("OPENAI_BASE_URL")
		}
		b.fleet, err = o.newFleet(base, concurrency, func(address string) (client, error) {
			return openai.New(openai.Config{BaseURL: address, Key: os.Getenv("OPENAI_API_KEY"), Model: name, HTTP: http})
		})
	default:
		return nil, usagef("--model %q: unknown back end %q; want ollama, openai or baseline", o.model, kind)
	}
	if err != nil {
		return nil, &exitError{exitUsage, err}
	}
	if b.fleet != nil {
		b.Chatter = b.fleet
	}
	return b, nil
}

// probe asks a server whether it is ready; baselines always are.
func (b *backend) probe(ctx context.Context) (model.Info, error) {
	p := b.prober()
	if p == nil {
		return model.Info{Model: b.name}, nil
	}
	info, err := p.Probe(ctx)
	if err != nil && !errors.Is(err, context.Canceled) {
		return info, &exitError{exitBackend, err}
	}
	return info, err
}

// ctxStep is what context lengths are rounded up to: servers allocate by it.
const ctxStep = 1024

// defaultReply is the room for an answer in a context length, in tokens,
// unless --max-tokens says otherwise.
const defaultReply = 1024

// numCtx returns the context length to ask Ollama for: the longest prompt (an
// estimate) and room for the answer, rounded up, but not more than the model
// has. It fails if the model has too little for the prompt.
func numCtx(prompt, maxTokens, limit int, id string) (int, error) {
	reply := maxTokens
	if reply <= 0 {
		reply = defaultReply
	}
	n := (prompt + reply + ctxStep - 1) / ctxStep * ctxStep
	if limit > 0 && n > limit {
		n = limit
		if prompt >= limit {
			return 0, &exitError{exitBackend, fmt.Errorf(
				"the longest prompt (record %q) needs about %d tokens, and the model has a context of %d; take a model with a longer one, shorter candidate lists (candidates --k), or leave the long records out (--ids)",
				id, prompt, limit)}
		}
	}
	return n, nil
}
