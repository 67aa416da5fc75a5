package match

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Options are the knobs of the matcher. A knob that is empty or zero has the
// value of the preset "paper", so the zero Options are that preset. Options
// are plain comparable data: they print into manifests and read back.
type Options struct {
	// Name is the preset's, with +FAULT for each fault that is repaired. It is
	// only a label.
	Name string `json:"name"`

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

	// The knobs below tell foreign matchers apart. Those of types and objects
	// act under ValuesTyped only.
	Suffix     SuffixRule     `json:"suffix"`
	Values     ValueRule      `json:"values"`
	Objects    ObjectRule     `json:"objects"`
	Contain    ContainRule    `json:"contain"`
	Widen      WidenRule      `json:"widen"`
	BoolNumber Switch         `json:"bool_number"` // true equals 1 and false 0, as in Python
	Null       NullRule       `json:"null"`
	Blank      BlankRule      `json:"blank"`
	Missing    MissingRule    `json:"missing"`
	Extra      ExtraRule      `json:"extra"`
	Types      TypeRule       `json:"types"`
	Undeclared UndeclaredRule `json:"undeclared"`
	Scalars    ScalarRule     `json:"scalars"`
	EmptyValue EmptyValueRule `json:"empty_value"`
	Assign     AssignRule     `json:"assign"`
	Credit     CreditRule     `json:"credit"`
	Words      WordRule       `json:"words"`

	// Required asks for every parameter that the schema requires, and for no
	// other than it has, whatever the gold call says.
	Required Switch `json:"required"`
	// Alternatives reads the alternatives of the gold record; see
	// [PrepareWith].
	Alternatives Switch `json:"alternatives"`
	// ItemTypes asks for the declared type of the items of lists.
	ItemTypes Switch `json:"item_types"`
	// BoolText takes the strings true and false for booleans where such are
	// declared.
	BoolText Switch `json:"bool_text"`
	// MarkerList lets an empty list stand for a parameter that may be left out.
	MarkerList Switch `json:"marker_list"`
	// SchemaEcho takes every call for right whose gold arguments are the
	// properties of the schema, written out.
	SchemaEcho Switch `json:"schema_echo"`

	// FreeKey is an argument that is not compared if the gold call has it, and
	// SetKey one whose text is a set of items between commas. FreeCalls are
	// tools, between commas, whose gold calls may be left out.
	FreeKey   string `json:"free_key"`
	SetKey    string `json:"set_key"`
	FreeCalls string `json:"free_calls"`
}

// paper is what empty knobs mean (UniToolCall, sections 3.3, 4.1 and B.2).
func paper() Options {
	return Options{
		Name: "paper", Names: NameLetters, Keys: KeyFolded, Text: TextFolded,
		Literals: On, Numbers: On, Bools: On, Dates: On, DateOrder: MonthFirst,
		Defaults: On, Flexible: FlexCall, RougeNum: 7, RougeDen: 10,
		Divisor: DivideLarger, Empty: EmptyRight, NoGold: NoGoldApart,
		Suffix: SuffixKeep, Values: ValuesCanonical, Objects: ObjectsEqual, Contain: ContainNone,
		Widen: WidenDeep, BoolNumber: Off, Null: NullAbsent, Blank: BlankKept,
		Missing: MissingWrong, Extra: ExtraWrong, Types: TypesOff, Undeclared: UndeclaredEqual,
		Scalars: ScalarsEqual, EmptyValue: EmptyCompared, Assign: AssignBest, Credit: CreditCalls,
		Words: WordsUnicode, Required: Off, Alternatives: Off, ItemTypes: Off, BoolText: Off,
		MarkerList: Off, SchemaEcho: Off,
	}
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
		oneOf("names", o.Names, NameLetters, NameDots, NameExact),
		oneOf("keys", o.Keys, KeyFolded, KeyExact),
		oneOf("text", o.Text, TextFolded, TextTrimmed, TextMarks, TextExact),
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
		oneOf("suffix", o.Suffix, SuffixKeep, SuffixDrop, SuffixUnknown),
		oneOf("values", o.Values, ValuesCanonical, ValuesPrinted, ValuesTyped),
		oneOf("objects", o.Objects, ObjectsEqual, ObjectsContained),
		oneOf("contain", o.Contain, ContainNone, ContainGold),
		oneOf("widen", o.Widen, WidenDeep, WidenTop),
		oneOf("bool_number", o.BoolNumber, On, Off),
		oneOf("null", o.Null, NullAbsent, NullDistinct),
		oneOf("blank", o.Blank, BlankKept, BlankAbsent),
		oneOf("missing", o.Missing, MissingWrong, MissingOptional, MissingMarked),
		oneOf("extra", o.Extra, ExtraWrong, ExtraIgnored),
		oneOf("types", o.Types, TypesOff, TypesGold, TypesDeclared),
		oneOf("undeclared", o.Undeclared, UndeclaredEqual, UndeclaredAny),
		oneOf("scalars", o.Scalars, ScalarsEqual, ScalarsAny),
		oneOf("empty_value", o.EmptyValue, EmptyCompared, EmptyRefused),
		oneOf("assign", o.Assign, AssignBest, AssignFirstFit, AssignReuse, AssignFirst),
		oneOf("credit", o.Credit, CreditCalls, CreditInstance, CreditF1, CreditRecall),
		oneOf("words", o.Words, WordsUnicode, WordsBlanks),
		oneOf("required", o.Required, On, Off),
		oneOf("alternatives", o.Alternatives, On, Off),
		oneOf("item_types", o.ItemTypes, On, Off),
		oneOf("bool_text", o.BoolText, On, Off),
		oneOf("marker_list", o.MarkerList, On, Off),
		oneOf("schema_echo", o.SchemaEcho, On, Off),
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
	fill(&o.Suffix, p.Suffix)
	fill(&o.Values, p.Values)
	fill(&o.Objects, p.Objects)
	fill(&o.Contain, p.Contain)
	fill(&o.Widen, p.Widen)
	fill(&o.BoolNumber, p.BoolNumber)
	fill(&o.Null, p.Null)
	fill(&o.Blank, p.Blank)
	fill(&o.Missing, p.Missing)
	fill(&o.Extra, p.Extra)
	fill(&o.Types, p.Types)
	fill(&o.Undeclared, p.Undeclared)
	fill(&o.Scalars, p.Scalars)
	fill(&o.EmptyValue, p.EmptyValue)
	fill(&o.Assign, p.Assign)
	fill(&o.Credit, p.Credit)
	fill(&o.Words, p.Words)
	fill(&o.Required, p.Required)
	fill(&o.Alternatives, p.Alternatives)
	fill(&o.ItemTypes, p.ItemTypes)
	fill(&o.BoolText, p.BoolText)
	fill(&o.MarkerList, p.MarkerList)
	fill(&o.SchemaEcho, p.SchemaEcho)
	if o.RougeDen == 0 || o.validRouge() != nil {
		o.RougeNum, o.RougeDen = p.RougeNum, p.RougeDen
	}
	return o
}

// canonical reports whether values are compared by the forms of [Canonical]
// and nothing is asked of schemas: the rules of the presets of the paper.
func (o Options) canonical() bool {
	return o.Values == ValuesCanonical && o.Missing == MissingWrong && o.Extra == ExtraWrong &&
		o.Required == Off && o.Alternatives == Off && o.EmptyValue == EmptyCompared &&
		o.SchemaEcho == Off && o.FreeKey == "" && o.SetKey == ""
}

func fill[T ~string](knob *T, value T) {
	if *knob == "" {
		*knob = value
	}
}
