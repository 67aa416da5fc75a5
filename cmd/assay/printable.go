package main

import (
	"strings"
	"unicode"
)

// printable returns s as one line that is safe on a terminal: control and
// format characters, which corpus text and model output may hold, become
// U+FFFD, line breaks a blank.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return ' '
		case unicode.IsControl(r) || unicode.Is(unicode.Cf, r):
			return unicode.ReplacementChar
		}
		return r
	}, s)
}
