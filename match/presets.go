package match

import (
	"fmt"
	"slices"
	"strings"
)

// A PresetInfo describes a preset for people.
type PresetInfo struct {
	Name string `json:"name"`
	// Rules says in a few sentences what the preset takes for right.
	Rules string `json:"rules"`
	// Source names whose rules these are.
	Source string `json:"source"`
	// Differs says where the preset knowingly is not its source.
	Differs string  `json:"differs,omitempty"`
	Faults  []Fault `json:"faults,omitempty"`
}

// A Fault is a known weakness of a preset that [Options.WithFix] repairs.
type Fault struct {
	Name string `json:"name"`
	Doc  string `json:"doc"` // what goes wrong, and what the repair does

	repair func(*Options)
}

// A preset is a set of knobs with its description.
type preset struct {
	options Options
	info    PresetInfo
}

// everyPreset returns every preset with its knobs spelled out, paper first.
func everyPreset() []preset {
	all := []preset{
		paperPreset(), referencePreset(), strictPreset(), bfclPreset(), aceBenchPreset(),
		sealToolsPreset(), hammerBenchPreset(), complexFuncBenchPreset(), tEvalPreset(),
	}
	for i := range all {
		all[i].info.Name = all[i].options.Name
	}
	return all
}

func paperPreset() preset {
	return preset{paper(), PresetInfo{
		Source: "UniToolCall, sections 3.3, 4.1 and B.2",
		Rules: "Names are equal in letters, values in canonical form (numbers, booleans, dates, lists and objects are read out of strings), " +
			"an absent argument equals its default. FPA accepts ROUGE-L F1 of at least 0.7 over the whole call. Omitted calls are padded.",
		Faults: []Fault{{
			Name: "key-tokens",
			Doc: "keys are tokens of ROUGE-L, so with short values 1 wrong argument of 2, and 3 of 5, still pass FPA; " +
				"repaired, every argument must reach the threshold on its own",
			repair: func(o *Options) { o.Flexible = FlexArgMin },
		}},
	}}
}

// referencePreset follows the scorer that the paper's authors released.
func referencePreset() preset {
	o := paper()
	o.Name = "reference"
	o.Divisor, o.Empty, o.NoGold = DividePredicted, EmptyWrong, NoGoldInCell
	return preset{o, PresetInfo{
		Source: "the scorer released with UniToolCall, as far as it is known",
		Rules:  "As paper, but matches are divided by the number of predicted calls, and an instance that lacks calls on either side scores 0.",
		Faults: []Fault{{
			Name:   "padding",
			Doc:    "omitted calls cost nothing; repaired, matches are divided by the larger number of calls",
			repair: func(o *Options) { o.Divisor = DivideLarger },
		}, {
			Name:   "empty",
			Doc:    "where nothing was to be called and nothing was, the score is 0; repaired, it is 1, and such instances are reported apart",
			repair: func(o *Options) { o.Empty, o.NoGold = EmptyRight, NoGoldApart },
		}},
	}}
}

// strictPreset reads nothing out of strings and forgives nothing but defaults.
func strictPreset() preset {
	o := paper()
	o.Name = "strict"
	o.Names, o.Keys, o.Text = NameDots, KeyExact, TextTrimmed
	o.Literals, o.Numbers, o.Bools, o.Dates = Off, Off, Off, Off
	o.Flexible = FlexNone
	return preset{o, PresetInfo{
		Source: "our own",
		Rules: "Names are equal after dots became underscores, keys as written, strings in NFC and trimmed, numbers by exact value. " +
			"Nothing is read out of strings. Null equals absent, and so does the default. FPA is SPA.",
	}}
}

// foreign is what the presets of other benchmarks share: everything is compared
// as it is written, nothing is read out of strings, no default counts, and
// there is no second, flexible look.
func foreign(name string, values ValueRule) Options {
	o := paper()
	o.Name, o.Values = name, values
	o.Names, o.Keys, o.Text = NameExact, KeyExact, TextExact
	o.Literals, o.Numbers, o.Bools, o.Dates = Off, Off, Off, Off
	o.Defaults, o.Flexible, o.Null = Off, FlexNone, NullDistinct
	return o
}

