package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"assay/eval"
	"assay/model"
	"assay/qaoa"
)

// A readiness is what was learnt before a run.
type readiness struct {
	info   model.Info
	probes []eval.Probe
}

// preflight checks that a run makes sense, and fills in what only the server
// can tell: digest and context length. What does not stop the run is told.
// With skip the server is not asked, and only what is known without it is
// checked; known are probes that were made before.
func preflight(ctx context.Context, std stdio, b *backend, opt *eval.Options, survey eval.Survey, known []eval.Probe, skip bool) (readiness, error) {
	var r readiness
	var err error
	if !skip {
		if r.info, err = b.probe(ctx); err != nil {
			return r, err
		}
	}
	opt.Digest = r.info.Digest
	fit, err := fitContext(b, opt, survey.Longest, r.info.Context)
	if err != nil {
		return r, err
	}
	r.probes = known
	if !skip && b.prober() != nil {
		r.probes = append(r.probes, eval.Probe{Name: eval.ProbeServer, OK: true, Detail: serverDetail(r.info)}, fit)
		r.probes = append(r.probes, eval.ProbeAbility(ctx, b.Chatter, *opt)...)
		if !fatal(r.probes) {
			r.probes = append(r.probes, eval.ProbeCalls(ctx, b.Chatter, *opt)...)
		}
	}
	if err := ctx.Err(); err != nil {
		return r, &exitError{exitInterrupted, errors.New("interrupted before anything was asked")}
	}
	for _, p := range r.probes {
		if p.Fatal && !skip {
			return r, &exitError{exitBackend, errors.New(printable(p.String()) + "; --skip-probes goes on all the same")}
		}
		if !p.OK {
			fmt.Fprintf(std.err, "warning: %s\n", printable(p.String()))
		}
	}
	return r, nil
}

func fatal(probes []eval.Probe) bool {
	return slices.ContainsFunc(probes, func(p eval.Probe) bool { return p.Fatal })
}

// serverDetail tells what a server says of itself.
func serverDetail(info model.Info) string {
	var parts []string
	for _, p := range []struct{ name, value string }{{"", info.Server}, {"version ", info.Version}, {"model ", info.Model}, {"digest ", info.Digest}} {
		if p.value != "" {
			parts = append(parts, p.name+p.value)
		}
	}
	if info.Context > 0 {
		parts = append(parts, fmt.Sprintf("context of %d tokens", info.Context))
	}
	return strings.Join(parts, ", ")
}

// fewestTokens is a number of tokens that a prompt of n bytes has at least:
// tokenizers make no longer tokens than this of prompts with schemas in them.
func fewestTokens(n int) int { return n / 8 }

// fitContext sees to it that the longest prompt fits the context: it sets the
// context length of Ollama if the user did not, and fails if the prompt cannot
// fit. limit is the context of the model, 0 if unknown.
func fitContext(b *backend, opt *eval.Options, longest eval.LongestPrompt, limit int) (eval.Probe, error) {
	p := eval.Probe{Name: eval.ProbeContext, OK: true}
	p.Detail = fmt.Sprintf("the longest prompt (record %q) is about %d tokens", longest.ID, longest.Estimate)
	const advice = "take a model with a longer context, shorter candidate lists (candidates --k), or leave the long records out (--ids)"
	least := fewestTokens(longest.Bytes)
	switch asked := opt.Sampling.NumCtx; {
	case b.kind == "ollama" && asked > 0:
		if least >= asked || limit > 0 && asked > limit {
			return p, &exitError{exitBackend, numCtxError(asked, limit, longest)}
		}
		if longest.Estimate >= asked {
			p.OK, p.Remedy = false, "if it does not fit, the server refuses it and it counts as truncated; raise --num-ctx"
		}
		p.Detail += fmt.Sprintf(", the context is %d", asked)
	case b.kind == "ollama":
		n, err := numCtx(longest.Estimate, opt.Sampling.MaxTokens, limit, longest.ID)
		if err != nil {
			return p, err
		}
		opt.Sampling.NumCtx = n
		p.Detail += fmt.Sprintf(", the context is set to %d", n)
	case limit > 0:
		p.Detail += fmt.Sprintf(", the server has a context of %d", limit)
		if least >= limit {
			return p, &exitError{exitBackend, errors.New(p.Detail + "; " + advice)}
		}
		if longest.Estimate >= limit {
			p.OK, p.Remedy = false, "serve the model with a longer context if prompts do not fit"
		}
	}
	return p, nil
}

// numCtxError says that --num-ctx makes no sense.
func numCtxError(asked, limit int, longest eval.LongestPrompt) error {
	if limit > 0 && asked > limit {
		return fmt.Errorf("--num-ctx %d: the model has a context of %d; give at most that", asked, limit)
	}
	return fmt.Errorf("--num-ctx %d: the longest prompt (record %q) has %d bytes, about %d tokens, and would be truncated; leave --num-ctx out, or give at least %d",
		asked, longest.ID, longest.Bytes, longest.Estimate, longest.Estimate+defaultReply)
}

// A lossWatch looks at the tools of the records for what the server is known
// to drop of their schemas.
type lossWatch struct {
	holder model.SchemaHolder // nil if nothing is known
	seen   map[qaoa.Tool]bool
	loss   eval.SchemaLoss
}

// newLossWatch returns the watch of a run; in prompt mode nothing is lost.
func newLossWatch(b *backend, opt eval.Options) *lossWatch {
	w := &lossWatch{seen: map[qaoa.Tool]bool{}}
	if opt.Calls == eval.CallsNative {
		w.holder, _ = model.As[model.SchemaHolder](b.Chatter)
	}
	return w
}

// watch passes recs on and looks at their tools, each different one once.
func (w *lossWatch) watch(recs iter.Seq2[qaoa.Record, error]) iter.Seq2[qaoa.Record, error] {
	if w.holder == nil {
		return recs
	}
	return func(yield func(qaoa.Record, error) bool) {
		for rec, err := range recs {
			for _, t := range rec.Tools {
				if !w.seen[t] {
					w.seen[t] = true
					w.loss.Add(t, w.holder.SchemaLoss(t))
				}
			}
			if !yield(rec, err) {
				return
			}
		}
	}
}

// found returns what is lost, nil if nothing is.
func (w *lossWatch) found() *eval.SchemaLoss {
	if w.loss.Hit == 0 {
		return nil
	}
	return &w.loss
}

// tell tells what is lost.
func (w *lossWatch) tell(std stdio) {
	l := w.loss
	if l.Hit == 0 {
		return
	}
	total := 0
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(l.Keywords)) {
		total += l.Keywords[k]
		parts = append(parts, fmt.Sprintf("%d %s", l.Keywords[k], k))
	}
	fmt.Fprintf(std.err, "schema loss: the server drops %d keywords in %d of %d tools (%s); --calls prompt shows the model all of them\n",
		total, l.Hit, l.Tools, printable(strings.Join(parts, ", ")))
	if l.Refused > 0 {
		fmt.Fprintf(std.err, "warning: %d tools have a schema that the server refuses, and so it will refuse each request with one of them, such as %s\n",
			l.Refused, printable(l.Bad[0]))
	}
}
