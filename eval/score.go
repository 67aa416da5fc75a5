package eval

import (
	"context"
	"fmt"
	"iter"
	"strings"

	"assay/match"
	"assay/qaoa"
)

// ScoreOptions say how predictions are scored. The zero value scores under
// preset paper with the calls of a conversation pooled.
type ScoreOptions struct {
	Presets []match.Options // none is preset paper
	// Aligned matches conversations turn by turn and sums the matchings,
	// instead of pooling the calls of all turns.
	Aligned bool
	// Item receives every instance, with the preset it was scored under: those
	// of a prediction in the order of preds, those of missing predictions at
	// the end, in the order of gold. It is called by one goroutine at a time.
	// Its error ends the scoring. May be nil.
	Item func(preset string, it Item) error
	// Explain fills Item.Pairs.
	Explain bool
	// Failed is how many pairs a back end failed on. They have no prediction,
	// so they are missing, but they were attempted.
	Failed int
	// Repeats is how often each record was to be asked: repeats 0 to Repeats-1
	// are planned, even one that no prediction is of. 0 plans the repeats that
	// the predictions have, and at least one.
	Repeats int
	// Workers is how many predictions are compared at a time; 0 is one for
	// each core. It changes no result.
	Workers int
}

// Score compares predictions with gold records and returns the scores, one for
// each preset, in one pass over preds. The calls of gold are held in memory,
// preds are not: a few hundred at a time are compared while the next ones are
// read. preds is read by another goroutine than the caller's, which has ended
// when Score returns.
//
// Predictions join gold by id. An id that is not in gold, or that occurs twice
// in gold or in one repeat of the predictions, is an [*IDError]; all of them
// are looked for before it is returned. A record without a prediction in some
// repeat that the predictions have, or that opt.Repeats plans, is missing: it
// scores 0, and Bounds says what it could have changed.
//
// Instances are (UniToolCall, section 4.1): each gold turn, under single-hop
// (SH) or multi-hop (MH) by its calls, against the predicted turn at the same
// position or, if there is none, against no call; and each conversation, under
// single-turn (ST) or multi-turn (MT), with the calls of all its turns. What
// has no gold call is in no cell. The result does not depend on the order of
// preds.
func Score(ctx context.Context, gold iter.Seq2[qaoa.Record, error], preds iter.Seq2[qaoa.Prediction, error], opt ScoreOptions) ([]Scores, error) {
	s, err := newScorer(opt)
	if err != nil {
		return nil, err
	}
	s.explain = opt.Explain && opt.Item != nil
	if err := s.index(ctx, gold, nil); err != nil {
		return nil, err
	}
	if err := s.run(ctx, preds, nil, s.items); err != nil {
		return nil, err
	}
	return s.scores(), nil
}

// items passes the instances of t on.
func (s *scorer) items(t *task) error {
	if s.opt.Item == nil {
		return nil
	}
	for p := range s.tallies {
		for i := range t.out[p] {
			if err := s.opt.Item(s.tallies[p].opt.Name, t.out[p][i].Item); err != nil {
				return err
			}
		}
	}
	return nil
}

// clashes collects tools on offer whose names have one normal form.
type clashes struct {
	records int
	last    string // record counted last
	list    []string
}

func (c *clashes) add(id, a, b string) {
	if c.records == 0 || c.last != id {
		c.records++
		c.last = id
	}
	if len(c.list) < maxListed {
		c.list = append(c.list, fmt.Sprintf("%.80q: %.80q, %.80q", id, a, b))
	}
}

func (c *clashes) warning() string {
	return fmt.Sprintf("%d records offer two tools whose names differ only in digits, punctuation or case, so a call of one counts as a call of the other (%s); preset strict tells them apart",
		c.records, strings.Join(c.list, "; "))
}
