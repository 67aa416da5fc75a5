package match

// A NameRule says when two tool names are equal.
type NameRule string

// The rules for names.
const (
	NameLetters NameRule = "letters" // equal in the form of [Name]; the paper's
	NameDots    NameRule = "dots"    // equal after every "." became "_"
	NameExact   NameRule = "exact"   // equal as written
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
	TextMarks   TextRule = "marks"   // lower case, without blanks and , . / - _ * ^, with " for '; BFCL's
	TextExact   TextRule = "exact"   // as written
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

// A SuffixRule says what becomes of a number behind the name of a gold call,
// as in lamp_2. Some benchmarks number the calls of one tool so.
type SuffixRule string

// The rules for numbers behind names.
const (
	SuffixKeep    SuffixRule = "keep"    // it is part of the name; the paper's
	SuffixDrop    SuffixRule = "drop"    // it is dropped, whatever the tools are called
	SuffixUnknown SuffixRule = "unknown" // it is dropped unless a tool on offer has the whole name
)

// A ValueRule says what two values are compared as.
type ValueRule string

// The rules for values.
const (
	ValuesCanonical ValueRule = "canonical" // forms of [Canonical]; the paper's
	ValuesPrinted   ValueRule = "printed"   // the text that Python's str() makes of them
	ValuesTyped     ValueRule = "typed"     // by the declared type, as Python's == has it
)

// An ObjectRule says when two objects are equal under [ValuesTyped].
type ObjectRule string

// The rules for objects.
const (
	ObjectsEqual     ObjectRule = "equal"     // the same keys, equal values; the paper's
	ObjectsContained ObjectRule = "contained" // as many keys, the printed gold value within the printed value
)

// A ContainRule says how two texts are compared once they have their form.
type ContainRule string

// The rules for texts in their form.
const (
	ContainNone ContainRule = "none" // they must be equal; the paper's
	ContainGold ContainRule = "gold" // the gold text must be within the predicted one
)

// A WidenRule says where an integer may stand for a declared float.
type WidenRule string

// The rules for integers where floats are declared.
const (
	WidenDeep WidenRule = "deep" // everywhere; the paper's, which has no types
	WidenTop  WidenRule = "top"  // as an argument, not within a list
)

// A NullRule says what null is worth as an argument.
type NullRule string

// The rules for null.
const (
	NullAbsent   NullRule = "absent"   // it equals an absent member; the paper's
	NullDistinct NullRule = "distinct" // it is a value
)

// A BlankRule says what the empty string is worth as an argument.
type BlankRule string

// The rules for the empty string.
const (
	BlankKept   BlankRule = "kept"   // it is a value; the paper's
	BlankAbsent BlankRule = "absent" // it equals an absent argument
)

// A MissingRule says when the prediction may lack an argument of the gold call
// (that is not the default of the schema).
type MissingRule string

// The rules for arguments that the prediction lacks.
const (
	MissingWrong    MissingRule = "wrong"    // never; the paper's
	MissingOptional MissingRule = "optional" // if the schema does not require it
	MissingMarked   MissingRule = "marked"   // if "" is among its alternatives
)

// An ExtraRule says whether the prediction may have arguments that the gold
// call lacks.
type ExtraRule string

// The rules for arguments that the gold call lacks.
const (
	ExtraWrong   ExtraRule = "wrong"   // no; the paper's
	ExtraIgnored ExtraRule = "ignored" // yes
)

// A TypeRule says what is asked of the types of predicted arguments.
type TypeRule string

// The rules for types.
const (
	TypesOff      TypeRule = "off"      // nothing; the paper's
	TypesGold     TypeRule = "gold"     // the declared type or that of the first gold alternative
	TypesDeclared TypeRule = "declared" // the declared type, of string, number, boolean and array
)

// An UndeclaredRule says how a value is compared under [TypesGold] if the gold
// value has another type than the schema declares.
type UndeclaredRule string

// The rules for gold values of another type than declared.
const (
	UndeclaredEqual UndeclaredRule = "equal" // equal as written; the paper's, which has no types
	UndeclaredAny   UndeclaredRule = "any"   // any value of either type is right
)

// A ScalarRule says how numbers and booleans are compared under [ValuesTyped].
type ScalarRule string

// The rules for numbers and booleans.
const (
	ScalarsEqual ScalarRule = "equal" // by value; the paper's
	ScalarsAny   ScalarRule = "any"   // any of the right type is right
)

// An EmptyValueRule says what empty arguments, lists and objects are worth.
type EmptyValueRule string

// The rules for what is empty.
const (
	EmptyCompared EmptyValueRule = "compared" // compared like all others; the paper's
	EmptyRefused  EmptyValueRule = "refused"  // wrong on either side, unless the tool has no parameters
)

// An AssignRule says which predicted call counts for which gold call of its
// name.
type AssignRule string

// The rules for pairings.
const (
	AssignBest     AssignRule = "best"      // a maximum matching; the paper's
	AssignFirstFit AssignRule = "first_fit" // each gold call in turn takes the first that fits and is left
	AssignReuse    AssignRule = "reuse"     // each gold call takes any that fits, taken or not
	AssignFirst    AssignRule = "first"     // each prediction is held against the first gold call of its name
)

// A CreditRule says what SPA, FPA and FPA-arg count.
type CreditRule string

// The rules for credit.
const (
	CreditCalls    CreditRule = "calls"    // calls, divided by the [Divisor]; the paper's
	CreditInstance CreditRule = "instance" // 1 if all calls match and there are no others, else 0
	CreditF1       CreditRule = "f1"       // F1 of arguments; FP is the F1 of names
	CreditRecall   CreditRule = "recall"   // equal arguments per gold argument
)

// A WordRule says what the tokens of a text are.
type WordRule string

// The rules for tokens.
const (
	WordsUnicode WordRule = "unicode" // those of [Words]; the paper's
	WordsBlanks  WordRule = "blanks"  // what stands between blanks, in lower case, without . ? ! at the ends
)
