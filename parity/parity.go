package parity

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"

	"assay/chat"
	"assay/eval"
	"assay/model"
	"assay/qaoa"
	"assay/tokenizer"
	"assay/train"
)

// A Method is what of a prompt the server tells, and so what is compared.
type Method string

// The methods, from the strongest to the weakest.
const (
	// MethodTokens compares the ids that the server makes with those that the
	// given tokenizer makes of the training text, and the texts too.
	MethodTokens Method = "tokens"
	// MethodText compares the text that the server renders. Its tokens are as
	// equal as its tokenizer is that of the model.
	MethodText Method = "text"
	// MethodCounts compares how many tokens the server read with how many the
	// given tokenizer makes of the training text. Equal counts do not prove
	// equal texts, but different ones prove a difference.
	MethodCounts Method = "counts"
)

// Proves returns what it proves that no prompt differs.
func (m Method) Proves() string {
	switch m {
	case MethodTokens:
		return "token ids equal"
	case MethodText:
		return "text equal"
	}
	return "only counts equal"
}

// Against is what a prompt is compared with.
type Against string

const (
	// AgainstRows compares with the rows that train writes of the record: it
	// finds all that differs between training and serving.
	AgainstRows Against = "rows"
	// AgainstMessages compares with the messages and tools of the very request,
	// rendered by the trainer's template: it finds what differs between the
	// template of the server and that of the trainer, and nothing else.
	AgainstMessages Against = "messages"
)

// Options say what is compared.
type Options struct {
	// Run says how the requests are made. It is asked once about a record,
	// calls are never made for real.
	Run eval.Options
	// Rows says how training rows are written; candidate lists are those of
	// the records.
	Rows train.ShardOptions
	// Template is that of the trainer, with the date that Chat has.
	Template *chat.Template
	Chat     chat.Options
	// Tokenizer is that of the model; nil compares texts alone.
	Tokenizer *tokenizer.Tokenizer
	// Against is what prompts are compared with; "" is AgainstRows.
	Against Against
}

// ErrCountsOnly says that a server tells nothing but counts and there is no
// tokenizer to count with.
var ErrCountsOnly = errors.New("the server tells neither the text nor the tokens of a prompt, so only counts can be compared: give the tokenizer.json of the model")

// A Report is what a check found.
type Report struct {
	Pass   bool    `json:"pass"`
	Method Method  `json:"method"`
	Proves string  `json:"proves"` // if Pass is true
	What   Against `json:"against"`
	// Template and Verified are of the trainer's chat template.
	Template string `json:"template"`
	Verified bool   `json:"template_verified"`
	// Records are those with a training row, Rejected those without one, by
	// code.
	Records  int            `json:"records"`
	Rejected map[string]int `json:"rejected,omitempty"`
	Prompts  int            `json:"prompts"` // compared
	Equal    int            `json:"equal"`
	// Beyond are prompts for messages that no row has, such as the answer
	// where rows end with calls. They are not compared.
	Beyond int `json:"beyond_rows,omitempty"`
	// Ahead are prompts that hold the beginning of what was trained as the
	// model's own words, such as an empty thought; they are equal otherwise.
	Ahead int `json:"ahead,omitempty"`
	// Split are prompts that end in the middle of a token of the training
	// text: a trainer that makes tokens of whole texts trained another token
	// there than the model is asked with. They count as equal.
	Split int `json:"split_tokens,omitempty"`
	// Differs counts the prompts that differ by where their first difference
	// is, see [Difference.Field].
	Differs map[string]int `json:"differs,omitempty"`
	// First is the first difference in the order of records.
	First *Difference `json:"first,omitempty"`
	Notes []string    `json:"notes,omitempty"`
}

