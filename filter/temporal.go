package filter

import (
	"unicode"
	"unicode/utf8"

	"assay/qaoa"
)

// keywords holds the temporal words by their first letter, longer ones first
// so that messages name the whole word.
var keywords = [256][]string{
	'd': {"datetime", "dates", "date", "days", "day", "duration", "dropoff_time", "dropoff_date", "drop_off_time", "drop_off_date"},
	'e': {"end_time", "end_date"},
	'h': {"hours", "hour"},
	'm': {"minutes", "minute", "months", "month"},
	'p': {"periods", "period", "pickup_time", "pickup_date", "pick_up_time", "pick_up_date"},
	's': {"start_time", "start_date", "scheduled", "schedule", "seconds", "second"},
	't': {"timestamp", "times", "time"},
	'w': {"weeks", "week", "when"},
	'y': {"years", "year"},
}

// Temporal reports whether text has a temporal word, by the keyword test of
// the paper (UniToolCall, appendix A.3) as its scripts apply it. The words are
//
//	date(s) time(s) datetime timestamp duration when schedule(d) day(s)
//	hour(s) minute(s) second(s) period(s) week(s) month(s) year(s),
//	and start, end, pickup, pick_up, dropoff, drop_off with _time or _date
//
// A word w counts if it stands, in any case,
//
//   - between word boundaries, where letters, digits and "_" make words, or
//   - between separators ("_", "-", blanks) or the ends of the text;
//
// or if it stands in camel case, w exactly as above before a capital (A-Z), or
// w with its first letter capitalised next to a capital, or after a small
// letter (a-z).
//
// So travelDate, time_zone, ISODate, runtimeError and "the second argument"
// have one; update, timezone, birthday, createdAt and scheduling have none.
func Temporal(text string) bool {
	_, ok := temporalWord(text)
	return ok
}

// temporalWord returns the first temporal word of text.
func temporalWord(text string) (word string, ok bool) {
	return findWord(text, counts)
}

// findWord returns the first word of text that stands where it counts. It
// tries every keyword at every place, longer ones first.
func findWord(text string, counts func(text string, i, j int) bool) (word string, ok bool) {
	for i := 0; i < len(text); i++ {
		c := text[i]
		if isUpper(c) {
			c |= 0x20
		}
		for _, k := range keywords[c] {
			if len(text)-i >= len(k) && foldEqual(text[i:i+len(k)], k) && counts(text, i, i+len(k)) {
				return text[i : i+len(k)], true
			}
		}
	}
	return "", false
}

// foldEqual reports whether s is k but for the case of ASCII letters. They are
// of the same length, and k is in lower case.
func foldEqual(s, k string) bool {
	for i := 1; i < len(k); i++ { // the first letter is known to be equal
		c := s[i]
		if 'A' <= c && c <= 'Z' {
			c |= 0x20
		}
		if c != k[i] {
			return false
		}
	}
	return true
}

// counts reports whether the word text[i:j] stands where it counts.
func counts(text string, i, j int) bool {
	before, after := sideBefore(text[:i]), sideAfter(text[j:])
	if before&boundary != 0 && after&boundary != 0 || before&separator != 0 && after&separator != 0 {
		return true
	}
	for n := i + 1; n < j; n++ { // a capital inside is no camel case
		if isUpper(text[n]) {
			return false
		}
	}
	nextUpper := j < len(text) && isUpper(text[j])
	if !isUpper(text[i]) {
		return nextUpper
	}
	return nextUpper || i > 0 && (isUpper(text[i-1]) || isLower(text[i-1]))
}

// A side is what is next to a word.
type side uint8

const (
	boundary  side = 1 << iota // the end of the text or no part of a word
	separator                  // the end of the text, "_", "-" or a blank
)

func sideBefore(s string) side {
	r, n := utf8.DecodeLastRuneInString(s)
	return sideOf(r, n)
}

func sideAfter(s string) side {
	r, n := utf8.DecodeRuneInString(s)
	return sideOf(r, n)
}

func sideOf(r rune, n int) side {
	switch {
	case n == 0, r == '-', unicode.IsSpace(r), 0x1c <= r && r <= 0x1f:
		return boundary | separator
	case r == '_':
		return separator
	case unicode.IsLetter(r), unicode.IsNumber(r):
		return 0
	}
	return boundary
}

func isUpper(c byte) bool { return 'A' <= c && c <= 'Z' }

func isLower(c byte) bool { return 'a' <= c && c <= 'z' }

// schemaOf returns the parameters of tool as a tree, the zero Value if there
// are none or they are no JSON.
func schemaOf(tool qaoa.Tool) qaoa.Value {
	v, err := tool.Parameters.Value()
	if err != nil {
		return qaoa.Value{}
	}
	return v
}
