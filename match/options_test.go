package match

import (
	"strings"
	"testing"

	"github.com/goccy/go-json"
)

func TestZeroOptionsArePaper(t *testing.T) {
	want, err := Preset("paper")
	if err != nil {
		t.Fatal(err)
	}
	if got := (Options{}).Resolved(); got != want {
		t.Errorf("Options{}.Resolved() = %+v, want %+v", got, want)
	}
	if got, err := Preset(""); err != nil || got != want {
		t.Errorf(`Preset("") = %+v, %v; want paper`, got, err)
	}
}

func TestEveryPresetIsSpelledOutAndValid(t *testing.T) {
	names := Presets()
	if got := strings.Join(names, " "); got != "paper reference strict bfcl acebench seal-tools hammerbench complexfuncbench t-eval" {
		t.Fatalf("Presets() = %s", got)
	}
	for _, name := range names {
		opt, err := Preset(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := opt.Validate(); err != nil {
			t.Errorf("preset %s: %v", name, err)
		}
		if opt.Name != name || opt != opt.Resolved() {
			t.Errorf("preset %s leaves knobs open: %+v", name, opt)
		}
		text, err := json.Marshal(opt)
		if err != nil {
			t.Fatal(err)
		}
		var back Options
		if err := json.Unmarshal(text, &back); err != nil || back != opt {
			t.Errorf("preset %s read back from %s: %+v, %v", name, text, back, err)
		}
	}
}

func TestUnknownPresetNamesNearOnes(t *testing.T) {
	all := strings.Join(Presets(), ", ")
	for name, want := range map[string]string{
		"papre":                   `preset "papre": unknown; did you mean paper? Want one of ` + all,
		"Strict":                  `preset "Strict": unknown; did you mean strict? Want one of ` + all,
		"wholly other":            `preset "wholly other": unknown; want one of ` + all,
		strings.Repeat("x", 1000): `preset "` + strings.Repeat("x", 40) + `": unknown; want one of ` + all,
	} {
		if _, err := Preset(name); err == nil || err.Error() != want {
			t.Errorf("Preset(%.20q): %v, want %s", name, err, want)
		}
	}
}

func TestValidateNamesTheKnob(t *testing.T) {
	for _, tt := range []struct {
		opt  Options
		want string
	}{
		{Options{DateOrder: "ymd"}, `option date_order: want one of mdy, dmy, have "ymd"`},
		{Options{Names: "loose"}, `option names: want one of letters, dots, exact, have "loose"`},
		{Options{Flexible: "arg_mean"}, `option flexible: want one of call, arg_min, none, have "arg_mean"`},
		{Options{Dates: "yes"}, `option dates: want one of on, off, have "yes"`},
		{Options{RougeNum: 3, RougeDen: 2}, `option rouge_num/rouge_den: want a fraction in [0,1] with a denominator of at most 1000000, have 3/2`},
		{Options{RougeNum: 1}, `option rouge_num/rouge_den: want a fraction in [0,1] with a denominator of at most 1000000, have 1/0`},
	} {
		if err := tt.opt.Validate(); err == nil || err.Error() != tt.want {
			t.Errorf("Validate(%+v) = %v, want %s", tt.opt, err, tt.want)
		}
	}
	if err := (Options{RougeNum: 1, RougeDen: 2}).Validate(); err != nil {
		t.Error(err)
	}
	// What Validate refuses must still not break the arithmetic.
	if got := (Options{RougeNum: -1, RougeDen: 0}).Resolved(); got.RougeNum != 7 || got.RougeDen != 10 {
		t.Errorf("an impossible threshold resolves to %d/%d, want 7/10", got.RougeNum, got.RougeDen)
	}
}

func TestEveryPresetIsDescribed(t *testing.T) {
	for _, name := range Presets() {
		info, err := Describe(name)
		if err != nil || info.Name != name || info.Rules == "" || info.Source == "" {
			t.Errorf("Describe(%s) = %+v, %v", name, info, err)
		}
		for _, f := range info.Faults {
			opt, err := Preset(name + "+" + f.Name)
			if err != nil {
				t.Fatal(err)
			}
			before, _ := Preset(name)
			opt.Name = before.Name
			if f.Doc == "" || opt == before {
				t.Errorf("fault %s of %s: repairing it changes no knob, or it is not explained", f.Name, name)
			}
			if err := opt.Validate(); err != nil {
				t.Errorf("fault %s of %s: %v", f.Name, name, err)
			}
		}
	}
	if _, err := Describe("bfcl+first-fit"); err != nil {
		t.Error(err)
	}
	if info, err := Describe(""); err != nil || info.Name != "paper" {
		t.Errorf(`Describe("") = %s, %v`, info.Name, err)
	}
}

func TestWithFix(t *testing.T) {
	bfcl, err := Preset("bfcl")
	if err != nil {
		t.Fatal(err)
	}
	one, err := bfcl.WithFix("list-floats", "first-fit", "list-floats")
	if err != nil {
		t.Fatal(err)
	}
	if one.Name != "bfcl+list-floats+first-fit" || one.Widen != WidenDeep || one.Assign != AssignBest {
		t.Errorf("WithFix: %+v", one)
	}
	if again, err := Preset(one.Name); err != nil || again != one {
		t.Errorf("Preset(%s) = %+v, %v", one.Name, again, err)
	}
	if zero, err := (Options{}).WithFix("key-tokens"); err != nil || zero.Flexible != FlexArgMin || zero.Name != "paper+key-tokens" {
		t.Errorf("the zero options with a fix: %+v, %v", zero, err)
	}
	for preset, want := range map[string]string{
		"bfcl+lists": `fault "lists" of preset bfcl: unknown; want one of list-floats, first-fit, marker-list, binary`,
		"strict+x":   `fault "x" of preset strict: it has no known faults`,
		"bflc+x":     `preset "bflc": unknown; did you mean bfcl? Want one of ` + strings.Join(Presets(), ", "),
	} {
		if _, err := Preset(preset); err == nil || err.Error() != want {
			t.Errorf("Preset(%q): %v, want %s", preset, err, want)
		}
	}
	if _, err := (Options{Name: "mine"}).WithFix("x"); err == nil {
		t.Error("options without a known preset can be fixed")
	}
}
