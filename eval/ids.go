package eval

import (
	"fmt"
	"strings"
)

// maxListed is how many ids an error or a warning lists.
const maxListed = 10

// An IDError says that ids are unknown or repeated.
type IDError struct {
	Msg   string   // what is wrong with the ids, and what to do
	IDs   []string // the first ten, in the order met
	Count int      // of all
}

// Error returns the message and the ids.
func (e *IDError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d %s: ", e.Count, e.Msg)
	for i, id := range e.IDs {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%.80q", id)
	}
	if e.Count > len(e.IDs) {
		b.WriteString(", …")
	}
	return b.String()
}

// An idList collects ids for an [IDError].
type idList struct {
	ids   []string
	count int
}

func (l *idList) add(id string) {
	l.count++
	if len(l.ids) < maxListed {
		l.ids = append(l.ids, id)
	}
}

// err returns an [*IDError], or nil if there are no ids.
func (l *idList) err(msg string) error {
	if l.count == 0 {
		return nil
	}
	return &IDError{Msg: msg, IDs: l.ids, Count: l.count}
}
