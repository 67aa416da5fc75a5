package eval

import (
	"maps"
	"slices"
)

// A Summary is how a run stands.
type Summary struct {
	State  State  `json:"state"`
	Counts Counts `json:"counts"`
	// Failed are the first ten pairs that the back end failed on.
	Failed []FailedPair `json:"failed,omitempty"`
	// Alarms are what looks like a broken set-up rather than a bad model.
	Alarms []string `json:"alarms,omitempty"`
	Notes  []string `json:"notes,omitempty"` // see [RunInfo]
	Speed  Speed    `json:"speed"`
	Cost   Cost     `json:"cost"`
}

// tell fills in what the run has to tell beside its counts. Notes and the price
// of earlier sessions are kept.
func (f *Folder) tell(w *watch) {
	if f.notes != nil {
		all := map[string]bool{}
		for _, n := range append(f.notes(), f.info.Notes...) {
			all[n] = true
		}
		f.info.Notes = slices.Sorted(maps.Keys(all))
	}
	price := f.price
	if price == nil {
		price = f.info.Cost.Price
	}
	f.info.Speed = w.pace.speed()
	f.info.Cost = costOf(f.info.Counts, price)
}

func (f *Folder) summary() Summary {
	i := f.info
	return Summary{i.State, i.Counts, i.Failed, i.Alarms, i.Notes, i.Speed, i.Cost}
}
