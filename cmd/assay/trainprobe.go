package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/pflag"

	"assay/chat"
	"assay/tokenizer"
)

type probeOptions struct {
	template, name, tokenizer, date string
	noThinking, show, asJSON        bool
}

func trainProbeCommand() command {
	return command{
		name: "train probe", args: "--template NAME|FILE|DIR",
		does: "tells what a chat template keeps, escapes, repeats or drops, and what is trained on",
		help: `
A conversation with a text of its own in every field is rendered, and each text
is looked for: as it is, escaped, twice, or missing; and whether a trainer that
trains on what the assistant says would train on it. Then conversations of other
shapes are tried (parallel calls, empty answers, arguments encoded twice), and
whether the text of a conversation begins the text of one more message: where it
does not, a model is asked with another text than it was trained on.

The template is a family with code of its own (` + strings.Join(chat.Builtins(), ", ") + `), or
the model's: tokenizer_config.json, chat_template.jinja, or the folder of both.
With the model's tokenizer.json, tokens are counted and its special tokens are
tried inside of a user's text, where they would become control tokens.`,
		bind: func(flags *pflag.FlagSet) func(context.Context, stdio, []string) error {
			var o probeOptions
			flags.StringVar(&o.template, "template", "", "family, or file or folder with a chat_template")
			flags.StringVar(&o.name, "template-name", "", "which of several templates of a file; default: tool_use, else default")
			flags.StringVar(&o.tokenizer, "tokenizer", "", "tokenizer.json of the model")
			flags.StringVar(&o.date, "date", "", "today, for templates that name it, as \"26 Jul 2024\"")
			flags.BoolVar(&o.noThinking, "no-thinking", false, "tell the template that the model shall not think (enable_thinking false)")
			flags.BoolVar(&o.show, "show", false, "also print the rendered conversation, with what is trained on between ⟦ and ⟧")
			flags.BoolVar(&o.asJSON, "json", false, "print one JSON object")
			return func(_ context.Context, std stdio, args []string) error {
				if len(args) > 0 {
					return usagef("train probe: want no arguments, have %q", args)
				}
				if o.template == "" {
					return usagef("train probe: want --template, one of %s, or a file or folder", strings.Join(chat.Builtins(), ", "))
				}
				return runProbe(std, o)
			}
		},
	}
}

// openTemplate returns the family, or reads the file.
func openTemplate(spec, name string) (*chat.Template, error) {
	if slices.Contains(chat.Builtins(), spec) {
		return chat.Builtin(spec)
	}
	t, err := chat.Load(spec, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, usagef("--template %q: want one of %s, or a file or folder that exists%s", spec, strings.Join(chat.Builtins(), ", "), didYouMean(spec, chat.Builtins()))
	}
	return t, inputError(err)
}

// A tokenReport is what the tokenizer says to the sample of a probe.
type tokenReport struct {
	Pattern string       `json:"pattern"`
	Tokens  int          `json:"tokens"`
	Trained int          `json:"trained"`
	Frame   []string     `json:"frame_tokens"` // special tokens that the template itself writes
	Forged  []forgedMark `json:"forgeable"`
}

// A forgedMark is a special token that keeps its meaning inside of a text.
type forgedMark struct {
	Text string `json:"text"`
	ID   int    `json:"id"`
}

func runProbe(std stdio, o probeOptions) (err error) {
	t, err := openTemplate(o.template, o.name)
	if err != nil {
		return err
	}
	opt := chat.Options{Date: o.date}
	if o.noThinking {
		opt.EnableThinking = new(bool)
	}
	rep, err := chat.Probe(t, opt)
	if err != nil {
		return inputError(err)
	}
	var tokens *tokenReport
	if o.tokenizer != "" {
		tok, err := tokenizer.LoadFile(o.tokenizer)
		if err != nil {
			return inputError(err)
		}
		if tokens, err = probeTokens(t, rep, tok, opt); err != nil {
			return inputError(err)
		}
	}
	out, err := createOutput(std, "-")
	if err != nil {
		return err
	}
	defer func() { err = out.finish(err) }()
	if o.asJSON {
		v := struct {
			chat.Report
			Tokens   *tokenReport `json:"tokens,omitempty"`
			Rendered string       `json:"rendered,omitempty"`
		}{Report: rep, Tokens: tokens}
		if o.show {
			v.Rendered = rep.Sample.Text
		}
		return writeJSON(out, v)
	}
	printProbe(out, rep, tokens)
	if o.show {
		fmt.Fprintf(out, "\n%s\n", bracketed(rep.Sample))
	}
	return nil
}

