package toolset

import (
	"fmt"
	"runtime"
	"slices"
	"strings"

	"assay/convert"
	"assay/filter"
	"assay/qaoa"
)

// A Stage is one step of [Assemble].
type Stage string

// The stages, in the order in which they are applied.
const (
	// StageNormalise brings parameters into the form of JSON Schema, and
	// removes what is no tool: see [Normalize].
	StageNormalise Stage = "normalise"
	// StageExact removes a tool with the name and description of another,
	// blanks around them aside. The first by priority stays, once.
	StageExact Stage = "exact"
	// StageTemporal removes tools that take or speak of times and dates, since
	// corpora differ in how "tomorrow" is to be resolved.
	StageTemporal Stage = "temporal"
	// StageEmpty removes tools without parameters.
	StageEmpty Stage = "empty"
	// StageLanguage removes tools in other languages. It is off unless a
	// language rule is given, and comes before the semantic stage, so that no
	// tool is lost for one that goes itself.
	StageLanguage Stage = "language"
	// StageSemantic removes a tool that is nearly the same text as one that
	// stays.
	StageSemantic Stage = "semantic"
)

// stageRead is where an element that holds no tool is lost.
const stageRead Stage = "read"

// Stages returns all stages, in order.
func Stages() []Stage {
	return []Stage{StageNormalise, StageExact, StageTemporal, StageEmpty, StageLanguage, StageSemantic}
}

// ParseStages returns the stages in a list of names with commas between, in
// their own order. "all" is every stage, "none" and "" are none.
func ParseStages(list string) ([]Stage, error) {
	switch strings.TrimSpace(list) {
	case "all":
		return Stages(), nil
	case "", "none":
		return nil, nil
	}
	var named []Stage
	for name := range strings.SplitSeq(list, ",") {
		s := Stage(strings.TrimSpace(name))
		if s == "normalize" {
			s = StageNormalise
		}
		if !slices.Contains(Stages(), s) {
			return nil, fmt.Errorf("stage %q: want some of %s, or all, or none", s, join(Stages(), ", "))
		}
		named = append(named, s)
	}
	return slices.DeleteFunc(Stages(), func(s Stage) bool { return !slices.Contains(named, s) }), nil
}

func join[S ~string](items []S, sep string) string {
	texts := make([]string, len(items))
	for i, s := range items {
		texts[i] = string(s)
	}
	return strings.Join(texts, sep)
}

// A Language is the rule of the language stage. It looks at name, description,
// parameters, category and domain.
type Language string

const (
	// AnyLanguage removes nothing.
	AnyLanguage Language = ""
	// NoChinese removes tools with a Chinese character, as the paper's later
	// maintenance of its pool did: U+3400 to U+4DBF, U+4E00 to U+9FA5, U+F900
	// to U+FAFF.
	NoChinese Language = "chinese"
	// NoCJK removes what [convert.LanguageCJK] finds.
	NoCJK Language = "cjk"
	// LatinOnly removes what [convert.LanguageL1] finds.
	LatinOnly Language = "l1"
)

// breaks returns the test for text that breaks the rule, nil if none does.
func (l Language) breaks() func(string) bool {
	switch l {
	case NoChinese:
		return func(s string) bool { return strings.ContainsFunc(s, chinese) }
	case NoCJK:
		return convert.LanguageCJK
	case LatinOnly:
		return convert.LanguageL1
	}
	return nil
}

func chinese(r rune) bool {
	return 0x3400 <= r && r <= 0x4DBF || 0x4E00 <= r && r <= 0x9FA5 || 0xF900 <= r && r <= 0xFAFF
}

// AssembleOptions are the rules of [Assemble]. The zero value runs no stage;
// start from [AssembleDefaults].
type AssembleOptions struct {
	Stages []Stage // in any order
	// Protect names origins whose tools come before all others and are never
	// removed for being similar. They can still be equal to each other.
	Protect  []string
	Temporal filter.TemporalTest
	// Schema is the rule for tools without parameters. [filter.Empty] leaves
	// those that have none at all, also not by an alternative or a reference;
	// [filter.Metadata] is the released script's list of names.
	Schema   filter.SchemaFilter
	Language Language
	// Threshold is the cosine above which two texts are the same, in (0,1).
	Threshold float64
	// Embed is where vectors come from; nil compares words and n-grams.
	Embed Embedder
	// Workers is how many elements are worked on at once; 0 is one per CPU. It
	// changes no byte of the result.
	Workers int
}

