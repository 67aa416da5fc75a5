package toolcall

import (
	"slices"
	"strings"

	"assay/qaoa"
)

// The rungs of the ladder, in the order in which they are tried. The first one
// on which there is a call, or an attempt at one, is the only one used.
const (
	RungTag      = "tool_call" // <tool_call>{"name":…,"arguments":…}</tool_call>
	RungFunction = "function"  // <function=name>{…}</function> or <invoke name="name">…</invoke>
	RungMarker   = "marker"    // a special token of a family of models, such as [TOOL_CALLS]
	RungFence    = "fence"     // the same JSON in a fenced block
	RungBare     = "bare"      // the same JSON somewhere in the text
	RungPython   = "python"    // [f(a=1), g()]
)

// The repairs that [Result.Repairs] names.
const (
	RepairComma   = "trailing_comma" // {"a":1,}
	RepairQuotes  = "single_quotes"  // {'a': True}: read as a Python literal
	RepairBrace   = "missing_brace"  // {"a":{"b":1}
	RepairDoubled = "doubled_braces" // {{"a":1}}
	RepairEscaped = "escaped_quotes" // {\"a\":1}, as JSON stands in a string
)

// MaxCalls is how many calls and attempts at calls of one text are told apart.
// What follows is one more attempt that did not parse: a model that repeats
// itself without end must not cost more than its text is long.
const MaxCalls = 1024

// A Class says what a text amounts to.
type Class string

// The classes.
const (
	ClassCalls     Class = "calls"     // at least one call, and every attempt parsed
	ClassMalformed Class = "malformed" // some attempt at a call did not parse
	// ClassInThought is a well-formed call inside of a thought and none
	// outside of it: the model meant to call, or wrote a draft.
	ClassInThought Class = "in_thought"
	ClassAbstained Class = "abstained" // text, and no attempt at a call
	ClassEmpty     Class = "empty"     // nothing but blanks and thoughts
)

// Options are the choices of [Parse]. The zero value repairs and knows no tool.
type Options struct {
	// Strict forbids repairs: what needs one is an attempt that failed.
	Strict bool
	// Tools are the tools on offer. Their schemas name the positional
	// arguments of Python calls, which are failed attempts without them; and
	// f(a=1) without brackets is a call only if f is on offer.
	Tools []qaoa.Tool
}

// A Result is what [Parse] made of a text.
type Result struct {
	// Calls are the calls in the order of the text. An attempt that did not
	// parse has Raw set, which is never empty then.
	Calls []qaoa.Call
	// Answer is the content of the first <answer> block, trimmed. Without one
	// it is the text that belongs to no call and no thought.
	Answer  string
	Rung    string   // where Calls were found; "" if there are none
	Repairs []string // what was repaired, each once, in order of first use
	Thought string   // the content of all <think> blocks, "" if there is none
	// InThought is whether a thought holds a well-formed tagged call. Such
	// calls are not among Calls, whatever the class is.
	InThought bool
	Class     Class
}

// Parse reads the calls and the answer in text. It takes linear time and does
// not fail: see [Result.Class].
//
// Thoughts, <think>…</think>, are cut first, also if the end tag is missing;
// an end tag without a start tag (some chat templates write the start tag)
// makes a thought of all before it. Tags inside the JSON of a tagged call are
// text and not tags. Then the rungs are tried in their order:
//
//   - <tool_call> blocks. The last one need not be closed. A block holds one
//     call object, an array of them, or several; a code fence or Python calls
//     inside of it are read too. A call object has a name (or tool, function)
//     and may have arguments (or parameters, args, input), or is the shape
//     {"type":"function","function":{…}}. Arguments given as a string that
//     holds JSON are decoded, up to three times. A block may also hold a name
//     and then an object, or a name and then <arg_key> and <arg_value> tags.
//   - <function=name> or <invoke name="name"> blocks with an arguments object or
//     with <parameter=key> or <parameter name="key"> tags. The text of a tag is
//     read as JSON only where the schema of the tool has a type other than text.
//   - The markers by which families of models open a call: [TOOL_CALLS] of
//     Mistral, <|python_tag|> of Llama, and those of DeepSeek, Kimi, LFM, Phi and
//     Granite. What follows is read like a block.
//   - Fenced JSON, and then JSON anywhere in the text but not inside of an
//     <answer>. Here both a name and an arguments object are needed: JSON
//     without them is part of the answer. The array [] is no call. A text that
//     is the name of a tool on offer and then an object is a call, too.
//   - Python calls: [f(a=1), g()], at the start of a line or in a fence.
//
// An attempt that is not well-formed is repaired where Options allow it: a
// trailing comma, single quotes (the text is read as a Python literal), closing
// braces missing at the end, doubled braces, escaped quotes. A stop token at the
// end of the text, such as <|im_end|>, is cut.
func Parse(text string, opt Options) Result {
	p := parser{opt: opt, fuel: fuelPerByte*len(text) + minFuel}
	outside, thought := p.cutThoughts(cutStops(text))
	p.res.Thought = strings.TrimSpace(thought)
	rest := p.ladder(outside)
	p.res.Answer = answer(rest)
	p.res.InThought = holdsCall(thought, opt)
	switch {
	case p.failed:
		p.res.Class = ClassMalformed
	case len(p.res.Calls) > 0:
		p.res.Class = ClassCalls
	case p.res.InThought:
		p.res.Class = ClassInThought
	case strings.TrimSpace(outside) == "":
		p.res.Class = ClassEmpty
	default:
		p.res.Class = ClassAbstained
	}
	return p.res
}

