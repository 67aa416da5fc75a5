package report

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"assay/stats"
)

// A ColumnSplit says where the spread of a column comes from: training seed,
// decoding repeat or item. The runs of a group are the seeds, the repeats
// inside a run the decodings, the instances the items. See
// [stats.SplitVariance] for the model; nil is a part that the grid cannot tell.
type ColumnSplit struct {
	Column
	Unit      string `json:"unit"` // of an instance: "turn" or "conversation"
	Seeds     int    `json:"seeds"`
	Repeats   int    `json:"repeats"`
	Instances int    `json:"instances"`
	Seed      *Part  `json:"seed"`
	Repeat    *Part  `json:"repeat"`
	Item      *Part  `json:"item"`
	SeedItem  *Part  `json:"seed_item"` // with one repeat the residual is in it
	Residual  *Part  `json:"residual"`
	// BetweenSeeds is the SD of the mean score of a training, BetweenRepeats
	// that of the decodings of one training, ItemStdErr what the choice of
	// items adds to the mean.
	BetweenSeeds   *float64 `json:"between_seeds_sd"`
	BetweenRepeats *float64 `json:"between_repeats_sd"`
	ItemStdErr     *float64 `json:"item_std_err"`
}

// A Part is a component of variance, with the interval of its SD.
type Part struct {
	Variance float64  `json:"variance"`
	SD       float64  `json:"sd"`
	Share    *float64 `json:"share"` // of all parts together
	SDLow    *float64 `json:"sd_low"`
	SDHigh   *float64 `json:"sd_high"`
}

func newPart(c stats.Component) *Part {
	if c.Variance != c.Variance {
		return nil
	}
	return &Part{
		Variance: c.Variance, SD: c.SD, Share: known(c.Share),
		SDLow: known(math.Sqrt(c.CI.Low)), SDHigh: known(math.Sqrt(c.CI.High)),
	}
}

// splits splits the variance of each column that has instances. The grid must
// be full: every run has the same instances and as many repeats of each.
func (g group) splits(opt Options) (out []ColumnSplit, warnings []string) {
	grid, keys, fault := g.grid()
	if fault != "" {
		return nil, []string{fault}
	}
	if len(grid) == 0 || len(grid)*len(grid[0]) < 2 {
		return nil, nil // one run without repeats: nothing to tell apart
	}
	for m, metric := range metrics {
		for _, cell := range allCells {
			col := Column{Metric: metric, Cell: cell}
			if value(g.runs[0].Scores.Cells, col) == nil {
				continue
			}
			scores := make([][][]float64, len(grid))
			for s, repeats := range grid {
				for _, run := range repeats {
					var xs []float64
					for _, k := range keys {
						if k.cell == cell {
							xs = append(xs, run[k][m])
						}
					}
					scores[s] = append(scores[s], xs)
				}
			}
			c := stats.SplitVariance(scores, opt.level())
			if c.Items < 2 {
				continue
			}
			for _, w := range c.Warnings {
				warnings = appendNew(warnings, w)
			}
			out = append(out, ColumnSplit{
				Column: col, Unit: unitOf(cell), Seeds: c.Seeds, Repeats: c.Repeats, Instances: c.Items,
				Seed: newPart(c.Seed), Repeat: newPart(c.Repeat), Item: newPart(c.Item), SeedItem: newPart(c.SeedItem), Residual: newPart(c.Residual),
				BetweenSeeds: known(c.BetweenSeeds), BetweenRepeats: known(c.BetweenRepeats), ItemStdErr: known(c.ItemStdErr),
			})
		}
	}
	return out, warnings
}

