package report

import (
	"cmp"
	"encoding/binary"
	"maps"
	"math"
	"slices"
	"sync"

	"assay/stats"
)

// A yardstick is a [view] without its column.
type yardstick struct{ preset, setting, seed string }

func (v view) yardstick() yardstick { return yardstick{v.preset, v.setting, v.seed} }

// A system is a model by a yardstick: some runs.
type system struct {
	yardstick
	model string
}

// A cellSums holds what a system scored in a cell, by record.
type cellSums struct {
	universe int
	sums     [][5]float64 // by record of the universe and metric
}

// A universe is the records with instances in a cell, for all systems that
// were asked the same.
type universe struct {
	keys    []instance
	sizes   []float64 // instances of each record
	systems []system
}

// A rankBoot resamples records and ranks the models on each resample.
//
// The records of a cell are drawn with replacement, whole, as many as there
// are; every system that was asked them gets the same draw, so settings,
// presets and seeds stay paired. All means, both rankings and both
// coefficients are then computed anew.
type rankBoot struct {
	cell      string
	universes []universe
	of        map[system]cellSums
}

// newRankBoot sorts the items of all systems by record. A system with a run
// without items is left out.
func newRankBoot(cell string, systems []system, scored map[system]map[instance]*meanScore) *rankBoot {
	b := &rankBoot{cell: cell, of: map[system]cellSums{}}
	for _, s := range systems {
		keys := keysOf(scored[s], cell)
		if len(keys) == 0 {
			continue
		}
		at := slices.IndexFunc(b.universes, func(u universe) bool { return slices.Equal(u.keys, keys) })
		if at < 0 {
			at = len(b.universes)
			b.universes = append(b.universes, universe{keys: keys})
		}
		u := &b.universes[at]
		u.systems = append(u.systems, s)
		u.sizes = u.sizes[:0]
		var sums [][5]float64
		for i, k := range keys { // sorted by record
			if i == 0 || k.id != keys[i-1].id {
				sums, u.sizes = append(sums, [5]float64{}), append(u.sizes, 0)
			}
			m := scored[s][k]
			for j := range m.sum {
				sums[len(sums)-1][j] += m.sum[j] / m.n
			}
			u.sizes[len(u.sizes)-1]++
		}
		b.of[s] = cellSums{universe: at, sums: sums}
	}
	return b
}

// keysOf returns the instances of a cell, sorted by record and turn.
func keysOf(scored map[instance]*meanScore, cell string) []instance {
	var keys []instance
	for k := range scored {
		if k.cell == cell {
			keys = append(keys, k)
		}
	}
	slices.SortFunc(keys, func(a, b instance) int {
		return cmp.Or(cmp.Compare(a.id, b.id), cmp.Compare(a.turn, b.turn))
	})
	return keys
}

// A rival is an agreement with the systems and metrics behind its two sides.
type rival struct {
	to         *agreement
	a, b       []int // systems of the universe
	metA, metB int
}

// A tally counts resamples by coefficient.
type tally struct {
	rho, tau  map[float64]int
	undefined int // resamples in which all models of a side are equal
}

// fill sets the intervals of the agreements of b's cell. values are the scores
// that the agreements are about.
func (b *rankBoot) fill(list []agreement, values map[view]map[string]float64, opt Options) {
	rivals := make([][]rival, len(b.universes))
	for i := range list {
		if r, at, ok := b.rival(&list[i], values); ok {
			rivals[at] = append(rivals[at], r)
		}
	}
	for at, rs := range rivals {
		if u := b.universes[at]; len(rs) > 0 && len(u.sizes) > 1 {
			b.run(u, rs, opt)
		}
	}
}

// rival finds what is behind an agreement; false if it is not of this cell, if
// its systems were not all asked the same, or if their items do not fit their
// scores.
func (b *rankBoot) rival(to *agreement, values map[view]map[string]float64) (r rival, universe int, ok bool) {
	if to.va.col.Cell != b.cell {
		return r, 0, false
	}
	r = rival{to: to, metA: slices.Index(metrics, to.va.col.Metric), metB: slices.Index(metrics, to.vb.col.Metric)}
	universe = -1
	for _, side := range []struct {
		v      view
		metric int
		into   *[]int
	}{{to.va, r.metA, &r.a}, {to.vb, r.metB, &r.b}} {
		for _, model := range to.models {
			s := system{side.v.yardstick(), model}
			c, known := b.of[s]
			if universe < 0 {
				universe = c.universe
			}
			if !known || c.universe != universe {
				return r, 0, false
			}
			u := b.universes[universe]
			var sum float64
			for _, x := range c.sums {
				sum += x[side.metric]
			}
			if math.Abs(sum/float64(len(u.keys))-values[side.v][model]) > 1e-6 {
				return r, 0, false
			}
			*side.into = append(*side.into, slices.Index(u.systems, s))
		}
	}
	return r, universe, true
}