// binary is the fault of presets that judge an instance as a whole.
func binary() Fault {
	return Fault{
		Name:   "binary",
		Doc:    "an instance is right or wrong as a whole; repaired, matches are divided by the larger number of calls",
		repair: func(o *Options) { o.Credit = CreditCalls },
	}
}

// bfclPreset is the AST checker of the Berkeley Function Calling Leaderboard.
func bfclPreset() preset {
	o := foreign("bfcl", ValuesTyped)
	o.Names, o.Text = NameDots, TextMarks
	o.Types, o.ItemTypes, o.Widen, o.BoolNumber = TypesGold, On, WidenTop, On
	o.Alternatives, o.Missing, o.MarkerList = On, MissingMarked, On
	o.Assign, o.Credit = AssignFirstFit, CreditInstance
	return preset{o, PresetInfo{
		Source: "the AST checker of the Berkeley Function Calling Leaderboard (gorilla, bfcl_eval, ast_checker)",
		Rules: "An instance is right if it has as many calls as the gold and each gold call takes the first prediction left that fits. " +
			"A value must have the declared type, or that of the first alternative, and equal one of the alternatives; an integer may stand for a float; " +
			"booleans are no integers. Strings lose blanks and , . / - _ * ^ and case. An argument may be left out if \"\" is among its alternatives; none may be added.",
		Differs: "A gold call excuses its own schema: what it names need not be declared, and what it marks optional need not be given, " +
			"so that the gold itself is right (but for lists of several types, which the check of items refuses). A gold value whose type is not declared is compared by its own type. Strings of a Java or JavaScript record are read as literals of the declared type if the gold value is none. " +
			"Abstention on irrelevant questions is reported apart (no gold call), never as a match.",
		Faults: []Fault{{
			Name:   "list-floats",
			Doc:    "an integer within a list of floats has the wrong type; repaired, it may stand for a float at any depth",
			repair: func(o *Options) { o.Widen = WidenDeep },
		}, {
			Name:   "first-fit",
			Doc:    "a gold call may take a prediction that a later gold call needs; repaired, the pairing is a maximum matching",
			repair: func(o *Options) { o.Assign = AssignBest },
		}, {
			Name:   "marker-list",
			Doc:    "the marker of an optional list lets an empty list pass; repaired, only leaving it out does",
			repair: func(o *Options) { o.MarkerList = Off },
		}, binary()},
	}}
}

// aceBenchPreset is the checker of ACEBench's normal categories.
func aceBenchPreset() preset {
	o := foreign("acebench", ValuesTyped)
	o.Text, o.Contain, o.Objects = TextMarks, ContainGold, ObjectsContained
	o.Types, o.Undeclared, o.Scalars = TypesGold, UndeclaredAny, ScalarsAny
	o.Widen, o.BoolNumber, o.BoolText = WidenTop, On, On
	o.Required, o.Missing, o.EmptyValue, o.SchemaEcho = On, MissingOptional, EmptyRefused, On
	o.Suffix, o.Assign, o.Credit = SuffixDrop, AssignReuse, CreditInstance
	return preset{o, PresetInfo{
		Source: "the checker of ACEBench (model_eval, normal_checker)",
		Rules: "An instance is right if the names are those of the gold, as often, and for each gold call some prediction of its name fits. " +
			"Arguments must be declared and in the gold; required ones must be there. A gold string must be within the predicted one, both without case, blanks and , . / - _ * ^. " +
			"Lists must be equal; objects have as many keys, and each printed gold value is within the printed predicted one.",
		Differs: "The tool of a gold call is found by its name, not by the first name that is part of it. A tool without properties counts as one without parameters. " +
			"The type number takes integers and floats alike, and the text true is right for a declared string. " +
			"The categories agent and special have rules of their own and are not covered.",
		Faults: []Fault{{
			Name:   "scalars",
			Doc:    "numbers and booleans are checked for their type and never compared; repaired, they are compared by value",
			repair: func(o *Options) { o.Scalars = ScalarsEqual },
		}, {
			Name:   "undeclared",
			Doc:    "where the gold value has another type than declared, any value of that type passes; repaired, it must be equal",
			repair: func(o *Options) { o.Undeclared = UndeclaredEqual },
		}, {
			Name:   "contained",
			Doc:    "a longer answer passes if the gold text is part of it, and an empty gold text is part of all; repaired, texts must be equal",
			repair: func(o *Options) { o.Contain, o.Objects = ContainNone, ObjectsEqual },
		}, {
			Name:   "reuse",
			Doc:    "one prediction can satisfy two gold calls of its name; repaired, the pairing is a maximum matching",
			repair: func(o *Options) { o.Assign = AssignBest },
		}, {
			Name:   "empty",
			Doc:    "calls without arguments of a tool that has parameters, and empty gold lists and objects, are always wrong; repaired, they are compared",
			repair: func(o *Options) { o.EmptyValue = EmptyCompared },
		}, {
			Name:   "schema-echo",
			Doc:    "gold arguments that repeat the schema make every call right; repaired, they are compared",
			repair: func(o *Options) { o.SchemaEcho = Off },
		}, {
			Name:   "suffix",
			Doc:    "a gold name that ends in a number is cut even if a tool is called so; repaired, it is cut only if no tool is",
			repair: func(o *Options) { o.Suffix = SuffixUnknown },
		}, binary()},
	}}
}

