package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-json"

	"assay/eval"
	"assay/match"
	"assay/stats"
)

// A Run is one scored run of a model, as tables want it.
type Run struct {
	Name    string // unique, such as its folder
	Model   string
	Setting string // "gt", "hybrid", or any other name; see [SettingLabel]
	Seed    string // what tells repeats apart; "" if unknown
	Scores  eval.Scores
	// Items are the instances behind Scores, or nil. With them there are
	// intervals within a run, and the item sets of runs are compared.
	Items []eval.Item

	// Hashes as far as they are known: runs are averaged only if the first
	// two agree and the others differ.
	Data, Candidates, Adapter, Predictions string
}

// Options are the settings of summaries and rankings. The zero value is
// usable.
type Options struct {
	Level     float64 // of intervals, in (0,1); 0 means 0.95
	Resamples int     // of the bootstrap; 0 means [stats.DefaultResamples]
	Seed      uint64  // of the bootstrap
	Workers   int     // 0 means one per processor; never changes a result
	// Bold says which values of [Table1] and [Summarize] stand out.
	Bold Bold
}

func (o Options) bootstrap() stats.BootstrapOptions {
	return stats.BootstrapOptions{Resamples: o.Resamples, Level: o.level(), Seed: o.Seed, Workers: o.Workers}
}

func (o Options) level() float64 {
	if o.Level == 0 {
		return 0.95
	}
	return o.Level
}

// check returns an error for options that a user can get wrong.
func (o Options) check() error {
	if l := o.level(); !(l > 0 && l < 1) {
		return fmt.Errorf("level %v: want a number between 0 and 1, such as 0.95", o.Level)
	}
	if o.Resamples < 0 {
		return fmt.Errorf("resamples %d: want at least 1, or 0 for %d", o.Resamples, stats.DefaultResamples)
	}
	if !slices.Contains(Bolds(), o.Bold) && o.Bold != "" {
		return fmt.Errorf("bold %q: want paired, best or none", o.Bold)
	}
	return nil
}

// A Column is a metric in a cell of the paper's tables.
type Column struct {
	Metric string `json:"metric"` // SP, FP, SPA, FPA or FPA_arg
	Cell   string `json:"cell"`   // SH, MH, ST or MT
}

// String returns the heading of c: "SP SH".
func (c Column) String() string { return metricLabel(c.Metric) + " " + c.Cell }

var (
	metrics   = []string{"SP", "FP", "SPA", "FPA", "FPA_arg"}
	hopCells  = []string{"SH", "MH"} // an instance is a turn
	turnCells = []string{"ST", "MT"} // an instance is a conversation
	allCells  = []string{"SH", "MH", "ST", "MT"}
)

// columns returns metrics × cells, metric by metric, as Table 1 has them.
func columns(cells []string) []Column {
	var cols []Column
	for _, m := range metrics {
		for _, c := range cells {
			cols = append(cols, Column{Metric: m, Cell: c})
		}
	}
	return cols
}

// unitOf says what an instance of a cell is.
func unitOf(cell string) string {
	if slices.Contains(turnCells, cell) {
		return "conversation"
	}
	return "turn"
}

func metricLabel(m string) string { return strings.ReplaceAll(m, "_", "-") }

// cellOf returns the cell of that name.
func cellOf(cells *eval.Cells, name string) *eval.Cell {
	switch name {
	case "SH":
		return &cells.SH
	case "MH":
		return &cells.MH
	case "ST":
		return &cells.ST
	}
	return &cells.MT
}

// metricOf returns where c holds that metric.
func metricOf(c *eval.Cell, metric string) **float64 {
	switch metric {
	case "SP":
		return &c.SP
	case "FP":
		return &c.FP
	case "SPA":
		return &c.SPA
	case "FPA":
		return &c.FPA
	}
	return &c.FPAArg
}

// value returns a column of cells; nil if it is empty.
func value(cells eval.Cells, col Column) *float64 {
	c := cellOf(&cells, col.Cell)
	if c.N == 0 {
		return nil
	}
	return *metricOf(c, col.Metric)
}

// scoreOf returns a metric of one instance.
func scoreOf(s match.Score, metric string) float64 {
	switch metric {
	case "SP":
		return s.SP
	case "FP":
		return s.FP
	case "SPA":
		return s.SPA
	case "FPA":
		return s.FPA
	}
	return s.FPAArg
}

// SettingLabel returns how tables name a setting: "GT" for gt, "Hybrid-20" for
// hybrid, "Hybrid-k" for hybrid-k, in any case; others as they are.
func SettingLabel(setting string) string {
	switch s := strings.ToLower(setting); {
	case s == "":
		return "(no setting)"
	case s == "gt":
		return "GT"
	case s == "hybrid":
		return "Hybrid-20"
	case strings.HasPrefix(s, "hybrid-"):
		return "Hybrid-" + s[len("hybrid-"):]
	}
	return setting
}

// presetLabel names what decides how calls are matched.
func presetLabel(s eval.Scores) string {
	if s.Aligned {
		return s.Preset + ", aligned"
	}
	return s.Preset
}

// settingRank puts GT before Hybrid-k before others, as Table 1 does.
func settingRank(label string) int {
	switch {
	case label == "GT":
		return 0
	case strings.HasPrefix(label, "Hybrid-"):
		return 1
	}
	return 2
}

// A group is the runs of one model under one setting and preset.
type group struct {
	preset, setting, model string // setting is a label
	runs                   []Run
}

// name says which runs these are.
func (g group) name() string { return g.setting + ", " + g.model }

