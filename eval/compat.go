package eval

import (
	"fmt"
	"slices"
	"strings"
)

// A Compat asks as another runner does, with that runner's known faults: ""
// not at all, or [CompatReference] with "+NAME" for each fault that is
// repaired, as in "reference+last-query+stop". Make one with [ParseCompat].
type Compat string

// CompatReference is the runner that was released with UniToolCall.
const CompatReference Compat = "reference"

// The faults of the reference, by the names that repair them.
const (
	faultLastQuery     = "last-query"
	faultNoUser        = "no-user"
	faultBareFirst     = "bare-first"
	faultSystemHistory = "system-history"
	faultBlank         = "blank-responses"
	faultLost          = "lost-responses"
	faultNull          = "null-history"
	faultStop          = "stop"
	faultEmptyAnswer   = "empty-answer"
	faultReasoning     = "reasoning"
	faultThoughts      = "thoughts"
	faultTags          = "tags"
)

// A CompatFault is something that another runner does and that costs a model
// points which it would not lose otherwise.
type CompatFault struct {
	Name string
	Doc  string // what goes wrong; and what the repair does
}

// CompatFaults returns the faults of [CompatReference] in the order in which
// they matter.
func CompatFaults() []CompatFault {
	return []CompatFault{
		{faultLastQuery, "every slot is asked with the last query of the conversation; repaired: with the query of its turn"},
		{faultNoUser, "a query that ends the history is not sent as a message, so a request may have no user message; repaired: it is sent"},
		{faultBareFirst, "the first call slot shows none of the turns before it; repaired: it does"},
		{faultSystemHistory, "the history is a block of text in the system message; repaired: it is messages"},
		{faultBlank, "what calls returned is blanked; repaired: --observe says what they return"},
		{faultLost, "the last response of a turn is missing in the next turn, and responses that are equal to the last one are missing before an answer; repaired: only the one that is the user message is left out"},
		{faultNull, "the history of a call slot ends at a slot that was not filled, that of an answer slot says None; repaired: such slots are left out"},
		{faultStop, "the conversation ends at the first slot that is not filled; repaired: it goes on"},
		{faultEmptyAnswer, "an empty answer block counts as no answer; repaired: it is an empty answer"},
		{faultReasoning, "where the server delivers thoughts apart, they are read instead of the text; repaired: the text is read"},
		{faultThoughts, "a call or an answer in a thought counts; repaired: thoughts are cut"},
		{faultTags, "only a closed <tool_call> block is read, whatever it holds; repaired: calls and answers are read as everywhere else in assay"},
	}
}

// ParseCompat reads "", "reference", or "reference+FAULT+…" with faults to be
// repaired. Repairs come out in the order of [CompatFaults], each once.
func ParseCompat(s string) (Compat, error) {
	if s == "" {
		return "", nil
	}
	base, rest, more := strings.Cut(s, "+")
	if Compat(base) != CompatReference {
		return "", fmt.Errorf("--compat %q: want reference, or reference+FAULT for a fault to be repaired", s)
	}
	if !more {
		return CompatReference, nil
	}
	asked := strings.Split(rest, "+")
	repaired := []string{string(CompatReference)}
	var names []string
	for _, f := range CompatFaults() {
		names = append(names, f.Name)
		if slices.Contains(asked, f.Name) {
			repaired = append(repaired, f.Name)
		}
	}
	for _, name := range asked {
		if !slices.Contains(names, name) {
			return "", fmt.Errorf("--compat: reference has no fault %q; want one of %s", name, strings.Join(names, ", "))
		}
	}
	return Compat(strings.Join(repaired, "+")), nil
}

func (c Compat) on() bool { return c != "" }

// has reports whether c keeps the fault of that name.
func (c Compat) has(fault string) bool {
	return c.on() && !slices.Contains(strings.Split(string(c), "+")[1:], fault)
}

// Faults returns the names of the faults that c keeps, nil if c is "".
func (c Compat) Faults() []string {
	var names []string
	for _, f := range CompatFaults() {
		if c.has(f.Name) {
			names = append(names, f.Name)
		}
	}
	return names
}
