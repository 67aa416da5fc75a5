package match

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// dateText returns the canonical text of the date or date-time that s is, and
// whether it is one. The forms are (UniToolCall, section B.2, made exact):
//
//	Y-M-D  Y/M/D  Y.M.D
//	Month D, Y  Month D Y  D Month, Y  D Month Y
//	M/D/Y  M-D-Y           day first if the first field exceeds 12
//	YYYY-MM-DDTHH:MM       optional: seconds, fraction, zone; blank for T
//
// where Y has four digits and is at least 1, M and D have one or two, and a
// month's name is full or its first three letters, which a full stop may
// follow. A day beside a name may carry an ordinal suffix. With dayFirst the
// third line reads D/M/Y, and month first if the second field exceeds 12.
//
// The text is 2023-04-01 for a date; 2023-04-01T10:00:00 for a wall time,
// unless it is midnight, which equals its date; and 2023-04-01T10:00:00Z for
// the instant of a time with a zone. Dates and times that do not exist
// (2023-02-30, 24:00, a leap second) are none.
func dateText(s string, dayFirst bool) (string, bool) {
	if len(s) < len("1/1/2023") {
		return "", false
	}
	switch n := digitRun(s); n {
	case 4:
		if len(s) > 10 && (s[10] == 'T' || isBlank(s[10])) {
			return dateTime(s)
		}
		return numericDate(s, n, func(a, b, c int) (y, m, d int) { return a, b, c }, "-/.")
	case 1, 2:
		if s[n] == '/' || s[n] == '-' {
			return numericDate(s, n, func(a, b, y int) (int, int, int) {
				if dayFirst && b <= 12 || !dayFirst && a > 12 {
					return y, b, a
				}
				return y, a, b
			}, "/-")
		}
		return namedDate(s)
	case 0:
		return namedDate(s)
	}
	return "", false
}

