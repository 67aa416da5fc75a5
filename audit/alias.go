package audit

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
)

// mostNames is how many names of rows, or headings, are compared with each
// other: more are no models and no metrics. mostPairs is how many pairs of
// either kind are listed.
const (
	mostNames = 1000
	mostPairs = 100
)

// likeNames names rows, and columns, of different tables that may be one thing
// under two names. Two names are compared only if no table holds both (they
// are two things there), no alias joins them, and two tables that hold one each
// have another row in common (they are about the same kind of things).
//
// Names of rows are cut into tokens: lower case, at all that is neither letter
// nor digit, and between a letter and a digit that follows it; dots within
// numbers stay. A number that ends in k, m or b is a size, another number a
// version, with or without v before it, and what remains are words. Words that
// say how a model was released (instruct, chat, it, preview, latest) do not
// count. Two names are alike if they begin with the same word and differ in one
// thing at most:
//
//   - one has one word more: Flash, Flash-Lite;
//   - one has no version, or a less precise one: 3, 3.1;
//   - one has no size: Mistral, Mistral-7B.
//
// Two headings are alike if
//
//   - they have the same letters: ToolF1, tool_f1;
//   - one is the other before an @: Hit Ratio, Hit Ratio @All;
//   - one abbreviates the other, by initials (PA, Parameter Accuracy) or by
//     beginnings of its words (P_acc), of which one has five letters or more;
//   - they begin with the same word, have equal initials, and differ in words of
//     five letters or more: Parameter Accuracy, Parameter Appropriateness.
func (c *checker) likeNames(r Rule) error {
	rows, columns := map[string][]int{}, map[string][]int{}
	for i, t := range c.tables {
		for _, row := range c.scores(t) {
			if at := rows[row.Name]; len(at) == 0 || at[len(at)-1] != i {
				rows[row.Name] = append(at, i)
			}
		}
		for _, col := range t.Columns {
			if at := columns[col]; len(at) == 0 || at[len(at)-1] != i {
				columns[col] = append(at, i)
			}
		}
	}
	near := c.neighbours(rows)
	models := map[string]modelName{}
	for name := range rows {
		models[name] = parseModel(name)
	}
	c.pairsAlike(r, "row", rows, near, func(a, b string) string {
		if c.canonical(a) == c.canonical(b) {
			return ""
		}
		return likeModels(models[a], models[b])
	})
	c.pairsAlike(r, "column", columns, near, likeHeadings)
	return nil
}

// neighbours returns a function that says which tables have a row in common
// with one of some tables.
func (c *checker) neighbours(rows map[string][]int) func(tables []int) map[int]bool {
	holders := map[string][]int{}
	names := make([][]string, len(c.tables)) // of rows, of each table
	for name, at := range rows {
		one := c.canonical(name)
		holders[one] = append(holders[one], at...)
		for _, t := range at {
			names[t] = append(names[t], one)
		}
	}
	return func(tables []int) map[int]bool {
		near, seen := map[int]bool{}, map[string]bool{}
		for _, t := range tables {
			for _, name := range names[t] {
				if seen[name] {
					continue
				}
				seen[name] = true
				for _, u := range holders[name] {
					near[u] = true
				}
			}
		}
		return near
	}
}

// pairsAlike adds a finding for each two names that are alike; how says in what
// they differ, "" if they are not alike. After mostPairs it only says that
// there are more: such a list is no longer read.
func (c *checker) pairsAlike(r Rule, kind string, at map[string][]int, near func([]int) map[int]bool, how func(a, b string) string) {
	names := slices.SortedFunc(maps.Keys(at), func(a, b string) int {
		return cmp.Or(slices.Compare(at[a], at[b]), cmp.Compare(a, b))
	})
	if len(names) > mostNames {
		c.add(Note, r, c.tables[0], "", "", fmt.Sprintf("%d names", len(names)), fmt.Sprintf("%d at most", mostNames),
			fmt.Sprintf("%d names of %ss are too many to look for two names of one thing", len(names), kind))
		return
	}
	pairs := 0
	for i, a := range names {
		var around map[int]bool // tables with a row in common with those of a
		for _, b := range names[i+1:] {
			difference := how(a, b)
			if difference == "" || slices.ContainsFunc(at[a], func(t int) bool { return slices.Contains(at[b], t) }) {
				continue
			}
			if around == nil {
				around = near(at[a])
			}
			if !slices.ContainsFunc(at[b], func(u int) bool { return around[u] }) {
				continue
			}
			if pairs++; pairs > mostPairs {
				c.add(Note, r, c.tables[0], "", "", fmt.Sprintf("more than %d pairs", mostPairs), "few",
					fmt.Sprintf("more than %d pairs of %ss may be two names of one thing: the rest is not listed", mostPairs, kind))
				return
			}
			c.alike(r, kind, a, b, difference, at)
		}
	}
}

func (c *checker) alike(r Rule, kind, a, b, difference string, at map[string][]int) {
	t := c.tables[at[a][0]]
	row, column, advice := a+" and "+b, "", fmt.Sprintf("; if so, alias %q = %q", a, b)
	thing := "model"
	if kind == "column" {
		row, column, advice, thing = "", row, "", "measure"
	}
	c.add(Oddity, r, t, row, column, "two names", "one name for one "+thing,
		fmt.Sprintf("%s %q of %s and %s %q of %s may be one %s (%s): check%s",
			kind, a, c.tableNames(at[a]), kind, b, c.tableNames(at[b]), thing, difference, advice))
}

