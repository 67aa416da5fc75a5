// Package match decides whether predicted calls equal gold calls, and scores
// sets of them: SP, FP, SPA and FPA (UniToolCall, sections 3.3, 4.1 and B.2).
//
// Three predicates compare one predicted call with one gold call. "name" says
// that the normalised names are equal ([Name]); "strict" that the arguments
// are equal too, as canonical values ([Canonical]) and up to the defaults of
// the tool's schema; "flexible" that they are equal or that their ROUGE-L F1
// reaches 0.7 ([RougeL]). Strict implies flexible, and flexible implies name.
//
// A set of predicted calls is scored by maximum matchings, one per predicate
// ([Gold.Counts], [Counts.Score]), so neither the order of the calls nor a
// repeated good call changes what a set is worth.
//
// The paper leaves much of this open. What is data in one matcher and differs
// in another is a knob of [Options]; a preset is a value of it ([Preset],
// [Describe]). Beside the paper's there are those of other benchmarks, with
// their known faults, which [Options.WithFix] repairs one by one, so that the
// effect of each on a score can be told. Where a benchmark gives alternatives
// for its gold, [PrepareWith] takes them.
//
// The verdict of every preset is "flexible" (FPA); presets without a second
// look have it equal to "strict". Scores of instances are averaged; the presets
// of benchmarks that publish one share over a whole file want the counts of all
// instances added first ([Counts.Add]).
//
// The package reads no files, asks no model, and keeps no state between calls.
package match
