package convert

import (
	"fmt"

	"assay/qaoa"
)

// LanguageRule returns the predicate that name stands for, which reports
// whether a text breaks the rule: l1, l2, cjk; off never does. An empty name
// is fallback.
func LanguageRule(name, fallback string) (func(text string) bool, error) {
	if name == "" {
		name = fallback
	}
	switch name {
	case "l1":
		return LanguageL1, nil
	case "l2":
		return LanguageL2, nil
	case "cjk":
		return LanguageCJK, nil
	case "off":
		return func(string) bool { return false }, nil
	}
	return nil, fmt.Errorf("language rule %q: want one of l1, l2, cjk, off", name)
}

// Terms are what a run asks of every record of a source beside what the source
// itself asks.
type Terms struct {
	strict bool
	breaks func(text string) bool // nil for no language rule
}

// TermsOf returns the terms of opt. Without a name in opt no language rule
// holds.
func TermsOf(opt Options) (Terms, error) {
	t := Terms{strict: opt.Profile == Strict}
	if opt.Language == "" {
		return t, nil
	}
	var err error
	t.breaks, err = LanguageRule(opt.Language, "off")
	return t, err
}

// Check returns why rec does not meet the terms, or nil: see [CheckLanguage],
// and [CheckStrict] under that profile.
func (t Terms) Check(rec qaoa.Record) *Reject {
	if rej := CheckLanguage(rec, t.breaks); rej != nil || !t.strict {
		return rej
	}
	return CheckStrict(rec)
}
