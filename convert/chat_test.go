package convert

import (
	"fmt"
	"strings"
	"testing"

	"assay/qaoa"
)

// script plays messages such as "u:Hi", "a:Hello", "c:f", "o:f=12" and returns
// the record in short: query, [calls with observations] and answer of each turn.
func script(t *testing.T, messages string) (string, *Reject) {
	t.Helper()
	var c Chat
	for m := range strings.FieldsSeq(messages) {
		who, text, _ := strings.Cut(m, ":")
		switch who {
		case "u":
			c.User(text)
		case "a":
			c.Text(text)
		case "c":
			name, id, _ := strings.Cut(text, "#")
			if rej := c.Call(qaoa.Call{Name: name, Arguments: "{}"}, id, ""); rej != nil {
				return "", rej
			}
		case "o":
			name, obs, _ := strings.Cut(text, "=")
			name, id, _ := strings.Cut(name, "#")
			c.Observe(name, id, obs)
		default:
			t.Fatalf("no message: %q", m)
		}
	}
	var rec qaoa.Record
	if rej := c.Finish(&rec, "/m"); rej != nil {
		return "", rej
	}
	var b strings.Builder
	for _, turn := range rec.Turns {
		fmt.Fprintf(&b, "%s", turn.Query)
		for _, s := range turn.Steps {
			b.WriteString(" [")
			for i, call := range s.Calls {
				if i > 0 {
					b.WriteByte(' ')
				}
				b.WriteString(call.Name + "=" + s.Observation(i))
			}
			b.WriteString("]")
		}
		fmt.Fprintf(&b, " %s; ", turn.Answer)
	}
	return b.String() + string(rec.Meta), nil
}

func TestChat(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"a call", "u:Q c:f o:f=1 a:A", "Q [f=1] A; "},
		{"calls without an observation between are parallel", "u:Q c:f c:g o:f=1 o:g=2 a:A", "Q [f=1 g=2] A; "},
		{"a call after an observation is a step", "u:Q c:f o:f=1 c:g o:g=2 a:A", "Q [f=1] [g=2] A; "},
		{"observations in another order", "u:Q c:f c:g o:g=2 o:f=1", "Q [f=1 g=2] ; "},
		{"equal names in order", "u:Q c:f c:f o:f=1 o:f=2", "Q [f=1 f=2] ; "},
		{"no names in order", "u:Q c:f c:g o:=1 o:=2", "Q [f=1 g=2] ; "},
		{"by id", "u:Q c:f#x c:f#y o:#y=2 o:#x=1", "Q [f=1 f=2] ; "},
		{"a name that was not called", "u:Q c:f c:g o:h=1 o:f=2", "Q [f=1 g=2] ; "},
		{"a late observation", "u:Q c:f c:g o:f=1 c:h o:g=2 o:h=3", "Q [f=1 g=2] [h=3] ; "},
		{"a stray observation", "u:Q o:f=1 c:f", `Q [f=] ; {"decoded":{"stray_observations":1}}`},
		{"an observation of the turn before", "u:P c:f u:Q o:f=1", `P [f=] ; Q ; {"decoded":{"stray_observations":1}}`},
		{"text before a call", "u:Q a:S c:f o:f=1 a:A", `Q [f=1] A; {"side_text":[{"turn":0,"step":0,"text":"S"}]}`},
		{"two texts", "u:Q c:f o:f=1 a:S a:A", `Q [f=1] A; {"side_text":[{"turn":0,"step":1,"text":"S"}]}`},
		{"a direct answer among turns", "u:P a:A u:Q c:f o:f=1 a:B", "P A; Q [f=1] B; "},
		{"a greeting", "a:Hello u:Q c:f", `Q [f=] ; {"side_text":[{"turn":0,"step":0,"text":"Hello"}],"decoded":{"text_before_query":1}}`},
		{"no call", "u:Q a:A", "no_call"},
		{"no user", "a:A", "no_query"},
		{"a call first", "c:f u:Q", "no_query"},
		{"an empty query", "u: c:f", "no_query"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, rej := script(t, tt.in)
			if rej != nil {
				got = string(rej.Code)
			}
			if got != tt.want {
				t.Errorf("%s\nhave %s\nwant %s", tt.in, got, tt.want)
			}
		})
	}
}

func TestCutThink(t *testing.T) {
	tests := []struct {
		name, in, rest, reasoning string
		unbalanced                int
	}{
		{"none", " a ", " a ", "", 0},
		{"a pair", "<think>x</think>\n\na", "a", "x", 0},
		{"two pairs", "<think>x</think>a<think>y</think>b", "a\nb", "x\ny", 0},
		{"no beginning", "x</think>a", "a", "x", 1},
		{"no end", "a<think>x", "a", "x", 1},
		{"no end, but a call", "<think>x <tool_call>\n<tool_call>{}</tool_call>", "<tool_call>{}</tool_call>", "x <tool_call>", 1},
		{"one end too many", "<think>x</think>a</think>b", "a\nb", "x", 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			rest, reasoning, unbalanced := CutThink(tt.in)
			if rest != tt.rest || reasoning != tt.reasoning || unbalanced != tt.unbalanced {
				t.Errorf("CutThink(%q) = %q, %q, %d, want %q, %q, %d", tt.in, rest, reasoning, unbalanced, tt.rest, tt.reasoning, tt.unbalanced)
			}
		})
	}
}

func TestCutTagsAndMarkers(t *testing.T) {
	tests := []struct {
		name, in, blocks, rest string
		unbalanced             int
	}{
		{"none", "a < b", "", "a < b", 0},
		{"two", "a<t>1</t><t>2</t>b", "1|2", "a\nb", 0},
		{"not closed", "<t>1", "1", "", 1},
		{"not closed before the next", "<t>1<t>2</t>", "1|2", "", 1},
		{"not opened", "{1}</t>a</t>b", "{1}", "a\nb", 2},
		{"glaive", "a <functioncall> 1 <|endoftext|> b", " 1 ", "a\nb", 0},
		{"glaive to the end", "<functioncall> 1", " 1", "", 0},
		{"markers with blanks", "< | fn_start | >1<| fn_end |>", "1", "", 0},
		{"a marker without its end", "<|fn_start|>1", "1", "", 1},
		{"an end without its marker", "a</functioncall>", "", "a", 1},
		{"only an end of text", "a<|endoftext|>", "", "a", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			blocks, rest, unbalanced := CutTags(tt.in, "t")
			if !strings.Contains(tt.in, "t>") || strings.Contains(tt.in, "endof") {
				blocks, rest, unbalanced = CutMarkers(tt.in)
			}
			if strings.Contains(tt.in, "fn_") || strings.Contains(tt.in, "function") {
				blocks, rest, unbalanced = CutMarkers(tt.in)
			}
			if got := strings.Join(blocks, "|"); got != tt.blocks || rest != tt.rest || unbalanced != tt.unbalanced {
				t.Errorf("%q: %q, %q, %d, want %q, %q, %d", tt.in, got, rest, unbalanced, tt.blocks, tt.rest, tt.unbalanced)
			}
		})
	}
}

// Tags without partners must not take time by the square of the text.
func TestTagsOfHostileTextAreLinear(t *testing.T) {
	for _, piece := range []string{"<tool_call>", "</tool_call>", "<think>", "</think>", "<functioncall>", "<|fn_end|>", "{", "<tool_call>{"} {
		text := strings.Repeat(piece, 1<<20/len(piece))
		c := Chat{Tags: true, Markers: true}
		c.User("Q")
		_ = c.AssistantText(text, "") // a reject is as good as none
		CutTags(text, "tool_call")
	}
}
