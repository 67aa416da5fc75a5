package toolset

import (
	"iter"
	"strings"
	"sync"

	"assay/internal/lexical"
	"assay/qaoa"
)

// A Pool holds the tools that distractors are taken from. Make one with
// [NewPool]. It does not change and is safe for concurrent use.
type Pool struct {
	tools []qaoa.Tool
	names []string // normalised, in step with tools
	texts []string // Key of each, in step with tools
	keys  map[string]int

	once  sync.Once // makes index when it is first needed
	index *lexical.Index

	onceBM25 sync.Once // makes bm25 when it is first needed
	bm25     *lexical.BM25
}

// PoolStats counts what [NewPool] read.
type PoolStats struct {
	Read       int             `json:"read"`
	Kept       int             `json:"kept"`
	Duplicates int             `json:"duplicates"` // same name and description as an earlier tool
	Nameless   int             `json:"nameless"`   // without a name, never kept
	Origins    []OriginOfTools `json:"origins"`    // in order of first appearance
}

// OriginOfTools counts the tools of one corpus.
type OriginOfTools struct {
	Origin string `json:"origin"`
	Read   int    `json:"read"`
	Kept   int    `json:"kept"`
}

// NewPool collects tools. Of those with the same name and description, blanks
// around them aside, the first is kept: the order of tools is the priority of
// their origins. A nil normalize compares names as they are; see
// [Options.Normalize]. An error of tools is returned, with no pool.
func NewPool(tools iter.Seq2[qaoa.Tool, error], normalize func(string) string) (*Pool, PoolStats, error) {
	p := &Pool{keys: make(map[string]int)}
	var stats PoolStats
	origins := map[string]int{}
	for t, err := range tools {
		if err != nil {
			return nil, PoolStats{}, err
		}
		o, ok := origins[t.Origin]
		if !ok {
			o = len(stats.Origins)
			origins[t.Origin] = o
			stats.Origins = append(stats.Origins, OriginOfTools{Origin: t.Origin})
		}
		stats.Read++
		stats.Origins[o].Read++
		key := Key(t)
		switch _, dup := p.keys[key]; {
		case strings.TrimSpace(t.Name) == "":
			stats.Nameless++
			continue
		case dup:
			stats.Duplicates++
			continue
		}
		p.keys[key] = len(p.tools)
		p.tools, p.texts = append(p.tools, t), append(p.texts, key)
		p.names = append(p.names, normalised(normalize, t.Name))
		stats.Kept++
		stats.Origins[o].Kept++
	}
	return p, stats, nil
}

// ToolsOf yields the tools of records, in order, with the name of the record's
// source as their origin unless they have one.
func ToolsOf(recs iter.Seq2[qaoa.Record, error]) iter.Seq2[qaoa.Tool, error] {
	return func(yield func(qaoa.Tool, error) bool) {
		for rec, err := range recs {
			if err != nil {
				yield(qaoa.Tool{}, err)
				return
			}
			for _, t := range rec.Tools {
				if t.Origin == "" {
					t.Origin = rec.Source.Name
				}
				if !yield(t, nil) {
					return
				}
			}
		}
	}
}

// Key returns the text that tells tools apart and that similarity looks at:
// name, line break, description, without blanks around either. Two tools with
// one key are the same tool, whatever their parameters.
func Key(t qaoa.Tool) string {
	return strings.TrimSpace(t.Name) + "\n" + strings.TrimSpace(t.Description)
}

// Len returns the number of tools.
func (p *Pool) Len() int { return len(p.tools) }

// Tools yields the tools in the order in which they were kept.
func (p *Pool) Tools() iter.Seq[qaoa.Tool] {
	return func(yield func(qaoa.Tool) bool) {
		for _, t := range p.tools {
			if !yield(t) {
				return
			}
		}
	}
}

// lexical returns the index over the keys of the tools.
func (p *Pool) lexical() *lexical.Index {
	p.once.Do(func() { p.index = lexical.NewIndex(p.texts) })
	return p.index
}

func normalised(normalize func(string) string, name string) string {
	if normalize == nil {
		return name
	}
	return normalize(name)
}
