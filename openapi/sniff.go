package openapi

import "bytes"

// Sniff reports whether data, a text or the beginning of one, looks like an
// OpenAPI 3 document: an object of JSON with a member "openapi" that begins
// with 3, or YAML with such a line. [Tools] says what is wrong with one that
// looks like it and is none.
func Sniff(data []byte) bool {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if text := bytes.TrimSpace(data); len(text) > 0 && text[0] == '{' {
		// A record may hold a whole document as a text, but its quotes have a
		// backslash there.
		for {
			_, after, ok := bytes.Cut(text, []byte(`"openapi"`))
			if !ok {
				return false
			}
			text = bytes.TrimLeft(after, " \t\r\n")
			if rest, ok := bytes.CutPrefix(text, []byte(":")); ok && isThree(rest) {
				return true
			}
		}
	}
	for line := range bytes.Lines(data) {
		for _, key := range []string{"openapi", `"openapi"`, "'openapi'"} {
			if rest, ok := bytes.CutPrefix(line, []byte(key)); ok {
				rest, ok = bytes.CutPrefix(bytes.TrimLeft(rest, " \t"), []byte(":"))
				if ok && isThree(rest) {
					return true
				}
			}
		}
	}
	return false
}

// isThree reports whether value begins with a 3, quoted or not.
func isThree(value []byte) bool {
	return bytes.HasPrefix(bytes.TrimLeft(value, " \t\r\n\"'"), []byte("3"))
}
