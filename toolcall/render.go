package toolcall

import "assay/qaoa"

// Render returns calls as an assistant writes them: one <tool_call> block a
// call, each with one JSON object on a line of its own. A call without
// arguments has no such member, and a call that did not parse stands in its
// block as it was. No calls give "".
//
// Parse(Render(calls)) returns the same calls, arguments byte for byte, if each
// has a name, no Raw, and arguments that are absent or any JSON but a string
// (a string that holds JSON would be decoded).
func Render(calls []qaoa.Call) string { return string(Append(nil, calls)) }

// Append appends what [Render] returns to dst.
func Append(dst []byte, calls []qaoa.Call) []byte {
	for i, c := range calls {
		if i > 0 {
			dst = append(dst, '\n')
		}
		dst = append(dst, tagOpen+"\n"...)
		switch {
		case c.Raw != "":
			dst = append(dst, c.Raw...)
		default:
			dst = append(dst, `{"name":`...)
			dst = qaoa.AppendQuote(dst, c.Name)
			if c.Arguments != "" {
				dst = append(dst, `,"arguments":`...)
				dst = append(dst, c.Arguments...)
			}
			dst = append(dst, '}')
		}
		dst = append(dst, "\n"+tagClose...)
	}
	return dst
}
