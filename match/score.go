package match

// A Score holds the metrics of one instance, each in [0,1].
type Score struct {
	SP     float64 `json:"SP"`
	FP     float64 `json:"FP"`
	SPA    float64 `json:"SPA"`
	FPA    float64 `json:"FPA"`
	FPAArg float64 `json:"FPA_arg"`
}

// A Pair is one line of an explanation: a gold and a predicted call that were
// paired, or one of them alone.
type Pair struct {
	Gold    int     `json:"gold"` // index, -1 if the predicted call has no partner
	Pred    int     `json:"pred"` // index, -1 if the gold call has no partner
	Verdict Verdict `json:"verdict"`
}

// A Verdict compares one predicted call with one gold call.
type Verdict struct {
	Name        bool   `json:"name"`
	Strict      bool   `json:"strict"`
	Flexible    bool   `json:"flexible"`
	FlexibleArg bool   `json:"flexible_arg"`
	Why         string `json:"why"`
}