// AssembleDefaults returns the options of a pool: all stages, the repaired rule
// for temporal words in parameters of the first level, no language rule, and a
// threshold of 0.9 (UniToolCall, appendix A.3).
func AssembleDefaults() AssembleOptions {
	return AssembleOptions{
		Stages: Stages(), Temporal: filter.TemporalTest{Rule: filter.RepairedWords}, Schema: filter.Empty, Threshold: 0.9,
	}
}

// Check returns an error that says which option is out of its range, or nil.
func (o AssembleOptions) Check() error {
	for _, s := range o.Stages {
		if !slices.Contains(Stages(), s) {
			return fmt.Errorf("stage %q: want some of %s", s, join(Stages(), ", "))
		}
	}
	if err := o.Temporal.Validate(); err != nil {
		return err
	}
	if !slices.Contains([]filter.SchemaFilter{"", filter.Empty, filter.Metadata}, o.Schema) {
		return fmt.Errorf("schema filter %q: want %s or %s; to keep tools without parameters, leave the stage %s out", o.Schema, filter.Empty, filter.Metadata, StageEmpty)
	}
	if o.Language != AnyLanguage && o.Language.breaks() == nil {
		return fmt.Errorf("language %q: want %s, %s or %s", o.Language, NoChinese, NoCJK, LatinOnly)
	}
	if slices.Contains(o.Stages, StageSemantic) && !(o.Threshold > 0 && o.Threshold < 1) {
		return fmt.Errorf("threshold %g: want a cosine between 0 and 1, such as 0.9", o.Threshold)
	}
	return nil
}

func (o AssembleOptions) workers() int {
	if o.Workers > 0 {
		return o.Workers
	}
	return runtime.GOMAXPROCS(0)
}

// running returns the stages that run, in order.
func (o AssembleOptions) running() []Stage {
	return slices.DeleteFunc(Stages(), func(s Stage) bool {
		return !slices.Contains(o.Stages, s) || s == StageLanguage && o.Language == AnyLanguage
	})
}

// A fault is why a tool is removed.
type fault struct {
	code   convert.Code
	detail string
}

// check returns what is wrong with a tool at a stage that looks at one tool by
// itself, or nil.
func (o AssembleOptions) check(s Stage, t qaoa.Tool) *fault {
	switch s {
	case StageTemporal:
		if where, word := o.Temporal.Find(t); where != "" {
			return &fault{convert.TemporalTool, fmt.Sprintf("the word %q in %s", word, where)}
		}
	case StageEmpty:
		if filter.EmptySchema(t, o.Schema) && (o.Schema == filter.Metadata || !composed(t.Parameters)) {
			return &fault{convert.EmptySchema, "it has no parameters"}
		}
	case StageLanguage:
		breaks := o.Language.breaks()
		for _, part := range []struct{ where, text string }{
			{"name", t.Name},
			{"description", t.Description},
			{"parameters", string(t.Parameters)},
			{"category", t.Category},
			{"domain", t.Domain},
		} {
			if breaks(part.text) {
				return &fault{convert.NonEnglish, fmt.Sprintf("its %s breaks the language rule %s", part.where, o.Language)}
			}
		}
	}
	return nil
}

// composed reports whether a schema without properties may have parameters all
// the same.
func composed(parameters qaoa.JSON) bool {
	v, err := parameters.Value()
	if err != nil {
		return false
	}
	for _, m := range v.Members {
		switch m.Name {
		case "allOf", "anyOf", "oneOf":
			if len(m.Value.Items) > 0 {
				return true
			}
		case "$ref":
			return true
		case "patternProperties", "additionalProperties": // a map with any keys
			if m.Value.Kind == qaoa.Object && len(m.Value.Members) > 0 {
				return true
			}
		}
	}
	return false
}