// run resamples the records of a universe and sets the intervals of rivals.
func (b *rankBoot) run(u universe, rivals []rival, opt Options) {
	of, classes := b.classes(u)
	var mu sync.Mutex
	var all [][]tally // by worker; they add up to the same for any number
	stats.Resample(len(u.sizes), opt.bootstrap(), func() func(int, []int) {
		mine := make([]tally, len(rivals))
		for i := range mine {
			mine[i] = tally{rho: map[float64]int{}, tau: map[float64]int{}}
		}
		mu.Lock()
		all = append(all, mine)
		mu.Unlock()
		means, drawn := make([][5]float64, len(u.systems)), make([]int, len(classes.sizes))
		var x, y []float64
		return func(_ int, counts []int) {
			clear(drawn)
			for i, n := range counts {
				drawn[of[i]] += n
			}
			resampleMeans(means, classes, drawn)
			for i, r := range rivals {
				x, y = x[:0], y[:0]
				for k := range r.a {
					x, y = append(x, means[r.a[k]][r.metA]), append(y, means[r.b[k]][r.metB])
				}
				mine[i].add(x, y)
			}
		}
	})
	for i, r := range rivals {
		sum := tally{rho: map[float64]int{}, tau: map[float64]int{}}
		for _, mine := range all {
			sum.merge(mine[i])
		}
		r.to.Records = len(u.sizes)
		r.to.RhoCI, r.to.TauCI = sum.intervals(opt.level())
	}
}

// recordClasses are records with the same scores of all systems.
type recordClasses struct {
	sizes []float64      // instances of a record
	sums  [][][5]float64 // by system, class and metric
}

// classes joins records that no system tells apart, which makes resampling
// some times faster. It returns the class of each record.
func (b *rankBoot) classes(u universe) (of []int, classes recordClasses) {
	classes.sums = make([][][5]float64, len(u.systems))
	index := map[string]int{}
	var key []byte
	for i, size := range u.sizes {
		key = binary.LittleEndian.AppendUint64(key[:0], math.Float64bits(size))
		for _, s := range u.systems {
			for _, x := range b.of[s].sums[i] {
				key = binary.LittleEndian.AppendUint64(key, math.Float64bits(x))
			}
		}
		at, ok := index[string(key)]
		if !ok {
			at = len(classes.sizes)
			index[string(key)] = at
			classes.sizes = append(classes.sizes, size)
			for k, s := range u.systems {
				classes.sums[k] = append(classes.sums[k], b.of[s].sums[i])
			}
		}
		of = append(of, at)
	}
	return of, classes
}

// resampleMeans sets the mean of each system and metric over drawn classes.
func resampleMeans(means [][5]float64, classes recordClasses, drawn []int) {
	var size float64
	for i, n := range drawn {
		size += float64(n) * classes.sizes[i]
	}
	for s, sums := range classes.sums {
		// Five sums that stay in registers: this loop is nearly all of the work.
		var a, b, c, d, e float64
		for i := range sums {
			if n := drawn[i]; n > 0 {
				w, x := float64(n), &sums[i]
				a += w * x[0]
				b += w * x[1]
				c += w * x[2]
				d += w * x[3]
				e += w * x[4]
			}
		}
		means[s] = [5]float64{tied(a / size), tied(b / size), tied(c / size), tied(d / size), tied(e / size)}
	}
}

// tied rounds a mean so that scores which differ by the order of a sum only
// share a rank.
func tied(mean float64) float64 { return math.Round(mean*1e12) / 1e12 }

func (t *tally) add(x, y []float64) {
	rho := stats.Spearman(x, y)
	if math.IsNaN(rho) {
		t.undefined++
		return
	}
	t.rho[rho]++
	t.tau[stats.Kendall(x, y)]++
}

func (t *tally) merge(other tally) {
	t.undefined += other.undefined
	for into, from := range map[*map[float64]int]map[float64]int{&t.rho: other.rho, &t.tau: other.tau} {
		for v, n := range from { // sums of integers: order does not matter
			(*into)[v] += n
		}
	}
}

// intervals returns those of both coefficients; nil if they are undefined in
// more resamples than the interval leaves out.
func (t *tally) intervals(level float64) (rho, tau *Interval) {
	defined := 0
	for _, n := range t.rho {
		defined += n
	}
	if float64(t.undefined) > (1-level)*float64(defined+t.undefined) {
		return nil, nil
	}
	return interval(stats.PercentileOf(t.rho, level)), interval(stats.PercentileOf(t.tau, level))
}

// bootstrapAgreements sets the intervals of all agreements.
func bootstrapAgreements(list []agreement, values map[view]map[string]float64, runs map[system][]Run, opt Options) {
	scored := map[system]map[instance]*meanScore{}
	systems := slices.SortedFunc(maps.Keys(runs), func(a, b system) int {
		return cmp.Or(cmp.Compare(a.preset, b.preset), cmp.Compare(a.setting, b.setting), cmp.Compare(a.seed, b.seed), cmp.Compare(a.model, b.model))
	})
	for _, s := range systems {
		scored[s] = instanceMeans(runs[s])
	}
	for _, cell := range allCells {
		newRankBoot(cell, systems, scored).fill(list, values, opt)
	}
}
