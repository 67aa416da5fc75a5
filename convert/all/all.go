package all

import (
	"fmt"
	"slices"
	"strings"

	"assay/convert"
	"assay/convert/acebench"
	"assay/convert/apibank"
	"assay/convert/apigen"
	"assay/convert/bfcl"
	"assay/convert/complexfuncbench"
	"assay/convert/hammerbench"
	"assay/convert/hermes"
	"assay/convert/junaidjk"
	"assay/convert/mathandmagic"
	"assay/convert/native"
	"assay/convert/openaichat"
	"assay/convert/sealtools"
	"assay/convert/sharegpt"
	"assay/convert/toolalpaca"
	"assay/convert/toolhop"
	"assay/convert/toucan"
	"assay/convert/vikhr"
)

// Sources returns every source, in the order of listings: test sources as in
// the paper's Table 5, then training sources. The slice belongs to the caller.
func Sources() []convert.Source {
	return []convert.Source{
		bfcl.Source,
		acebench.Source,
		sealtools.Source,
		hammerbench.Source,
		complexfuncbench.Source,
		apibank.Source,
		toolalpaca.Source,
		apibank.TrainSource,
		toolalpaca.TrainSource,
		toolhop.Source,
		apigen.Source,
		sealtools.TrainSource,
		toucan.Source,
		hermes.Source,
		junaidjk.Source,
		vikhr.Source,
		mathandmagic.Source,
		sharegpt.Source,
		openaichat.Source,
		native.Source,
	}
}

// An UnknownSourceError is a name that no source has.
type UnknownSourceError struct {
	Name  string   // that was asked for
	Near  string   // the most similar name, "" if none is similar
	Known []string // all names, in the order of [Sources]
}

// Error returns the name, the one that may be meant, and all names.
func (e *UnknownSourceError) Error() string {
	s := fmt.Sprintf("source %q: ", e.Name)
	if e.Near != "" {
		s += fmt.Sprintf("did you mean %q? ", e.Near)
	}
	return s + "want one of " + strings.Join(e.Known, ", ")
}

// Lookup returns the source with that name, or an [*UnknownSourceError].
func Lookup(name string) (convert.Source, error) {
	sources := Sources()
	i := slices.IndexFunc(sources, func(s convert.Source) bool { return s.Name == name })
	if i >= 0 {
		return sources[i], nil
	}
	err := &UnknownSourceError{Name: name}
	for _, s := range sources {
		err.Known = append(err.Known, s.Name)
	}
	err.Near = near(name, err.Known)
	return convert.Source{}, err
}

// near returns the name that is most like s: the same but for case, hyphens,
// underscores and blanks, or within a third of its length in edits.
func near(s string, names []string) string {
	fold := func(s string) []rune {
		s = strings.NewReplacer("-", "", "_", "", " ", "").Replace(strings.ToLower(s))
		return []rune(s)
	}
	best, least := "", 0
	want := fold(s)
	for _, name := range names {
		have := fold(name)
		if len(want) > 2*len(have) {
			continue // no typing error; and the distance takes time by both lengths
		}
		d := distance(want, have)
		if d <= len(have)/3 && (best == "" || d < least) {
			best, least = name, d
		}
	}
	return best
}

// distance returns how many insertions, deletions and replacements of one
// character turn a into b.
func distance(a, b []rune) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i, ra := range a {
		diagonal := row[0]
		row[0] = i + 1
		for j, rb := range b {
			cost := 1
			if ra == rb {
				cost = 0
			}
			next := min(row[j+1]+1, row[j]+1, diagonal+cost)
			diagonal, row[j+1] = row[j+1], next
		}
	}
	return row[len(b)]
}
