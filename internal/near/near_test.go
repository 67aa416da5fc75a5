package near_test

import (
	"slices"
	"strings"
	"testing"

	"assay/internal/near"
)

func TestNames(t *testing.T) {
	models := []string{"llama3.1:8b", "qwen2.5:7b", "qwen3:14b", "qwen3:8b"}
	tests := []struct {
		name, have string
		want       []string
	}{
		{"a slip", "qwen3:8", []string{"qwen3:8b", "qwen3:14b"}},
		{"the beginning of a name", "llama", []string{"llama3.1:8b"}},
		{"nothing near", "gemma-2-27b-it", nil},
		{"one letter is no beginning", "l", nil},
		{"a monster", strings.Repeat("q", 300), nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := near.Names(tt.have, models); !slices.Equal(got, tt.want) {
				t.Errorf("Names(%.20q) = %q, want %q", tt.have, got, tt.want)
			}
		})
	}
	if got, want := near.DidYouMean("llama", models), `, did you mean "llama3.1:8b"?`; got != want {
		t.Errorf("DidYouMean = %q, want %q", got, want)
	}
	if got := near.DidYouMean("", nil); got != "" {
		t.Errorf("DidYouMean of nothing = %q", got)
	}
}
