// Package near finds the names that a mistyped one may mean.
package near

import (
	"fmt"
	"slices"
	"strings"
)

// most is how many names are worth to be offered.
const most = 3

// maxName bounds the names that are compared, in bytes: the distance costs the
// product of both lengths.
const maxName = 200

// Names returns up to three of names that are near have, the nearest first: a
// third of its letters may differ and one more, or have is the beginning of
// the name. Names at one distance keep their order.
func Names(have string, names []string) []string {
	type candidate struct {
		name string
		dist int
	}
	var found []candidate
	if len(have) > maxName {
		return nil
	}
	for _, n := range names {
		if len(n) > maxName {
			continue
		}
		d := distance(have, n)
		if strings.HasPrefix(n, have) && len(have) > 1 {
			d = min(d, 1)
		}
		if d <= 1+len(have)/3 {
			found = append(found, candidate{n, d})
		}
	}
	slices.SortStableFunc(found, func(a, b candidate) int { return a.dist - b.dist })
	var out []string
	for _, c := range found[:min(most, len(found))] {
		out = append(out, c.name)
	}
	return out
}

// DidYouMean returns `, did you mean "a" or "b"?` for the names that are near
// have, and "" if none is.
func DidYouMean(have string, names []string) string {
	found := Names(have, names)
	if len(found) == 0 {
		return ""
	}
	for i, n := range found {
		found[i] = fmt.Sprintf("%q", n)
	}
	return ", did you mean " + strings.Join(found, " or ") + "?"
}

// distance is the Levenshtein distance of two short words, in bytes.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diag := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			next := min(row[j+1]+1, row[j]+1, diag+cost)
			diag, row[j+1] = row[j+1], next
		}
	}
	return row[len(b)]
}
