package page

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"assay/eval"
)

// A Filter chooses items. The zero Filter chooses all of them.
type Filter struct {
	// Run is the column that Status and Class are about, and Against the one
	// that it is compared with.
	Run, Against int
	Status       string // one of [Statuses]; "" is all
	Class        string // of an error, see [eval.ErrorClasses]; "" is any
	Shape        string // of gold: "single call" and so on; "" is any
	Dataset      string // "" is any
	// Query are words that an item has to hold, all of them, anywhere in its
	// id, its query, the calls, answers and results of gold, the calls and
	// answers predicted, and the replies of the models with their thoughts.
	// Case is ignored as in a regular expression: by simple folding.
	Query string
}

// maxQuery bounds a query, in bytes.
const maxQuery = 1200

// A status is a choice of items by how the runs did.
type status struct {
	Name string `json:"name"`
	Doc  string `json:"doc"`
	// Several says that it takes more than one column to tell.
	Several bool `json:"several,omitempty"`
	// Against says that it is about another column as well.
	Against bool `json:"against,omitempty"`

	test func(x *Index, f Filter, item int) bool
}

var statuses = []status{
	{Name: "all", Doc: "all items", test: func(*Index, Filter, int) bool { return true }},
	{Name: "wrong", Doc: "wrong", test: func(x *Index, f Filter, i int) bool { return x.wrong(f.Run, i) }},
	{Name: "right", Doc: "right", test: func(x *Index, f Filter, i int) bool { return x.right(f.Run, i) }},
	{Name: "malformed", Doc: "malformed or unparsable", test: func(x *Index, f Filter, i int) bool {
		return x.has(f.Run, i, eval.ClassMalformed) || x.has(f.Run, i, eval.ClassUnparsable)
	}},
	{Name: "missing", Doc: "missing", test: func(x *Index, f Filter, i int) bool { return x.has(f.Run, i, eval.ClassMissing) }},
	{Name: "flipped", Doc: "flipped: the runs disagree", Several: true, test: func(x *Index, _ Filter, i int) bool {
		right, wrong := false, false
		for c := range x.marks {
			right, wrong = right || x.right(c, i), wrong || x.wrong(c, i)
		}
		return right && wrong
	}},
	{Name: "gained", Doc: "gained: right here, wrong in the other", Several: true, Against: true, test: func(x *Index, f Filter, i int) bool {
		return x.right(f.Run, i) && x.wrong(f.Against, i)
	}},
	{Name: "lost", Doc: "lost: wrong here, right in the other", Several: true, Against: true, test: func(x *Index, f Filter, i int) bool {
		return x.wrong(f.Run, i) && x.right(f.Against, i)
	}},
	{Name: "allwrong", Doc: "wrong in every run", Several: true, test: func(x *Index, _ Filter, i int) bool {
		for c := range x.marks {
			if !x.wrong(c, i) {
				return false
			}
		}
		return true
	}},
}

// Statuses returns the names that [Filter.Status] takes.
func Statuses() []string {
	var out []string
	for _, s := range statuses {
		out = append(out, s.Name)
	}
	return out
}

func (x *Index) right(column, item int) bool { return x.marks[column][item]&markRight != 0 }

// wrong is not the contrary of right: a record that was not asked is neither.
func (x *Index) wrong(column, item int) bool {
	return x.marks[column][item]&(markAsked|markRight) == markAsked
}

func (x *Index) has(column, item int, class eval.ErrorClass) bool {
	i := slices.Index(x.classes, class)
	return i >= 0 && x.marks[column][item]&(1<<i) != 0
}

// compile returns what tells whether an item passes f, but for its Query.
func (x *Index) compile(f Filter) (func(item int) bool, error) {
	for _, c := range []struct {
		name  string
		value int
	}{{"run", f.Run}, {"against", f.Against}} {
		if c.value < 0 || c.value >= x.Columns() {
			return nil, &FilterError{c.name, strconv.Itoa(c.value), fmt.Sprintf("a run from 0 to %d", x.Columns()-1)}
		}
	}
	if f.Status == "" {
		f.Status = statuses[0].Name
	}
	at := slices.IndexFunc(statuses, func(s status) bool { return s.Name == f.Status })
	if at < 0 {
		return nil, &FilterError{"status", f.Status, "one of " + strings.Join(Statuses(), ", ")}
	}
	shape, dataset := slices.Index(shapeNames, f.Shape), slices.Index(x.datasets, f.Dataset)
	class := slices.Index(x.classes, eval.ErrorClass(f.Class))
	switch {
	case f.Class != "" && class < 0:
		return nil, &FilterError{"cls", f.Class, "a class of errors, such as " + string(eval.ClassWrongTool)}
	case f.Shape != "" && shape < 0:
		return nil, &FilterError{"shape", f.Shape, "one of " + strings.Join(shapeNames, ", ")}
	case f.Dataset != "" && dataset < 0:
		return nil, &FilterError{"ds", f.Dataset, "a data set of the report"}
	case len(f.Query) > maxQuery:
		return nil, &FilterError{"q", f.Query, fmt.Sprintf("at most %d bytes, have %d", maxQuery, len(f.Query))}
	}
	return func(i int) bool {
		return (f.Shape == "" || int(x.shape[i]) == shape) &&
			(f.Dataset == "" || int(x.dataset[i]) == dataset) &&
			(f.Class == "" || x.marks[f.Run][i]&(1<<class) != 0) &&
			statuses[at].test(x, f, i)
	}, nil
}
