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
	if got := strings.Join(names, " "); got != "paper reference strict" {
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
	for name, want := range map[string]string{
		"papre":                   `preset "papre": unknown; did you mean paper? Want one of paper, reference, strict`,
		"Strict":                  `preset "Strict": unknown; did you mean strict? Want one of paper, reference, strict`,
		"wholly other":            `preset "wholly other": unknown; want one of paper, reference, strict`,
		strings.Repeat("x", 1000): `preset "` + strings.Repeat("x", 40) + `": unknown; want one of paper, reference, strict`,
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
		{Options{Names: "loose"}, `option names: want one of letters, dots, have "loose"`},
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
