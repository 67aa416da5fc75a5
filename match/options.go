package match

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// A NameRule says when two tool names are equal.
type NameRule string

// The rules for names.
const (
	NameLetters NameRule = "letters" // equal in the form of [Name]; the paper's
	NameDots    NameRule = "dots"    // equal after every "." became "_"
)

// A KeyRule says when two argument keys are equal.
type KeyRule string

// The rules for keys.
const (
	KeyFolded KeyRule = "folded" // folded, without blanks and punctuation; the paper's
	KeyExact  KeyRule = "exact"  // as written
)

// A TextRule says when two strings are equal that are nothing but text.
type TextRule string

// The rules for text.
const (
	TextFolded  TextRule = "folded"  // folded, without blanks, punctuation and articles; the paper's
	TextTrimmed TextRule = "trimmed" // NFC, without blanks at the ends
)

// A Switch turns one rule on or off.
type Switch string

// The positions of a [Switch].
const (
	On  Switch = "on" // the paper's
	Off Switch = "off"
)

// A FlexRule says when arguments that are not equal are close enough for FPA.
type FlexRule string

// The rules for close arguments.
const (
	FlexCall   FlexRule = "call"    // ROUGE-L over the whole argument object; the paper's
	FlexArgMin FlexRule = "arg_min" // the same keys, and ROUGE-L value by value
	FlexNone   FlexRule = "none"    // never: FPA and FPA-arg are SPA
)

// A Divisor is what matches are divided by.
type Divisor string

// The divisors.
const (
	DivideLarger    Divisor = "larger"    // max(|P|, |G|): omitted calls count; the paper's
	DividePredicted Divisor = "predicted" // |P|
)

// An EmptyRule says what an instance is worth in which nothing was to be
// called and nothing was.
type EmptyRule string

// The rules for instances without any call.
const (
	EmptyRight EmptyRule = "right" // 1 on every metric; the paper's
	EmptyWrong EmptyRule = "wrong" // 0 on every metric
)

// A NoGoldRule says where instances without a gold call are reported.
type NoGoldRule string

// The places of instances without a gold call. This package only carries the
// knob: it has no cells.
const (
	NoGoldApart  NoGoldRule = "apart"   // in no cell, counted on their own
	NoGoldInCell NoGoldRule = "in_cell" // turns in SH, conversations in ST or MT
)

// Date orders of numeric dates such as 3/4/2023.
const (
	MonthFirst = "mdy" // month first, unless the first field exceeds 12
	DayFirst   = "dmy" // day first, unless the second field exceeds 12
)

// Options are the knobs of the matcher. A knob that is empty or zero has the
// value of the preset "paper", so the zero Options are that preset. Options
// are plain comparable data: they print into manifests and read back.
type Options struct {
	Name string `json:"name"` // of the preset; only a label

	Names NameRule `json:"names"`
	Keys  KeyRule  `json:"keys"`
	Text  TextRule `json:"text"`

	// What is read out of strings: arrays and objects written as JSON or as
	// Python literals, numbers, true and false, dates.
	Literals Switch `json:"literals"`
	Numbers  Switch `json:"numbers"`
	Bools    Switch `json:"bools"`
	Dates    Switch `json:"dates"`

	// DateOrder is [MonthFirst] or [DayFirst].
	DateOrder string `json:"date_order"`

	// Defaults lets an absent argument equal the default of its schema.
	Defaults Switch `json:"defaults"`

	Flexible FlexRule `json:"flexible"`
	// RougeNum/RougeDen is the least ROUGE-L F1 that is close enough; both 0
	// mean 7/10. It is a fraction of integers because no float64 is 0.7.
	RougeNum int `json:"rouge_num"`
	RougeDen int `json:"rouge_den"`

	Divisor Divisor    `json:"divisor"`
	Empty   EmptyRule  `json:"empty"`
	NoGold  NoGoldRule `json:"no_gold"`
}

// paper is what empty knobs mean (UniToolCall, sections 3.3, 4.1 and B.2).
func paper() Options {
	return Options{
		Name: "paper", Names: NameLetters, Keys: KeyFolded, Text: TextFolded,
		Literals: On, Numbers: On, Bools: On, Dates: On, DateOrder: MonthFirst,
		Defaults: On, Flexible: FlexCall, RougeNum: 7, RougeDen: 10,
		Divisor: DivideLarger, Empty: EmptyRight, NoGold: NoGoldApart,
	}
}

// presets returns every preset with its knobs spelled out, paper first.
func presets() []Options {
	// reference follows the scorer that the paper's authors released: it does
	// not pad omitted calls, and an instance that lacks calls on either side
	// scores 0.
	reference := paper()
	reference.Name = "reference"
	reference.Divisor = DividePredicted
	reference.Empty = EmptyWrong
	reference.NoGold = NoGoldInCell

	// strict reads nothing out of strings and forgives nothing but defaults.
	strict := paper()
	strict.Name = "strict"
	strict.Names, strict.Keys, strict.Text = NameDots, KeyExact, TextTrimmed
	strict.Literals, strict.Numbers, strict.Bools, strict.Dates = Off, Off, Off, Off
	strict.Flexible = FlexNone

	return []Options{paper(), reference, strict}
}

