package eval

import "assay/match"

// Scores is what one preset says of one prediction file: the object that
// "assay score --json" prints. Fractions are in [0,1].
type Scores struct {
	Preset string `json:"preset"`
	// Aligned is whether conversations were matched turn by turn.
	Aligned  bool     `json:"aligned,omitempty"`
	Coverage Coverage `json:"coverage"`
	// Cells are the four columns of the paper's Table 1, averaged over
	// instances (macro average).
	Cells    Cells            `json:"cells"`
	Datasets map[string]Cells `json:"datasets"`
	// MeanOfDatasets is the plain mean of the data sets whose cell is not
	// empty; N is then the number of data sets.
	MeanOfDatasets Cells  `json:"mean_of_datasets"`
	NoGold         NoGold `json:"no_gold"`
	// Bounds are the cells with every unscored case counted as wrong and as
	// right; nil at full coverage.
	Bounds *Bounds `json:"bounds,omitempty"`
	// SurplusTurns are predicted turns beyond those of the record. Their calls
	// count at conversation level only.
	SurplusTurns int `json:"surplus_turns,omitempty"`
	// Warnings are what a reader of the numbers has to know, a sentence each.
	Warnings []string `json:"warnings,omitempty"`
}

// Coverage counts (record, repeat) pairs. It precedes every score.
type Coverage struct {
	Planned   int `json:"planned"`   // records of the gold files × repeats
	Attempted int `json:"attempted"` // asked, infrastructure failures included
	Answered  int `json:"answered"`  // the back end replied to every request
	Parsed    int `json:"parsed"`    // answered and no call failed to parse
	Scored    int `json:"scored"`
	Missing   int `json:"missing"` // no prediction, or an infrastructure failure
}

// Cells are the cells of one row of Table 1: single-hop and multi-hop turns,
// single-turn and multi-turn conversations.
type Cells struct {
	SH Cell `json:"SH"`
	MH Cell `json:"MH"`
	ST Cell `json:"ST"`
	MT Cell `json:"MT"`
}

// A Cell is the mean of the metrics over N instances. The metrics are nil
// when N is 0: an empty cell is "n/a", never 0.
type Cell struct {
	N      int      `json:"n"`
	SP     *float64 `json:"SP"`
	FP     *float64 `json:"FP"`
	SPA    *float64 `json:"SPA"`
	FPA    *float64 `json:"FPA"`
	FPAArg *float64 `json:"FPA_arg"`
}

// NoGold counts the turns without a gold call. They belong to no cell, except
// under a preset that puts them into one. Turns of missing predictions count
// in N only.
type NoGold struct {
	N         int `json:"n"`
	Abstained int `json:"abstained"` // no call predicted, as it should be
	Called    int `json:"called"`    // a call that parsed
	Malformed int `json:"malformed"` // an attempt at a call that did not parse
}

// Bounds are the lowest and highest cells that full coverage could give.
type Bounds struct {
	Low  Cells `json:"low"`
	High Cells `json:"high"`
}

// The cells of an [Item].
const (
	CellSH      = "SH"
	CellMH      = "MH"
	CellST      = "ST"
	CellMT      = "MT"
	CellNoGold  = "no_gold" // a turn without a gold call; its score is in no mean
	CellSurplus = "surplus" // a predicted turn beyond those of the record
)

// An Item is the score of one instance: a line of scores/PRESET.items.jsonl.
type Item struct {
	ID      string      `json:"id"` // of the record
	Repeat  int         `json:"repeat"`
	Dataset string      `json:"dataset"` // source.name
	Cell    string      `json:"cell"`    // SH, MH, ST, MT, no_gold or surplus
	Turn    int         `json:"turn"`    // 0-based; -1 for conversations
	Gold    int         `json:"gold"`    // number of gold calls
	Pred    int         `json:"pred"`    // number of predicted calls
	Missing bool        `json:"missing,omitempty"`
	Score   match.Score `json:"score"`
	// Pairs explain the score, if explanations were asked for.
	Pairs []match.Pair `json:"pairs,omitempty"`
}