// sealToolsPreset is the scorer of Seal-Tools.
func sealToolsPreset() preset {
	o := foreign("seal-tools", ValuesPrinted)
	o.Assign, o.Credit = AssignFirst, CreditF1
	return preset{o, PresetInfo{
		Source: "the scorer of Seal-Tools (calculate_pluginscore_detailed)",
		Rules: "FP is the F1 of tool names. SPA and FPA are the F1 of arguments: an argument is right if the first gold call of that name has its key, " +
			"and if both values print alike in Python, so 1 equals \"1\" and not 1.0.",
		Differs: "The published figures pool the whole file: add the counts of all instances before scoring them. A share is cut at 1, where repeated calls would lift it above.",
		Faults: []Fault{{
			Name:   "duplicates",
			Doc:    "every prediction is held against the first gold call of its name, so one gold call can count twice and a second one never; repaired, calls are paired for the most equal arguments",
			repair: func(o *Options) { o.Assign = AssignBest },
		}},
	}}
}

// hammerBenchPreset is the rule of HammerBench, without its judge model.
func hammerBenchPreset() preset {
	o := foreign("hammerbench", ValuesPrinted)
	o.Flexible, o.Words, o.Blank, o.FreeKey = FlexArgMin, WordsBlanks, BlankAbsent, "kwargs"
	return preset{o, PresetInfo{
		Source: "the evaluator of HammerBench (evaluation, metrics)",
		Rules: "Values are printed as Python prints them, empty strings are left out. The verdict is FPA: no key beyond those of the gold, " +
			"and every gold argument reaches ROUGE-L F1 0.7 on its own, on lower-case words between blanks without . ? ! at the ends.",
		Differs: "Its judge model, which rescues calls that the rule refuses, is left out. ROUGE-L is taken over the words in their order; " +
			"the original counts each distinct word once and takes sentences apart.",
		Faults: []Fault{{
			Name:   "kwargs",
			Doc:    "the argument kwargs is never compared; repaired, it is",
			repair: func(o *Options) { o.FreeKey = "" },
		}},
	}}
}

// complexFuncBenchPreset is the rule-based part of ComplexFuncBench.
func complexFuncBenchPreset() preset {
	o := foreign("complexfuncbench", ValuesTyped)
	o.Types, o.Required, o.BoolNumber = TypesDeclared, On, On
	o.SetKey = "categories_filter"
	o.FreeCalls = "Location_to_Lat_Long,Search_Hotel_Destination,Search_Attraction_Location,Search_Car_Location,Search_Flight_Location,Taxi_Search_Location"
	return preset{o, PresetInfo{
		Source: "the rule-based comparison of ComplexFuncBench (utils, compare_method)",
		Rules: "The call must fit the schema: required parameters, none undeclared, types string, number, boolean and array. " +
			"Then the keys are the same and the values equal as Python has it; categories_filter is a set. Calls of six tools that look up places may be left out.",
		Differs: "What the rule refuses is not asked of the live service, nor of a judge model, so scores are lower bounds. Pairing needs no embeddings, since it is a maximum matching of the rule.",
		Faults: []Fault{{
			Name:   "bool-number",
			Doc:    "true equals 1, as in Python; repaired, it does not",
			repair: func(o *Options) { o.BoolNumber = Off },
		}, {
			Name:   "free-calls",
			Doc:    "gold calls of six tools may be left out; repaired, they are demanded",
			repair: func(o *Options) { o.FreeCalls = "" },
		}},
	}}
}