// Presets returns the names that [Preset] knows, the default first.
func Presets() []string {
	var names []string
	for _, p := range presets() {
		names = append(names, p.Name)
	}
	return names
}

// Preset returns the preset with that name, every knob spelled out. "" is
// "paper". An unknown name is an error that lists the known ones, near ones
// first.
func Preset(name string) (Options, error) {
	if name == "" {
		return paper(), nil
	}
	for _, p := range presets() {
		if p.Name == name {
			return p, nil
		}
	}
	known := Presets()
	near := slices.DeleteFunc(slices.Clone(known), func(k string) bool {
		return edits(strings.ToLower(name), k) > max(2, len(k)/3)
	})
	if len(near) > 0 {
		return Options{}, fmt.Errorf("preset %.40q: unknown; did you mean %s? Want one of %s",
			name, strings.Join(near, " or "), strings.Join(known, ", "))
	}
	return Options{}, fmt.Errorf("preset %.40q: unknown; want one of %s", name, strings.Join(known, ", "))
}

// edits returns the Levenshtein distance of a and b in bytes.
func edits(a, b string) int {
	if len(a) > 4*len(b)+8 { // far away; do not pay for a hostile name
		return len(a)
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diag := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diag
			if a[i] != b[j] {
				cost++
			}
			diag = row[j+1]
			row[j+1] = min(cost, diag+1, row[j]+1)
		}
	}
	return row[len(b)]
}

// Validate returns an error for every knob of o that has no such position.
func (o Options) Validate() error {
	return errors.Join(
		oneOf("names", o.Names, NameLetters, NameDots),
		oneOf("keys", o.Keys, KeyFolded, KeyExact),
		oneOf("text", o.Text, TextFolded, TextTrimmed),
		oneOf("literals", o.Literals, On, Off),
		oneOf("numbers", o.Numbers, On, Off),
		oneOf("bools", o.Bools, On, Off),
		oneOf("dates", o.Dates, On, Off),
		oneOf("date_order", o.DateOrder, MonthFirst, DayFirst),
		oneOf("defaults", o.Defaults, On, Off),
		oneOf("flexible", o.Flexible, FlexCall, FlexArgMin, FlexNone),
		oneOf("divisor", o.Divisor, DivideLarger, DividePredicted),
		oneOf("empty", o.Empty, EmptyRight, EmptyWrong),
		oneOf("no_gold", o.NoGold, NoGoldApart, NoGoldInCell),
		o.validRouge(),
	)
}

// maxRougeDen keeps the integer test of the threshold far from overflow.
const maxRougeDen = 1_000_000

func (o Options) validRouge() error {
	if o.RougeNum == 0 && o.RougeDen == 0 {
		return nil
	}
	if o.RougeNum < 0 || o.RougeDen < 1 || o.RougeNum > o.RougeDen || o.RougeDen > maxRougeDen {
		return fmt.Errorf("option rouge_num/rouge_den: want a fraction in [0,1] with a denominator of at most %d, have %d/%d",
			maxRougeDen, o.RougeNum, o.RougeDen)
	}
	return nil
}

func oneOf[T ~string](knob string, have T, want ...T) error {
	if have == "" || slices.Contains(want, have) {
		return nil
	}
	names := make([]string, len(want))
	for i, w := range want {
		names[i] = string(w)
	}
	return fmt.Errorf("option %s: want one of %s, have %.40q", knob, strings.Join(names, ", "), string(have))
}

// Resolved returns o with every empty knob spelled out, as manifests show it.
// A threshold that [Options.Validate] refuses becomes the paper's.
func (o Options) Resolved() Options {
	p := paper()
	fill(&o.Name, p.Name)
	fill(&o.Names, p.Names)
	fill(&o.Keys, p.Keys)
	fill(&o.Text, p.Text)
	fill(&o.Literals, p.Literals)
	fill(&o.Numbers, p.Numbers)
	fill(&o.Bools, p.Bools)
	fill(&o.Dates, p.Dates)
	fill(&o.DateOrder, p.DateOrder)
	fill(&o.Defaults, p.Defaults)
	fill(&o.Flexible, p.Flexible)
	fill(&o.Divisor, p.Divisor)
	fill(&o.Empty, p.Empty)
	fill(&o.NoGold, p.NoGold)
	if o.RougeDen == 0 || o.validRouge() != nil {
		o.RougeNum, o.RougeDen = p.RougeNum, p.RougeDen
	}
	return o
}

func fill[T ~string](knob *T, value T) {
	if *knob == "" {
		*knob = value
	}
}
