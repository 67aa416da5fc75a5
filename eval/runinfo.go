package eval

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/goccy/go-json"

	"assay/model"
)

// RunFormat is the format of run.json.
const RunFormat = "assay-run/1"

// A State is how far a run is.
type State string

// The states. A run that says running while nobody holds its lock was killed.
const (
	StateRunning     State = "running"
	StateInterrupted State = "interrupted" // by the user; resume it
	StateIncomplete  State = "incomplete"  // some pairs failed; resume it
	StateComplete    State = "complete"
)

// A RunInfo is the content of run.json.
type RunInfo struct {
	Format   string       `json:"format"`
	State    State        `json:"state"`
	Settings Settings     `json:"settings"`
	Counts   Counts       `json:"counts"`
	Failed   []FailedPair `json:"failed,omitempty"` // the first ten
	Alarms   []string     `json:"alarms,omitempty"`
	// Notes are what the client of the server has to tell, such as members of
	// requests that the server refused.
	Notes []string `json:"notes,omitempty"`
	// Speed and Cost are of the finished pairs.
	Speed Speed `json:"speed"`
	Cost  Cost  `json:"cost"`
}

// Settings are everything that decides what a run asks and how it reads the
// replies. A run is resumed under equal settings only; Environment is
// recorded, but not compared.
type Settings struct {
	Assay         string  `json:"assay"`  // version of the program
	Model         string  `json:"model"`  // as given: ollama/NAME
	Digest        string  `json:"digest"` // of the weights, if the server tells
	Data          []Input `json:"data"`   // files in the order given
	DataHash      string  `json:"data_hash"`
	CandidateHash string  `json:"candidate_hash"`
	Records       int     `json:"records"`
	Pairs         int     `json:"pairs"`           // records × repeats; of a shard, its share
	Shard         string  `json:"shard,omitempty"` // "i/n", see [Shard]
	// Limit and IDs say which records of Data were asked about: the first
	// Limit (0 is all) of those that the file IDs lists (nil is all).
	Limit      int      `json:"limit,omitempty"`
	IDs        *Input   `json:"ids,omitempty"`
	Calls      CallMode `json:"calls"`
	Flow       Flow     `json:"flow"`
	History    History  `json:"history"`
	Observe    Observe  `json:"observe"`
	Parse      string   `json:"parse"` // "strict", or "repair"
	MaxRounds  int      `json:"max_rounds"`
	Repeats    int      `json:"repeats"`
	Sampling   Sampling `json:"sampling"`
	PromptHash string   `json:"prompt_hash"`
	// Compat is the other runner that is reproduced, with its repaired faults,
	// and Faults are those that are kept; see [Compat].
	Compat Compat   `json:"compat,omitempty"`
	Faults []string `json:"faults,omitempty"`
	// Observer says where calls were really made; see [ObserveMCP].
	Observer      string `json:"observer,omitempty"`
	ToolChoice    string `json:"tool_choice,omitempty"`
	ParallelCalls string `json:"parallel_tool_calls,omitempty"`

	// Environment is what else may change scores: versions of servers, server
	// settings. Never a key.
	Environment map[string]string `json:"environment,omitempty"`
	// Probes are what was tried before the run, and SkippedProbes says that
	// the user did not want it. Neither is compared.
	Probes        []Probe `json:"probes,omitempty"`
	SkippedProbes bool    `json:"skipped_probes,omitempty"`
	// SchemaLoss are the parts of schemas that the server is known to drop;
	// nil if it drops nothing or is not known. Not compared.
	SchemaLoss *SchemaLoss `json:"schema_loss,omitempty"`
}

// An Input is one data file of a run.
type Input struct {
	Path   string `json:"path"`
	SHA256 string `json:"sha256"`
}

// A Sampling is [model.Sampling] as run.json holds it.
type Sampling struct {
	Temperature float64 `json:"temperature"`
	TopP        float64 `json:"top_p"`
	Seed        int64   `json:"seed"`
	MaxTokens   int     `json:"max_tokens"`
	NumCtx      int     `json:"num_ctx"`
	Think       bool    `json:"think"`
}

// NewSettings returns the settings of a run with these options over the
// surveyed records. The caller adds Assay, Data,
// Limit, IDs and Environment.
func NewSettings(opt Options, s Survey) (Settings, error) {
	opt, err := opt.withDefaults()
	if err != nil {
		return Settings{}, err
	}
	parse := "repair"
	if opt.Strict {
		parse = "strict"
	}
	return Settings{
		Model: opt.Model, Digest: opt.Digest,
		DataHash: s.DataHash, CandidateHash: s.CandidateHash, Records: s.Records, Pairs: s.Pairs, Shard: opt.Shard.String(),
		Calls: opt.Calls, Flow: opt.Flow, History: opt.History, Observe: opt.Observe, Parse: parse,
		MaxRounds: opt.MaxRounds, Repeats: opt.Repeats, Sampling: Sampling(opt.Sampling),
		PromptHash: opt.Prompt.Hash(),
		Compat:     opt.Compat, Faults: opt.Compat.Faults(), Observer: opt.ObserverName,
		ToolChoice: opt.ToolChoice, ParallelCalls: opt.ParallelCalls,
	}, nil
}