// Check compares the prompts that m's server makes of the requests about recs
// with the training text. A server that fails, and an error of recs, end it.
// Records are checked opt.Run.Workers at a time; the report depends on their
// order and not on that number.
func Check(ctx context.Context, m model.Chatter, recs iter.Seq2[qaoa.Record, error], opt Options) (Report, error) {
	opt.Against = cmp.Or(opt.Against, AgainstRows)
	rep := Report{What: opt.Against, Template: opt.Template.Name, Verified: opt.Template.Verified, Rejected: map[string]int{}, Differs: map[string]int{}}
	switch {
	case opt.Against != AgainstRows && opt.Against != AgainstMessages:
		return rep, fmt.Errorf("against %q: want %s or %s", opt.Against, AgainstRows, AgainstMessages)
	case opt.Run.Observe == eval.ObserveMCP:
		return rep, errors.New("calls are not made for real while prompts are compared: want observations from the record, or empty ones")
	}
	run := opt.Run
	run.Repeats, run.GiveUp, run.Shard = 1, 1, eval.Shard{}
	run.Done, run.Save, run.Progress, run.Admit = nil, nil, nil, nil
	if err := run.Check(); err != nil {
		return rep, err
	}
	s, err := openServer(ctx, m, opt.Tokenizer != nil)
	if err != nil {
		return rep, err
	}
	rep.Method, rep.Proves = s.method, s.method.Proves()
	p := &player{server: s, opt: &opt, talks: map[string]*talk{}}
	for res, err := range eval.Run(ctx, p, p.rows(recs, &rep), run) {
		t := p.take(res.ID)
		if t != nil {
			rep.add(t, &opt)
		}
		switch {
		case t != nil && t.err != nil:
			return rep, t.err
		case res.Fail != nil:
			return rep, &model.Error{Class: res.Fail.Class, Attempts: res.Fail.Attempts, Msg: res.Fail.Msg}
		case err != nil:
			return rep, err
		}
	}
	rep.Pass = rep.Prompts > 0 && rep.Equal == rep.Prompts
	rep.note(&opt)
	return rep, nil
}

// add compares the prompts of a record.
func (rep *Report) add(t *talk, opt *Options) {
	rep.Records++
	for i, ask := range t.asks {
		text, turn, ok, err := t.training(i, opt)
		if err != nil {
			t.err = err
			return
		}
		if !ok {
			rep.Beyond++
			continue
		}
		rep.Prompts++
		c := comparison{opt: opt, method: rep.Method, rendered: text, turn: turn, served: ask.served}
		d := c.compare()
		if c.ahead {
			rep.Ahead++
		}
		if c.split {
			rep.Split++
		}
		if d == nil {
			rep.Equal++
			continue
		}
		rep.Differs[d.Field]++
		if rep.First == nil {
			d.ID, d.Turn, d.Request = t.id, ask.req.Turn+1, i+1
			if d.Why = why(d, ask.req, opt); d.Why == "" && t.rewritten(ask, opt) {
				d.Why = "the template itself writes a conversation in another way once it goes on (see train probe): the prompt is what it makes of the messages so far, and not how the whole row begins"
			}
			rep.First = d
		}
	}
}

// note says what a reader of the verdict has to know.
func (rep *Report) note(opt *Options) {
	note := func(format string, args ...any) { rep.Notes = append(rep.Notes, fmt.Sprintf(format, args...)) }
	if rep.Prompts == 0 {
		note("nothing was compared: no record has a training row")
	}
	for _, code := range slices.Sorted(maps.Keys(rep.Rejected)) {
		note("%d records make no training row (%s) and were left out", rep.Rejected[code], code)
	}
	if !rep.Verified {
		note("the template is rendered by Jinja's rules, but this source was never compared with Jinja itself")
	}
	if rep.What == AgainstRows && (opt.Rows.Format == "" || opt.Rows.Format == train.LlamaFactory) {
		note("LLaMA-Factory words rows by templates of its own; this template stands for them")
	}
	if rep.Ahead > 0 {
		note("%d prompts begin what the rows have as the model's own words, equal as far as they go", rep.Ahead)
	}
	if rep.Split > 0 {
		note("%d prompts end inside of a token of the whole training text: a trainer that makes tokens of whole texts trained another token there", rep.Split)
	}
	if rep.Beyond > 0 {
		note("%d prompts ask for a message that no row has", rep.Beyond)
	}
	if rep.Method == MethodCounts {
		note("equal counts do not prove equal texts: the server tells no more")
	}
	if rep.Method == MethodText && opt.Tokenizer == nil {
		note("no tokenizer was given, so token boundaries were not looked at")
	}
}