// tableNames lists tables, and does not list more than three.
func (c *checker) tableNames(at []int) string {
	const show = 3
	var names []string
	for _, t := range at[:min(show, len(at))] {
		names = append(names, c.tables[t].Name)
	}
	list := strings.Join(names, ", ")
	if n := len(at) - show; n > 0 {
		list += fmt.Sprintf(" and %d more", n)
	}
	return list
}

// A modelName is the tokens of a name by kind, each sorted.
type modelName struct {
	family                 string // the first word
	words, versions, sizes []string
}

// releases are words that say how a model was released.
var releases = []string{"instruct", "chat", "it", "preview", "latest"}

func parseModel(name string) modelName {
	var m modelName
	tokens := tokensOf(name)
	for i, t := range tokens {
		switch digit := t[0] >= '0' && t[0] <= '9'; {
		case digit && strings.ContainsRune("kmb", rune(t[len(t)-1])):
			m.sizes = append(m.sizes, t)
		case digit && isNumber(t):
			m.versions = append(m.versions, t)
		case t == "v" && i+1 < len(tokens) && isNumber(tokens[i+1]), slices.Contains(releases, t):
		default:
			if m.family == "" {
				m.family = t
			}
			m.words = append(m.words, t)
		}
	}
	slices.Sort(m.words)
	slices.Sort(m.versions)
	slices.Sort(m.sizes)
	return m
}

func isNumber(t string) bool { return strings.Trim(t, "0123456789.") == "" }

// tokensOf cuts a name into tokens, none of them empty.
func tokensOf(name string) []string {
	var out []string
	var b strings.Builder
	flush := func() {
		if t := strings.Trim(b.String(), "."); t != "" {
			out = append(out, t)
		}
		b.Reset()
	}
	last := ' '
	for _, r := range strings.ToLower(name) {
		switch {
		case unicode.IsDigit(r):
			if unicode.IsLetter(last) {
				flush()
			}
			b.WriteRune(r)
		case unicode.IsLetter(r), r == '.' && unicode.IsDigit(last):
			b.WriteRune(r)
		default:
			flush()
		}
		last = r
	}
	flush()
	return out
}

// likeModels says in what two names of models differ, "" if in too much.
func likeModels(x, y modelName) string {
	if x.family == "" || x.family != y.family {
		return ""
	}
	var differ []string
	if !slices.Equal(x.words, y.words) {
		extra, ok := oneMore(x.words, y.words)
		if !ok {
			return ""
		}
		differ = append(differ, fmt.Sprintf("one has the word %q more", extra))
	}
	if !slices.Equal(x.versions, y.versions) {
		if !lessPrecise(x.versions, y.versions) && !lessPrecise(y.versions, x.versions) {
			return ""
		}
		differ = append(differ, "one has no version, or a less precise one")
	}
	if !slices.Equal(x.sizes, y.sizes) {
		if len(x.sizes) > 0 && len(y.sizes) > 0 {
			return ""
		}
		differ = append(differ, "one has no size")
	}
	switch len(differ) {
	case 0:
		return "they differ in spelling, or in how the model was released"
	case 1:
		return differ[0]
	}
	return ""
}

// oneMore returns the word that one of two sorted lists has more, if that is
// all that tells them apart.
func oneMore(a, b []string) (string, bool) {
	if len(a) < len(b) {
		a, b = b, a
	}
	if len(a) != len(b)+1 {
		return "", false
	}
	for i, w := range a {
		if slices.Equal(slices.Concat(a[:i], a[i+1:]), b) {
			return w, true
		}
	}
	return "", false
}

// lessPrecise reports whether a has no version, or the beginning of b's.
func lessPrecise(a, b []string) bool {
	return len(a) == 0 || len(a) == 1 && len(b) == 1 && strings.HasPrefix(b[0], a[0]+".")
}

// likeHeadings says how two headings are alike, "" if they are not.
func likeHeadings(a, b string) string {
	x, y := words(a), words(b)
	sx, sy := slices.Sorted(slices.Values(x)), slices.Sorted(slices.Values(y))
	switch {
	case len(x) == 0 || len(y) == 0 || slices.Equal(sx, sy):
		return "" // no name, or one name
	case strings.Join(x, "") == strings.Join(y, ""):
		return "they have the same letters"
	case beforeAt(a, y) || beforeAt(b, x):
		return "one has a condition after @"
	case abbreviates(x, y) || abbreviates(y, x):
		return "one abbreviates the other"
	case len(x) > 1 && len(x) == len(y) && x[0] == y[0] && initials(x) == initials(y) && longApart(x, y):
		return fmt.Sprintf("%s would abbreviate both", initials(x))
	}
	return ""
}

// beforeAt reports whether other is what stands before the @ of a heading.
func beforeAt(heading string, other []string) bool {
	before, _, ok := strings.Cut(heading, "@")
	return ok && slices.Equal(words(before), other)
}

func initials(words []string) string {
	var b strings.Builder
	for _, w := range words {
		for _, r := range w {
			b.WriteRune(r)
			break
		}
	}
	return b.String()
}

// abbreviates reports whether short stands for long.
func abbreviates(short, long []string) bool {
	if len(long) < 2 {
		return false
	}
	if len(short) == 1 {
		return short[0] == initials(long) && slices.ContainsFunc(long, func(w string) bool { return len(w) > 2 })
	}
	if len(short) != len(long) {
		return false
	}
	shortened := false
	for i, w := range long {
		if !strings.HasPrefix(w, short[i]) {
			return false
		}
		shortened = shortened || len(w) >= 5 && w != short[i]
	}
	return shortened
}

// longApart reports whether words in the same place are equal or long.
func longApart(x, y []string) bool {
	for i := range x {
		if x[i] != y[i] && (len(x[i]) < 5 || len(y[i]) < 5) {
			return false
		}
	}
	return true
}
