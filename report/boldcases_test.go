package report

import (
	"math"
	"slices"
	"strings"
	"testing"
)

// contestOf returns the contest of column SP ST.
func contestOf(t *testing.T, b *Bolding) Contest {
	t.Helper()
	i := slices.IndexFunc(b.Contests, func(c Contest) bool { return c.Column == Column{"SP", "ST"} })
	if i < 0 {
		t.Fatalf("no contest of SP ST in %+v", b.Contests)
	}
	return b.Contests[i]
}

// repeated returns n times s.
func repeated(n int, s string) string { return strings.Repeat(s, n) }

// Two models print alike in the second place, and the better of them is the
// one to beat: 1000 of 3000 records against 999 are 33.3 both.
func TestTheRivalIsTheBestOfTheSecondPlace(t *testing.T) {
	const n = 3000
	best := boldRun("best", "1", repeated(n, "+"))
	better := boldRun("better", "1", repeated(1000, "+")+repeated(n-1000, "-"))
	worse := boldRun("worse", "1", repeated(999, "+")+repeated(n-999, "-"))
	for _, runs := range [][]Run{{best, better, worse}, {worse, better, best}} {
		marks, b := boldOf(t, runs, Options{Bold: BoldPaired, Resamples: 50})
		c := contestOf(t, b)
		if !slices.Equal(slices.Sorted(slices.Values(c.Second)), []string{"better", "worse"}) || c.Test == nil || c.Test.N != n-1000 {
			t.Errorf("%+v: want %d records on which the best and the better differ", c, n-1000)
		}
		if !strings.Contains(marks, "better S") || !strings.Contains(marks, "worse S") {
			t.Errorf("marks %q: want both of the second place underlined", marks)
		}
	}
}

// The third place is never tested, even where its difference from the best is
// less sure than that of the second: it is smaller nowhere, but spread wider.
func TestOnlyTheSecondPlaceIsTested(t *testing.T) {
	best := repeated(30, "+") + repeated(30, "-")
	second := repeated(18, "+") + repeated(42, "-") // 12 lost, none gained: p = 2/2^12
	third := repeated(4, "+") + repeated(26, "-") + repeated(12, "+") + repeated(18, "-")
	runs := []Run{boldRun("a", "1", best), boldRun("b", "1", second), boldRun("c", "1", third)}
	marks, _ := boldOf(t, runs, Options{Bold: BoldPaired, Resamples: 50})
	if marks != "a B, b S" {
		t.Errorf("marks %q, want the first bold", marks)
	}
	p, err := Compare(runs[:1], runs[2:], PairOptions{Metrics: []string{"SP"}, Cells: []string{"ST"}, Options: Options{Resamples: 50}})
	if err != nil {
		t.Fatal(err)
	}
	if c := p.Columns[0]; *c.Test.P <= .01 || *c.Test.P > .05 {
		t.Errorf("the best against the third: p = %v, want one that Holm over four columns does not bear", *c.Test.P)
	}
}

// A corrected p-value at 1 - level is significant, one above it is not. Four
// equal columns of five records that differ have p = 2/2^5, and 1/4 corrected.
func TestBoldAtTheLevelItself(t *testing.T) {
	runs := []Run{boldRun("a", "1", repeated(24, "+")), boldRun("b", "1", repeated(19, "+")+repeated(5, "-"))}
	for level, want := range map[float64]bool{.75: true, .7500001: false, .74: true} {
		_, b := boldOf(t, runs, Options{Bold: BoldPaired, Level: level, Resamples: 50})
		if c := contestOf(t, b); c.Bold != want || math.Abs(*c.Holm-.25) > 1e-12 {
			t.Errorf("at a level of %v: bold %v with p = %v, want %v with 0.25", level, c.Bold, *c.Holm, want)
		}
	}
}

// A permutation test of few draws has no p-value that four comparisons bear,
// and says so instead of speaking of chance. Forty sizes of differences make
// too many outcomes to count them all.
func TestTooFewDrawsAreNamed(t *testing.T) {
	const n = 40
	ones, below, half, around := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	for i := range n {
		ones[i], below[i] = 1, float64(i)/n/n
		half[i], around[i] = .5, .5+float64(i%2*2-1)*(.01+float64(i)/n/2)
	}
	for _, row := range []struct {
		name, want string
		draws      int
		a, b       []float64
	}{
		{"1/21 is the least of 20 draws, and 4/21 is above 0.05", whyDraws, 20, ones, below},
		{"4/201 is not", "", 200, ones, below},
		{"draws that reach the difference", whyChance, 20, around, half},
	} {
		t.Run(row.name, func(t *testing.T) {
			runs := []Run{scoredRun("a", "gt", idsTo(n), row.a), scoredRun("b", "gt", idsTo(n), row.b)}
			_, b := boldOf(t, runs, Options{Bold: BoldPaired, Resamples: row.draws})
			c := contestOf(t, b)
			if c.Test == nil || c.Test.Draws != row.draws || c.Why != row.want || c.Bold != (row.want == "") {
				t.Errorf("%+v of %+v, want the reason %q", c, c.Test, row.want)
			}
			if notes := strings.Join(b.notes(), "\n"); strings.Contains(notes, "raise --resamples") != (row.want == whyDraws) {
				t.Errorf("notes %q", notes)
			}
		})
	}
}

func TestFloorAndCeilingAreNamedInEveryTable(t *testing.T) {
	all, none := repeated(24, "+"), repeated(24, "-")
	mid := all[:12] + none[:12]
	for _, row := range []struct {
		name, want string
		rights     []string
	}{
		{"all but one at the ceiling", "SP ST is at its ceiling (100) for 2 of 3 models", []string{all, all, mid}},
		{"all but one at the floor", "SP ST is at its floor (0) for 2 of 3 models", []string{none, none, mid}},
		{"two of two at the ceiling", "SP ST is at its ceiling (100) for 2 of 2 models", []string{all, all}},
		{"one of two", "", []string{all, mid}},
		{"half of four", "", []string{all, all, mid, mid}},
		{"one at either end", "", []string{all, none, mid}},
	} {
		t.Run(row.name, func(t *testing.T) {
			var runs []Run
			for i, right := range row.rights {
				r := boldRun(string(rune('a'+i)), "1", right)
				r.Predictions = r.Model
				runs = append(runs, r)
			}
			c, err := Table1(runs, Options{})
			if err != nil {
				t.Fatal(err)
			}
			s, err := Summarize(runs, Options{Resamples: 50})
			if err != nil {
				t.Fatal(err)
			}
			if hop := strings.Join(s.HopSheet().Notes, "\n"); strings.Contains(hop, " ST ") {
				t.Errorf("notes of the hop level are about conversations:\n%s", hop)
			}
			for _, notes := range [][]string{c.Notes, s.notes(allCells), s.TurnSheet().Notes} {
				got := slices.ContainsFunc(notes, func(n string) bool { return strings.Contains(n, "does not rank them") })
				has := slices.ContainsFunc(notes, func(n string) bool { return row.want != "" && strings.Contains(n, row.want) })
				if got != (row.want != "") || has != got {
					t.Errorf("notes %q, want %q", notes, row.want)
				}
			}
		})
	}
}
