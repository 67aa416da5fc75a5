package train

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/goccy/go-json"

	"assay/qaoa"
)

// ManifestSchema is the name and version of the manifest.
const ManifestSchema = "assay-shards/1"

// A Manifest says what is in a folder of shards and how it came about. It has
// no clock and no path of the machine, so the same records and options make
// the same bytes.
type Manifest struct {
	Schema  string  `json:"schema"`
	Version string  `json:"version,omitempty"` // of the tool
	Choices Choices `json:"options"`
	Inputs  []Input `json:"inputs"`
	// Records + Split = Rows + Rejected.
	Records  int            `json:"records"`
	Split    int            `json:"split,omitempty"` // rows beyond one a record, see [SplitLong]
	Rows     int            `json:"rows"`
	Rejected int            `json:"rejected"`
	Rejects  map[string]int `json:"rejects"` // by code
	Losses   map[Loss]int   `json:"losses"`  // those that occurred
	Counts   Counts         `json:"counts"`
	Tokens   Tokens         `json:"tokens"`
	Sources  map[string]int `json:"sources"` // rows by source
	// Selection and Mixture say how the records were chosen from the inputs.
	Selection *Selected `json:"selection,omitempty"`
	Mixture   *Plan     `json:"mixture,omitempty"`
	Files     []File    `json:"files"`
	Notes     []string  `json:"notes,omitempty"`
}

// Tokens counts the tokens of rows.
type Tokens struct {
	Tokenizer string   `json:"tokenizer"` // with the template; [EstimateName] if there is none
	Total     int      `json:"total"`
	Longest   int      `json:"longest"`
	Limit     int      `json:"limit,omitempty"`
	OverLong  OverLong `json:"over_long,omitempty"` // what becomes of rows beyond the limit
	Beyond    int      `json:"beyond,omitempty"`    // rows beyond the limit that were kept
}

// addRow counts a row.
func (m *Manifest) addRow(r made) {
	m.Rows++
	m.Sources[r.rec.Source.Name]++
	m.Counts.add(r.rec)
	m.Counts.TextBytes += len(r.line) + 1
	m.Tokens.Total += r.tokens
	m.Tokens.Longest = max(m.Tokens.Longest, r.tokens)
	if r.long {
		m.Tokens.Beyond++
	}
}

// Choices are the options that decide the bytes.
type Choices struct {
	Format       Format      `json:"format"`
	Projection   Projection  `json:"projection"`
	FinalAnswer  FinalAnswer `json:"final_answer"`
	Grouping     Grouping    `json:"grouping"`
	Container    Container   `json:"container"`
	PlainAnswers bool        `json:"plain_answers,omitempty"`
	SystemPrompt string      `json:"system_prompt"`
	KeepSystem   bool        `json:"keep_system"`
	Candidates   *ListChoice `json:"candidates,omitempty"`
	Name         string      `json:"name"`
	Shards       int         `json:"shards,omitempty"`
	RowsPerShard int         `json:"rows_per_shard,omitempty"`
	Seed         uint64      `json:"seed"`
}

// An Input is a file that records were read from.
type Input struct {
	Name   string `json:"name"`
	SHA256 string `json:"sha256"`
	Bytes  int64  `json:"bytes"`
	// Records is how many were read from it; 0 if that is not known, as of
	// one of several files that were named together.
	Records int `json:"records,omitempty"`
}

// Counts describes the rows.
type Counts struct {
	SingleTurn    int `json:"single_turn"` // rows
	MultiTurn     int `json:"multi_turn"`  // rows
	NoCallRows    int `json:"no_call_rows"`
	Turns         int `json:"turns"`
	SingleHop     int `json:"single_hop"` // turns
	MultiHop      int `json:"multi_hop"`  // turns
	NoCallTurns   int `json:"no_call_turns"`
	Steps         int `json:"steps"`
	ParallelSteps int `json:"parallel_steps"` // of two calls or more, in the records
	Calls         int `json:"calls"`
	Tools         int `json:"tools"`      // on all lists together
	TextBytes     int `json:"text_bytes"` // of the rows, before compression
}

// add counts a record that made a row.
func (c *Counts) add(rec qaoa.Record) {
	if rec.MultiTurn() {
		c.MultiTurn++
	} else {
		c.SingleTurn++
	}
	before := c.Calls
	for _, t := range rec.Turns {
		c.Turns++
		switch t.Hop() {
		case qaoa.NoCall:
			c.NoCallTurns++
		case qaoa.SingleHop:
			c.SingleHop++
		default:
			c.MultiHop++
		}
		for _, s := range t.Steps {
			c.Steps++
			c.Calls += len(s.Calls)
			if len(s.Calls) > 1 {
				c.ParallelSteps++
			}
		}
	}
	if c.Calls == before {
		c.NoCallRows++
	}
	c.Tools += len(rec.Tools)
}