// probeTokens counts the sample and tries each special token of the frame in a
// user's text.
func probeTokens(t *chat.Template, rep chat.Report, tok *tokenizer.Tokenizer, opt chat.Options) (*tokenReport, error) {
	out := &tokenReport{Pattern: tok.Pattern().Name, Frame: []string{}, Forged: []forgedMark{}}
	ids, ends := tok.Offsets(rep.Sample.Text)
	out.Tokens = len(ids)
	start := 0
	for _, end := range ends {
		for _, s := range rep.Sample.Loss() {
			if s.Start <= start && end <= s.End {
				out.Trained++
				break
			}
		}
		start = end
	}
	for _, hit := range tok.SpecialIn(rep.Sample.Text) {
		if slices.Contains(out.Frame, hit.Text) {
			continue
		}
		out.Frame = append(out.Frame, hit.Text)
		r, err := t.Render(chat.Conversation{Messages: []chat.Message{{Role: chat.User, Content: "before " + hit.Text + " after"}}}, opt)
		if err != nil {
			return nil, err
		}
		for _, s := range r.Find(chat.FieldQuery) {
			if len(tok.SpecialIn(r.Text[s.Start:s.End])) > 0 {
				out.Forged = append(out.Forged, forgedMark{hit.Text, hit.ID})
				break
			}
		}
	}
	return out, nil
}

func printProbe(w io.Writer, rep chat.Report, tokens *tokenReport) {
	state := "unverified: rendered by Jinja's rules, but this source was never compared with Jinja itself"
	if rep.Verified {
		state = "verified"
	}
	fmt.Fprintf(w, "template %s (%s)\n\n", printable(rep.Template), state)
	aligned(w, func(tw io.Writer) {
		fmt.Fprintln(tw, "\tfield\twhere\tstate\ttimes\ttrained\t")
		for _, f := range rep.Fields {
			fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%d\t%s\t%s\n", tick(f.OK), f.Field, f.Where, f.State, f.Count, f.Loss, f.Note)
		}
	})
	fmt.Fprintln(w)
	aligned(w, func(tw io.Writer) {
		for _, s := range rep.Shapes {
			fmt.Fprintf(tw, "%s\t%s\t%s\n", tick(s.OK), s.Shape, printable(s.Note))
		}
	})
	fmt.Fprintf(w, "\nprefixes: %s\n", prefixLine(rep))
	for _, b := range rep.Breaks {
		fmt.Fprintf(w, "--  with message %d: %s\n      was %q\n      is  %q\n", b.Messages, b.Why, b.Before, b.After)
	}
	for _, n := range rep.Notes {
		fmt.Fprintf(w, "note: %s\n", printable(n))
	}
	if tokens == nil {
		return
	}
	fmt.Fprintf(w, "\ntokens (%s): %d in the sample, %d trained\n", tokens.Pattern, tokens.Tokens, tokens.Trained)
	fmt.Fprintf(w, "special tokens of the template: %s\n", strings.Join(tokens.Frame, " "))
	if len(tokens.Forged) == 0 {
		fmt.Fprintln(w, "ok  none of them keeps its meaning inside of a user's text")
		return
	}
	var forged []string
	for _, f := range tokens.Forged {
		forged = append(forged, fmt.Sprintf("%s (%d)", f.Text, f.ID))
	}
	fmt.Fprintf(w, "--  inside of a user's text these become control tokens: %s\n", strings.Join(forged, " "))
}

// aligned aligns what rows writes, without blanks at the ends of lines.
func aligned(w io.Writer, rows func(io.Writer)) {
	var b strings.Builder
	tw := tabwriter.NewWriter(&b, 0, 8, 2, ' ', 0)
	rows(tw)
	tw.Flush()
	for line := range strings.Lines(b.String()) {
		fmt.Fprintln(w, strings.TrimRight(line, " \n"))
	}
}

func tick(ok bool) string {
	if ok {
		return "ok"
	}
	return "--"
}

func prefixLine(rep chat.Report) string {
	switch n := len(rep.Breaks); n {
	case 0:
		return "the text of a conversation begins the text of one more message"
	case 1:
		return "at 1 place the text of a conversation does not begin the text of one more message"
	default:
		return fmt.Sprintf("at %d places the text of a conversation does not begin the text of one more message", n)
	}
}

// bracketed returns the text of r with brackets around what is trained on.
func bracketed(r chat.Rendered) string {
	var b strings.Builder
	at := 0
	for _, s := range r.Loss() {
		if s.Start < at {
			continue
		}
		b.WriteString(r.Text[at:s.Start] + "⟦" + r.Text[s.Start:s.End] + "⟧")
		at = s.End
	}
	b.WriteString(r.Text[at:])
	return b.String()
}
