package predfile

import (
	"fmt"
	"strconv"
	"strings"

	"assay/qaoa"
)

// An identity is which record a prediction is for.
type identity struct {
	id       string // joined
	repeat   int
	explicit bool // the element says which repeat it is
}

// identify returns the identity of the object v, whose id is the first of names
// that it has; a dot leads into a member. An error is a *qaoa.Error.
func (d *decoder) identify(v qaoa.Value, names ...string) (identity, error) {
	id, at := "", ""
	for _, name := range names {
		val, path := lookup(v, name)
		if text, ok := idText(val); ok {
			id, at = text, path
			break
		}
	}
	if id == "" {
		return identity{}, &qaoa.Error{Path: "/" + strings.ReplaceAll(names[0], ".", "/"), Msg: fmt.Sprintf(
			"want the id of a record (in %s), have %s", strings.Join(names, " or "), describe(v))}
	}
	return d.identifyAs(v, id, at)
}

// lookup returns the value that a dotted name leads to, and its path.
func lookup(v qaoa.Value, name string) (qaoa.Value, string) {
	for part := range strings.SplitSeq(name, ".") {
		v, _ = v.Get(part)
	}
	return v, "/" + strings.ReplaceAll(name, ".", "/")
}

// idText returns the id that v is: a text, or a number as it is written. What a
// server called its reply is no id of a record.
func idText(v qaoa.Value) (string, bool) {
	switch {
	case v.Text == "", v.Kind != qaoa.String && v.Kind != qaoa.Number:
		return "", false
	case strings.HasPrefix(v.Text, "chatcmpl-"), strings.HasPrefix(v.Text, "resp_"), strings.HasPrefix(v.Text, "batch_req_"):
		return "", false
	}
	return v.Text, true
}

// identifyAs joins an id, and finds the repeat in v.
func (d *decoder) identifyAs(v qaoa.Value, id, path string) (identity, error) {
	joined, run, err := d.opt.IDs.join(id, d.opt.Prefix)
	if err != nil {
		return identity{}, &qaoa.Error{Path: path, Msg: err.Error()}
	}
	if joined != id {
		d.note.Joined++
		if len(d.note.Examples) < maxExamples {
			d.note.Examples = append(d.note.Examples, [2]string{clip(id), clip(joined)})
		}
	}
	who := identity{id: joined, repeat: d.run}
	if run >= 0 {
		who.repeat, who.explicit = run-d.first, true
	}
	for _, from := range []struct {
		name string
		base int
	}{{"repeat", 0}, {"epoch", 1}} {
		m, ok := v.Get(from.name)
		if !ok || m.Kind == qaoa.Null {
			continue
		}
		n, err := strconv.Atoi(m.Text)
		if m.Kind != qaoa.Number || err != nil || n < from.base {
			return identity{}, &qaoa.Error{Path: "/" + from.name, Msg: fmt.Sprintf("want a whole number of at least %d, have %.40s", from.base, m.JSON())}
		}
		who.repeat, who.explicit = n-from.base, true
		break
	}
	if who.repeat < 0 {
		return identity{}, &qaoa.Error{Path: path, Msg: fmt.Sprintf("the id %.80q says run 0; runs in ids are counted from %d", id, d.first)}
	}
	return who, nil
}

// clip cuts text that is quoted to a reader to 200 bytes.
func clip(s string) string {
	const most = 200
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}

// prediction returns the prediction of who.
func (who identity) prediction(turns ...qaoa.Turn) qaoa.Prediction {
	return qaoa.Prediction{ID: who.id, Repeat: who.repeat, Turns: turns}
}

// unanswered returns the error for a failure that is recorded at path.
func (who identity) unanswered(path, msg string) error {
	return &UnansweredError{ID: who.id, Repeat: who.repeat, Path: path, Msg: clip(msg)}
}
