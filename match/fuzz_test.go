package match

import (
	"testing"
	"unicode/utf8"

	"assay/qaoa"
)

func FuzzCanon(f *testing.F) {
	for _, s := range fragments {
		f.Add(s)
	}
	for _, s := range []string{"[1, 'a', {\"b\": (1,)}]", "{'a': None}", "2023-04-01T10:00:00.5+02:00", "the a cat", "1,234.5e-3", `["[1]"]`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, opt := range presets() {
			c := Canonical(qaoa.StringValue(s), opt)
			if !c.Equal(Canonical(qaoa.StringValue(s), opt)) {
				t.Errorf("%s: %q does not equal itself", opt.Name, s)
			}
			if str := c.String(); !utf8.ValidString(str) || len(str) > 300 {
				t.Errorf("%s: form of %q: %q", opt.Name, s, str)
			}
			if len(c.Tokens()) == 0 {
				t.Errorf("%s: %q has no token", opt.Name, s)
			}
			switch c.Kind {
			case Number, Date, Bool:
				if again := Canonical(qaoa.StringValue(c.Text), opt); !again.Equal(c) {
					t.Errorf("%s: %q is %s, which reads back as %s", opt.Name, s, c, again)
				}
			}
		}
		// Blanks around a string never count.
		if a, b := Canonical(qaoa.StringValue(s), Options{}), Canonical(qaoa.StringValue(" "+s+"\u00a0"), Options{}); !a.Equal(b) {
			t.Errorf("%q is %s, with blanks around it %s", s, a, b)
		}
	})
}

func FuzzName(f *testing.F) {
	for _, s := range append(fragments, "uber.ride", "UberRide2", "查询_天气") {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		form := Name(s)
		if !utf8.ValidString(form) {
			t.Errorf("Name(%q) = %q", s, form)
		}
		if (form == "") != (s == "") {
			t.Errorf("Name(%q) = %q", s, form)
		}
		if nfkc(form) == form && Name(form) != form {
			t.Errorf("Name(%q) = %q, then %q", s, form, Name(form))
		}
	})
}

func FuzzCompare(f *testing.F) {
	f.Add("f", `{"a":1}`, "f", `{"a":"1"}`, "")
	f.Add("f", `{"q":"the old town"}`, "F2", `"{'q': 'old town'}"`, `{"properties":{"q":{"default":"x"}}}`)
	f.Add("f", `{"a_b":1,"ab":2,"c":null}`, "f", `{"a_b":[],"ab":{}}`, `{"properties":{"c":{"default":[1]},"C":{}}}`)
	f.Add("", `null`, "f", `[`, `{"properties":{"default":`)
	f.Fuzz(func(t *testing.T, name, arguments, name2, arguments2, schema string) {
		call := func(name, arguments string) qaoa.Call {
			if j, err := qaoa.Compact(arguments); err == nil {
				return qaoa.Call{Name: name, Arguments: j}
			}
			return qaoa.Call{Name: name, Arguments: qaoa.Quote(arguments)}
		}
		gold, pred := call(name, arguments), call(name2, arguments2)
		tools := []qaoa.Tool{{Name: name, Parameters: qaoa.JSON(schema)}}
		for _, opt := range presets() {
			v := Compare(gold, pred, tools, opt)
			if v.Strict && (!v.Flexible || !v.FlexibleArg) || v.Flexible && !v.Name || v.FlexibleArg && !v.Name {
				t.Errorf("%s: %+v", opt.Name, v)
			}
			ab, ba := Compare(gold, pred, nil, opt), Compare(pred, gold, nil, opt)
			if ab.Name != ba.Name || ab.Strict != ba.Strict || ab.Flexible != ba.Flexible || ab.FlexibleArg != ba.FlexibleArg {
				t.Errorf("%s: %+v, the other way round %+v", opt.Name, ab, ba)
			}
			if same := Compare(gold, gold, tools, opt); name != "" && !same.Strict {
				t.Errorf("%s: %+v against itself: %+v", opt.Name, gold, same)
			}
		}
	})
}

// FuzzForeign compares calls under the presets of other benchmarks, with the
// second argument object as alternatives.
func FuzzForeign(f *testing.F) {
	f.Add("f", `{"a":1}`, `{"a":[1,""]}`, `{"a":"1"}`, `{"properties":{"a":{"type":"integer"}},"required":["a"]}`)
	f.Add("f_1", `{"l":[1,{"x":[]}]}`, `{"l":[[1,{"x":[[],""]}],[]]}`, `{"l":[]}`, `{"properties":{"l":{"type":"array","items":{"type":"dict"}}}}`)
	f.Add("f", `{"kwargs":"","o":{"a":"true"}}`, `{"o":[{"a":["x",1e5]}]}`, `{"o":{"a":true},"n":null}`, `{"properties":{"o":{"type":["null","object"]}}}`)
	f.Fuzz(func(t *testing.T, name, gold, alternatives, pred, schema string) {
		call := func(arguments string) qaoa.Call {
			if j, err := qaoa.Compact(arguments); err == nil {
				return qaoa.Call{Name: name, Arguments: j}
			}
			return qaoa.Call{Name: name, Arguments: qaoa.Quote(arguments)}
		}
		for _, category := range []string{"simple", "java"} {
			meta := qaoa.JSON("")
			if list, err := qaoa.ParseValue("[" + alternatives + "]"); err == nil {
				meta = qaoa.ObjectValue(qaoa.Member{Name: "category", Value: qaoa.StringValue(category)},
					qaoa.Member{Name: "alternatives", Value: list}).JSON()
			}
			alt, err := ParseAlternatives(meta, 1)
			if err != nil {
				continue
			}
			for _, opt := range foreignPresets() {
				g := PrepareWith([]qaoa.Call{call(gold)}, []qaoa.Tool{{Name: name, Parameters: qaoa.JSON(schema)}}, alt, opt)
				preds := []qaoa.Call{call(pred)}
				v, c := g.Explain(preds)[0].Verdict, g.Counts(preds)
				if v.Strict && !v.Flexible || v.Flexible && !v.Name || v.Why == "" || v.Rule == "" {
					t.Errorf("%s: %+v", opt.Name, v)
				}
				if v.Name && (c.Strict == 1) != v.Strict {
					t.Errorf("%s: counts %+v, verdict %+v", opt.Name, c, v)
				}
			}
		}
	})
}

func FuzzRougeL(f *testing.F) {
	f.Add([]byte("abcabc"), []byte("acbacb"))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		if len(a) > 2000 || len(b) > 2000 {
			return
		}
		x, y := make([]int32, len(a)), make([]int32, len(b))
		for i := range a {
			x[i] = int32(a[i])
		}
		for i := range b {
			y[i] = int32(b[i])
		}
		want := lcsByTable(x, y)
		var s lcsScratch
		if got := s.length(x, y, 256, 0); got != want {
			t.Errorf("length = %d, want %d", got, want)
		}
		for _, least := range []int{want, want + 1} {
			if got := s.reaches(x, y, 256, least); got != (want >= least) {
				t.Errorf("reaches(%d) = %t, LCS is %d", least, got, want)
			}
		}
	})
}
