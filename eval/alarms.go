package eval

import (
	"fmt"
	"slices"

	"github.com/goccy/go-json"
	"github.com/zeebo/xxh3"

	"assay/toolcall"
)

// The limits of the alarms. A run under minAlarmPairs pairs is too small for
// those that look for constants.
const (
	maxMalformedShare = 0.20
	maxLengthShare    = 0.05
	maxToolErrorShare = 0.50
	minAlarmPairs     = 5
	// maxBytesPerToken is far more than any tokenizer makes of a prompt with
	// schemas in it: a prompt with fewer tokens was not read whole.
	maxBytesPerToken = 20
	// ceilingSpread is how much the lengths of prompts that all have the
	// highest count of tokens may differ, as a ratio.
	ceilingSpread = 1.2
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
	short    int      // first prompts that count too few tokens for their bytes
	ceiling  ceiling

	repeats repeats
	pace    pace
}

// A ceiling looks at the first prompts with the highest count of tokens: a
// server that cuts prompts cuts the long ones to one length.
type ceiling struct {
	tokens, n, least, most int // bytes from least to most
}

func (c *ceiling) see(tokens, size int) {
	switch {
	case tokens > c.tokens:
		*c = ceiling{tokens, 1, size, size}
	case tokens == c.tokens:
		c.n, c.least, c.most = c.n+1, min(c.least, size), max(c.most, size)
	}
}

func (c *ceiling) hit() bool {
	return c.tokens > 0 && c.n >= minAlarmPairs && float64(c.most) > ceilingSpread*float64(c.least)
}

// repeats tells whether the repeats of records differ at all. Repeats of a
// record come one after the other.
type repeats struct {
	id      string
	said    uint64
	records int // with two repeats or more
	varied  bool
	again   bool // this record has been counted
}

func (r *repeats) see(id string, said uint64) {
	if id != r.id {
		r.id, r.said, r.again = id, said, false
		return
	}
	if !r.again {
		r.records, r.again = r.records+1, true
	}
	r.varied = r.varied || said != r.said
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

// A seenRequest is what the watch looks at in a request of a prediction line.
type seenRequest struct {
	Slot             int             `json:"slot"`
	Unfilled         bool            `json:"unfilled"`
	Extra            int             `json:"extra_calls"`
	ToolCalls        int             `json:"tool_calls"`
	ToolErrors       int             `json:"tool_errors"`
	Server           ServerParse     `json:"server_parser"`
	PromptBytes      int             `json:"prompt_bytes"`
	Text             string          `json:"text"`
	Calls            json.RawMessage `json:"calls"`
	Class            toolcall.Class  `json:"class"`
	Finish           string          `json:"finish"`
	PromptTokens     int             `json:"prompt_tokens"`
	CompletionTokens int             `json:"completion_tokens"`
	Cached           bool            `json:"cached"`
}

// add takes in one prediction line, and what the journal has before it: a JSON
// object that is not closed.
func (w *watch) add(line, head []byte) error {
	var times struct {
		Attempts []int     `json:"attempts"`
		Latency  []float64 `json:"latency_ms"`
	}
	if err := json.Unmarshal(append(slices.Clip(head), '}'), &times); err != nil {
		return err
	}
	var p struct {
		ID       string        `json:"id"`
		Requests []seenRequest `json:"requests"`
	}
	if err := json.Unmarshal(line, &p); err != nil {
		return err
	}
	w.counts.Finished++
	parsed := true
	var said []byte
	for i, x := range p.Requests {
		w.counts.see(x)
		parsed = parsed && x.Class != toolcall.ClassMalformed
		if !x.Cached && i < len(times.Latency) && i < len(times.Attempts) {
			w.pace.see(times.Latency[i], x.CompletionTokens, times.Attempts[i])
		}
		said = append(append(append(said, x.Text...), 0), x.Calls...)
		if i == 0 {
			w.first(x)
		}
	}
	if parsed {
		w.counts.Parsed++
	}
	w.answers.see(xxh3.Hash(said))
	w.repeats.see(p.ID, xxh3.Hash(said))
	return nil
}

// first looks at the first prompt of a pair.
func (w *watch) first(x seenRequest) {
	w.reported = w.reported || x.PromptTokens > 0
	w.prompts.see(uint64(max(x.PromptTokens, 0)))
	w.bytes.see(uint64(x.PromptBytes))
	w.ceiling.see(x.PromptTokens, x.PromptBytes)
	if x.PromptTokens > 0 && x.PromptTokens*maxBytesPerToken < x.PromptBytes {
		w.short++
	}
}

// see adds one reply to the counts.
func (c *Counts) see(x seenRequest) {
	c.Replies++
	if x.Finish == "length" {
		c.Length++
	}
	switch x.Class {
	case toolcall.ClassMalformed:
		c.Malformed++
	case toolcall.ClassInThought:
		c.InThought++
	}
	c.Slots += min(x.Slot, 1)
	if x.Unfilled {
		c.Unfilled++
	}
	c.Extra += x.Extra
	c.ToolCalls += x.ToolCalls
	c.ToolErrors += x.ToolErrors
	c.Server.add(x.Server)
	if x.PromptTokens < 0 || x.CompletionTokens < 0 {
		c.Unreported++
	}
	prompt, completion := max(x.PromptTokens, 0), max(x.CompletionTokens, 0)
	c.PromptTokens += prompt
	c.CompletionTokens += completion
	if x.Cached {
		c.Cached++
		c.CachedPromptTokens += prompt
		c.CachedCompletionTokens += completion
	}
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
	switch {
	case w.reported && w.prompts.holds() && w.bytes.varied:
		list = append(list, fmt.Sprintf("every prompt had %d tokens while their lengths differ: the server cuts prompts to its context length; raise --num-ctx or the server's setting", w.prompts.first))
	case w.ceiling.hit():
		list = append(list, fmt.Sprintf("%d prompts of %d to %d bytes all had %d tokens, and none had more: the server cuts long prompts to its context length; raise --num-ctx or the server's setting",
			w.ceiling.n, w.ceiling.least, w.ceiling.most, w.ceiling.tokens))
	}
	if w.short >= minAlarmPairs && 2*w.short > w.prompts.n {
		list = append(list, fmt.Sprintf("%d of %d prompts count fewer tokens than one for %d bytes: the server drops a part of them (or counts only what it had not read before); raise --num-ctx or the server's setting",
			w.short, w.prompts.n, maxBytesPerToken))
	}
	if share := float64(c.ToolErrors) / float64(max(c.ToolCalls, 1)); share > maxToolErrorShare {
		list = append(list, fmt.Sprintf("%d of %d calls that were made for real failed (%.0f %%): look at what the tools say in the observations", c.ToolErrors, c.ToolCalls, 100*share))
	}
	if r := w.repeats; r.records >= minAlarmPairs && !r.varied {
		list = append(list, fmt.Sprintf("all repeats of each of %d records are the same: a spread over repeats would say nothing; the temperature is 0 or the server ignores the seed", r.records))
	}
	return list
}
