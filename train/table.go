package train

import (
	"fmt"
	"math"
	"slices"
)

// A margin is what is asked of the sums of rows, or of columns, of a table.
type margin struct {
	names  []string
	shares map[string]float64
	counts map[string]int
	free   bool // nothing is asked
}

// agrees returns an error if the counts alone contradict a total.
func (m margin) agrees(kind string, total int) error {
	sum := 0
	for _, n := range m.counts {
		sum += n
	}
	switch {
	case total > 0 && sum > total:
		return fmt.Errorf("the counts of the %ss are %d rows, and the total is %d: want counts that fit, or no total", kind, sum, total)
	case total > 0 && len(m.shares) == 0 && len(m.counts) > 0 && sum != total:
		return fmt.Errorf("the counts of the %ss are %d rows, and the total is %d: want them equal, no total, or a share for the rest (%q)", kind, sum, total, Rest)
	}
	return nil
}

// targets returns what each group is to have of a total: its count, or its
// share of what counts leave, by largest remainders.
func (m margin) targets(total int) []int {
	out := make([]int, len(m.names))
	left, shares := total, 0.0
	for i, name := range m.names {
		if n, ok := m.counts[name]; ok {
			out[i] = n
			left -= n
		}
		shares += m.shares[name]
	}
	if shares == 0 || left <= 0 {
		return out
	}
	type part struct {
		at        int
		remainder float64
	}
	var parts []part
	given := 0
	for i, name := range m.names {
		if share := m.shares[name]; share > 0 {
			exact := float64(left) * (share / shares)
			out[i] = int(exact)
			given += out[i]
			parts = append(parts, part{i, exact - math.Floor(exact)})
		}
	}
	slices.SortStableFunc(parts, func(a, b part) int {
		switch {
		case a.remainder > b.remainder:
			return -1
		case a.remainder < b.remainder:
			return 1
		}
		return 0
	})
	for i := range left - given {
		out[parts[i%len(parts)].at]++
	}
	return out
}

// fixed returns the total that the margin fixes by counts alone, if it does.
func (m margin) fixed() (int, bool) {
	sum := 0
	for _, n := range m.counts {
		sum += n
	}
	return sum, len(m.counts) > 0 && len(m.shares) == 0
}

// report returns the margin with what it got.
func (m margin) report(take, have [][]int, total int, columns bool) []Margin {
	if m.free {
		return nil
	}
	out := make([]Margin, len(m.names))
	targets := m.targets(total)
	for i, name := range m.names {
		out[i] = Margin{Name: name, Share: m.shares[name], Wanted: targets[i]}
		for r := range take {
			for c := range take[r] {
				if columns && c == i || !columns && r == i {
					out[i].Records += have[r][c]
					out[i].Rows += take[r][c]
				}
			}
		}
	}
	return out
}

// A table shares rows out over sources (rows) and shapes (columns), each pair
// of which has so many records and may give cap rows.
type table struct {
	have  [][]int
	cap   [][]int
	total int // that the margins were filled for
}

func newTable(have [][]int, repeat float64) *table {
	t := &table{have: have}
	for _, h := range have {
		caps := make([]int, len(h))
		for c, n := range h {
			caps[c] = int(float64(n)*repeat + 1e-9)
		}
		t.cap = append(t.cap, caps)
	}
	return t
}

// solve returns how many rows each pair gives: as many as the margins allow for
// the total, or for the largest total that can be had in full if none is given.
func (t *table) solve(total int, rows, cols margin) [][]int {
	most := 0
	for _, caps := range t.cap {
		for _, c := range caps {
			most += c
		}
	}
	switch n, fixedRows := rows.fixed(); {
	case total > 0:
	case fixedRows:
		total = n
	default:
		if n, fixedCols := cols.fixed(); fixedCols {
			total = n
		} else {
			total = t.largest(most, rows, cols)
		}
	}
	t.total = total
	take, _ := t.fill(total, rows, cols)
	return take
}

// largest returns the largest total for which both margins can be filled. The
// rounding of shares can make one total impossible and the next one possible,
// so the border is looked at row by row.
func (t *table) largest(most int, rows, cols margin) int {
	full := func(total int) bool {
		_, sum := t.fill(total, rows, cols)
		return sum == total
	}
	low, high := 0, most
	for low < high {
		mid := low + (high-low+1)/2
		if full(mid) {
			low = mid
		} else {
			high = mid - 1
		}
	}
	for up := min(most, low+len(rows.names)*len(cols.names)); up > low; up-- {
		if full(up) {
			return up
		}
	}
	return low
}

