package match

import (
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"assay/qaoa"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestScoresKeepTheirOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		gold, pred, opt := hostileCalls().Draw(t, "gold"), hostileCalls().Draw(t, "pred"), anyPreset().Draw(t, "preset")
		c := Prepare(gold, someTools, opt).Counts(pred)
		if c.Strict > c.Flex || c.Flex > c.Name || c.Strict > c.FlexArg || c.FlexArg > c.Name || c.Name > min(c.Gold, c.Pred) {
			t.Errorf("counts %+v", c)
		}
		s := c.Score(opt)
		if s.SPA > s.FPA || s.FPA > s.FP || s.SPA > s.FPAArg || s.FPAArg > s.FP || s.SP > s.FP {
			t.Errorf("score %+v", s)
		}
		for _, x := range []float64{s.SP, s.FP, s.SPA, s.FPA, s.FPAArg} {
			if x < 0 || x > 1 {
				t.Errorf("score %+v", s)
			}
		}
	})
}

func TestOrderOfCallsIsFree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		gold, pred, opt := hostileCalls().Draw(t, "gold"), hostileCalls().Draw(t, "pred"), anyPreset().Draw(t, "preset")
		want := Prepare(gold, someTools, opt).Counts(pred)
		gold2, pred2 := rapid.Permutation(gold).Draw(t, "gold order"), rapid.Permutation(pred).Draw(t, "pred order")
		if got := Prepare(gold2, someTools, opt).Counts(pred2); got != want {
			t.Errorf("permuted: %+v, want %+v", got, want)
		}
	})
}

func TestOrderOfKeysIsFree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		call := qaoa.Call{Name: "f"}
		obj := hostileObject(2).Draw(t, "object")
		// Only of repeated keys does the order count.
		seen := make(map[string]bool)
		obj.Members = slices.DeleteFunc(obj.Members, func(m qaoa.Member) bool {
			was := seen[m.Name]
			seen[m.Name] = true
			return was
		})
		call.Arguments = obj.JSON()
		other := call
		obj.Members = rapid.Permutation(obj.Members).Draw(t, "order")
		other.Arguments = obj.JSON()
		if v := Compare(call, other, nil, Options{}); !v.Strict || v.Rule != RuleIdentical {
			t.Errorf("%s and %s: %+v", call.Arguments, other.Arguments, v)
		}
	})
}

func TestIdenticalPredictionScoresOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		gold := rapid.SliceOfN(parsedCall(), 1, 5).Draw(t, "gold")
		opt := anyPreset().Draw(t, "preset")
		if got := Instance(gold, gold, someTools, opt); got != (Score{1, 1, 1, 1, 1}) {
			t.Errorf("score %+v", got)
		}
		for i, p := range Prepare(gold, someTools, opt).Explain(gold) {
			if p.Gold != i || !p.Verdict.Strict {
				t.Errorf("pair %+v", p)
			}
		}
	})
}

func TestPaddingNeverRaisesAScore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		gold, pred := hostileCalls().Draw(t, "gold"), hostileCalls().Draw(t, "pred")
		opt := rapid.SampledFrom(presets()).Draw(t, "preset")
		before := Instance(gold, pred, someTools, opt)
		after := Instance(gold, append(slices.Clone(pred), qaoa.Call{Raw: "null"}), someTools, opt)
		if after.SP > before.SP && before != (Score{}) || after.FP > before.FP || after.SPA > before.SPA ||
			after.FPA > before.FPA || after.FPAArg > before.FPAArg || after.SP > after.FP {
			t.Errorf("padded: %+v, before: %+v", after, before)
		}
		// And in the paper's n an omitted call costs as much as a null.
		if opt.Name == "paper" && len(gold) > len(pred) && len(pred) > 0 {
			before.SP = 0
			if after != before {
				t.Errorf("padded: %+v, before: %+v", after, before)
			}
		}
	})
}

func TestVerdictsImplyEachOther(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		gold, pred, opt := hostileCall().Draw(t, "gold"), hostileCall().Draw(t, "pred"), anyPreset().Draw(t, "preset")
		v := Compare(gold, pred, someTools, opt)
		if v.Strict && !v.Flexible || v.Flexible && !v.Name || v.Strict && !v.FlexibleArg || v.FlexibleArg && !v.Name {
			t.Errorf("verdict %+v", v)
		}
		if v.Why == "" || v.Rule == "" || strings.Contains(v.Why, "%!") || len(v.Why) > 2000 {
			t.Errorf("verdict %+v", v)
		}
		// Without defaults, which belong to the gold call's tool, both sides
		// are alike.
		ab, ba := Compare(gold, pred, nil, opt), Compare(pred, gold, nil, opt)
		if ab.Name != ba.Name || ab.Strict != ba.Strict || ab.Flexible != ba.Flexible || ab.FlexibleArg != ba.FlexibleArg {
			t.Errorf("%+v, the other way round %+v", ab, ba)
		}
		c := Prepare([]qaoa.Call{gold}, someTools, opt).Counts([]qaoa.Call{pred})
		if (c.Name == 1) != v.Name || (c.Strict == 1) != v.Strict || (c.Flex == 1) != v.Flexible || (c.FlexArg == 1) != v.FlexibleArg {
			t.Errorf("counts %+v, verdict %+v", c, v)
		}
	})
}

