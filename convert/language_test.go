package convert

import "testing"

func TestLanguage(t *testing.T) {
	tests := []struct {
		name, text  string
		l1, l2, cjk bool
	}{
		{"plain English passes", "Book a table for 2 at 19:30.", false, false, false},
		{"accents are Latin but not ASCII", "Käärijä à São Paulo, Đà Nẵng", false, true, false},
		{"dashes, quotes and emoji are no letters", "“a” – b… 😀 21°C €5", false, false, false},
		{"the micro sign is a letter of no script", "5 µm", true, true, false},
		{"Greek is not Latin", "ε = 2", true, true, false},
		{"Cyrillic is not Latin and not CJK", "Москва", true, true, false},
		{"Chinese", "天气", true, true, true},
		{"Hangul", "날씨", true, true, true},
		{"Katakana", "テスト", true, true, true},
		{"a full-width stop alone is CJK but no letter", "Hello。", false, false, true},
		{"bopomofo lies between the CJK blocks", "ㄅ", true, true, false},
		{"a compatibility ideograph", "\uF900", true, true, true},
		{"full-width Latin letters are Latin", "ＡＢＣ", false, true, false},
		{"invalid UTF-8 is no letter", "a\xff\xe5b", false, false, false},
		{"a replacement character is no letter", "a\uFFFDb", false, false, false},
		{"nothing", "", false, false, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := LanguageL1(tt.text); got != tt.l1 {
				t.Errorf("LanguageL1(%q) = %v, want %v", tt.text, got, tt.l1)
			}
			if got := LanguageL2(tt.text); got != tt.l2 {
				t.Errorf("LanguageL2(%q) = %v, want %v", tt.text, got, tt.l2)
			}
			if got := LanguageCJK(tt.text); got != tt.cjk {
				t.Errorf("LanguageCJK(%q) = %v, want %v", tt.text, got, tt.cjk)
			}
		})
	}
}
