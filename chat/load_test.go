package chat_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"assay/chat"
)

// folder makes a folder with the files, given as name and content in turn.
func folder(t *testing.T, files ...string) string {
	t.Helper()
	dir := t.TempDir()
	for i := 0; i < len(files); i += 2 {
		if err := os.WriteFile(filepath.Join(dir, files[i]), []byte(files[i+1]), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const (
	configName   = "tokenizer_config.json"
	templateName = "chat_template.jinja"
)

func TestLoad(t *testing.T) {
	several := `{"eos_token":{"content":"</s>"},"bos_token":null,"chat_template":[{"name":"default","template":"D{{ eos_token }}"},{"name":"tool_use","template":"T{{ eos_token }}"},{"name":"rag","template":"R"}]}`
	tests := []struct {
		name       string
		dir        string
		path, pick string
		want       string
	}{
		{"a text in tokenizer_config.json", folder(t, configName, `{"eos_token":"<e>","chat_template":"X{{ eos_token }}{{ bos_token }}"}`), configName, "", "X<e>"},
		{"the template for tools goes first", folder(t, configName, several), configName, "", "T</s>"},
		{"one of several by name", folder(t, configName, several), configName, "rag", "R"},
		{"a folder with a config", folder(t, configName, several), "", "default", "D</s>"},
		{"a folder with a template file, and special tokens from the config", folder(t, configName, several, templateName, "F{{ eos_token }}"), "", "", "F</s>"},
		{"a folder with a template file alone", folder(t, templateName, "F"), "", "", "F"},
		{"a template file", folder(t, templateName, "{{ 'F' }}"), templateName, "", "F"},
		{"a template file that begins like JSON", folder(t, templateName, "{% if true %}F{% endif %}"), templateName, "", "F"},
		{"an empty template file", folder(t, templateName, ""), templateName, "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tpl, err := chat.Load(filepath.Join(tt.dir, tt.path), tt.pick)
			if err != nil {
				t.Fatal(err)
			}
			if r, err := tpl.Render(chat.Conversation{}, chat.Options{}); r.Text != tt.want || err != nil {
				t.Errorf("rendered %q, %v; want %q", r.Text, err, tt.want)
			}
			if tpl.Verified {
				t.Error("Verified, though nobody compared it")
			}
		})
	}
}

func TestLoadErrors(t *testing.T) {
	tests := []struct{ name, path, pick, want string }{
		{"no such file", filepath.Join(folder(t), "none"), "", "no such file"},
		{"an empty folder", folder(t), "", "no such file"},
		{"a config without a template", filepath.Join(folder(t, configName, `{"eos_token":"x"}`), configName), "", "/chat_template: want a chat_template, have none"},
		{"a config that is no object", filepath.Join(folder(t, configName, `[]`), configName), "", "want a JSON object"},
		{"a template that is a number", filepath.Join(folder(t, configName, `{"chat_template":1}`), configName), "", "want a text, or a list"},
		{"no template of that name", filepath.Join(folder(t, configName, `{"chat_template":[{"name":"a","template":"x"},{"name":"b","template":"y"}]}`), configName), "c", "want a template named c, have a, b"},
		{"a template that does not parse", folder(t, templateName, "\n{{ x"), "", "line 2"},
		{"a broken config beside a template", folder(t, templateName, "x", configName, "{"), "", configName},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := chat.Load(tt.path, tt.pick); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v; want one with %q", err, tt.want)
			}
		})
	}
}

// line is a field report in short.
func line(f chat.FieldReport) string {
	s := fmt.Sprintf("%s/%s: %s ×%d %s", f.Field, f.Where, f.State, f.Count, f.Loss)
	if !f.OK {
		s += " !" + f.Note
	}
	return s
}

// probed is what Probe says about a Jinja source, by field.
func probed(t *testing.T, source string) map[string]string {
	t.Helper()
	tpl, err := chat.ParseJinja("x", source, chat.Vars{"eos_token": "</s>"})
	if err != nil {
		t.Fatal(err)
	}
	rep, err := chat.Probe(tpl, chat.Options{})
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, f := range rep.Fields {
		l := line(f)
		name, rest, _ := strings.Cut(l, ": ")
		out[name] = rest
	}
	for _, s := range rep.Shapes {
		out[s.Shape] = s.Note
	}
	return out
}

