package train

import (
	"fmt"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"assay/qaoa"
)

// A Format is what trainer the rows are for.
type Format string

// The formats, see the package comment.
const (
	LlamaFactory Format = "llamafactory" // sharegpt of LLaMA-Factory
	OpenAI       Format = "openai"       // messages; arguments are JSON texts
	TRL          Format = "trl"          // messages; arguments are objects
	MSSwift      Format = "ms-swift"     // messages of roles tool_call and tool_response
	Axolotl      Format = "axolotl"      // messages for its chat_template strategy
	Hermes       Format = "hermes"       // ChatML text with tool_call tags
)

// Formats returns all formats.
func Formats() []Format { return []Format{LlamaFactory, OpenAI, TRL, MSSwift, Axolotl, Hermes} }

// A Projection is what rows keep of a record.
type Projection string

const (
	// ActionOnly trains calls alone, as the paper does: observations are
	// empty, and answers as [FinalAnswer] says.
	ActionOnly Projection = "action-only"
	// Full keeps observations and answers.
	Full Projection = "full"
)

// A FinalAnswer is what becomes of the answers of turns. Each is written
// between <answer> tags.
type FinalAnswer string

const (
	// KeepAnswer writes <answer>…</answer> with the text of the record.
	KeepAnswer FinalAnswer = "keep"
	// EmptyAnswer writes <answer></answer>.
	EmptyAnswer FinalAnswer = "empty"
	// DropAnswer is EmptyAnswer, but a row ends with its last function_call:
	// the message after it and its observation are left out. Answers of
	// earlier turns stay, for without them messages would not alternate, and
	// so does that of a last turn without calls.
	DropAnswer FinalAnswer = "drop"
)

// A Grouping is how the calls of a step are written.
type Grouping string

const (
	// TogetherCalls writes the calls of a step into one message.
	TogetherCalls Grouping = "together"
	// EachCall writes a message for each call, as the paper's rows do. It
	// loses which calls were parallel.
	EachCall Grouping = "each"
)

// A Container is how shards are stored.
type Container string

// The containers. LLaMA-Factory reads JSONL and Parquet from a local folder, and
// refuses compressed lines until they are decompressed.
//
// A Parquet column has one type for all rows, so tools and arguments are JSON
// texts in it, whatever the format: as columns of structs each call would be
// given the arguments of every tool, as nulls.
const (
	JSONL   Container = "jsonl"
	Gzip    Container = "jsonl.gz"
	Zstd    Container = "jsonl.zst"
	Parquet Container = "parquet"
)

// Containers returns all containers.
func Containers() []Container { return []Container{JSONL, Gzip, Zstd, Parquet} }

// MaxShards is how many shards can be written at once, each being an open
// file.
const MaxShards = 1024

// ShardOptions are the choices of [Shard]. Only Out is required.
type ShardOptions struct {
	Out         string      // the folder to make
	Format      Format      // "" is LlamaFactory
	Projection  Projection  // "" is ActionOnly
	FinalAnswer FinalAnswer // "" is EmptyAnswer under ActionOnly, KeepAnswer under Full
	Grouping    Grouping    // "" is TogetherCalls
	Container   Container   // "" is JSONL
	// PlainAnswers writes answers without <answer> tags.
	PlainAnswers bool
	// Candidates says which tools each row offers; nil is those of the record.
	Candidates *Candidates
	// Length counts the tokens of rows, and says what becomes of long ones.
	Length Length
	// SystemPrompt is the system text of every row, so that a model is
	// trained on the text that it will be served with.
	SystemPrompt string
	// KeepSystem writes the record's own system text, where it has one,
	// instead of SystemPrompt.
	KeepSystem bool
	// Name is the name of the data set in dataset_info.json; "" is "assay".
	Name string
	// Shards is how many shards to write, 1 to MaxShards. A row's shard
	// depends on nothing but (Seed, ID), so one more corpus moves no row. 0
	// is one shard, unless RowsPerShard is set.
	Shards int
	// RowsPerShard fills one shard after the other in the order of records.
	// It excludes Shards.
	RowsPerShard int
	Seed         uint64
	// Overwrite replaces a folder that an earlier Shard wrote. A folder that
	// holds anything else is never touched.
	Overwrite bool
	// Workers is how many records are worked on at once; 0 is one per CPU. It
	// changes no byte of the result.
	Workers int
	// Version is the version of the tool, for the manifest.
	Version string
	// Inputs is called once after the last record and returns the files that
	// records were read from, for the manifest. It may be nil.
	Inputs func() []Input
	// Selection and Mixture are what [Choose] did before, for the manifest.
	// They may be nil.
	Selection *Selected
	Mixture   *Plan
	// OnReject is called for each reject, in the order of records. It may be
	// nil.
	OnReject func(Reject)
	// OnNotice is called for each record that made rows although it was too
	// long. It may be nil.
	OnNotice func(Reject)
	// OnRow is called for each row, in the order of rows, with the part of
	// the record that it was made of and its number of tokens. It may be nil.
	OnRow func(rec qaoa.Record, tokens int)
	// Finish is called once all shards are on the disk, with their manifest
	// and a folder for more files, whose names must be among
	// [ExtraFiles]: they go into the output folder with the shards. It may be
	// nil.
	Finish func(m Manifest, dir string) error
}

