package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"assay/eval"
	"assay/model"
	"assay/qaoa"
)

// ask runs the conversations and tells how it went.
func ask(ctx context.Context, std stdio, o runOptions, b *backend, sc *scale, opt eval.Options, s eval.Settings, cases iter.Seq2[qaoa.Record, error]) (err error) {
	folder, err := eval.Open(o.out, s)
	if err != nil {
		return &exitError{exitUsage, err}
	}
	defer func() { err = errors.Join(err, folder.Close()) }()
	talk := std.err
	if o.quiet {
		talk = io.Discard
	}
	if folder.Dropped > 0 {
		fmt.Fprintf(talk, "the journal ended in the middle of a line; its last %d bytes are dropped, and that conversation is asked again\n", folder.Dropped)
	}
	if n := folder.Finished(); n > 0 {
		fmt.Fprintf(talk, "resuming %s: %d of %d conversations are finished\n", o.out, n, s.Pairs)
	}
	status := newStatusLine(talk, max(s.Pairs/20, 1))
	opt.Total = s.Pairs
	opt.Progress = func(p eval.Progress) { status.update("%s", progressLine(p)) }
	opt.Notes = b.notes
	sum, err := folder.Run(ctx, b, cases, opt)
	status.end()
	if text := sc.spent(); text != "" {
		fmt.Fprintln(talk, text)
	}
	return runOutcome(std, o, talk, sum, err)
}

// notes are what the client has to tell after a run.
func (b *backend) notes() []string {
	if server, ok := model.As[interface{ Notes() []string }](b.Chatter); ok {
		return server.Notes()
	}
	return nil
}

// progressLine tells how a run stands.
func progressLine(p eval.Progress) string {
	line := fmt.Sprintf("%d/%d, %.1f/s, %s left, %s", p.Done+p.Skipped, p.Total, p.Rate(), p.Left().Round(time.Second), failures(p.Classes))
	if p.Malformed > 0 {
		line += fmt.Sprintf(", %d of %d replies do not parse", p.Malformed, p.Replies)
	}
	if p.Tokens > 0 && p.Elapsed > 0 {
		line += fmt.Sprintf(", %.0f tokens/s", float64(p.Tokens)/p.Elapsed.Seconds())
	}
	return line + fmt.Sprintf(", running SP %.3f FPA %.3f", p.SP, p.FPA)
}

// failures lists failed conversations by class.
func failures(classes map[model.Class]int) string {
	if len(classes) == 0 {
		return "no failures"
	}
	var parts []string
	for _, c := range slices.Sorted(maps.Keys(classes)) {
		parts = append(parts, fmt.Sprintf("%d %s", classes[c], c))
	}
	return "failed: " + strings.Join(parts, ", ")
}

// runOutcome tells what came of a run, and with which exit code it ends.
func runOutcome(std stdio, o runOptions, talk io.Writer, sum eval.Summary, err error) error {
	c := sum.Counts
	fmt.Fprintf(talk, "%s: %d of %d conversations finished, %d failed; %d replies, %d with a call that does not parse, %d cut at the length limit\n",
		o.out, c.Finished, c.Planned, c.Failed, c.Replies, c.Malformed, c.Length)
	tellDetails(talk, o, sum)
	for _, n := range sum.Notes {
		fmt.Fprintf(talk, "note: %s\n", printable(n))
	}
	for _, f := range sum.Failed {
		fmt.Fprintf(talk, "failed: %s (repeat %d): %s: %s\n", printable(f.ID), f.Repeat, f.Class, printable(f.Msg))
	}
	for _, a := range sum.Alarms {
		fmt.Fprintf(std.err, "ALARM: %s\n", printable(a))
	}
	if o.asJSON {
		out := struct {
			Dir string `json:"dir"`
			eval.Summary
		}{o.out, sum}
		if err := writeJSON(std.out, out); err != nil {
			return err
		}
	}
	if stop := stopped(err, o.out); stop != nil {
		return stop
	}
	switch {
	case err != nil && eval.Interrupted(err):
		return &exitError{exitInterrupted, fmt.Errorf("interrupted; the same command resumes: --out %s", o.out)}
	case err != nil:
		if _, ok := errors.AsType[*eval.GiveUpError](err); ok {
			return &exitError{exitBackend, err}
		}
		return inputError(err)
	case c.Failed > 0:
		return &exitError{exitBackend, fmt.Errorf("%d conversations have no answer, because the server failed; the same command tries them again: --out %s", c.Failed, o.out)}
	}
	return nil
}

// tellDetails tells what is worth a line only where there is something to tell.
func tellDetails(w io.Writer, o runOptions, sum eval.Summary) {
	c := sum.Counts
	if c.Slots > 0 {
		fmt.Fprintf(w, "slots: %d asked about, %d of them not filled by the reply; %d calls beyond the first of a reply were not made\n", c.Slots, c.Unfilled, c.Extra)
	}
	if c.InThought > 0 {
		fmt.Fprintf(w, "thoughts: the only call of %d replies is in a thought, and does not count\n", c.InThought)
	}
	if c.ToolCalls > 0 {
		fmt.Fprintf(w, "tools: %d calls were really made, %d of them failed\n", c.ToolCalls, c.ToolErrors)
	}
	if p := c.Server; p != (eval.ServerParse{}) {
		fmt.Fprintf(w, "server's parser: %d calls lost that the text has, %d changed, %d in thoughts, %d with arguments that are no JSON, %d of tools not on offer\n",
			p.Lost, p.Changed, p.InThought, p.Broken, p.Unknown)
	}
	if s := sum.Speed; s.Requests > 0 && s.Latency.Max > 0 {
		fmt.Fprintf(w, "latency: median %s, 90 %% %s, 99 %% %s, longest %s", ms(s.Latency.P50), ms(s.Latency.P90), ms(s.Latency.P99), ms(s.Latency.Max))
		if s.TokensPerSecond > 0 {
			fmt.Fprintf(w, "; %.1f tokens/s in one conversation", s.TokensPerSecond)
		}
		if s.Retried > 0 {
			fmt.Fprintf(w, "; %d requests were sent again", s.Retried)
		}
		fmt.Fprintln(w)
	}
	if o.prices != "" || sum.Cost.Price != nil {
		fmt.Fprintf(w, "tokens: %d in, %d out; cost %s\n", c.PromptTokens, c.CompletionTokens, sum.Cost)
	}
}

// ms writes milliseconds as a duration of three figures or so.
func ms(x float64) string {
	d := time.Duration(x * float64(time.Millisecond))
	switch {
	case d >= 10*time.Second:
		return d.Round(100 * time.Millisecond).String()
	case d >= 10*time.Millisecond:
		return d.Round(time.Millisecond).String()
	}
	return d.Round(10 * time.Microsecond).String()
}
