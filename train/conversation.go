package train

import (
	"cmp"
	"errors"

	"assay/chat"
	"assay/qaoa"
)

// errText says that rows of [Hermes] meet no template.
var errText = errors.New("rows of the format hermes are text already: no chat template is applied to them")

// Conversation returns what a trainer hands to its chat template of the row
// that [Shard] would write of rec, or why there would be no row. Of opt it looks
// at what decides the texts; tools are those of rec, and no row is too long.
// Options out of their range, and [Hermes], are an error.
func Conversation(rec qaoa.Record, opt ShardOptions) (chat.Conversation, *Reject, error) {
	opt.Out = cmp.Or(opt.Out, ".") // nothing is written
	opt, err := opt.complete()
	if err != nil {
		return chat.Conversation{}, nil, err
	}
	if opt.Format == Hermes {
		return chat.Conversation{}, nil, errText
	}
	r, _, rej := project(rec, &opt)
	if rej != nil {
		rej.Source = rec.Source
		return chat.Conversation{}, rej, nil
	}
	return r.conversation(opt.PlainAnswers), nil, nil
}

// Options returns the options that c was made of, as far as they decide the
// text of a row from a record with its tools.
func (c Choices) Options() ShardOptions {
	return ShardOptions{
		Format: c.Format, Projection: c.Projection, FinalAnswer: c.FinalAnswer, Grouping: c.Grouping, Container: c.Container,
		PlainAnswers: c.PlainAnswers, SystemPrompt: c.SystemPrompt, KeepSystem: c.KeepSystem,
	}
}
