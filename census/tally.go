package census

import (
	"cmp"
	"maps"
	"slices"
	"unicode/utf8"
)

// The bounds of what is kept apart, so that a hostile file cannot fill the
// memory with names.
const (
	mostNames   = 2_000 // names of a [Tally]
	mostLetters = 80    // bytes of a name
	mostSources = 100   // sources of a [Census]
)

// more is the source that all further ones are counted under.
const more = "(more sources)"

// A Tally counts names: the domains or the categories of tools. The first
// 2,000 names are kept apart, cut after 80 bytes. The zero value is empty.
type Tally struct {
	Named   int // tools with a name
	Unnamed int // tools without one
	Further int // of Named: tools whose name came after 2,000 others
	counts  map[string]int
}

// A Count is a name and how often it occurs.
type Count struct {
	Name string
	N    int
}

// Add counts name; "" is a tool without one.
func (t *Tally) Add(name string) {
	if name == "" {
		t.Unnamed++
		return
	}
	t.Named++
	name = cut(name, mostLetters)
	if _, ok := t.counts[name]; !ok {
		if len(t.counts) >= mostNames {
			t.Further++
			return
		}
		if t.counts == nil {
			t.counts = map[string]int{}
		}
	}
	t.counts[name]++
}

// Names returns how many names are kept apart.
func (t *Tally) Names() int { return len(t.counts) }

// Top returns the n most frequent names, the most frequent first, equal ones
// by name.
func (t *Tally) Top(n int) []Count {
	all := make([]Count, 0, len(t.counts))
	for _, name := range slices.Sorted(maps.Keys(t.counts)) {
		all = append(all, Count{name, t.counts[name]})
	}
	slices.SortStableFunc(all, func(a, b Count) int { return cmp.Compare(b.N, a.N) })
	return all[:min(max(n, 0), len(all))]
}

// cut returns the first n bytes of s, without half a character at the end.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
