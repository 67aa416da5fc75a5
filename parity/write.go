package parity

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// WriteText writes the report for people. The first word is PASS or FAIL.
func (rep Report) WriteText(w io.Writer) error {
	var b strings.Builder
	if rep.Pass {
		fmt.Fprintf(&b, "PASS: %s in all %d prompts of %d records\n", rep.Proves, rep.Prompts, rep.Records)
	} else {
		fmt.Fprintf(&b, "FAIL: %d of %d prompts of %d records are not the training text (compared: %s)\n", rep.Prompts-rep.Equal, rep.Prompts, rep.Records, rep.Method)
	}
	what := "training rows"
	if rep.What == AgainstMessages {
		what = "the same messages"
	}
	fmt.Fprintf(&b, "against: %s, template %s\n", what, rep.Template)
	if len(rep.Differs) > 0 {
		var parts []string
		for _, f := range slices.Sorted(maps.Keys(rep.Differs)) {
			parts = append(parts, fmt.Sprintf("%s %d", f, rep.Differs[f]))
		}
		fmt.Fprintf(&b, "first differences by place: %s\n", strings.Join(parts, ", "))
	}
	if rep.First != nil {
		rep.First.write(&b)
	}
	for _, n := range rep.Notes {
		fmt.Fprintf(&b, "note: %s\n", n)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (d *Difference) write(b *strings.Builder) {
	fmt.Fprintf(b, "\nrecord %q, turn %d, request %d: %s\n", d.ID, d.Turn, d.Request, d.place())
	if d.Field == fieldCount {
		fmt.Fprintf(b, "  trained  %d tokens\n  served   %d tokens\n", d.TrainedCount, d.ServedCount)
	} else {
		fmt.Fprintf(b, "  before   %q\n  trained  %q\n  served   %q\n", d.Before, d.Trained, d.Served)
	}
	if len(d.BeforeTokens)+len(d.TrainedTokens)+len(d.ServedTokens) > 0 {
		fmt.Fprintf(b, "  after %d equal tokens:\n  before   %s\n  trained  %s\n  served   %s\n", d.Token, quoted(d.BeforeTokens), quoted(d.TrainedTokens), quoted(d.ServedTokens))
	}
	if d.Why != "" {
		fmt.Fprintf(b, "  %s\n", d.Why)
	}
	b.WriteByte('\n')
}

// place tells where a difference is.
func (d *Difference) place() string {
	switch d.Field {
	case fieldCount:
		return "another number of tokens"
	case fieldTokens:
		return fmt.Sprintf("byte %d, equal text, another token", d.At)
	case fieldEnd:
		return fmt.Sprintf("byte %d, where the prompt should end", d.At)
	case fieldFrame:
		return fmt.Sprintf("byte %d, in the frame of the template", d.At)
	}
	s := fmt.Sprintf("byte %d, in %s", d.At, d.Field)
	if d.Message >= 0 {
		return s + fmt.Sprintf(" of message %d", d.Message)
	}
	return s + fmt.Sprintf(" of tool %d", d.Item)
}

func quoted(tokens []string) string {
	out := make([]string, len(tokens))
	for i, t := range tokens {
		out[i] = strconv.Quote(t)
	}
	return strings.Join(out, " ")
}
