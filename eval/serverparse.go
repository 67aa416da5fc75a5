package eval

import (
	"slices"

	"assay/model"
	"assay/qaoa"
	"assay/toolcall"
)

// A ServerParse compares the calls that a server's own parser took out of a
// reply in mode [CallsNative] with those that the ladder of package toolcall
// finds in the text that the server left. It sees what a server leaves: a call
// that is neither delivered nor left in the text is lost without a trace.
type ServerParse struct {
	// Lost are calls in the text that the server did not deliver; they count
	// as calls of the model only where it delivered none.
	Lost int `json:"lost,omitempty"`
	// Changed are calls that it delivered with other arguments than the text
	// has for the same tool.
	Changed int `json:"changed,omitempty"`
	// InThought are tagged calls in thoughts, none of which it delivered.
	InThought int `json:"in_thought,omitempty"`
	// Broken are calls that it delivered with arguments that are no JSON.
	Broken int `json:"broken,omitempty"`
	// Unknown are calls that it delivered of tools that were not on offer.
	Unknown int `json:"unknown_tool,omitempty"`
}

// compareParsers compares what a server delivered with what got finds in the
// text; inThought says that a thought holds a call.
func compareParsers(reply model.Reply, got toolcall.Result, inThought bool, tools []qaoa.Tool) ServerParse {
	var s ServerParse
	left := slices.Clone(reply.Calls)
	for _, c := range reply.Calls {
		switch {
		case c.Raw != "" || c.Name == "":
			s.Broken++
		case !slices.ContainsFunc(tools, func(t qaoa.Tool) bool { return t.Name == c.Name }):
			s.Unknown++
		}
	}
	for _, c := range got.Calls {
		if c.Raw != "" {
			continue // whether the server should have read it is open
		}
		if i := slices.IndexFunc(left, func(d qaoa.Call) bool { return sameCall(c, d) }); i >= 0 {
			left = slices.Delete(left, i, i+1)
			continue
		}
		if i := slices.IndexFunc(left, func(d qaoa.Call) bool { return d.Name == c.Name }); i >= 0 {
			left = slices.Delete(left, i, i+1)
			s.Changed++
			continue
		}
		s.Lost++
	}
	if inThought && len(reply.Calls) == 0 && len(got.Calls) == 0 {
		s.InThought++
	}
	return s
}

// sameCall reports whether two calls are equal, where no arguments and an empty
// object are one.
func sameCall(a, b qaoa.Call) bool {
	for _, c := range []*qaoa.Call{&a, &b} {
		if c.Arguments == "{}" {
			c.Arguments = ""
		}
	}
	return a == b
}

// append appends s as a member of an object, unless it is zero.
func (s ServerParse) append(dst []byte) []byte {
	if s == (ServerParse{}) {
		return dst
	}
	dst = append(dst, `,"server_parser":{`...)
	start := len(dst)
	for _, m := range []struct {
		name string
		n    int
	}{{"lost", s.Lost}, {"changed", s.Changed}, {"in_thought", s.InThought}, {"broken", s.Broken}, {"unknown_tool", s.Unknown}} {
		dst = appendCount(dst, m.name, m.n)
	}
	dst = append(dst[:start], dst[start+1:]...) // without the first comma
	return append(dst, '}')
}

// add adds the counts of t.
func (s *ServerParse) add(t ServerParse) {
	s.Lost += t.Lost
	s.Changed += t.Changed
	s.InThought += t.InThought
	s.Broken += t.Broken
	s.Unknown += t.Unknown
}