// isBlank reports whether c is white space. What is not ASCII was NFKC-ed, so
// the usual blanks are ASCII by now.
func isBlank(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

// numericDate reads three numbers of which the first has n digits, with one of
// separators twice between them. order sorts them into year, month and day.
func numericDate(s string, n int, order func(a, b, c int) (y, m, d int), separators string) (string, bool) {
	sep := s[n]
	if strings.IndexByte(separators, sep) < 0 {
		return "", false
	}
	rest := s[n+1:]
	k := digitRun(rest)
	if k < 1 || k > 2 || k == len(rest) || rest[k] != sep {
		return "", false
	}
	last := rest[k+1:]
	width := digitRun(last)
	if width != len(last) || n == 4 && (width < 1 || width > 2) || n < 4 && width != 4 {
		return "", false
	}
	a, b, c := atoi(s[:n]), atoi(rest[:k]), atoi(last)
	return dayText(order(a, b, c))
}

// namedDate reads the forms with the name of a month.
func namedDate(s string) (string, bool) {
	var month, day int
	var ok bool
	if digitRun(s) > 0 {
		if day, s, ok = ordinal(s); !ok {
			return "", false
		}
		if s, ok = blanks(s); !ok {
			return "", false
		}
		if month, s, ok = monthName(s); !ok {
			return "", false
		}
	} else {
		if month, s, ok = monthName(s); !ok {
			return "", false
		}
		if s, ok = blanks(s); !ok {
			return "", false
		}
		if day, s, ok = ordinal(s); !ok {
			return "", false
		}
	}
	year, gap := blanks(s)
	if after, comma := strings.CutPrefix(year, ","); comma {
		year, _ = blanks(after)
		gap = true
	}
	if !gap || len(year) != 4 || digitRun(year) != 4 {
		return "", false
	}
	return dayText(atoi(year), month, day)
}

// blanks returns s without the blanks at its start, and whether it had any.
func blanks(s string) (string, bool) {
	i := 0
	for i < len(s) && isBlank(s[i]) {
		i++
	}
	return s[i:], i > 0
}

// ordinal reads a day of one or two digits and its suffix, if it has one.
func ordinal(s string) (day int, rest string, ok bool) {
	n := digitRun(s)
	if n < 1 || n > 2 {
		return 0, "", false
	}
	day, rest = atoi(s[:n]), s[n:]
	if len(rest) >= 2 {
		switch strings.ToLower(rest[:2]) {
		case "st", "nd", "rd", "th":
			rest = rest[2:]
		}
	}
	return day, rest, true
}

// monthName reads the name of a month in any case: in full, or three letters
// and perhaps a full stop.
func monthName(s string) (month int, rest string, ok bool) {
	n := 0
	for n < len(s) && (s[n]|0x20) >= 'a' && (s[n]|0x20) <= 'z' {
		n++
	}
	if n < 3 {
		return 0, "", false
	}
	for m := time.January; m <= time.December; m++ {
		full := m.String()
		if n == 3 && strings.EqualFold(s[:3], full[:3]) {
			return int(m), strings.TrimPrefix(s[3:], "."), true
		}
		if strings.EqualFold(s[:n], full) {
			return int(m), s[n:], true
		}
	}
	return 0, "", false
}

// dateTime reads YYYY-MM-DD, T or a blank, HH:MM, and the optional rest.
func dateTime(s string) (string, bool) {
	if s[4] != '-' || s[7] != '-' || digitRun(s[5:]) != 2 || digitRun(s[8:]) != 2 {
		return "", false
	}
	y, m, d := atoi(s[:4]), atoi(s[5:7]), atoi(s[8:10])
	date, ok := dayText(y, m, d)
	if !ok {
		return "", false
	}
	hour, minute, s, ok := clock(s[11:])
	if !ok {
		return "", false
	}
	second, fraction := 0, ""
	if strings.HasPrefix(s, ":") {
		if digitRun(s[1:]) != 2 {
			return "", false
		}
		second, s = atoi(s[1:3]), s[3:]
		if strings.HasPrefix(s, ".") {
			n := digitRun(s[1:])
			if n == 0 {
				return "", false
			}
			fraction, s = strings.TrimRight(s[1:1+n], "0"), s[1+n:]
		}
	}
	if second > 59 {
		return "", false
	}
	if fraction != "" {
		fraction = "." + fraction
	}
	if s == "" {
		if hour == 0 && minute == 0 && second == 0 && fraction == "" {
			return date, true
		}
		return fmt.Sprintf("%sT%02d:%02d:%02d%s", date, hour, minute, second, fraction), true
	}
	offset, ok := zone(s)
	if !ok {
		return "", false
	}
	t := time.Date(y, time.Month(m), d, hour, minute, second, 0, time.UTC).Add(-offset)
	return t.Format("2006-01-02T15:04:05") + fraction + "Z", true
}

// clock reads HH:MM.
func clock(s string) (hour, minute int, rest string, ok bool) {
	if len(s) < 5 || s[2] != ':' || digitRun(s) != 2 || digitRun(s[3:]) != 2 {
		return 0, 0, "", false
	}
	hour, minute = atoi(s[:2]), atoi(s[3:5])
	return hour, minute, s[5:], hour <= 23 && minute <= 59
}

// zone reads Z, ±HH, ±HHMM or ±HH:MM, up to 23:59.
func zone(s string) (time.Duration, bool) {
	if s == "Z" {
		return 0, true
	}
	if s[0] != '+' && s[0] != '-' {
		return 0, false
	}
	digits := s[1:]
	switch {
	case len(digits) == 2:
		digits += ":00"
	case len(digits) == 4:
		digits = digits[:2] + ":" + digits[2:]
	}
	hour, minute, rest, ok := clock(digits)
	if !ok || rest != "" {
		return 0, false
	}
	offset := time.Duration(hour)*time.Hour + time.Duration(minute)*time.Minute
	if s[0] == '-' {
		offset = -offset
	}
	return offset, true
}

// dayText writes a date, if there is such a day.
func dayText(y, m, d int) (string, bool) {
	t := time.Date(y, time.Month(m), d, 0, 0, 0, 0, time.UTC)
	if y < 1 || m < 1 || t.Month() != time.Month(m) || d < 1 || t.Day() != d {
		return "", false
	}
	return t.Format(time.DateOnly), true
}

// atoi returns the value of up to four digits.
func atoi(digits string) int {
	n, _ := strconv.Atoi(digits) // digits and few: it cannot fail
	return n
}
