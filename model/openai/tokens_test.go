package openai_test

import (
	"slices"
	"strings"
	"testing"

	"assay/model"
)

func TestPromptTokens(t *testing.T) {
	tests := []struct {
		name  string
		paths map[string]string
		want  []int
		asked []string // path and the start of the body
		fault string
	}{
		{
			"llama.cpp",
			map[string]string{"/apply-template": `{"prompt":"<s>hi"}`, "/tokenize": `{"tokens":[1,15043]}`},
			[]int{1, 15043},
			[]string{`/apply-template {"messages":`, `/tokenize {"content":"<s>hi","add_special":true,"parse_special":true}`},
			"",
		},
		{
			"vLLM",
			map[string]string{"/tokenize": `{"count":2,"max_model_len":9,"tokens":[1,2]}`},
			[]int{1, 2},
			[]string{`/apply-template {"messages":`, `/tokenize {"model":"m","messages":`},
			"",
		},
		{"neither", nil, nil, []string{"/apply-template ", "/tokenize "}, "llama.cpp and vLLM do"},
		{"an error of the template", map[string]string{"/apply-template": `{"error":{"message":"template broken"}}`}, nil, []string{"/apply-template "}, "template broken"},
		{"tokens with their text", map[string]string{"/tokenize": `{"tokens":[{"id":1,"piece":"x"}]}`}, nil, []string{"/apply-template ", "/tokenize "}, "/tokens/0"},
		{"a fraction", map[string]string{"/tokenize": `{"tokens":[1,1.5]}`}, nil, []string{"/apply-template ", "/tokenize "}, "/tokens/1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, seen := renderer(t, tt.paths)
			var asker model.PromptTokenizer = c
			got, err := asker.PromptTokens(t.Context(), ask("hi"))
			if !slices.Equal(got, tt.want) || (err == nil) != (tt.fault == "") {
				t.Fatalf("PromptTokens = %v, %v", got, err)
			}
			if err != nil && (!strings.Contains(err.Error(), tt.fault) || strings.Contains(err.Error(), key)) {
				t.Errorf("error %v; want %q", err, tt.fault)
			}
			if len(*seen) != len(tt.asked) {
				t.Fatalf("asked %q; want %q", *seen, tt.asked)
			}
			for i, want := range tt.asked {
				if !strings.HasPrefix((*seen)[i], want) {
					t.Errorf("request %d is %q; want it to begin with %q", i, (*seen)[i], want)
				}
			}
		})
	}
}
