package taxonomy

import (
	"math"
	"slices"
	"strings"
	"sync"

	"assay/internal/lexical"
	"assay/qaoa"
)

// LexicalName is what labels of [Lexical] are made by. The number changes with
// any change that can change a label.
const LexicalName = "lexical/1"

// The weights of the lexical classifier, chosen by leave-one-out on the
// package's own tools, and but for one not on any others.
const (
	alpha       = 0.1 // added to every count, so that no word is impossible
	cueCount    = 8   // what a word of a class's list counts as
	firstWeight = 2   // of the first word of name and of description, for categories
	sharpness   = 3   // words that the evidence of a text is worth at most

	// parameterWeight is that of a word of a parameter's name or description,
	// for domains. Seal-Tools' tools and fields were used to choose it, since
	// our own tools have no parameters.
	parameterWeight = 0.5
)

// Lexical classifies tools by their words: two naive Bayes models, one for the
// category and one for the domain, over the stemmed words of name and
// description. For the category the first words of both are features of their
// own, since tools begin with their verb; for the domain the top parameters'
// names and descriptions count too. The models are made from
// [Examples] and from lists of words for each class.
//
// Made once, a Lexical does not change, and it is safe for concurrent use. Its
// labels depend on the tool alone.
type Lexical struct{ category, domain *bayes }

// NewLexical returns the classifier. It is made at the first call.
func NewLexical() *Lexical { return newLexical() }

var newLexical = sync.OnceValue(func() *Lexical {
	l := &Lexical{
		category: newBayes("category", names(Categories())),
		domain:   newBayes("domain", names(Domains())),
	}
	for _, e := range Examples() {
		l.category.learn(string(e.Category), categoryFeatures(e.Tool), 1)
		l.domain.learn(string(e.Domain), domainFeatures(e.Tool), 1)
	}
	return l
})

func names[T ~string](all []T) []string {
	out := make([]string, len(all))
	for i, x := range all {
		out[i] = string(x)
	}
	return out
}

// Classify returns the label of t. Every tool gets a category and a domain; how
// sure that is, the scores tell: a tool without a known word gets the first
// ones with the score of a guess and a margin of 0.
//
// A score is exp(s/T) over the sum of the same for all classes, where s is the
// sum of the class's evidence and T is 1 for evidence of up to three telling
// words and grows in step with it from there: the words of a text are not
// independent witnesses, and without T almost every score would be 1.
func (l *Lexical) Classify(t qaoa.Tool) Label {
	c, cs, cm := l.category.best(categoryFeatures(t))
	d, ds, dm := l.domain.best(domainFeatures(t))
	return Label{
		Category: Category(c), Domain: Domain(d), By: LexicalName,
		CategoryScore: cs, CategoryMargin: cm, DomainScore: ds, DomainMargin: dm,
	}
}

// LeaveOneOut classifies each of [Examples] by a classifier that has not seen
// it, and returns the labels in their order.
func (l *Lexical) LeaveOneOut() []Label {
	all := Examples()
	out := make([]Label, len(all))
	// A model of its own: l may be in use.
	own := &Lexical{l.category.clone(), l.domain.clone()}
	for i, e := range all {
		cf, df := categoryFeatures(e.Tool), domainFeatures(e.Tool)
		own.category.learn(string(e.Category), cf, -1)
		own.domain.learn(string(e.Domain), df, -1)
		out[i] = own.Classify(e.Tool)
		own.category.learn(string(e.Category), cf, 1)
		own.domain.learn(string(e.Domain), df, 1)
	}
	return out
}

// A feature is a word and what it counts.
type feature struct {
	word   string
	weight float64
}

// Features that are words in a place, apart from the same word elsewhere.
const (
	firstOfName        = "^"
	firstOfDescription = "^^"
)

// maxText is how much of a description is looked at, in bytes. What a tool is
// for stands at the beginning.
const maxText = 2000

// maxParameters is how many parameters are looked at.
const maxParameters = 32

// domainFeatures are the words of name, description and parameters: a date and
// a city say little of what a tool does, and much of what it is about.
func domainFeatures(t qaoa.Tool) []feature {
	fs := words(nil, t.Name, "")
	fs = words(fs, t.Description, "")
	own := len(fs)
	for i, p := range properties(t) {
		if i == maxParameters {
			break
		}
		fs = words(fs, p.Name, "")
		if d, _ := p.Value.Get("description"); d.Kind == qaoa.String {
			fs = words(fs, d.Text, "")
		}
	}
	for i := range fs[own:] {
		fs[own+i].weight = parameterWeight
	}
	return fs
}

// properties returns the parameters of t with their schemas, none if it has no
// schema of an object.
func properties(t qaoa.Tool) []qaoa.Member {
	if t.Parameters == "" {
		return nil
	}
	v, err := t.Parameters.Value()
	if err != nil {
		return nil
	}
	p, _ := v.Get("properties")
	return p.Members
}