func TestCountsAgreeWithAllPairings(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		gold, pred, opt := hostileCalls().Draw(t, "gold"), hostileCalls().Draw(t, "pred"), anyPreset().Draw(t, "preset")
		verdicts := make([][]Verdict, len(gold))
		for i := range gold {
			for j := range pred {
				verdicts[i] = append(verdicts[i], Compare(gold[i], pred[j], someTools, opt))
			}
		}
		want := Counts{Gold: len(gold), Pred: len(pred)}
		eachPairing(len(gold), len(pred), func(partner []int) {
			var c Counts
			for i, j := range partner {
				if j < 0 {
					continue
				}
				v := verdicts[i][j]
				c.Name += one(v.Name)
				c.Strict += one(v.Strict)
				c.Flex += one(v.Flexible)
				c.FlexArg += one(v.FlexibleArg)
			}
			want.Name, want.Strict = max(want.Name, c.Name), max(want.Strict, c.Strict)
			want.Flex, want.FlexArg = max(want.Flex, c.Flex), max(want.FlexArg, c.FlexArg)
		})
		g := Prepare(gold, someTools, opt)
		if got := g.Counts(pred); got != want {
			t.Errorf("counts %+v, want %+v", got, want)
		}
		checkExplanation(t, g, pred, want)
	})
}

func one(b bool) int {
	if b {
		return 1
	}
	return 0
}

// checkExplanation checks that the pairs hold every call once and as many
// matches as the counts.
func checkExplanation(t *rapid.T, g *Gold, pred []qaoa.Call, want Counts) {
	var golds, preds []int
	var got Counts
	for _, p := range g.Explain(pred) {
		if p.Gold >= 0 {
			golds = append(golds, p.Gold)
		}
		if p.Pred >= 0 {
			preds = append(preds, p.Pred)
		}
		got.Name += one(p.Verdict.Name)
		got.Flex += one(p.Verdict.Flexible)
		got.Strict += one(p.Verdict.Strict)
	}
	if !slices.IsSorted(golds) || len(golds) != want.Gold || len(preds) != want.Pred {
		t.Errorf("golds %v, predictions %v of %+v", golds, preds, want)
	}
	slices.Sort(preds)
	if len(slices.Compact(preds)) != want.Pred {
		t.Errorf("predictions %v", preds)
	}
	if got.Name != want.Name || got.Flex != want.Flex || got.Strict > want.Strict {
		t.Errorf("pairs hold %+v, want %+v", got, want)
	}
	strict := g.ExplainStrict(pred)
	if got.Strict == want.Strict && strict != nil || got.Strict < want.Strict && len(strict) != want.Strict {
		t.Errorf("%d strict pairs shown, %d apart, want %d", got.Strict, len(strict), want.Strict)
	}
}

func TestEqualIsAnEquivalenceOfForms(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		opt := anyPreset().Draw(t, "preset")
		a, b := Canonical(hostileValue(2).Draw(t, "a"), opt), Canonical(hostileValue(2).Draw(t, "b"), opt)
		if !a.Equal(a) || a.Equal(b) != b.Equal(a) {
			t.Errorf("%s and %s: %t, the other way round %t", a, b, a.Equal(b), b.Equal(a))
		}
		if a.Equal(b) && a.String() != b.String() {
			t.Errorf("equal, but %s and %s", a, b)
		}
	})
}

// TestCanonIsIdempotent: a value and what its form reads back as are equal,
// and making the form of numbers and dates again changes nothing.
func TestCanonIsIdempotent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := hostileValue(1).Draw(t, "v")
		c := Canonical(v, Options{})
		if again := Canonical(v, Options{}); !again.Equal(c) {
			t.Errorf("%s, then %s", c, again)
		}
		switch c.Kind {
		case Number, Date, Bool:
			if again := Canonical(qaoa.StringValue(c.Text), Options{}); !again.Equal(c) {
				t.Errorf("%s reads back as %s", c, again)
			}
		case Text:
			// Blanks are gone, so the text could now be read as a number; as
			// text it must stay what it is, unless folding undid NFKC.
			if p := prepare(c.Text); refold(p) == c.Text {
				if again := textForm(c.Text, false); again != c.Text && hasSubstance([]byte(c.Text)) && stable(c.Text) {
					t.Errorf("text %q, then %q", c.Text, again)
				}
			}
		}
	})
}

