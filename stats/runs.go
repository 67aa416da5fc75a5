package stats

import (
	"fmt"
	"slices"
	"strings"
)

// A RunInfo says of a run what decides whether it may be averaged with others.
// Hashes are compared as text; an empty one is unknown and agrees with any.
type RunInfo struct {
	Name        string // as the user knows it
	Preset      string // matcher preset
	Data        string // hash of the gold files
	Candidates  string // hash of the candidate lists
	Adapter     string // hash of the trained weights
	Predictions string // hash of the prediction file
	// Items are the keys of the instances scored, each once, in any order.
	Items []string
}

// A Refusal is the error of [CheckRuns].
type Refusal struct {
	Reasons []string // one for each fault and pair of runs
}

// Error returns the reasons, and what to do.
func (r *Refusal) Error() string {
	return "these runs cannot be averaged: " + strings.Join(r.Reasons, "; ") +
		" (leave out the odd runs, or summarise them apart)"
}

// CheckRuns reports whether runs are repeats of one experiment, whose scores
// may be averaged. It returns a [*Refusal] when an adapter or a prediction
// hash occurs twice (then a run was counted twice, and the SD is too small),
// when preset, data or candidates differ, or when the item sets do.
func CheckRuns(runs []RunInfo) error {
	var reasons []string
	same := []struct {
		what string
		of   func(RunInfo) string
	}{
		{"matcher presets", func(r RunInfo) string { return r.Preset }},
		{"data hashes", func(r RunInfo) string { return r.Data }},
		{"candidate hashes", func(r RunInfo) string { return r.Candidates }},
	}
	for _, s := range same {
		reasons = append(reasons, differing(runs, s.what, s.of)...)
	}
	unique := []struct {
		what, means string
		of          func(RunInfo) string
	}{
		{"adapter", ": that is one training, whose repeats belong in one run", func(r RunInfo) string { return r.Adapter }},
		{"prediction", "", func(r RunInfo) string { return r.Predictions }},
	}
	for _, u := range unique {
		reasons = append(reasons, repeated(runs, u.what, u.means, u.of)...)
	}
	reasons = append(reasons, itemSets(runs)...)
	if len(reasons) == 0 {
		return nil
	}
	return &Refusal{Reasons: reasons}
}

// differing compares each run with the first one whose value is known.
func differing(runs []RunInfo, what string, of func(RunInfo) string) []string {
	var reasons []string
	first := -1
	for i, r := range runs {
		switch v := of(r); {
		case v == "":
		case first < 0:
			first = i
		case v != of(runs[first]):
			reasons = append(reasons, fmt.Sprintf("%s differ: %q has %q and %q has %q",
				what, runs[first].Name, of(runs[first]), r.Name, v))
		}
	}
	return reasons
}

func repeated(runs []RunInfo, what, means string, of func(RunInfo) string) []string {
	var reasons []string
	seen := map[string]string{}
	for _, r := range runs {
		v := of(r)
		if v == "" {
			continue
		}
		if other, ok := seen[v]; ok {
			reasons = append(reasons, fmt.Sprintf("%q and %q have the same %s hash %q%s", other, r.Name, what, v, means))
			continue
		}
		seen[v] = r.Name
	}
	return reasons
}

// itemSets compares the items of each run with those of the first.
func itemSets(runs []RunInfo) []string {
	var reasons []string
	var want []string
	for i, r := range runs {
		have := slices.Sorted(slices.Values(r.Items))
		for j := 1; j < len(have); j++ {
			if have[j] == have[j-1] {
				reasons = append(reasons, fmt.Sprintf("%q holds item %q twice", r.Name, have[j]))
				break
			}
		}
		if i == 0 {
			want = have
			continue
		}
		missing, extra := missingFrom(want, have), missingFrom(have, want)
		if len(missing)+len(extra) > 0 {
			reasons = append(reasons, fmt.Sprintf("item sets differ: against %q, %q lacks %s and has %s more",
				runs[0].Name, r.Name, CountOf(missing), CountOf(extra)))
		}
	}
	return reasons
}

// missingFrom returns the elements of sorted list a that sorted list b lacks.
func missingFrom(a, b []string) []string {
	var out []string
	for _, s := range a {
		if _, ok := slices.BinarySearch(b, s); !ok {
			out = append(out, s)
		}
	}
	return out
}

// CountOf returns how many ids there are and the first three of them, for
// messages.
func CountOf(ids []string) string {
	if len(ids) == 0 {
		return "0"
	}
	const show = 3
	quoted := make([]string, 0, show)
	for _, id := range ids[:min(show, len(ids))] {
		quoted = append(quoted, fmt.Sprintf("%.80q", id))
	}
	more := ""
	if len(ids) > show {
		more = ", …"
	}
	return fmt.Sprintf("%d (%s%s)", len(ids), strings.Join(quoted, ", "), more)
}