func categoryFeatures(t qaoa.Tool) []feature {
	fs := words(nil, t.Name, firstOfName)
	return words(fs, t.Description, firstOfDescription)
}

// words appends the words of text; the first one also under first, if that is
// not "".
func words(fs []feature, text, first string) []feature {
	if len(text) > maxText {
		text = text[:maxText]
	}
	for w := range lexical.Words(text) {
		if first != "" {
			fs = append(fs, feature{first + w, firstWeight})
			first = ""
		}
		fs = append(fs, feature{w, 1})
	}
	return fs
}

// A bayes is a multinomial naive Bayes model in which a word counts by how much
// it tells:
//
//	evidence(class)   = log P(class) + Σ weight · info(word) · log P(word | class)
//	P(word | class)   = (count(word, class) + alpha) / (count(class) + alpha·V)
//	info(word)        = 1 - H(class | word) / log(classes), in [0,1]
//
// with V distinct words, and H the entropy of P(word | class) scaled to sum 1
// over the classes. "a" and "user" occur in all classes and tell next to
// nothing, and there are many such words in a description. A word that no class
// has seen is left out.
type bayes struct {
	classes []string
	counts  map[string][]float64 // of a word, by class
	totals  []float64            // of all words, by class
	docs    []float64            // examples, by class
}

func newBayes(kind string, all []string) *bayes {
	b := &bayes{classes: all, counts: map[string][]float64{}, totals: make([]float64, len(all)), docs: make([]float64, len(all))}
	for _, name := range all {
		c := classes()[kind][name]
		var fs []feature
		for w := range lexical.Words(c.definition) {
			fs = append(fs, feature{w, 1})
		}
		for w := range lexical.Words(c.cues) {
			fs = append(fs, feature{w, cueCount})
			if kind == "category" {
				fs = append(fs, feature{firstOfName + w, cueCount}, feature{firstOfDescription + w, cueCount})
			}
		}
		b.learn(name, fs, 1)
	}
	return b
}

// learn adds a text of a class, or takes it away again with sign -1.
func (b *bayes) learn(name string, fs []feature, sign float64) {
	c := slices.Index(b.classes, name)
	for _, f := range fs {
		n, ok := b.counts[f.word]
		if !ok {
			n = make([]float64, len(b.classes))
			b.counts[strings.Clone(f.word)] = n
		}
		n[c] += sign * f.weight
		b.totals[c] += sign * f.weight
	}
	b.docs[c] += sign
}

func (b *bayes) clone() *bayes {
	out := &bayes{classes: b.classes, counts: make(map[string][]float64, len(b.counts)), totals: slices.Clone(b.totals), docs: slices.Clone(b.docs)}
	for w, n := range b.counts {
		out.counts[w] = slices.Clone(n)
	}
	return out
}

// best returns the most likely class, the first of equals, its score and its
// distance from the second best.
func (b *bayes) best(fs []feature) (class string, score, margin float64) {
	var docs float64
	for _, n := range b.docs {
		docs += n
	}
	logs := make([]float64, len(b.classes))
	for c := range logs {
		logs[c] = math.Log(b.docs[c] / docs)
	}
	evidence := 0.0
	p := make([]float64, len(b.classes))
	for _, f := range fs {
		n, ok := b.counts[f.word]
		if !ok {
			continue
		}
		info := b.inform(n, p)
		evidence += float64(f.weight * info)
		for c := range logs {
			logs[c] += float64(f.weight * info * math.Log(p[c]))
		}
	}
	return b.pick(logs, max(1, evidence/sharpness))
}

// inform fills p with P(word | class) for a word with these counts, and returns
// how much the word tells, in [0,1].
func (b *bayes) inform(counts, p []float64) float64 {
	var sum float64
	for c := range p {
		p[c] = (counts[c] + alpha) / (b.totals[c] + alpha*float64(len(b.counts)))
		sum += p[c]
	}
	var entropy float64
	for _, x := range p {
		entropy -= float64(x / sum * math.Log(x/sum))
	}
	return max(0, 1-entropy/math.Log(float64(len(p))))
}

// pick returns the class with the highest of logs, where they are divided by
// temper before they become scores.
func (b *bayes) pick(logs []float64, temper float64) (class string, score, margin float64) {
	top := 0
	for c, l := range logs {
		if l > logs[top] {
			top = c
		}
	}
	var sum, second float64
	for c, l := range logs {
		p := math.Exp((l - logs[top]) / temper)
		sum += p
		if c != top {
			second = max(second, p)
		}
	}
	return b.classes[top], 1 / sum, (1 - second) / sum
}
