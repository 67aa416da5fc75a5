package page

import "bytes"

// Holds reports whether a search for a word finds it in a text.
func Holds(text, word string) bool {
	for _, n := range needles(word) {
		if !bytes.Contains(appendFold(nil, text), n) {
			return false
		}
	}
	return true
}

// Overview is the JSON object that the page begins with.
func (r *Report) Overview() []byte { return r.overview }
