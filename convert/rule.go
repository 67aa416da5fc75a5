package convert

import "fmt"

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