// groups sorts runs into groups: GT before Hybrid, models as first met, runs
// by seed and name.
func groups(runs []Run) []group {
	type key struct{ preset, setting, model string }
	var out []group
	index := map[key]int{}
	models := map[string]int{}
	for _, r := range runs {
		k := key{presetLabel(r.Scores), SettingLabel(r.Setting), r.Model}
		at, ok := index[k]
		if !ok {
			at = len(out)
			index[k] = at
			out = append(out, group{preset: k.preset, setting: k.setting, model: k.model})
		}
		if _, ok := models[r.Model]; !ok {
			models[r.Model] = len(models)
		}
		out[at].runs = append(out[at].runs, r)
	}
	for _, g := range out {
		slices.SortStableFunc(g.runs, func(a, b Run) int {
			return cmp.Or(compareSeeds(a.Seed, b.Seed), cmp.Compare(a.Name, b.Name))
		})
	}
	slices.SortStableFunc(out, func(a, b group) int {
		return cmp.Or(
			cmp.Compare(a.preset, b.preset),
			cmp.Compare(settingRank(a.setting), settingRank(b.setting)),
			cmp.Compare(a.setting, b.setting),
			cmp.Compare(models[a.model], models[b.model]),
		)
	})
	return out
}

// compareSeeds orders numbers by value and before other text.
func compareSeeds(a, b string) int {
	na, errA := strconv.ParseUint(a, 10, 64)
	nb, errB := strconv.ParseUint(b, 10, 64)
	switch {
	case errA == nil && errB == nil:
		return cmp.Compare(na, nb)
	case errA == nil:
		return -1
	case errB == nil:
		return 1
	}
	return cmp.Compare(a, b)
}

// onePreset groups runs that must be scored alike, and refuses to average what
// are not repeats of one experiment.
func onePreset(runs []Run) ([]group, error) {
	if len(runs) == 0 {
		return nil, fmt.Errorf("no runs: want at least one scored run")
	}
	want := presetLabel(runs[0].Scores)
	for _, r := range runs[1:] {
		if have := presetLabel(r.Scores); have != want {
			return nil, fmt.Errorf("run %q is scored under preset %q and run %q under %q: want one preset; score one of them again",
				runs[0].Name, want, r.Name, have)
		}
	}
	gs := groups(runs)
	return gs, checkGroups(gs)
}

func checkGroups(gs []group) error {
	for _, g := range gs {
		if err := stats.CheckRuns(runInfos(g.runs)); err != nil {
			return fmt.Errorf("%s: %w", g.name(), err)
		}
	}
	return nil
}

// unlike tells of groups that stand in one table although they were not asked
// the same: other records, or under one setting other candidate lists. Their
// scores may be shown side by side, but they do not compare. Only the first run
// of a group is looked at, for those of a group agree.
func unlike(gs []group) []string {
	var notes []string
	type first struct{ group, hash string }
	data := first{}
	lists := map[string]first{} // by setting
	seen := map[string]bool{}
	for _, g := range gs {
		r := g.runs[0]
		if seen[g.name()] { // under another preset
			continue
		}
		seen[g.name()] = true
		if data.hash == "" {
			data = first{g.name(), r.Data}
		} else if r.Data != "" && r.Data != data.hash {
			notes = append(notes, fmt.Sprintf("%s was asked other records than %s (data hashes differ), so their scores do not compare", g.name(), data.group))
			continue // so its lists differ as well
		}
		if l := lists[g.setting]; l.hash == "" {
			lists[g.setting] = first{g.name(), r.Candidates}
		} else if r.Candidates != "" && r.Candidates != l.hash {
			notes = append(notes, fmt.Sprintf("%s chose from other candidate lists than %s (candidate hashes differ), so their scores do not compare", g.name(), l.group))
		}
	}
	return notes
}

// runInfos describes runs to [stats.CheckRuns]. Where not all of them have
// items, the sizes of cells stand for the item sets.
func runInfos(runs []Run) []stats.RunInfo {
	haveItems := !slices.ContainsFunc(runs, func(r Run) bool { return len(r.Items) == 0 })
	infos := make([]stats.RunInfo, len(runs))
	for i, r := range runs {
		infos[i] = stats.RunInfo{
			Name: r.Name, Preset: presetLabel(r.Scores),
			Data: r.Data, Candidates: r.Candidates, Adapter: r.Adapter, Predictions: r.Predictions,
		}
		if haveItems {
			for _, it := range r.Items {
				if it.Cell == eval.CellSurplus {
					continue // depends on what the model said
				}
				infos[i].Items = append(infos[i].Items, fmt.Sprintf("%s repeat %d %s turn %d", it.ID, it.Repeat, it.Cell, it.Turn))
			}
			continue
		}
		for _, name := range allCells {
			infos[i].Items = append(infos[i].Items, fmt.Sprintf("%d instances in %s", cellOf(&r.Scores.Cells, name).N, name))
		}
	}
	return infos
}

// percent returns a fraction as percent with one decimal, "n/a" if there is
// none.
func percent(f *float64) string {
	if f == nil {
		return "n/a"
	}
	return strconv.FormatFloat(100**f, 'f', 1, 64)
}

// span returns an interval in percent, "n/a" if there is none.
func span(low, high *float64) string {
	if low == nil || high == nil {
		return "n/a"
	}
	return percent(low) + " to " + percent(high)
}

// known returns a pointer to f, or nil for NaN: JSON and tables have no NaN.
func known(f float64) *float64 {
	if f != f {
		return nil
	}
	return &f
}

// encode writes v as indented JSON, with text as it is.
func encode(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}