// datasetName is a name that YAML, shells and LLaMA-Factory, which splits
// lists of names at commas, all take as it is.
var datasetName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)

// Check returns an error that says which option is out of its range, or nil. It
// looks at no file; [Shard] checks by itself.
func (o ShardOptions) Check() error {
	_, err := o.complete()
	return err
}

// complete returns o with its defaults filled in, or which option is wrong.
func (o ShardOptions) complete() (ShardOptions, error) {
	fill(&o.Format, LlamaFactory)
	fill(&o.Projection, ActionOnly)
	fill(&o.Grouping, TogetherCalls)
	fill(&o.Container, JSONL)
	fill(&o.Name, "assay")
	if o.Projection == Full {
		fill(&o.FinalAnswer, KeepAnswer)
	}
	fill(&o.FinalAnswer, EmptyAnswer)
	if o.Shards == 0 && o.RowsPerShard == 0 {
		o.Shards = 1
	}
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	switch {
	case o.Out == "":
		return o, fmt.Errorf("no output folder: want the name of a folder to make")
	case !slices.Contains(Formats(), o.Format):
		return o, fmt.Errorf("format %q: want %s", o.Format, oneOf(Formats()))
	case o.Projection != ActionOnly && o.Projection != Full:
		return o, fmt.Errorf("projection %q: want %s or %s", o.Projection, ActionOnly, Full)
	case o.FinalAnswer != KeepAnswer && o.FinalAnswer != EmptyAnswer && o.FinalAnswer != DropAnswer:
		return o, fmt.Errorf("final answer %q: want %s, %s or %s", o.FinalAnswer, KeepAnswer, EmptyAnswer, DropAnswer)
	case o.Grouping != TogetherCalls && o.Grouping != EachCall:
		return o, fmt.Errorf("grouping %q: want %s or %s", o.Grouping, TogetherCalls, EachCall)
	case !slices.Contains(Containers(), o.Container):
		return o, fmt.Errorf("container %q: want %s", o.Container, oneOf(Containers()))
	case !datasetName.MatchString(o.Name):
		return o, fmt.Errorf("data set name %q: want letters, digits, '.', '_' and '-', the first a letter or digit", o.Name)
	case o.Shards != 0 && o.RowsPerShard != 0:
		return o, fmt.Errorf("%d shards and %d rows a shard: want only one of the two", o.Shards, o.RowsPerShard)
	case o.Shards < 0 || o.Shards > MaxShards:
		return o, fmt.Errorf("%d shards: want 1 to %d", o.Shards, MaxShards)
	case o.RowsPerShard < 0:
		return o, fmt.Errorf("%d rows a shard: want at least 1", o.RowsPerShard)
	}
	if err := o.Candidates.check(); err != nil {
		return o, err
	}
	var err error
	if o.Length, err = o.Length.complete(); err != nil {
		return o, err
	}
	o.Length.format, o.Length.plain = o.Format, o.PlainAnswers
	o.Out = filepath.Clean(o.Out)
	return o, nil
}

// oneOf names the values of an option.
func oneOf[T ~string](values []T) string {
	names := make([]string, len(values))
	for i, v := range values {
		names[i] = string(v)
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

func fill[T ~string](p *T, value T) {
	if *p == "" {
		*p = value
	}
}
