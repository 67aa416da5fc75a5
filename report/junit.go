package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strings"

	"assay/eval"
	"assay/match"
)

// A Suite collects test cases for [Suite.WriteJUnit]: what CI systems read to
// show which cases fail.
type Suite struct {
	Name  string
	Cases []Case
}

// A Case is one test case.
type Case struct {
	Class string // what it is part of: a data set and a cell, or "gate"
	Name  string
	// Failure is the kind of failure, "" if the case holds, and Message says
	// why. Skipped says that nothing is known of the case.
	Failure, Message string
	Skipped          bool
}

// ItemCase returns an instance as a test case, which holds if its SPA is 1. It
// fails with the rule that decided the first pair that is not equal.
func ItemCase(it eval.Item) Case {
	c := Case{Class: it.Dataset + "." + it.Cell, Name: it.ID}
	if it.Turn >= 0 {
		c.Name += fmt.Sprintf(" turn %d", it.Turn)
	}
	if it.Repeat > 0 {
		c.Name += fmt.Sprintf(" repeat %d", it.Repeat)
	}
	switch {
	case it.Missing:
		c.Failure, c.Message = "missing", "there is no prediction"
	case it.Score.SPA < 1:
		c.Failure, c.Message = "wrong", fmt.Sprintf("SPA %.3f: %d gold calls, %d predicted", it.Score.SPA, it.Gold, it.Pred)
		if i := slices.IndexFunc(it.Pairs, func(p match.Pair) bool { return !p.Verdict.Strict }); i >= 0 {
			c.Failure, c.Message = string(it.Pairs[i].Verdict.Rule), it.Pairs[i].Verdict.Why
		}
	}
	return c
}

// Suite returns the verdict as test cases, one for each check. NO-GO fails, and
// so does INCONCLUSIVE: neither says that the gain is there.
func (g GateResult) Suite() Suite {
	s := Suite{Name: "gate: " + g.A.Name() + " against " + g.B.Name()}
	for _, c := range g.Checks {
		one := Case{Class: "gate", Name: c.String()}
		if c.Verdict != Go {
			one.Failure, one.Message = string(c.Verdict), c.Why
		}
		s.Cases = append(s.Cases, one)
	}
	return s
}

// The layout of JUnit, as CI systems read it.
type (
	junitSuites struct {
		XMLName  xml.Name   `xml:"testsuites"`
		Name     string     `xml:"name,attr"`
		Tests    int        `xml:"tests,attr"`
		Failures int        `xml:"failures,attr"`
		Suite    junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Skipped  int         `xml:"skipped,attr"`
		Cases    []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Class   string        `xml:"classname,attr"`
		Name    string        `xml:"name,attr"`
		Failure *junitFailure `xml:"failure"`
		Skipped *struct{}     `xml:"skipped"`
	}
	junitFailure struct {
		Type    string `xml:"type,attr"`
		Message string `xml:"message,attr"`
	}
)

// WriteJUnit writes s as JUnit XML. Characters that XML cannot hold, and those
// that cannot be seen, become U+FFFD; messages are cut to a few hundred
// characters.
func (s Suite) WriteJUnit(w io.Writer) error {
	out := junitSuites{Name: cleanLine(s.Name), Tests: len(s.Cases), Suite: junitSuite{Name: cleanLine(s.Name), Tests: len(s.Cases)}}
	for _, c := range s.Cases {
		one := junitCase{Class: cleanLine(c.Class), Name: cleanLine(c.Name)}
		switch {
		case c.Skipped:
			one.Skipped = &struct{}{}
			out.Suite.Skipped++
		case c.Failure != "":
			one.Failure = &junitFailure{clean(c.Failure), shortened(cleanLine(c.Message))}
			out.Suite.Failures++
		}
		out.Suite.Cases = append(out.Suite.Cases, one)
	}
	out.Failures = out.Suite.Failures
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	enc := xml.NewEncoder(w)
	enc.Indent("", " ")
	if err := enc.Encode(out); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

// shortened returns s cut to what a list of failures can show.
func shortened(s string) string {
	const most = 600
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}

// ScoreMarkdown writes scores as a summary for CI: coverage first, the scores,
// and what to be careful about, for each preset.
func ScoreMarkdown(w io.Writer, scores []eval.Scores) error {
	var b strings.Builder
	for i, s := range scores {
		if i > 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "### Scores under preset %s\n\n%s\n\n", Escape(presetLabel(s)), Escape(coverageLine(s.Coverage)))
		if err := scoreTable(s).Markdown(&b); err != nil {
			return err
		}
		fmt.Fprintf(&b, "\nPercent; SH and MH are means over turns, ST and MT over conversations. %s.\n", Escape(noGoldLine(s.NoGold)))
		if warnings := scoreWarnings(s); len(warnings) > 0 {
			b.WriteString("\n")
			if err := lines(&b, warnings); err != nil {
				return err
			}
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
