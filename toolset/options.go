package toolset

import (
	"fmt"
	"runtime"
)

// A Setting says what is on the lists.
type Setting string

const (
	// GT lists hold only the tools that the gold calls use, in the order of
	// the record.
	GT Setting = "gt"
	// Hybrid lists hold the gold tools, hard and easy negatives.
	Hybrid Setting = "hybrid"
)

// Negatives says what hard negatives are similar to.
type Negatives string

const (
	// ToTool takes the neighbours of each gold tool in turn, so that one tool
	// cannot supply all of them.
	ToTool Negatives = "tool"
	// ToQuery takes the neighbours of each query in turn.
	ToQuery Negatives = "query"
)

// Compat says whose order of the list to follow.
type Compat string

const (
	// Shuffled lists tell nothing by position.
	Shuffled Compat = ""
	// Reference lists are made and ordered as the released ones: gold tools in
	// order of their first call, hard negatives by descending similarity to
	// any of them, easy ones, and no shuffle.
	Reference Compat = "reference"
)

// Options are the choices for candidate lists. The zero value is not valid;
// start from [Defaults].
type Options struct {
	Setting Setting
	// K is the length of a Hybrid list, Easy how many of it are drawn at
	// random: 0 <= Easy <= K, K >= 1.
	K, Easy   int
	Negatives Negatives
	Seed      uint64
	Compat    Compat
	// SameName allows distractors whose normalised name is that of another
	// tool on the list. A call by such a name could not be told right from
	// wrong, but the released lists hold them.
	SameName bool
	// NearDuplicate is the cosine above which a distractor counts as a
	// near-duplicate of a gold tool, in (0,1]. It is for the report: no list
	// depends on it.
	NearDuplicate float64
	// Embed is where vectors come from; nil compares words and n-grams. All
	// similarities of a run are in its terms.
	Embed Embedder
	// Normalize is the matching rule for tool names, nil to compare them as
	// they are. The pool must have been made with the same function.
	Normalize func(string) string
	// Workers is how many records are worked on at once; 0 is one per CPU. It
	// changes no byte of the result.
	Workers int
}

// Defaults returns the options of the paper's Hybrid-20: 20 tools, 5 of them
// easy, negatives similar to the gold tools, shuffled. Near-duplicates are those
// that a pool would not have kept both: of a cosine above 0.9.
func Defaults() Options {
	return Options{Setting: Hybrid, K: 20, Easy: 5, Negatives: ToTool, NearDuplicate: 0.9}
}

// check is Check with the pool that the setting needs.
func (o Options) check(pool *Pool) error {
	if err := o.Check(); err != nil {
		return err
	}
	if o.Setting == Hybrid && (pool == nil || pool.Len() == 0) {
		return fmt.Errorf("setting hybrid without a pool of tools: give one, or take setting gt")
	}
	return nil
}

// Check returns an error that says which option is out of its range, or nil.
// [Build] checks by itself, and wants a pool for Hybrid lists besides.
func (o Options) Check() error {
	switch {
	case o.Setting != GT && o.Setting != Hybrid:
		return fmt.Errorf("setting %q: want gt or hybrid", o.Setting)
	case o.Compat != Shuffled && o.Compat != Reference:
		return fmt.Errorf("compat %q: want reference, or leave it out", o.Compat)
	case o.Setting == GT && o.Negatives == "":
		return nil
	case o.Negatives != ToTool && o.Negatives != ToQuery:
		return fmt.Errorf("negatives %q: want tool or query", o.Negatives)
	case o.Setting == GT: // has no use for the rest
		return nil
	case o.K < 1:
		return fmt.Errorf("k is %d: want at least 1 tool on a list", o.K)
	case o.Easy < 0 || o.Easy > o.K:
		return fmt.Errorf("easy is %d: want 0 to k, which is %d", o.Easy, o.K)
	case !(o.NearDuplicate > 0 && o.NearDuplicate <= 1):
		return fmt.Errorf("near-duplicate is %g: want a cosine above 0 and at most 1, such as 0.9", o.NearDuplicate)
	}
	return nil
}

func (o Options) workers() int {
	if o.Workers > 0 {
		return o.Workers
	}
	return runtime.GOMAXPROCS(0)
}
