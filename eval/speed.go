package eval

import (
	"math"
	"slices"
	"strconv"

	"github.com/goccy/go-json"
)

// A Speed is how fast a back end answered the requests of finished pairs.
// Replies that came from a response cache are left out.
type Speed struct {
	Requests int `json:"requests"`
	// Latency is of single requests from sending to the last byte, waits
	// between retries not included.
	Latency Percentiles `json:"latency_ms"`
	// TokensPerSecond are the completion tokens of the replies that report
	// them, divided by the sum of their latencies: the speed that one
	// conversation sees. 0 if nothing is reported.
	TokensPerSecond float64 `json:"completion_tokens_per_second"`
	// Retried are requests that were sent more than once.
	Retried int `json:"retried"`
}

// Percentiles are those of a list of numbers by nearest rank: the p-th is the
// smallest number that at least p percent of the list do not exceed. All are 0
// for an empty list.
type Percentiles struct {
	P50 float64 `json:"p50"`
	P90 float64 `json:"p90"`
	P95 float64 `json:"p95"`
	P99 float64 `json:"p99"`
	Max float64 `json:"max"`
}

// percentiles sorts list.
func percentiles(list []float64) Percentiles {
	if len(list) == 0 {
		return Percentiles{}
	}
	slices.Sort(list)
	at := func(p float64) float64 {
		return list[max(int(math.Ceil(p/100*float64(len(list))))-1, 0)]
	}
	return Percentiles{at(50), at(90), at(95), at(99), list[len(list)-1]}
}

// A pace collects what a [Speed] is made of.
type pace struct {
	latencies []float64 // milliseconds
	tokens    int
	telling   float64 // milliseconds of the replies that report tokens
	retried   int
}

// see takes in one request.
func (p *pace) see(ms float64, tokens, attempts int) {
	p.latencies = append(p.latencies, ms)
	if tokens >= 0 {
		p.tokens += tokens
		p.telling += ms
	}
	if attempts > 1 {
		p.retried++
	}
}

func (p *pace) speed() Speed {
	s := Speed{Requests: len(p.latencies), Retried: p.retried}
	if p.telling > 0 {
		s.TokensPerSecond = math.Round(float64(p.tokens)/p.telling*1000*100) / 100
	}
	s.Latency = percentiles(p.latencies)
	return s
}

// A Price is what tokens cost, in a currency of the user's, per million.
type Price struct {
	Input  float64 `json:"input_per_million"`
	Output float64 `json:"output_per_million"`
}

// A Cost is what the replies of the finished pairs cost, as far as it is known:
// not the requests that failed, and not what a server charges beyond tokens.
// The zero Cost is unknown.
type Cost struct {
	Price *Price // nil if unknown
	Total float64
	// Partial says that some replies reported no tokens, so the cost is more.
	Partial bool
}

// costOf returns what c cost at price p; cached replies cost nothing.
func costOf(c Counts, p *Price) Cost {
	if p == nil {
		return Cost{}
	}
	in, out := c.PromptTokens-c.CachedPromptTokens, c.CompletionTokens-c.CachedCompletionTokens
	return Cost{Price: p, Total: (float64(in)*p.Input + float64(out)*p.Output) / 1e6, Partial: c.Unreported > 0}
}

// String returns the total with six decimals, "at least" before it if it is
// partial, or "unknown".
func (c Cost) String() string {
	switch {
	case c.Price == nil:
		return "unknown"
	case c.Partial:
		return "at least " + strconv.FormatFloat(c.Total, 'f', 6, 64)
	}
	return strconv.FormatFloat(c.Total, 'f', 6, 64)
}

// costJSON is the form of a known cost in run.json.
type costJSON struct {
	Price
	Total   float64 `json:"total"`
	Partial bool    `json:"partial,omitempty"`
}

// MarshalJSON writes "unknown", or an object with the total and the price.
func (c Cost) MarshalJSON() ([]byte, error) {
	if c.Price == nil {
		return []byte(`"unknown"`), nil
	}
	return json.Marshal(costJSON{*c.Price, c.Total, c.Partial})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (c *Cost) UnmarshalJSON(data []byte) error {
	*c = Cost{}
	if len(data) > 0 && data[0] != '{' {
		return nil
	}
	var in costJSON
	if err := json.Unmarshal(data, &in); err != nil {
		return err
	}
	*c = Cost{Price: &in.Price, Total: in.Total, Partial: in.Partial}
	return nil
}
