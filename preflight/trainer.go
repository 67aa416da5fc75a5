package preflight

import (
	"fmt"
	"slices"
	"strings"

	"assay/chat"
	"assay/tokenizer"
)

// A Trainer is a program that trains on rows.
type Trainer string

// The trainers whose rules are known, see the package comment.
const (
	LlamaFactory Trainer = "llamafactory"
	TRL          Trainer = "trl"
	MSSwift      Trainer = "ms-swift"
	Axolotl      Trainer = "axolotl"
)

// Trainers returns all trainers.
func Trainers() []Trainer { return []Trainer{LlamaFactory, TRL, MSSwift, Axolotl} }

// DefaultCutoff returns how many tokens of a row t takes unless it is told
// another number, and the name of the option; 0 is what the model takes.
func (t Trainer) DefaultCutoff() (tokens int, option string) {
	switch t {
	case LlamaFactory:
		return 2048, "cutoff_len"
	case TRL:
		return 1024, "max_length"
	case Axolotl:
		return 512, "sequence_len"
	}
	return 0, "max_length"
}

// deletes tells that rows beyond the cutoff are dropped, and not cut.
func (t Trainer) deletes() bool { return t == MSSwift || t == Axolotl }

// Options say what is simulated.
type Options struct {
	Trainer  Trainer
	Template *chat.Template
	// Tokenizer is the model's; nil estimates a token for three bytes.
	Tokenizer *tokenizer.Tokenizer
	// Cutoff is how many tokens of a row are taken; 0 is the trainer's default.
	Cutoff int
	// Packing puts several rows into one sequence of Cutoff tokens.
	Packing bool
	// AssistantOnly is assistant_only_loss of TRL.
	AssistantOnly bool
	// Workers is how many rows are worked on at once; 0 is one per CPU. It
	// changes nothing.
	Workers int
	// OnRow is told of each row, in order. It may be nil.
	OnRow func(Row)
	// PreviewID is the ID of a row whose text and mask are wanted, given to
	// OnPreview; "" is none.
	PreviewID string
	OnPreview func(Preview)
}

// Check returns an error that says which option is out of its range, or nil.
func (o Options) Check() error {
	switch {
	case !slices.Contains(Trainers(), o.Trainer):
		var names []string
		for _, t := range Trainers() {
			names = append(names, string(t))
		}
		return fmt.Errorf("trainer %q: want one of %s", o.Trainer, strings.Join(names, ", "))
	case o.Template == nil:
		return fmt.Errorf("a chat template is wanted: what is cut and trained depends on it")
	case o.Cutoff < 0:
		return fmt.Errorf("cutoff %d: want 0 (the trainer's default) or more", o.Cutoff)
	case o.AssistantOnly && o.Trainer != TRL:
		return fmt.Errorf("assistant-only loss is an option of %s; %s trains on the assistant by itself", TRL, o.Trainer)
	}
	return nil
}

// cutoff returns the tokens that are taken of a row; 0 is any number.
func (o Options) cutoff() int {
	if o.Cutoff > 0 {
		return o.Cutoff
	}
	n, _ := o.Trainer.DefaultCutoff()
	return n
}

// ends returns where each token of text ends, in bytes.
func (o Options) ends(text string) []int {
	if o.Tokenizer != nil {
		_, ends := o.Tokenizer.Offsets(text)
		return ends
	}
	ends := make([]int, tokenizer.Estimate(len(text)))
	for i := range ends {
		ends[i] = min(3*(i+1), len(text))
	}
	return ends
}