// stable reports whether no character in s depends on where words begin and
// end: joined words can put a sign between digits, or behind one.
func stable(s string) bool { return !strings.ContainsAny(s, "-./:") }

func TestNameIsIdempotent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := hostileString().Draw(t, "s")
		form := Name(s)
		// The form is not normalised after folding, so it must be in NFKC
		// and folded to be its own.
		if nfkc(form) == form && Name(form) != form {
			t.Errorf("Name(%q) = %q, then %q", s, form, Name(form))
		}
	})
}

func TestToolIsFoundByExactNameFirst(t *testing.T) {
	tools := []qaoa.Tool{
		{Name: "get_x1", Parameters: `{"properties":{"n":{"default":1}}}`},
		{Name: "get_x2", Parameters: `{"properties":{"n":{"default":2}}}`},
		{Name: "get_x2", Parameters: `{"properties":{"n":{"default":3}}}`},
	}
	for _, tt := range []struct {
		gold, pred string
		want       bool
	}{
		{"get_x2", `{"n":2}`, true},
		{"get_x2", `{"n":1}`, false},
		{"get_x2", `{"n":3}`, false},
		{"getX", `{"n":1}`, true},
		{"getX", `{"n":2}`, false},
		{"other", `{"n":1}`, false},
	} {
		gold := qaoa.Call{Name: tt.gold}
		pred := qaoa.Call{Name: tt.gold, Arguments: qaoa.JSON(tt.pred)}
		if got := Compare(gold, pred, tools, Options{}); got.Strict != tt.want {
			t.Errorf("gold %s, predicted %s: %+v", tt.gold, tt.pred, got)
		}
	}
}

func TestSchemasThatAreNone(t *testing.T) {
	for _, schema := range []qaoa.JSON{
		"", "null", `[]`, `"default"`, `{"default":1}`, `{"properties":{"default":1}}`, `{"properties":[{"default":1}]}`,
		`{"properties":{"n":{"default":null}}}`, `{"properties":{"n":[{"default":1}]}}`, `{"properties":{"n":{"default":1}`,
	} {
		tools := []qaoa.Tool{{Name: "f", Parameters: schema}}
		got := Compare(qaoa.Call{Name: "f"}, qaoa.Call{Name: "f", Arguments: `{"n":1}`}, tools, Options{})
		if got.Strict || got.Rule != RuleExtra {
			t.Errorf("schema %s: %+v", schema, got)
		}
	}
}

func TestUnparsableCalls(t *testing.T) {
	f := qaoa.Call{Name: "f"}
	for _, c := range []qaoa.Call{{Raw: "f("}, {}, {Arguments: `{}`}, {Name: "f", Raw: "f("}} {
		for _, v := range []Verdict{Compare(f, c, nil, Options{}), Compare(c, f, nil, Options{}), Compare(c, c, nil, Options{})} {
			if v.Name || v.Strict || v.Flexible || v.FlexibleArg || v.Rule != RuleUnparsable {
				t.Errorf("%+v: %+v", c, v)
			}
		}
	}
	// Arguments that are no JSON at all keep the name and equal nothing.
	bad := qaoa.Call{Name: "f", Arguments: `{"a":`}
	if v := Compare(bad, bad, nil, Options{}); !v.Name || v.Strict || v.Flexible || v.Rule != RuleArguments {
		t.Errorf("%+v", v)
	}
}

