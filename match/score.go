package match

// A Score holds the metrics of one instance, each in [0,1]:
//
//	SP  = 1 if |P| = |G| and every name matches, else 0
//	FP  = matched names / n        SPA = strict matches / n
//	FPA = flexible matches / n     n   = max(|P|, |G|)
//
// where P are the predicted and G the gold calls, and matches are counted by
// a maximum matching (UniToolCall, section 4.1: missing predictions count as
// null). FPAArg is FPA with ROUGE-L taken argument by argument. With no call
// on either side all metrics are 1, with calls on one side only all are 0.
// The knobs Divisor and Empty of [Options] change n and the empty case, and
// Credit what is counted.
//
// SPA <= FPA <= FP, SPA <= FPAArg <= FP and SP <= FP hold, except that SPA, FPA
// and FPAArg can exceed FP where they count arguments ([CreditF1] and
// [CreditRecall]): a call with many arguments weighs more than one with few.
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
	Why         string `json:"why"` // one line for people

	// Rule is what decided: the rule that made the calls equal, or that they
	// failed. Path is the JSON Pointer of the place within the arguments.
	Rule Rule   `json:"rule,omitempty"`
	Path string `json:"path,omitempty"`
	// GoldForm and PredForm are the canonical forms at that place.
	GoldForm string `json:"gold_form,omitempty"`
	PredForm string `json:"pred_form,omitempty"`
}

// A Rule names what decided a [Verdict].
type Rule string

// Counts are the sizes of two sets of calls and of the maximum matchings
// between them.
type Counts struct {
	Gold    int // gold calls
	Pred    int // predicted calls, unparsable ones included
	Name    int // pairs whose names match
	Strict  int // pairs whose arguments are equal too
	Flex    int // pairs whose arguments are equal or close
	FlexArg int // the same, close argument by argument

	// The arguments, filled only where [Options.Credit] asks for them.
	GoldArgs int // of all gold calls
	PredArgs int // of all predicted calls whose arguments are an object
	SameArgs int // of paired calls, those that match
}

// Add adds d to c, as if the two sets of calls were apart: no call of one is
// ever paired with a call of the other. The score of a sum over instances is
// the micro average that some benchmarks publish.
func (c *Counts) Add(d Counts) {
	c.Gold += d.Gold
	c.Pred += d.Pred
	c.Name += d.Name
	c.Strict += d.Strict
	c.Flex += d.Flex
	c.FlexArg += d.FlexArg
	c.GoldArgs += d.GoldArgs
	c.PredArgs += d.PredArgs
	c.SameArgs += d.SameArgs
}

// namesHold reports the condition of SP.
func (c Counts) namesHold() bool { return c.Gold == c.Pred && c.Name == c.Gold }

// Score returns the metrics of an instance with these counts; see [Score].
//
// [CreditInstance] turns a share into 1 or 0, [CreditF1] is 2·same/(gold+pred)
// of names and of arguments, [CreditRecall] is same/gold of arguments.
func (c Counts) Score(opt Options) Score { return c.score(opt, c.namesHold(), max(c.Gold, c.Pred)) }

// score is Score with SP's condition and the padded size n given.
func (c Counts) score(opt Options, sp bool, n int) Score {
	if c.Gold == 0 && c.Pred == 0 {
		if opt.Empty == EmptyWrong {
			return Score{}
		}
		return Score{SP: 1, FP: 1, SPA: 1, FPA: 1, FPAArg: 1}
	}
	if c.Gold == 0 || c.Pred == 0 {
		return Score{}
	}
	if opt.Divisor == DividePredicted {
		n = c.Pred
	}
	share := func(matches int) float64 { return min(float64(matches)/float64(n), 1) }
	s := Score{FP: share(c.Name), SPA: share(c.Strict), FPA: share(c.Flex), FPAArg: share(c.FlexArg)}
	switch opt.Credit {
	case CreditInstance:
		whole := func(matches int) float64 {
			if c.Gold == c.Pred && matches == c.Gold {
				return 1
			}
			return 0
		}
		s = Score{FP: whole(c.Name), SPA: whole(c.Strict), FPA: whole(c.Flex), FPAArg: whole(c.FlexArg)}
	case CreditF1:
		s.FP = min(2*float64(c.Name)/float64(c.Gold+c.Pred), 1)
		s.SPA = c.argumentShare(2*c.SameArgs, c.GoldArgs+c.PredArgs, s.FP)
		s.FPA, s.FPAArg = s.SPA, s.SPA
	case CreditRecall:
		s.SPA = c.argumentShare(c.SameArgs, c.GoldArgs, s.FP)
		s.FPA, s.FPAArg = s.SPA, s.SPA
	}
	if sp {
		s.SP = 1
	}
	return s
}

// argumentShare returns same/all in [0,1]. Where the gold has no argument it is
// the share of the names if the prediction has none either, else 0.
func (c Counts) argumentShare(same, all int, names float64) float64 {
	switch {
	case c.GoldArgs == 0 && c.PredArgs == 0:
		return names
	case all == 0:
		return 0
	}
	return min(float64(same)/float64(all), 1)
}

// Aligned scores a conversation turn by turn: turn t pairs its own calls only,
// the matchings are summed, n = Σ max(|P_t|, |G_t|), and SP is 1 if it is in
// every turn, where a turn without any call holds. (Without alignment the
// calls of all turns are pooled into one instance.)
func Aligned(turns []Counts, opt Options) Score {
	var sum Counts
	n, sp := 0, true
	for _, t := range turns {
		sum.Add(t)
		n += max(t.Gold, t.Pred)
		sp = sp && t.namesHold()
	}
	return sum.score(opt, sp, n)
}
