package match_test

import (
	"fmt"

	"assay/match"
	"assay/qaoa"
)

func ExampleInstance() {
	gold := []qaoa.Call{
		{Name: "get_weather", Arguments: `{"city":"Oslo","date":"April 1, 2023"}`},
		{Name: "search", Arguments: `{"query":"hotels near the old town"}`},
	}
	pred := []qaoa.Call{
		{Name: "search", Arguments: `{"query":"cheap hotels near the old town"}`},
		{Name: "getWeather", Arguments: `{"city":"oslo","date":"2023/04/01"}`},
	}
	fmt.Printf("%+v\n", match.Instance(gold, pred, nil, match.Options{}))
	// Output: {SP:1 FP:1 SPA:0.5 FPA:1 FPAArg:1}
}

func ExampleCompare() {
	gold := qaoa.Call{Name: "get_weather", Arguments: `{"city":"Oslo","date":"April 1, 2023"}`}
	pred := qaoa.Call{Name: "get_weather", Arguments: `{"city":"Oslo","date":"2023/04/01","unit":"C"}`}
	tools := []qaoa.Tool{{Name: "get_weather", Parameters: `{"type":"object","properties":{"unit":{"type":"string","default":"C"}}}`}}

	v := match.Compare(gold, pred, tools, match.Options{})
	fmt.Println(v.Strict, v.Why)

	strict, _ := match.Preset("strict")
	v = match.Compare(gold, pred, tools, strict)
	fmt.Println(v.Strict, v.Why)
	// Output:
	// true /date: date 2023-04-01 is "April 1, 2023" and "2023/04/01" (rule date); elsewhere also by default
	// false /date: gold text "April 1, 2023", predicted text "2023/04/01" (rule value)
}

func ExampleGold_Explain() {
	g := match.Prepare([]qaoa.Call{{Name: "f", Arguments: `{"n":1}`}, {Name: "g"}}, nil, match.Options{})
	for _, p := range g.Explain([]qaoa.Call{{Name: "h"}, {Name: "f", Arguments: `{"n":"1"}`}}) {
		fmt.Println(p.Gold, p.Pred, p.Verdict.Why)
	}
	// Output:
	// 0 1 /n: number 1 is 1 and "1" (rule number)
	// 1 -1 gold call "g": no predicted call of this name is left
	// -1 0 predicted call "h": no gold call of this name is left
}

func ExampleCanonical() {
	for _, s := range []string{"1,234.50", "1 Apr. 2023", "[1, 'Two']", "The U.S.A.!", "50%"} {
		fmt.Println(match.Canonical(qaoa.StringValue(s), match.Options{}))
	}
	// Output:
	// number 1234.5
	// date 2023-04-01
	// array [1, "two"]
	// text "usa"
	// text "50%"
}

func ExampleName() {
	fmt.Println(match.Name("uber.ride"), match.Name("UberRide2"), match.Name("查询_天气"))
	// Output: uberride uberride 查询天气
}

func ExamplePreset() {
	_, err := match.Preset("papper")
	fmt.Println(err)
	// Output: preset "papper": unknown; did you mean paper? Want one of paper, reference, strict, bfcl, acebench, seal-tools, hammerbench, complexfuncbench, t-eval
}

// How much of a score is owed to a fault of the rules?
func ExampleOptions_WithFix() {
	opt, err := match.Preset("acebench")
	if err != nil {
		fmt.Println(err)
		return
	}
	fixed, err := opt.WithFix("scalars")
	if err != nil {
		fmt.Println(err)
		return
	}
	tools := []qaoa.Tool{{Name: "book", Parameters: `{"properties":{"guests":{"type":"integer"}},"required":["guests"]}`}}
	gold := []qaoa.Call{{Name: "book", Arguments: `{"guests":2}`}}
	pred := []qaoa.Call{{Name: "book", Arguments: `{"guests":9}`}}
	for _, o := range []match.Options{opt, fixed} {
		fmt.Println(o.Name, match.Instance(gold, pred, tools, o).FPA)
	}
	// Output:
	// acebench 1
	// acebench+scalars 0
}

func ExampleParseAlternatives() {
	gold := []qaoa.Call{{Name: "area", Arguments: `{"w":3,"unit":"m"}`}}
	alt, err := match.ParseAlternatives(`{"category":"simple","alternatives":[{"w":[3],"unit":["m","metre",""]}]}`, len(gold))
	if err != nil {
		fmt.Println(err)
		return
	}
	opt, err := match.Preset("bfcl")
	if err != nil {
		fmt.Println(err)
		return
	}
	g := match.PrepareWith(gold, nil, alt, opt)
	for _, arguments := range []qaoa.JSON{`{"w":3,"unit":"Metre"}`, `{"w":3}`, `{"w":3,"unit":"feet"}`} {
		pred := []qaoa.Call{{Name: "area", Arguments: arguments}}
		fmt.Println(g.Counts(pred).Score(opt).FPA, g.Explain(pred)[0].Verdict.Rule)
	}
	// Output:
	// 1 alternative
	// 1 optional
	// 0 alternative
}
