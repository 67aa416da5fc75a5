package train

import (
	"context"
	"fmt"
	"iter"

	"assay/qaoa"
	"assay/toolset"
)

// Candidates replaces the tools that a record offers by a list of its own, see
// [toolset.Build].
type Candidates struct {
	toolset.Options
	// Pool is where distractors come from; GT lists need none.
	Pool *toolset.Pool
	// PoolName says what Pool is, for the manifest.
	PoolName string
}

func (c *Candidates) check() error {
	if c == nil {
		return nil
	}
	if err := c.Check(); err != nil {
		return fmt.Errorf("candidate lists: %w", err)
	}
	if c.Setting == toolset.Hybrid && c.Pool == nil {
		return fmt.Errorf("candidate lists: %s wants a pool of tools", c.Setting)
	}
	return nil
}

// list returns recs with their candidate lists.
func (c *Candidates) list(ctx context.Context, recs iter.Seq2[qaoa.Record, error], workers int) iter.Seq2[qaoa.Record, error] {
	if c == nil {
		return recs
	}
	opt := c.Options
	opt.Workers = workers
	return func(yield func(qaoa.Record, error) bool) {
		for l, err := range toolset.Build(ctx, recs, c.Pool, opt) {
			if !yield(l.Record, err) || err != nil {
				return
			}
		}
	}
}

// A ListChoice is [Candidates] as a manifest has it.
type ListChoice struct {
	Setting   toolset.Setting   `json:"setting"`
	K         int               `json:"k,omitempty"`
	Easy      int               `json:"easy,omitempty"`
	Negatives toolset.Negatives `json:"negatives,omitempty"`
	Seed      uint64            `json:"seed"`
	Pool      string            `json:"pool,omitempty"`
	PoolTools int               `json:"pool_tools,omitempty"`
}

func (c *Candidates) choice() *ListChoice {
	if c == nil {
		return nil
	}
	out := &ListChoice{Setting: c.Setting, Seed: c.Seed}
	if c.Setting == toolset.Hybrid {
		out.K, out.Easy, out.Negatives = c.K, c.Easy, c.Negatives
		out.Pool, out.PoolTools = c.PoolName, c.Pool.Len()
	}
	return out
}
