package eval

import (
	"slices"
	"strings"

	"github.com/zeebo/xxh3"

	"assay/internal/lexical"
	"assay/match"
	"assay/qaoa"
)

// NearDuplicate is how much alike, from 0 to 1, the texts of two tools are from
// which on calling the one for the other is a [ClassNearDuplicate] and not a
// [ClassWrongTool]. The text of a tool is its name and its description; how
// much two texts are alike is Dice's coefficient of their sets of stemmed words
// without function words, 2·|A∩B| / (|A|+|B|).
const NearDuplicate = 0.6

// toolWords is a tool as a set: hashes of its words, ascending.
type toolWords []uint64

// functionWords tell no tools apart.
var functionWords = func() map[uint64]bool {
	m := map[uint64]bool{}
	for w := range strings.FieldsSeq(`a an and any are as at be by can for from has have if in into is it its of
		on or that the their this to use used using via when which with you your`) {
		m[xxh3.HashString(lexical.Stem(w))] = true
	}
	return m
}()

// wordsOf returns the words of a tool.
func wordsOf(name, description string) toolWords {
	var words toolWords
	for _, text := range [...]string{name, description} {
		for w := range lexical.Words(text) {
			if h := xxh3.HashString(w); !functionWords[h] {
				words = append(words, h)
			}
		}
	}
	slices.Sort(words)
	return slices.Clip(slices.Compact(words))
}

// alike returns Dice's coefficient of two sets, 0 if both are empty.
func alike(a, b toolWords) float64 {
	if len(a)+len(b) == 0 {
		return 0
	}
	common, j := 0, 0
	for _, h := range a {
		for j < len(b) && b[j] < h {
			j++
		}
		if j < len(b) && b[j] == h {
			common++
			j++
		}
	}
	return 2 * float64(common) / float64(len(a)+len(b))
}

// toolTexts remembers the words of tools: the same ones come in many records.
type toolTexts struct {
	opt    match.Options
	offers map[[2]string]*offer // by name and description
	forms  map[string]string
}

func newToolTexts(opt match.Options) *toolTexts {
	return &toolTexts{opt: opt.Resolved(), offers: map[[2]string]*offer{}, forms: map[string]string{}}
}

// profile returns what is to be known of the tools on offer.
func (t *toolTexts) profile(tools []qaoa.Tool) *profile {
	p := &profile{offers: make([]*offer, len(tools))}
	for i, tool := range tools {
		key := [2]string{tool.Name, tool.Description}
		o := t.offers[key]
		if o == nil {
			form, ok := t.forms[tool.Name]
			if !ok {
				// Cloned, as a form may be the name itself.
				form = strings.Clone(nameForm(t.opt, tool.Name))
				t.forms[strings.Clone(tool.Name)] = form
			}
			o = &offer{form, wordsOf(tool.Name, tool.Description)}
			t.offers[[2]string{strings.Clone(tool.Name), strings.Clone(tool.Description)}] = o
		}
		p.offers[i] = o
	}
	return p
}

// nameForm returns what two tool names have in common that are equal under opt.
func nameForm(opt match.Options, name string) string {
	switch opt.Names {
	case match.NameDots:
		return strings.ReplaceAll(name, ".", "_")
	case match.NameExact:
		return name
	}
	return match.Name(name)
}

// goldPlace returns the index of the tool of a gold call, or -1. Presets that
// say so see no number behind the name.
func (p *profile) goldPlace(opt match.Options, name string) int {
	i := p.place(nameForm(opt, name))
	if i >= 0 || opt.Suffix == match.SuffixKeep || opt.Suffix == "" {
		return i
	}
	short := strings.TrimRight(name, "0123456789")
	if short == name || !strings.HasSuffix(short, "_") {
		return -1
	}
	return p.place(nameForm(opt, strings.TrimSuffix(short, "_")))
}

// A profile is what a diagnosis asks about a record.
type profile struct {
	offers []*offer            // shared by records
	golds  []string            // forms of the names that gold calls, each once
	turns  [][breakdowns]uint8 // bin of each turn in each breakdown
}

// An offer is a tool on offer. It is not changed.
type offer struct {
	form  string
	words toolWords
}

// place returns the index of the first tool with that form of name, or -1.
func (p *profile) place(form string) int {
	return slices.IndexFunc(p.offers, func(o *offer) bool { return o.form == form })
}
