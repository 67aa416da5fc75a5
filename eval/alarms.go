package eval

import (
	"fmt"

	"github.com/goccy/go-json"
	"github.com/zeebo/xxh3"

	"assay/toolcall"
)

// The limits of the alarms. A run under minAlarmPairs pairs is too small for
// those that look for constants.
const (
	maxMalformedShare = 0.20
	maxLengthShare    = 0.05
	minAlarmPairs     = 5
)

// A watch looks over the predictions of a run for signs of a broken set-up:
// a model with a wrong template, a context that is too short, a proxy that
// answers itself. Without it such a run would only show zeros.
type watch struct {
	counts Counts

	answers  constant // hash of all texts of a pair
	prompts  constant // tokens of the first prompt of a pair
	bytes    constant // bytes of the first prompt
	reported bool     // some server reported prompt tokens
}

// A constant tells whether all values seen are equal.
type constant struct {
	n      int
	first  uint64
	varied bool
}

func (c *constant) see(v uint64) {
	if c.n == 0 {
		c.first = v
	}
	c.n++
	c.varied = c.varied || v != c.first
}

func (c *constant) holds() bool { return c.n >= minAlarmPairs && !c.varied }

// add takes in one prediction line.
func (w *watch) add(line []byte) error {
	var p struct {
		Requests []struct {
			PromptBytes      int             `json:"prompt_bytes"`
			Text             string          `json:"text"`
			Calls            json.RawMessage `json:"calls"`
			Class            toolcall.Class  `json:"class"`
			Finish           string          `json:"finish"`
			PromptTokens     int             `json:"prompt_tokens"`
			CompletionTokens int             `json:"completion_tokens"`
			Cached           bool            `json:"cached"`
		} `json:"requests"`
	}
	if err := json.Unmarshal(line, &p); err != nil {
		return err
	}
	w.counts.Finished++
	parsed := true
	var said []byte
	for i, x := range p.Requests {
		w.counts.Replies++
		if x.Finish == "length" {
			w.counts.Length++
		}
		if x.Class == toolcall.ClassMalformed {
			w.counts.Malformed++
			parsed = false
		}
		w.counts.PromptTokens += max(x.PromptTokens, 0)
		w.counts.CompletionTokens += max(x.CompletionTokens, 0)
		if x.Cached {
			w.counts.Cached++
			w.counts.CachedPromptTokens += max(x.PromptTokens, 0)
			w.counts.CachedCompletionTokens += max(x.CompletionTokens, 0)
		}
		said = append(append(append(said, x.Text...), 0), x.Calls...)
		if i == 0 {
			w.reported = w.reported || x.PromptTokens > 0
			w.prompts.see(uint64(max(x.PromptTokens, 0)))
			w.bytes.see(uint64(x.PromptBytes))
		}
	}
	if parsed {
		w.counts.Parsed++
	}
	w.answers.see(xxh3.Hash(said))
	return nil
}

// alarms returns what is wrong, a sentence each.
func (w *watch) alarms() []string {
	var list []string
	c := w.counts
	if share := float64(c.Malformed) / float64(max(c.Replies, 1)); share > maxMalformedShare {
		list = append(list, fmt.Sprintf("%d of %d replies hold a call that does not parse (%.0f %%): look at their raw text, the model may use another call format, or its server another chat template",
			c.Malformed, c.Replies, 100*share))
	}
	if share := float64(c.Length) / float64(max(c.Replies, 1)); share > maxLengthShare {
		list = append(list, fmt.Sprintf("%d of %d replies were cut at the length limit (%.0f %%): raise --max-tokens, or the context length of the server",
			c.Length, c.Replies, 100*share))
	}
	if w.answers.holds() {
		list = append(list, fmt.Sprintf("all %d answers are the same: the server may not show the model the prompt", w.answers.n))
	}
	if w.reported && w.prompts.holds() && w.bytes.varied {
		list = append(list, fmt.Sprintf("every prompt had %d tokens while their lengths differ: the server cuts prompts to its context length; raise --num-ctx or the server's setting", w.prompts.first))
	}
	return list
}