// TestProbeStates plants each fault in a template and reads the report.
func TestProbeStates(t *testing.T) {
	frame := func(role, body string) string {
		return "{% for m in messages %}{% if m.role == '" + role + "' %}" + body + "{% elif m.role == 'assistant' %}[A]{{ m.content }}{{ eos_token }}{% else %}{{ m.content }}{% endif %}{% endfor %}{% if add_generation_prompt %}[A]{% endif %}"
	}
	tests := []struct{ name, source, field, want string }{
		{"as it is", frame("user", "{{ m.content }}"), "query/", "as is ×1 none"},
		{"missing", frame("user", ""), "query/", "missing ×0 none !not in the text"},
		{"doubled", frame("user", "{{ m.content }}{{ m.content }}"), "query/", "as is ×2 none !2 times"},
		{"escaped as JSON", frame("user", "{{ m.content|tojson }}"), "query/", "json ×1 none !want as is"},
		{"escaped as ASCII", frame("user", "{{ m.content|tojson(ensure_ascii=true) }}"), "query/", "json ascii ×1 none !want as is"},
		{"escaped twice", frame("user", "{{ m.content|tojson|tojson }}"), "query/", "json twice ×1 none !want as is"},
		{"escaped for HTML", frame("user", "{{ m.content|e }}"), "query/", "html ×1 none !want as is"},
		{"changed", frame("user", "{{ m.content|upper|replace('ZQ', 'zq')|replace('QUERY', 'Query')|replace('QueryA', 'Querya')|replace('QueryZ', 'Queryz') }}"), "query/", "rewritten ×1 none !want as is"},
		{"an answer that is trained on", frame("user", ""), "content/the answer", "as is ×1 all"},
		{"a name", frame("system", "{{ tools[0].function.name }}"), "tool_name/", "as is ×1 none"},
		{"a schema as Python", frame("system", "{{ tools[0].function.parameters }}"), "tool_schema/", "python ×1 none !want json"},
		{"a schema as JSON", frame("system", "{{ tools[0].function.parameters|tojson }}"), "tool_schema/", "json ×1 none"},
		{"a schema encoded twice", frame("system", "{{ tools[0].function.parameters|tojson|tojson }}"), "tool_schema/", "json twice ×1 none !want json"},
		{"a schema as TypeScript", frame("system", "{% for k, v in tools[0].function.parameters.properties.items() %}{{ k }}: {{ v.type }}{% endfor %}"), "tool_schema/", "rewritten ×1 none !want json"},
		{
			"an answer outside of the generation block", "{% for m in messages %}{% if m.role == 'assistant' %}[A]{% generation %}x{% endgeneration %}{{ m.content }}</s>{% endif %}{% endfor %}",
			"content/the answer", "as is ×1 none !the model writes it, but is not trained on it",
		},
		{
			"a query inside of a generation block", "{% for m in messages %}{% generation %}{{ m.content }}{% endgeneration %}{% endfor %}",
			"query/", "as is ×1 all !trained on, but the model does not write it",
		},
		{"no call", frame("user", ""), "parallel calls", `"zqOtherKey" is not in the text`},
		{"a refusal", "{% if not messages[1] is defined %}{{ raise_exception('two') }}{% endif %}x", "no system message", "refused: line 1: two"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := probed(t, tt.source)[tt.field]; got != tt.want {
				t.Errorf("%s is %q; want %q", tt.field, got, tt.want)
			}
		})
	}
}

// TestProbeFamilies holds the faults that the hand-written families have by
// their nature.
func TestProbeFamilies(t *testing.T) {
	var b strings.Builder
	for _, name := range chat.Builtins() {
		rep, err := chat.Probe(builtin(t, name), chat.Options{})
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "==== %s verified %t\n", name, rep.Verified)
		for _, f := range rep.Fields {
			fmt.Fprintln(&b, line(f))
		}
		for _, s := range rep.Shapes {
			fmt.Fprintf(&b, "%s: %t %s\n", s.Shape, s.OK, s.Note)
		}
		for _, br := range rep.Breaks {
			fmt.Fprintf(&b, "break %d at %d: %s\n  %q\n  %q\n", br.Messages, br.At, br.Why, br.Before, br.After)
		}
		for _, n := range rep.Notes {
			fmt.Fprintln(&b, "note:", n)
		}
	}
	golden(t, "probe.golden", b.String())
}

func TestProbeOfATemplateThatRefusesAll(t *testing.T) {
	tpl, err := chat.ParseJinja("x", "{{ raise_exception('never') }}", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := chat.Probe(tpl, chat.Options{}); err == nil || !strings.Contains(err.Error(), "never") {
		t.Errorf("error %v", err)
	}
}

func ExampleTemplate_Render() {
	tpl, err := chat.Builtin("qwen3")
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := tpl.Render(chat.Conversation{Messages: []chat.Message{
		{Role: chat.User, Content: "Is it raining?"},
		{Role: chat.Assistant, Content: "No."},
	}}, chat.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, s := range r.Loss() {
		fmt.Printf("trained on %q\n", r.Text[s.Start:s.End])
	}
	// Output:
	// trained on "<think>\n\n</think>\n\nNo.<|im_end|>"
}

func BenchmarkRender(b *testing.B) {
	c := conversations[7].c
	for _, name := range chat.Builtins()[:1] {
		tpl := builtin(b, name)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := tpl.Render(c, chat.Options{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("jinja", func(b *testing.B) {
		tpl := own(b)
		plain := conversations[1].c
		b.ReportAllocs()
		for b.Loop() {
			if _, err := tpl.Render(plain, chat.Options{}); err != nil {
				b.Fatal(err)
			}
		}
	})
}