// tEvalPreset is the argument match of T-Eval.
func tEvalPreset() preset {
	o := foreign("t-eval", ValuesPrinted)
	o.Extra, o.Credit = ExtraIgnored, CreditRecall
	return preset{o, PresetInfo{
		Source: "the argument match of T-Eval (teval, evaluators, before its second version)",
		Rules: "FP counts exact names. SPA and FPA are the share of gold arguments whose values print alike in Python; further arguments cost nothing, " +
			"except where the gold has none.",
		Differs: "Arguments count under the right name only, and the share is exact, where the original adds 0.00001 to the divisor. " +
			"The embedding scores of thoughts and plans are left out.",
		Faults: []Fault{{
			Name:   "extra",
			Doc:    "arguments that the gold lacks cost nothing; repaired, they are wrong, and SPA is the F1 of arguments",
			repair: func(o *Options) { o.Extra, o.Credit = ExtraWrong, CreditF1 },
		}},
	}}
}

// Presets returns the names that [Preset] knows, the default first.
func Presets() []string {
	var names []string
	for _, p := range everyPreset() {
		names = append(names, p.options.Name)
	}
	return names
}

// Preset returns the preset with that name, every knob spelled out. "" is
// "paper". NAME+FAULT+FAULT is the preset with these faults repaired, as
// [Options.WithFix] does. An unknown name is an error that lists the known
// ones, near ones first.
func Preset(name string) (Options, error) {
	if name == "" {
		return paper(), nil
	}
	name, faults, repaired := strings.Cut(name, "+")
	p, err := find(name)
	if err != nil || !repaired {
		return p.options, err
	}
	return p.options.WithFix(strings.Split(faults, "+")...)
}

// Describe returns what is known about a preset; see [Preset] for its name.
func Describe(name string) (PresetInfo, error) {
	base, _, _ := strings.Cut(name, "+")
	if base == "" {
		base = "paper"
	}
	p, err := find(base)
	return p.info, err
}

func find(name string) (preset, error) {
	for _, p := range everyPreset() {
		if p.options.Name == name {
			return p, nil
		}
	}
	if near := nearest(name, Presets()); near != "" {
		return preset{}, fmt.Errorf("preset %.40q: unknown; did you mean %s? Want one of %s", name, near, strings.Join(Presets(), ", "))
	}
	return preset{}, fmt.Errorf("preset %.40q: unknown; want one of %s", name, strings.Join(Presets(), ", "))
}

// nearest lists the known names that name may be a slip of.
func nearest(name string, known []string) string {
	near := slices.DeleteFunc(slices.Clone(known), func(k string) bool {
		return edits(strings.ToLower(name), k) > max(2, len(k)/3)
	})
	return strings.Join(near, " or ")
}

// WithFix returns o with the named faults of its preset repaired, and their
// names in its Name. The preset is the one that o.Name begins with. A fault
// that the preset does not have is an error that lists those it has; one that
// is repaired already is passed over.
func (o Options) WithFix(faults ...string) (Options, error) {
	o = o.Resolved()
	base, done, _ := strings.Cut(o.Name, "+")
	p, err := find(base)
	if err != nil {
		return Options{}, err
	}
	for _, name := range faults {
		i := slices.IndexFunc(p.info.Faults, func(f Fault) bool { return f.Name == name })
		if i < 0 {
			var names []string
			for _, f := range p.info.Faults {
				names = append(names, f.Name)
			}
			if len(names) == 0 {
				return Options{}, fmt.Errorf("fault %.40q of preset %s: it has no known faults", name, base)
			}
			return Options{}, fmt.Errorf("fault %.40q of preset %s: unknown; want one of %s", name, base, strings.Join(names, ", "))
		}
		if slices.Contains(strings.Split(done, "+"), name) {
			continue
		}
		p.info.Faults[i].repair(&o)
		o.Name += "+" + name
		done += "+" + name
	}
	return o, nil
}