// fill returns the table for a total, and its sum. It begins with one that is
// in proportion to what there is, and adds what is missing along the paths of a
// maximal flow, so that the sum is as large as the margins allow.
func (t *table) fill(total int, rows, cols margin) ([][]int, int) {
	want := func(m margin) []int {
		if m.free {
			// One group, which takes what the other margin leaves to it.
			return []int{total}
		}
		return m.targets(total)
	}
	rowWant, colWant := want(rows), want(cols)
	take := t.proportional(rowWant, colWant)
	f := flow{take, t.cap, rowWant, colWant}
	for f.augment() {
	}
	sum := 0
	for _, row := range take {
		for _, n := range row {
			sum += n
		}
	}
	return take, sum
}

// fittings is how many times the margins are fitted in turn. The result need
// not be exact.
const fittings = 50

// proportional fits have to the margins in turn (iterative proportional
// fitting, Deming and Stephan 1940), no pair beyond its cap, and rounds down.
func (t *table) proportional(rowWant, colWant []int) [][]int {
	x := make([][]float64, len(t.have))
	for r, h := range t.have {
		x[r] = make([]float64, len(h))
		for c, n := range h {
			x[r][c] = float64(n)
		}
	}
	scale := func(want int, cells []*float64, caps []int) {
		sum := 0.0
		for _, c := range cells {
			sum += *c
		}
		if sum == 0 {
			return
		}
		for i, c := range cells {
			*c = min(*c*float64(want)/sum, float64(caps[i]))
		}
	}
	for range fittings {
		for c := range colWant {
			var cells []*float64
			var caps []int
			for r := range x {
				cells, caps = append(cells, &x[r][c]), append(caps, t.cap[r][c])
			}
			scale(colWant[c], cells, caps)
		}
		for r := range x {
			var cells []*float64
			for c := range x[r] {
				cells = append(cells, &x[r][c])
			}
			scale(rowWant[r], cells, t.cap[r])
		}
	}
	// Rounded down, rows are within their targets; columns may be above
	// theirs, where they cannot all be met.
	left := slices.Clone(colWant)
	out := make([][]int, len(x))
	for r := range x {
		out[r] = make([]int, len(x[r]))
		for c := range x[r] {
			out[r][c] = min(int(x[r][c]+1e-6), t.cap[r][c], left[c])
			left[c] -= out[r][c]
		}
	}
	trim(out, rowWant)
	return out
}

// trim takes what a row has beyond its target off its cells.
func trim(x [][]int, want []int) {
	for r := range x {
		sum := 0
		for c := range x[r] {
			x[r][c] = min(x[r][c], want[r]-sum)
			sum += x[r][c]
		}
	}
}

// A flow runs from sources to shapes within the margins.
type flow struct {
	x, cap           [][]int
	rowWant, colWant []int
}

// augment adds to the flow along one shortest path from a row below its target
// to a column below its own, on which cells are added to and taken from in
// turn, and reports whether there was one.
func (f flow) augment() bool {
	rowSum, colSum := make([]int, len(f.rowWant)), make([]int, len(f.colWant))
	for r := range f.x {
		for c, n := range f.x[r] {
			rowSum[r] += n
			colSum[c] += n
		}
	}
	// from[v] is the node before v on the path; rows are 0.., columns follow.
	rows := len(f.rowWant)
	from := make([]int, rows+len(f.colWant))
	for i := range from {
		from[i] = -1
	}
	var queue []int
	for r := range f.rowWant {
		if rowSum[r] < f.rowWant[r] {
			from[r] = r
			queue = append(queue, r)
		}
	}
	for len(queue) > 0 {
		v := queue[0]
		queue = queue[1:]
		if v >= rows {
			c := v - rows
			if colSum[c] < f.colWant[c] {
				f.push(from, v, f.colWant[c]-colSum[c], func(r int) int { return f.rowWant[r] - rowSum[r] })
				return true
			}
			for r := range f.x {
				if from[r] < 0 && f.x[r][c] > 0 {
					from[r] = v
					queue = append(queue, r)
				}
			}
			continue
		}
		for c := range f.colWant {
			if from[rows+c] < 0 && f.x[v][c] < f.cap[v][c] {
				from[rows+c] = v
				queue = append(queue, rows+c)
			}
		}
	}
	return false
}

// push sends what fits along the path that ends at column node end.
func (f flow) push(from []int, end, room int, left func(row int) int) {
	rows := len(f.rowWant)
	amount := room
	for v := end; ; v = from[v] {
		u := from[v]
		if u == v {
			amount = min(amount, left(v))
			break
		}
		if v >= rows {
			amount = min(amount, f.cap[u][v-rows]-f.x[u][v-rows])
		} else {
			amount = min(amount, f.x[v][u-rows])
		}
	}
	for v := end; from[v] != v; v = from[v] {
		if u := from[v]; v >= rows {
			f.x[u][v-rows] += amount
		} else {
			f.x[v][u-rows] -= amount
		}
	}
}