func TestVerdictsSayWhy(t *testing.T) {
	schema := qaoa.JSON(`{"properties":{"limit":{"default":10}}}`)
	tests := []struct{ name, gold, pred, want string }{
		{"identical", `{"a":1,"b":2}`, `{"b":2,"a":1}`, "the arguments are identical"},
		{"date", `{"d":"April 1, 2023"}`, `{"d":"2023/04/01"}`, `/d: date 2023-04-01 is "April 1, 2023" and "2023/04/01" (rule date)`},
		{
			"several rules", `{"d":"A cat","n":1,"x":"1.0"}`, `{"d":"cat","n":"1","x":1}`,
			`/d: text "cat" is "A cat" and "cat" (rule article); elsewhere also by number`,
		},
		{"default", `{}`, `{"limit":"10"}`, `/limit: number 10 on one side, absent on the other, and the default of the schema (rule default)`},
		{
			"another default", `{}`, `{"limit":11}`,
			`/limit: the gold call lacks it; predicted is number 11, and the default is number 10; ROUGE-L over the call has LCS 0 of 0 and 2 tokens: 0 < 14, so F1 < 7/10`,
		},
		{
			"missing", `{"a":{"b":1}}`, `{"a":{}}`,
			`/a/b: the predicted call lacks it; gold is number 1; ROUGE-L over the call has LCS 1 of 3 and 2 tokens: 20 < 35, so F1 < 7/10`,
		},
		{
			"kind", `{"a":[1]}`, `{"a":["x"]}`,
			`/a/0: gold number 1, predicted text "x" (rule kind); ROUGE-L over the call has LCS 1 of 2 and 2 tokens: 20 < 28, so F1 < 7/10`,
		},
		{
			"rouge", `{"q":"hotels near the old town"}`, `{"q":"cheap hotels near the old town"}`,
			`/q: gold text "hotelsnearoldtown", predicted text "cheaphotelsnearoldtown" (rule value); ROUGE-L over the call has LCS 6 of 6 and 7 tokens: 120 >= 91, so F1 >= 7/10`,
		},
		{"key", `{"userId":7}`, `{"user_id":7}`, `/userId: text "userid" is the key "userId" and the key "user_id" (rule key)`},
		{
			"pointer", `{"a/b~c":1}`, `{"a/b~c":2}`,
			`/a~1b~0c: gold number 1, predicted number 2 (rule value); ROUGE-L over the call has LCS 1 of 2 and 2 tokens: 20 < 28, so F1 < 7/10`,
		},
		{"literal", `{"x":"[1,2]"}`, `{"x":"[1, 2]"}`, `/x: array [1, 2] in a string (rule literal)`},
		{"no object", `{}`, `[1]`, `the arguments: gold object {}, predicted array [1] (rule arguments)`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			v := Compare(qaoa.Call{Name: "f", Arguments: qaoa.JSON(tt.gold)}, qaoa.Call{Name: "f", Arguments: qaoa.JSON(tt.pred)},
				[]qaoa.Tool{{Name: "f", Parameters: schema}}, Options{})
			if diff := cmp.Diff(tt.want, v.Why); diff != "" {
				t.Error(diff)
			}
		})
	}
	v := Compare(qaoa.Call{Name: "get_x"}, qaoa.Call{Name: "getY"}, nil, Options{})
	if want := `the names differ: gold "get_x" is "getx", predicted "getY" is "gety"`; v.Why != want {
		t.Errorf("why %s, want %s", v.Why, want)
	}
	arg := Options{Flexible: FlexArgMin}
	v = Compare(qaoa.Call{Name: "f", Arguments: `{"a":"x y z","b":"u"}`}, qaoa.Call{Name: "f", Arguments: `{"a":"x y","b":"v"}`}, nil, arg)
	want := `/a: gold text "xyz", predicted text "xy" (rule value); ROUGE-L of /b has LCS 0 of 1 and 1 tokens: 0 < 14, so F1 < 7/10`
	if v.Why != want {
		t.Errorf("why %s, want %s", v.Why, want)
	}
}

