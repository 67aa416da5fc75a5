package taxonomy

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync/atomic"

	"assay/internal/ordered"
	"assay/model"
	"assay/qaoa"
)

// The values of [AskOptions] that are zero.
const (
	DefaultBatch   = 8
	DefaultTries   = 3
	DefaultWorkers = 1
)

// AskOptions say how a model is asked. The zero value is usable.
type AskOptions struct {
	// Batch is how many tools one question is about at most; 0 is
	// [DefaultBatch]. Large ones are cheaper, and small models get lost in
	// them.
	Batch int
	// Tries is how often a tool is asked about before it stays without a
	// label; 0 is [DefaultTries]. The first question is about a batch, each
	// further one about one tool alone, with what was wrong with the answer.
	Tries int
	// Workers is how many questions are out at a time; 0 is [DefaultWorkers].
	Workers int
	// Sampling is what a model decodes with. A MaxTokens of 0 is made from the
	// number of tools; with Think there is no bound then, since thoughts count
	// too. A NumCtx of 0 is made from Batch, and is the same for all questions,
	// since Ollama loads the model again when it changes.
	Sampling model.Sampling
	// Labels keeps what was answered, and answers what it has; nil is nothing.
	Labels *LabelFile
	// Skip reports which tools are not asked about: they are yielded without a
	// label and without a reason. Nil is none.
	Skip func(qaoa.Tool) bool
}

// An Asker classifies tools by asking a model. It is safe for concurrent use.
type Asker struct {
	by  string
	m   model.Chatter
	opt AskOptions

	answered atomic.Bool // the back end has answered once
}

// NewAsker returns an Asker whose labels are made by the model that by names,
// as in "ollama/qwen3:8b". It returns an error if an option is out of range.
func NewAsker(m model.Chatter, by string, opt AskOptions) (*Asker, error) {
	if opt.Batch < 0 || opt.Tries < 0 || opt.Workers < 0 {
		return nil, fmt.Errorf("taxonomy: want batch, tries and workers of 0 or more, have %d, %d and %d", opt.Batch, opt.Tries, opt.Workers)
	}
	for _, d := range []struct {
		n   *int
		def int
	}{{&opt.Batch, DefaultBatch}, {&opt.Tries, DefaultTries}, {&opt.Workers, DefaultWorkers}} {
		if *d.n == 0 {
			*d.n = d.def
		}
	}
	if opt.Sampling.NumCtx == 0 {
		const rules, tool, step = 2048, 400, 1024 // tokens, with room for the answer
		opt.Sampling.NumCtx = (rules + tool*opt.Batch + step - 1) / step * step
	}
	return &Asker{by: by, m: m, opt: opt}, nil
}

// A Labelled is a tool and what was said of it.
type Labelled[T any] struct {
	Item  T
	Tool  qaoa.Tool
	Label Label
	Asked int // questions that the tool was in; 0 if the answer was at hand

	skip bool
}

// ClassifyAll yields the items with labels, in their order. Tool returns the
// tool of an item. A tool that the model gives no usable answer for, or that
// the back end fails on by itself, is yielded without a label and with the
// reason. A back end that cannot be reached, or has not answered even once, ends
// the stream with its error; so does an error of items.
//
// What a batch holds depends on the order of items and on what the label file
// has, not on the number of workers.
func ClassifyAll[T any](ctx context.Context, a *Asker, items iter.Seq2[T, error], tool func(T) qaoa.Tool) iter.Seq2[Labelled[T], error] {
	type result struct {
		list []Labelled[T]
		err  error
	}
	return func(yield func(Labelled[T], error) bool) {
		batches := batch(a, items, tool)
		results := ordered.Map(ctx, batches, a.opt.Workers, func(list []Labelled[T]) result {
			var open []int
			for i, l := range list {
				if !l.Label.Complete() && !l.skip {
					open = append(open, i)
				}
			}
			q := question{a: a, tools: make([]qaoa.Tool, len(open))}
			for k, i := range open {
				q.tools[k] = list[i].Tool
			}
			err := q.run(ctx)
			for k, i := range open {
				if err == nil {
					list[i].Label, list[i].Asked = q.labels[k], q.asked[k]
				}
			}
			return result{list, err}
		})
		for r, err := range results {
			if err == nil {
				err = r.err
			}
			if err == nil {
				err = keep(a.opt.Labels, r.list)
			}
			if err != nil {
				yield(Labelled[T]{}, err)
				return
			}
			for _, l := range r.list {
				if !yield(l, nil) {
					return
				}
			}
		}
	}
}

