package jinja

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// textMethods are the methods of str that are known. Each makes less than a
// constant number of times what it is given, or counts what it makes.
var textMethods = map[string]func(r *renderer, s string, a arguments) Value{
	"strip":  func(r *renderer, s string, a arguments) Value { return r.stripped(s, a, true, true) },
	"lstrip": func(r *renderer, s string, a arguments) Value { return r.stripped(s, a, true, false) },
	"rstrip": func(r *renderer, s string, a arguments) Value { return r.stripped(s, a, false, true) },
	"split":  func(r *renderer, s string, a arguments) Value { return r.split(s, a, false) },
	"rsplit": func(r *renderer, s string, a arguments) Value { return r.split(s, a, true) },
	"startswith": func(r *renderer, s string, a arguments) Value {
		return r.affix(s, a, strings.HasPrefix)
	},
	"endswith": func(r *renderer, s string, a arguments) Value {
		return r.affix(s, a, strings.HasSuffix)
	},
	"replace": func(r *renderer, s string, a arguments) Value {
		return r.replace(s, r.wantText(a, 0, "old"), r.wantText(a, 1, "new"), int(r.wantInt(a, 2, "count", -1)))
	},
	"upper":      func(r *renderer, s string, _ arguments) Value { r.grow(2 * len(s)); return strings.ToUpper(s) },
	"lower":      func(r *renderer, s string, _ arguments) Value { r.grow(2 * len(s)); return strings.ToLower(s) },
	"title":      func(r *renderer, s string, _ arguments) Value { r.grow(2 * len(s)); return title(s) },
	"capitalize": func(r *renderer, s string, _ arguments) Value { r.grow(2 * len(s)); return capitalize(s) },
	"find": func(r *renderer, s string, a arguments) Value {
		return runeIndex(s, strings.Index(s, r.wantText(a, 0, "sub")))
	},
	"rfind": func(r *renderer, s string, a arguments) Value {
		return runeIndex(s, strings.LastIndex(s, r.wantText(a, 0, "sub")))
	},
	"index": func(r *renderer, s string, a arguments) Value {
		i := strings.Index(s, r.wantText(a, 0, "sub"))
		if i < 0 {
			r.failf("the text does not hold what index() looks for")
		}
		return runeIndex(s, i)
	},
	"count": func(r *renderer, s string, a arguments) Value {
		return int64(strings.Count(s, r.wantText(a, 0, "sub")))
	},
	"join": func(r *renderer, s string, a arguments) Value {
		return r.join(a.take(0, "iterable", undefined{"join() has no argument"}), s)
	},
	"splitlines": func(r *renderer, s string, _ arguments) Value {
		s = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(s)
		if s == "" {
			return NewList()
		}
		return texts(r, strings.Split(strings.TrimSuffix(s, "\n"), "\n"))
	},
	"removeprefix": func(r *renderer, s string, a arguments) Value {
		return strings.TrimPrefix(s, r.wantText(a, 0, "prefix"))
	},
	"removesuffix": func(r *renderer, s string, a arguments) Value {
		return strings.TrimSuffix(s, r.wantText(a, 0, "suffix"))
	},
	"partition": func(r *renderer, s string, a arguments) Value {
		sep := r.wantText(a, 0, "sep")
		before, after, ok := strings.Cut(s, sep)
		if !ok {
			sep = ""
		}
		return &List{Items: []Value{before, sep, after}, tuple: true}
	},
	"isdigit": func(_ *renderer, s string, _ arguments) Value { return allRunes(s, unicode.IsDigit) },
	"isalpha": func(_ *renderer, s string, _ arguments) Value { return allRunes(s, unicode.IsLetter) },
	"isspace": func(_ *renderer, s string, _ arguments) Value { return allRunes(s, pySpace) },
	"isalnum": func(_ *renderer, s string, _ arguments) Value {
		return allRunes(s, func(c rune) bool { return unicode.IsLetter(c) || unicode.IsNumber(c) })
	},
	"isupper": func(_ *renderer, s string, _ arguments) Value { return cased(s, unicode.IsLower, unicode.IsUpper) },
	"islower": func(_ *renderer, s string, _ arguments) Value { return cased(s, unicode.IsUpper, unicode.IsLower) },
}

func allRunes(s string, is func(rune) bool) bool {
	return s != "" && strings.IndexFunc(s, func(c rune) bool { return !is(c) }) < 0
}

// cased reports whether s has a character that is wanted and none that is not.
func cased(s string, not, wanted func(rune) bool) bool {
	return !strings.ContainsFunc(s, not) && strings.ContainsFunc(s, wanted)
}

// runeIndex returns the number of characters before byte i of s, -1 for -1.
func runeIndex(s string, i int) int64 {
	if i < 0 {
		return -1
	}
	return int64(utf8.RuneCountInString(s[:i]))
}

func capitalize(s string) string {
	r, w := utf8.DecodeRuneInString(s)
	if w == 0 {
		return ""
	}
	return string(unicode.ToTitle(r)) + strings.ToLower(s[w:])
}

func title(s string) string {
	inWord := false
	return strings.Map(func(c rune) rune {
		first := !inWord
		inWord = unicode.IsLetter(c)
		if first {
			return unicode.ToTitle(c)
		}
		return unicode.ToLower(c)
	}, s)
}

// titleWords is the filter title: the first character of each word is a capital,
// where words are between blanks, hyphens and opening brackets.
func titleWords(s string) string {
	inWord := false
	return strings.Map(func(c rune) rune {
		first := !inWord
		inWord = !pySpace(c) && !strings.ContainsRune("-({[<", c)
		if first {
			return unicode.ToTitle(c)
		}
		return unicode.ToLower(c)
	}, s)
}

func (r *renderer) join(v Value, sep string) string {
	var b strings.Builder
	for i, item := range r.items(v) {
		text := r.text(item)
		r.grow(len(text) + len(sep))
		if i > 0 {
			b.WriteString(sep)
		}
		b.WriteString(text)
	}
	return b.String()
}