// diff lists what differs between s and what a folder holds, a line each.
func (s Settings) diff(have Settings) []string {
	var diffs []string
	cmp := func(name string, want, have any) {
		if a, b := fmt.Sprint(want), fmt.Sprint(have); a != b {
			diffs = append(diffs, fmt.Sprintf("%s: now %.100q, in the folder %.100q", name, a, b))
		}
	}
	cmp("assay version", s.Assay, have.Assay)
	cmp("model", s.Model, have.Model)
	cmp("model digest", s.Digest, have.Digest)
	cmp("data", s.DataHash, have.DataHash)
	cmp("candidate lists", s.CandidateHash, have.CandidateHash)
	cmp("records", s.Records, have.Records)
	cmp("shard", s.Shard, have.Shard)
	cmp("calls", s.Calls, have.Calls)
	cmp("flow", s.Flow, have.Flow)
	cmp("compat", s.Compat, have.Compat)
	cmp("observer", s.Observer, have.Observer)
	cmp("tool choice", s.ToolChoice, have.ToolChoice)
	cmp("parallel tool calls", s.ParallelCalls, have.ParallelCalls)
	cmp("history", s.History, have.History)
	cmp("observe", s.Observe, have.Observe)
	cmp("parse", s.Parse, have.Parse)
	cmp("max rounds", s.MaxRounds, have.MaxRounds)
	cmp("repeats", s.Repeats, have.Repeats)
	cmp("temperature", s.Sampling.Temperature, have.Sampling.Temperature)
	cmp("top p", s.Sampling.TopP, have.Sampling.TopP)
	cmp("seed", s.Sampling.Seed, have.Sampling.Seed)
	cmp("max tokens", s.Sampling.MaxTokens, have.Sampling.MaxTokens)
	cmp("num ctx", s.Sampling.NumCtx, have.Sampling.NumCtx)
	cmp("think", s.Sampling.Think, have.Sampling.Think)
	cmp("system prompt", s.PromptHash, have.PromptHash)
	return diffs
}

// A SettingsError says that a folder holds a run with other settings.
type SettingsError struct {
	Dir   string
	Diffs []string // what differs, one each
}

// Error lists the differences and says what to do.
func (e *SettingsError) Error() string {
	return fmt.Sprintf("%s holds a run with other settings; give another folder, or the old settings to resume it:\n  %s",
		e.Dir, strings.Join(e.Diffs, "\n  "))
}

// Counts count the pairs and replies of a run.
type Counts struct {
	Planned  int                 `json:"planned"`  // pairs in all
	Finished int                 `json:"finished"` // answered
	Failed   int                 `json:"failed"`   // by the back end, to be asked again
	Classes  map[model.Class]int `json:"failed_by_class"`
	// Replies are the replies of the finished pairs, with those among them
	// that were cut at the length limit; Parsed are the pairs without a call
	// that did not parse.
	Replies          int `json:"replies"`
	Length           int `json:"finish_length"`
	Parsed           int `json:"parsed"`
	Malformed        int `json:"malformed_replies"`
	InThought        int `json:"calls_in_thought,omitempty"` // replies whose only call is in a thought
	PromptTokens     int `json:"prompt_tokens"`              // as far as reported
	CompletionTokens int `json:"completion_tokens"`
	Unreported       int `json:"replies_without_usage,omitempty"`
	// Slots are the requests of a guided flow, with those that no call filled,
	// and calls beyond the first of a reply, which nobody made.
	Slots    int `json:"slots,omitempty"`
	Unfilled int `json:"unfilled_slots,omitempty"`
	Extra    int `json:"extra_calls,omitempty"`
	// ToolCalls are the calls that were made for real, and those that failed.
	ToolCalls  int `json:"tool_calls,omitempty"`
	ToolErrors int `json:"tool_errors,omitempty"`
	// Server is what the server's own parser lost or changed.
	Server ServerParse `json:"server_parser"`
	// Cached are the replies that came from the response cache. Their tokens
	// are in the sums above, and in these.
	Cached                 int `json:"cached_replies,omitempty"`
	CachedPromptTokens     int `json:"cached_prompt_tokens,omitempty"`
	CachedCompletionTokens int `json:"cached_completion_tokens,omitempty"`
}

// A FailedPair is one pair that a back end failed on.
type FailedPair struct {
	ID     string      `json:"id"`
	Repeat int         `json:"repeat"`
	Class  model.Class `json:"class"`
	Msg    string      `json:"msg"`
}

// ReadRun reads the run.json of a folder, without its lock. A folder without
// one is an error for which errors.Is(err, fs.ErrNotExist) holds.
func ReadRun(dir string) (RunInfo, error) {
	path := filepath.Join(dir, RunFile)
	data, err := os.ReadFile(path)
	if err != nil {
		return RunInfo{}, err
	}
	var info RunInfo
	if err := json.Unmarshal(data, &info); err != nil {
		return RunInfo{}, fmt.Errorf("%s: want the description of a run: %w", path, err)
	}
	if info.Format != RunFormat {
		return RunInfo{}, fmt.Errorf("%s: want format %q, have %.40q", path, RunFormat, info.Format)
	}
	return info, nil
}

// encodeJSON writes v as JSON without HTML escapes, and a line break.
func encodeJSON(w io.Writer, v any, indent string) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
	return enc.Encode(v)
}
