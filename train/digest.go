package train

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/zeebo/xxh3"

	"assay/qaoa"
)

// diff returns where b first differs from a, as a path and a note; "" if it
// does not.
func diff(a, b row) string {
	switch {
	case a.id != b.id:
		return fmt.Sprintf("/id: wrote %.40q, read %.40q", a.id, b.id)
	case a.system != b.system:
		return "/system: read another text than was written"
	case a.openEnd != b.openEnd:
		return "/conversations: read another end than was written"
	case len(a.tools) != len(b.tools):
		return fmt.Sprintf("/tools: wrote %d, read %d", len(a.tools), len(b.tools))
	case !slices.Equal(a.said, b.said):
		return "/messages: read other texts beside calls than were written"
	case len(a.turns) != len(b.turns):
		return fmt.Sprintf("/turns: wrote %d, read %d", len(a.turns), len(b.turns))
	}
	for i, t := range a.tools {
		if t != b.tools[i] {
			return fmt.Sprintf("/tools/%d: wrote %.80q, read %.80q", i, qaoa.AppendTool(nil, t), qaoa.AppendTool(nil, b.tools[i]))
		}
	}
	for i := range a.turns {
		x, y := qaoa.AppendTurns(nil, a.turns[i:i+1]), qaoa.AppendTurns(nil, b.turns[i:i+1])
		if string(x) != string(y) {
			at := 0
			for at < min(len(x), len(y)) && x[at] == y[at] {
				at++
			}
			return fmt.Sprintf("/turns/%d: wrote %.80q, read %.80q", i, x[at:], y[at:])
		}
	}
	return ""
}

// digest returns a 128-bit hash of everything in r.
func (r row) digest() [16]byte {
	var h xxh3.Hasher
	var n [8]byte
	text := func(s string) {
		binary.LittleEndian.PutUint64(n[:], uint64(len(s)))
		_, _ = h.Write(n[:]) // never fails
		_, _ = h.WriteString(s)
	}
	text(r.id)
	text(r.system)
	text(fmt.Sprint(r.openEnd))
	text(string(qaoa.AppendTools(nil, r.tools)))
	text(string(qaoa.AppendTurns(nil, r.turns)))
	for _, s := range r.said {
		text(fmt.Sprint(s.turn, " ", s.step))
		text(s.text)
	}
	return h.Sum128().Bytes()
}