// grid returns the scores by run, repeat, instance and metric, and the
// instances in order; or why there is no full grid.
func (g group) grid() (grid [][]map[instance][5]float64, keys []instance, fault string) {
	for _, r := range g.runs {
		byRepeat := map[int]map[instance][5]float64{}
		for _, it := range r.Items {
			if !slices.Contains(allCells, it.Cell) {
				continue
			}
			if byRepeat[it.Repeat] == nil {
				byRepeat[it.Repeat] = map[instance][5]float64{}
			}
			var xs [5]float64
			for m, metric := range metrics {
				xs[m] = scoreOf(it.Score, metric)
			}
			byRepeat[it.Repeat][instance{it.ID, it.Turn, it.Cell}] = xs
		}
		var repeats []map[instance][5]float64
		for _, k := range slices.Sorted(maps.Keys(byRepeat)) {
			repeats = append(repeats, byRepeat[k])
		}
		grid = append(grid, repeats)
	}
	if slices.ContainsFunc(grid, func(r []map[instance][5]float64) bool { return len(r) == 0 }) {
		return nil, nil, "" // runs without items
	}
	for s, repeats := range grid {
		if len(repeats) != len(grid[0]) {
			return nil, nil, fmt.Sprintf("%q has %d repeats and %q has %d: the spread is not split over a grid with holes",
				g.runs[0].Name, len(grid[0]), g.runs[s].Name, len(repeats))
		}
		for _, run := range repeats {
			if len(run) != len(grid[0][0]) {
				return nil, nil, fmt.Sprintf("a repeat of %q has %d instances and one of %q has %d: the spread is not split over a grid with holes",
					g.runs[0].Name, len(grid[0][0]), g.runs[s].Name, len(run))
			}
		}
	}
	keys = slices.SortedFunc(maps.Keys(grid[0][0]), func(a, b instance) int {
		return cmp.Or(cmp.Compare(a.id, b.id), cmp.Compare(a.turn, b.turn), cmp.Compare(a.cell, b.cell))
	})
	for s, repeats := range grid {
		for _, run := range repeats {
			for _, k := range keys {
				if _, ok := run[k]; !ok {
					return nil, nil, fmt.Sprintf("a repeat of %q lacks item %q: the spread is not split over a grid with holes", g.runs[s].Name, k.id)
				}
			}
		}
	}
	return grid, keys, ""
}

// splitTable has a line for each column of each group.
func (s Summary) splitTable() Table {
	t := Table{Header: []string{
		"Setting", "Model", "Column", "Seeds", "Repeats", "Instances",
		"Seed SD", "Seed SD interval", "Repeat SD", "Item SD", "Seed × item SD", "Residual SD", "Share seed", "repeat", "item", "seed × item", "residual", "Item std. error",
	}, Left: 3}
	for _, g := range s.Groups {
		for _, c := range g.Split {
			if !c.spread() {
				continue
			}
			row := []string{g.Setting, g.Model, c.String(), strconv.Itoa(c.Seeds), strconv.Itoa(c.Repeats), strconv.Itoa(c.Instances)}
			seedSpan := "n/a"
			if c.Seed != nil {
				seedSpan = span(c.Seed.SDLow, c.Seed.SDHigh)
			}
			parts := []*Part{c.Seed, c.Repeat, c.Item, c.SeedItem, c.Residual}
			for i, p := range parts {
				row = append(row, p.sd())
				if i == 0 {
					row = append(row, seedSpan)
				}
			}
			for _, p := range parts {
				row = append(row, p.share())
			}
			t.Add(append(row, percent(c.ItemStdErr))...)
		}
	}
	return t
}

// spread reports whether there is any: else no part has a share.
func (c ColumnSplit) spread() bool {
	return slices.ContainsFunc([]*Part{c.Seed, c.Repeat, c.Item, c.SeedItem, c.Residual}, func(p *Part) bool { return p != nil && p.Variance > 0 })
}

func (p *Part) sd() string {
	if p == nil {
		return "n/a"
	}
	return percent(&p.SD)
}

func (p *Part) share() string {
	if p == nil {
		return "n/a"
	}
	return percent(p.Share)
}