// batch yields lists of items in order, with Batch tools to ask about in each
// but the last, and a bound on those that need no question.
func batch[T any](a *Asker, items iter.Seq2[T, error], tool func(T) qaoa.Tool) iter.Seq2[[]Labelled[T], error] {
	const longest = 64 // batches of tools that are known
	return func(yield func([]Labelled[T], error) bool) {
		var list []Labelled[T]
		open := 0
		for item, err := range items {
			if err != nil {
				if len(list) == 0 || yield(list, nil) {
					yield(nil, err)
				}
				return
			}
			l := Labelled[T]{Item: item, Tool: tool(item)}
			if a.opt.Skip != nil && a.opt.Skip(l.Tool) {
				l.skip = true
			} else if known, ok := a.opt.Labels.find(a.by, l.Tool); ok {
				l.Label = known
			} else {
				open++
			}
			list = append(list, l)
			if open == a.opt.Batch || len(list) == longest*a.opt.Batch {
				if !yield(list, nil) {
					return
				}
				list, open = nil, 0
			}
		}
		if len(list) > 0 {
			yield(list, nil)
		}
	}
}

// keep writes what was answered to the label file.
func keep[T any](f *LabelFile, list []Labelled[T]) error {
	if f == nil {
		return nil
	}
	for _, l := range list {
		if l.Asked == 0 || !l.Label.Complete() {
			continue
		}
		if err := f.add(l.Tool, l.Label); err != nil {
			return err
		}
	}
	return nil
}

// A question is a batch of tools on their way to labels.
type question struct {
	a      *Asker
	tools  []qaoa.Tool
	labels []Label
	asked  []int
}

// run asks about all tools together and then about each that has no label
// alone, until the tries are used up. Tools without a label have a reason then.
// Its error is one that ends the whole work.
func (q *question) run(ctx context.Context) error {
	q.labels, q.asked = make([]Label, len(q.tools)), make([]int, len(q.tools))
	if len(q.tools) > 1 {
		all := make([]int, len(q.tools))
		for i := range all {
			all[i] = i
		}
		if _, err := q.ask(ctx, all, nil); err != nil {
			return err
		}
	}
	for i := range q.tools {
		var said []model.Message // the last answer and what is wrong with it
		for q.asked[i] < q.a.opt.Tries && !q.labels[i].Complete() {
			answer, err := q.ask(ctx, []int{i}, said)
			if err != nil {
				return err
			}
			if said = nil; answer != "" {
				said = again(answer, q.labels[i].Reason)
			}
		}
	}
	return nil
}

// ask asks about some of the tools, which may go on from what was said, and
// notes labels and reasons. It returns what the model answered.
func (q *question) ask(ctx context.Context, some []int, said []model.Message) (string, error) {
	tools := make([]qaoa.Tool, len(some))
	for k, i := range some {
		tools[k] = q.tools[i]
	}
	req := model.Request{Messages: append(ask(tools), said...), Sampling: q.a.opt.Sampling}
	// The same question with the same seed would get the same answer.
	req.Sampling.Seed += int64(q.asked[some[0]])
	if req.Sampling.MaxTokens == 0 && !req.Sampling.Think {
		const object, spare = 40, 64 // tokens
		req.Sampling.MaxTokens = object*len(some) + spare
	}
	for _, i := range some {
		q.asked[i]++
	}
	reply, err := q.a.m.Chat(ctx, req)
	if err != nil {
		if fail := q.a.fatal(ctx, err); fail != nil {
			return "", fail
		}
		q.reason(some, err)
		return "", nil
	}
	q.a.answered.Store(true)
	labels, faults, err := read(reply.Text, len(some))
	if err != nil {
		if reply.Finish == "length" {
			err = fmt.Errorf("%w; the answer was cut at its longest", err)
		}
		q.reason(some, err)
		return reply.Text, nil
	}
	for k, i := range some {
		if faults[k] != nil {
			q.reason([]int{i}, faults[k])
			continue
		}
		q.labels[i] = labels[k]
		q.labels[i].By = q.a.by
	}
	return reply.Text, nil
}

// reason notes why tools have no label.
func (q *question) reason(some []int, err error) {
	for _, i := range some {
		q.labels[i] = Label{By: q.a.by, Reason: err.Error()}
	}
}

// fatal returns the error if it is not about one question.
func (a *Asker) fatal(ctx context.Context, err error) error {
	fail, ok := errors.AsType[*model.Error](err)
	if !ok || ctx.Err() != nil || !a.answered.Load() {
		return err
	}
	switch fail.Class {
	case model.ClassTruncated, model.ClassBadReply, model.ClassTimeout, model.ClassServer:
		return nil
	}
	if fail.Class == model.ClassRequest && fail.Status != 401 && fail.Status != 403 {
		return nil
	}
	return err
}