func TestExplainShowsCallsThatAreLeft(t *testing.T) {
	var got []string
	for _, p := range Prepare(calls("f:1 g:2 f:3"), nil, Options{}).Explain(calls("f:3 h:1 !")) {
		got = append(got, string(rune('0'+p.Gold))+string(rune('0'+p.Pred))+" "+p.Verdict.Why)
	}
	want := []string{
		`0/ gold call "f": no predicted call of this name is left`,
		`1/ gold call "g": no predicted call of this name is left`,
		`20 the arguments are identical`,
		`/1 predicted call "h": no gold call of this name is left`,
		`/2 the predicted call did not parse: "f(1"`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestExplainStrictWhereTheMatchingsDiffer(t *testing.T) {
	// Two flexible pairs are possible only without the one strict pair.
	a, b, c := "a-b-c-d-e-f-g-h-i-j", "d-e-f-g-h-i-j-k-l-m", "g-h-i-j-k-l-m-n-o-p"
	gold, pred := calls("f:"+b+" f:"+c), calls("f:"+b+" f:"+a)
	g := Prepare(gold, nil, Options{})
	if got, want := g.Counts(pred), (Counts{Gold: 2, Pred: 2, Name: 2, Strict: 1, Flex: 2, FlexArg: 2}); got != want {
		t.Fatalf("counts %+v, want %+v", got, want)
	}
	shown := g.Explain(pred)
	if shown[0].Pred != 1 || shown[0].Verdict.Strict || shown[1].Pred != 0 || !shown[1].Verdict.Flexible {
		t.Errorf("pairs %+v", shown)
	}
	strict := g.ExplainStrict(pred)
	if len(strict) != 1 || strict[0].Gold != 0 || strict[0].Pred != 0 || !strict[0].Verdict.Strict {
		t.Errorf("strict pairs %+v", strict)
	}
}

func TestAligned(t *testing.T) {
	count := func(gold, pred string) Counts { return Prepare(calls(gold), nil, Options{}).Counts(calls(pred)) }
	tests := []struct {
		name  string
		turns []Counts
		opt   Options
		want  Score
	}{
		{"no turns", nil, Options{}, Score{1, 1, 1, 1, 1}},
		{"all right", []Counts{count("f:1", "f:1"), count("g:1", "g:1")}, Options{}, Score{1, 1, 1, 1, 1}},
		{"calls in each other's turn", []Counts{count("f:1", "g:1"), count("g:1", "f:1")}, Options{}, Score{}},
		{"n is summed over turns", []Counts{count("f:1 g:1", "f:1"), count("g:1", "g:1 f:1")}, Options{}, Score{0, .5, .5, .5, .5}},
		{"a turn without calls holds", []Counts{count("f:1", "f:1"), count("", "")}, Options{}, Score{1, 1, 1, 1, 1}},
		{"a call where there is none to make", []Counts{count("f:1", "f:1"), count("", "f:1")}, Options{}, Score{0, .5, .5, .5, .5}},
		{"nothing predicted", []Counts{count("f:1", ""), count("g:1", "")}, Options{}, Score{}},
		{
			"reference divides by the predicted calls",
			[]Counts{count("f:1 g:1", "f:1"), count("g:1", "g:1")},
			Options{Divisor: DividePredicted, Empty: EmptyWrong},
			Score{0, 1, 1, 1, 1},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Aligned(tt.turns, tt.opt); got != tt.want {
				t.Errorf("Aligned(%+v) = %+v, want %+v", tt.turns, got, tt.want)
			}
		})
	}
}

func TestNameCollisions(t *testing.T) {
	tools := []qaoa.Tool{{Name: "b_2"}, {Name: "add_mapping2"}, {Name: "x"}, {Name: "add_mapping1"}, {Name: "x"}, {Name: "b.2"}, {Name: "B"}}
	for _, tt := range []struct {
		opt  Options
		want [][]string
	}{
		{Options{}, [][]string{{"B", "b.2", "b_2"}, {"add_mapping1", "add_mapping2"}}},
		{Options{Names: NameDots}, [][]string{{"b.2", "b_2"}}},
	} {
		if diff := cmp.Diff(tt.want, NameCollisions(tools, tt.opt)); diff != "" {
			t.Errorf("names %s: %s", tt.opt.Names, diff)
		}
	}
}

func TestGoldIsSharedByGoroutines(t *testing.T) {
	gold := calls("f:hotels-near-the-old-town f:1 g:2")
	pred := calls("f:cheap-hotels-near-the-old-town g:2 f:3")
	g := Prepare(gold, someTools, Options{})
	want := g.Counts(pred)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if got := g.Counts(pred); got != want {
				t.Errorf("counts %+v, want %+v", got, want)
			}
			g.Explain(pred)
		})
	}
	wg.Wait()
}

// TestManyCalls: a thousand calls of one name on both sides, all of them
// similar, stay quick and give the right counts.
func TestManyCalls(t *testing.T) {
	const n = 1000
	gold, pred := make([]qaoa.Call, n), make([]qaoa.Call, n)
	for i := range n {
		text := "cheap hotels near the old town number " + strings.Repeat("x", i%50+1)
		gold[i] = qaoa.Call{Name: "f", Arguments: qaoa.ObjectValue(qaoa.Member{Name: "q", Value: qaoa.StringValue(text)}).JSON()}
		pred[i] = gold[i]
	}
	rand.New(rand.NewPCG(1, 1)).Shuffle(n, func(i, j int) { pred[i], pred[j] = pred[j], pred[i] })
	pred[0].Arguments = `{"q":"expensive hotels near the old town"}`
	g := Prepare(gold, nil, Options{})
	if got, want := g.Counts(pred), (Counts{Gold: n, Pred: n, Name: n, Strict: n - 1, Flex: n, FlexArg: n}); got != want {
		t.Errorf("counts %+v, want %+v", got, want)
	}
	if got := len(g.Explain(pred)); got != n {
		t.Errorf("%d pairs", got)
	}
}