// A File is one shard.
type File struct {
	Name   string `json:"name"` // relative to the folder, with slashes
	Rows   int    `json:"rows"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"` // of the file as it is stored
}

func newManifest(o ShardOptions) Manifest {
	m := Manifest{
		Schema:  ManifestSchema,
		Version: o.Version,
		Choices: Choices{
			o.Format, o.Projection, o.FinalAnswer, o.Grouping, o.Container, o.PlainAnswers,
			o.SystemPrompt, o.KeepSystem, o.Candidates.choice(), o.Name, o.Shards, o.RowsPerShard, o.Seed,
		},
		Inputs:    []Input{},
		Rejects:   map[string]int{},
		Losses:    map[Loss]int{},
		Sources:   map[string]int{},
		Tokens:    Tokens{Tokenizer: o.Length.Name, Limit: o.Length.Max},
		Selection: o.Selection,
		Mixture:   o.Mixture,
	}
	if o.Length.Max > 0 {
		m.Tokens.OverLong = o.Length.OverLong
	}
	m.Notes = notes(o.Format, o.Container)
	return m
}

// notes says what a trainer needs besides the rows.
func notes(f Format, c Container) []string {
	var out []string
	switch {
	case f == LlamaFactory && (c == Gzip || c == Zstd):
		out = append(out, "LLaMA-Factory reads no compressed files from a local folder: decompress the shards, and leave only the .jsonl files in "+dataFolder+"/")
	case f == TRL && c == Parquet:
		out = append(out, "TRL hands arguments to the chat template as they are, and in Parquet they are JSON texts: map json.loads over messages[*].tool_calls[*].function.arguments before training, or they are trained encoded twice; jsonl needs no such step")
	case f == TRL:
		out = append(out, "TRL: load the rows with json.loads, or with a version of datasets that has the Json() feature: as an Arrow column of structs every call is given the arguments of all others, as nulls")
	}
	return out
}

// ReadManifest reads the manifest of a folder that [Shard] wrote.
func ReadManifest(dir string) (Manifest, error) {
	path := filepath.Join(dir, manifestName)
	data, err := os.ReadFile(path)
	if err != nil {
		return Manifest{}, err
	}
	var m Manifest
	if err := json.Unmarshal(data, &m); err != nil {
		return Manifest{}, fmt.Errorf("%s: not a manifest: %w", path, err)
	}
	if m.Schema != ManifestSchema {
		return Manifest{}, fmt.Errorf("%s: want schema %q, have %.40q", path, ManifestSchema, m.Schema)
	}
	return m, nil
}

// datasetInfo returns dataset_info.json, by which LLaMA-Factory finds the
// shards: the name of the data set is the value of its option "dataset", this
// folder that of "dataset_dir".
func datasetInfo(name string) any {
	type columns struct {
		Messages string `json:"messages"`
		System   string `json:"system"`
		Tools    string `json:"tools"`
	}
	type tags struct {
		Role        string `json:"role_tag"`
		Content     string `json:"content_tag"`
		User        string `json:"user_tag"`
		Assistant   string `json:"assistant_tag"`
		Observation string `json:"observation_tag"`
		Function    string `json:"function_tag"`
		System      string `json:"system_tag"`
	}
	type dataset struct {
		File       string  `json:"file_name"` // a folder: all files in it are read
		Formatting string  `json:"formatting"`
		Columns    columns `json:"columns"`
		Tags       tags    `json:"tags"`
	}
	return map[string]dataset{name: {
		dataFolder, "sharegpt",
		columns{"conversations", "system", "tools"},
		tags{"from", "value", fromHuman, fromGPT, fromObservation, fromCall, "system"},
	}}
}

// writeJSON writes v for people and programs, and waits for the disk.
func writeJSON(path string, v any) error {
	data, err := json.MarshalIndentWithOption(v, "", "  ", json.DisableHTMLEscape())
	if err != nil {
		return err
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	_, err = f.Write(append(data, '\n'))
	return closeSynced(f, err)
}

// closeSynced closes f after its data is on the disk, and returns the first
// error, err before all.
func closeSynced(f *os.File, err error) error {
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return err
}
