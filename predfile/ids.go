package predfile

import (
	"fmt"
	"iter"
	"strconv"
	"strings"
)

// IDs are the ids of the gold records, which those of predictions are joined
// to. An id that is not among them is looked for
//
//  1. after the prefix of [Options] and a slash;
//  2. as the tail of a gold id, the part after its first slash, or all of one
//     without a slash; first all of the id, then its own tail. If several gold
//     ids have that tail it is an *[AmbiguousError];
//  3. in the same ways under the name that version 3 of BFCL gave to a category
//     of version 4: simple_python_7 is simple_7, simple_java_7 java_7;
//  4. in all these ways without _runN at its end.
//
// A nil *IDs joins nothing: only the prefix is put before an id. It may be used by several goroutines.
type IDs struct {
	exact map[string]struct{}
	tails map[string]tail
}

// A tail is the gold ids that end alike.
type tail struct {
	id, other string // the first two
	n         int
}

// NewIDs returns the set of ids. Repeated ones count once.
func NewIDs(ids iter.Seq[string]) *IDs {
	s := &IDs{exact: map[string]struct{}{}, tails: map[string]tail{}}
	for id := range ids {
		if _, ok := s.exact[id]; ok {
			continue
		}
		s.exact[id] = struct{}{}
		key := tailOf(id)
		t := s.tails[key]
		switch t.n++; t.n {
		case 1:
			t.id = id
		case 2:
			t.other = id
		}
		s.tails[key] = t
	}
	return s
}

// tailOf returns what follows the first slash of id, or id if there is none.
func tailOf(id string) string {
	if _, after, ok := strings.Cut(id, "/"); ok {
		return after
	}
	return id
}

// An AmbiguousError says that the tail of an id is that of several gold ids.
type AmbiguousError struct {
	ID    string    // as the file has it
	Found [2]string // the first two gold ids
	Count int       // of all gold ids with that tail
}

// Error returns the ids and what to do.
func (e *AmbiguousError) Error() string {
	return fmt.Sprintf("the id %.80q fits %d gold ids, %.80q and %.80q among them; give the prefix that tells them apart", e.ID, e.Count, e.Found[0], e.Found[1])
}

// join returns the gold id that id stands for, and the run that the id names,
// -1 if it names none. An id that is not found is returned with the prefix.
func (s *IDs) join(id, prefix string) (joined string, run int, err error) {
	full := withPrefix(id, prefix)
	if s == nil {
		return full, -1, nil
	}
	found, ok, err := s.find(id, full)
	if ok || err != nil {
		return found, -1, err
	}
	if bare, run, ok := cutRun(id); ok {
		if found, ok, err = s.find(bare, withPrefix(bare, prefix)); ok || err != nil {
			return found, run, err
		}
	}
	return full, -1, nil
}

// find looks for id by the first three rules.
func (s *IDs) find(id, full string) (string, bool, error) {
	if found, ok, err := s.named(id, full); ok || err != nil {
		return found, ok, err
	}
	if old, ok := version3(id); ok {
		return s.named(old, strings.TrimSuffix(full, id)+old)
	}
	return "", false, nil
}

// named looks for id by the first two rules.
func (s *IDs) named(id, full string) (string, bool, error) {
	for _, name := range []string{id, full} {
		if _, ok := s.exact[name]; ok {
			return name, true, nil
		}
	}
	for _, name := range []string{id, tailOf(id)} {
		switch t := s.tails[name]; {
		case t.n == 1:
			return t.id, true, nil
		case t.n > 1:
			return "", false, &AmbiguousError{ID: id, Found: [2]string{t.id, t.other}, Count: t.n}
		}
	}
	return "", false, nil
}

// withPrefix returns prefix/id, or id if there is no prefix or it is there.
func withPrefix(id, prefix string) string {
	prefix = strings.TrimSuffix(prefix, "/")
	if prefix == "" || strings.HasPrefix(id, prefix+"/") {
		return id
	}
	return prefix + "/" + id
}

// version3 returns the name that version 3 of BFCL has for an id of version 4.
func version3(id string) (string, bool) {
	head := id[:len(id)-len(tailOf(id))]
	for _, names := range [][2]string{
		{"simple_python_", "simple_"}, {"simple_javascript_", "javascript_"}, {"simple_java_", "java_"},
	} {
		if rest, ok := strings.CutPrefix(tailOf(id), names[0]); ok {
			return head + names[1] + rest, true
		}
	}
	return "", false
}

// cutRun cuts _runN off the end of a name.
func cutRun(name string) (rest string, n int, ok bool) {
	at := strings.LastIndex(name, "_run")
	if at <= 0 {
		return name, 0, false
	}
	digits := name[at+len("_run"):]
	if len(digits) == 0 || len(digits) > 6 || strings.Trim(digits, "0123456789") != "" {
		return name, 0, false
	}
	n, err := strconv.Atoi(digits)
	return name[:at], n, err == nil
}