// A parser is the state of one Parse.
type parser struct {
	opt    Options
	res    Result
	failed bool // some call has Raw set
	// fuel is how many bytes may still be looked at again. Texts are scanned
	// from every place where a value may begin, so without a bound a text of
	// opening brackets would take quadratic time.
	fuel int
}

const (
	fuelPerByte = 16
	minFuel     = 4096
)

// spend takes n bytes of fuel, and reports whether there were as many.
func (p *parser) spend(n int) bool {
	p.fuel -= n
	return p.fuel >= 0
}

// ladder adds the calls of text and returns what is left of it.
func (p *parser) ladder(text string) string {
	rungs := []struct {
		name string
		find func(string) (rest string, found bool)
	}{
		{RungTag, p.tags},
		{RungFunction, p.functions},
		{RungMarker, p.marked},
		{RungFence, p.fences},
		{RungBare, p.bare},
		{RungPython, p.python},
	}
	for _, r := range rungs {
		if rest, found := r.find(text); found {
			if len(p.res.Calls) > 0 {
				p.res.Rung = r.name
			}
			return rest
		}
	}
	// The text may end in the middle of the first tag.
	if rest := cutPartial(text, tagOpen, len("<tool_")); rest != text {
		p.fail(text[len(rest):])
		p.res.Rung = RungTag
		return rest
	}
	return text
}

// full reports whether no more calls are told apart.
func (p *parser) full() bool { return len(p.res.Calls) > MaxCalls }

// add appends a call, if there is room for it.
func (p *parser) add(c qaoa.Call) {
	if p.full() {
		return
	}
	if len(p.res.Calls) == MaxCalls {
		c = qaoa.Call{Raw: "too many calls"}
	}
	p.failed = p.failed || c.Raw != ""
	p.res.Calls = append(p.res.Calls, c)
}

// fail appends an attempt that did not parse.
func (p *parser) fail(raw string) { p.add(qaoa.Call{Raw: raw}) }

// repaired notes the repairs, each once.
func (p *parser) repaired(names []string) {
	for _, n := range names {
		if !slices.Contains(p.res.Repairs, n) {
			p.res.Repairs = append(p.res.Repairs, n)
		}
	}
}

// answer returns the content of the first <answer> block of text, else text.
func answer(text string) string {
	if _, after, ok := strings.Cut(text, answerOpen); ok {
		in, _, _ := strings.Cut(after, answerClose)
		return strings.TrimSpace(in)
	}
	// Some servers drop the start tag, a special token, and keep the end tag.
	return strings.TrimSpace(strings.ReplaceAll(text, tagClose, ""))
}

// holdsCall reports whether a thought holds a well-formed call on one of the
// tagged rungs. What else looks like a call there may be a quotation.
func holdsCall(thought string, opt Options) bool {
	thought = cutStops(thought)
	p := parser{opt: opt, fuel: fuelPerByte*len(thought) + minFuel}
	for _, find := range []func(string) (string, bool){p.tags, p.functions, p.marked} {
		if _, found := find(thought); found {
			break
		}
	}
	for _, c := range p.res.Calls {
		if c.Raw == "" {
			return true
		}
	}
	return false
}
