package preflight

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"assay/chat"
	"assay/qaoa"
)

// runOn simulates rows, a line each, in a file of its own.
func runOn(t testing.TB, name string, o Options, lines ...string) (Report, []Row) {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	in, err := Open(o.Trainer, []string{path}, "")
	if err != nil {
		t.Fatal(err)
	}
	var rows []Row
	o.OnRow = func(r Row) { rows = append(rows, r) }
	if o.Template == nil {
		if o.Template, err = chat.Builtin("qwen3"); err != nil {
			t.Fatal(err)
		}
	}
	rep, err := Run(context.Background(), in, o)
	if err != nil {
		t.Fatal(err)
	}
	return rep, rows
}

// The report and the order of rows are the same for any number of workers.
func TestAnyNumberOfWorkers(t *testing.T) {
	var lines []string
	for i := range 200 {
		line := chatRow(fmt.Sprint("r", i), `{"x":"`+strings.Repeat("long ", i)+`"}`)
		if i%17 == 0 {
			line = "{no row"
		}
		lines = append(lines, line)
	}
	var first string
	for _, workers := range []int{1, 2, 7} {
		rep, rows := runOn(t, "rows.jsonl", Options{Trainer: TRL, Cutoff: 500, Packing: true, Workers: workers}, lines...)
		for i := range rows {
			rows[i].File = "" // in a folder of its own each time
		}
		rep.Files = nil
		got := fmt.Sprintf("%+v\n%+v", rep, rows)
		if first == "" {
			first = got
			if rep.Cut == 0 || rep.Whole == 0 || rep.Fails == 0 || len(rows) != 200 {
				t.Errorf("%d whole, %d cut, %d fail of %d rows: the test shows too little", rep.Whole, rep.Cut, rep.Fails, len(rows))
			}
		} else if got != first {
			t.Errorf("%d workers tell\n%s\nand one\n%s", workers, got, first)
		}
	}
}

// share is a row of LLaMA-Factory; msgs are from=value.
func share(tools string, msgs ...string) string {
	var b strings.Builder
	for i, m := range msgs {
		from, value, _ := strings.Cut(m, "=")
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"from":%q,"value":%s}`, from, qaoa.Quote(value))
	}
	return fmt.Sprintf(`{"id":"r","conversations":[%s],"system":"","tools":%q}`, b.String(), tools)
}

const oneTool = `[{"name":"f","description":"","parameters":{"type":"object","properties":{"x":{"type":"string"}}}}]`

// chatRow is a row with one call in OpenAI's form.
func chatRow(id, arguments string) string {
	return fmt.Sprintf(`{"id":%q,"messages":[{"role":"user","content":"q"},{"role":"assistant","content":"","tool_calls":[{"type":"function","function":{"name":"f","arguments":%s}}]},{"role":"tool","content":"o"},{"role":"assistant","content":"a"}],"tools":%q}`, id, arguments, oneTool)
}

func TestFindings(t *testing.T) {
	call := `function_call={"name":"f","arguments":{"x":"1"}}`
	tests := []struct {
		name    string
		trainer Trainer
		row     string
		want    string // codes, sorted
		outcome Outcome
	}{
		{"a good row is whole", LlamaFactory, share(oneTool, "human=q", call, "observation=o", "gpt=a"), "", Whole},
		{"an array of calls is fine", LlamaFactory, share(oneTool, "human=q", `function_call=[{"name":"f","arguments":{}},{"name":"f","arguments":{}}]`), "", Whole},
		{"two replies break the order", LlamaFactory, share(oneTool, "human=q", call, "gpt=a"), "order_law", Dropped},
		{"a row that ends with a query is odd", LlamaFactory, share(oneTool, "human=q", "gpt=a", "human=q"), "odd_count", Dropped},
		{"a call that is no JSON stops the trainer", LlamaFactory, share(oneTool, "human=q", "function_call={f}"), "bad_call_json", Fails},
		{"a call without arguments stops it", LlamaFactory, share(oneTool, "human=q", `function_call={"name":"f"}`), "bad_call_json", Fails},
		{"tools that are no JSON stop it", LlamaFactory, share("f(x)", "human=q", "gpt=a"), "bad_tools", Fails},
		{"arguments as a text are encoded twice", LlamaFactory, share(oneTool, "human=q", `function_call={"name":"f","arguments":"{\"x\":1}"}`), "double_encoded", Whole},
		{"a foreign null is padding", LlamaFactory, share(oneTool, "human=q", `function_call={"name":"f","arguments":{"x":"1","y":null}}`), "null_padded", Whole},
		{"a null of its own is none", LlamaFactory, share(oneTool, "human=q", `function_call={"name":"f","arguments":{"x":null}}`), "", Whole},
		{"a property that is null is padding", LlamaFactory, share(`[{"name":"f","parameters":{"type":"object","properties":{"x":null}}}]`, "human=q", "gpt=a"), "null_padded", Whole},
		{"a default of null is none", LlamaFactory, share(`[{"name":"f","parameters":{"type":"object","properties":{"x":{"default":null}}}}]`, "human=q", "gpt=a"), "", Whole},
		{"null is no content", LlamaFactory, `{"conversations":[{"from":"human","value":null},{"from":"gpt","value":"a"}]}`, "bad_content", Fails},
		{"an array is no row", LlamaFactory, `[1]`, "not_json", Fails},
		{"no messages", TRL, `{"text":"x"}`, "no_messages", Dropped},
		{"all is trained unless told otherwise", TRL, chatRow("a", `{"x":"1"}`), "prompt_trained", Whole},
		{"tags of LLaMA-Factory are no roles", TRL, share(oneTool, "human=q", call), "unknown_role", Dropped},
		{"texts of arguments are read", Axolotl, strings.Replace(chatRow("a", `"{\"x\":1}"`), `"tools":"`, `"other":"`, 1), "", Whole},
		{"a list is documented", Axolotl, chatRow("a", `"{\"x\":1}"`), "tools_text", Whole},
		{"a flag on a call is ignored", MSSwift, `{"messages":[{"role":"user","content":"q"},{"role":"tool_call","content":"{\"name\":\"f\",\"arguments\":{}}","loss":false},{"role":"tool_response","content":"o"},{"role":"assistant","content":"a"}]}`, "loss_flag_ignored", Whole},
		{"a flag on the only reply empties the mask", MSSwift, `{"messages":[{"role":"user","content":"q"},{"role":"assistant","content":"a","loss":false}]}`, "empty_mask", Whole},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, rows := runOn(t, "x.jsonl", Options{Trainer: tt.trainer, Cutoff: 9000}, tt.row)
			if len(rows) != 1 {
				t.Fatalf("%d rows", len(rows))
			}
			var codes []string
			for _, f := range rows[0].Findings {
				codes = append(codes, string(f.Code))
			}
			slices.Sort(codes)
			if got := strings.Join(codes, " "); got != tt.want || rows[0].Outcome != tt.outcome {
				t.Errorf("codes %q outcome %s, want %q %s: %+v", got, rows[0].Outcome, tt.want, tt.outcome, rows[0].Findings)
			}
		})
	}
}

// TestTextArguments holds that it is the template which decides: Qwen3's writes
// a text as it is, Qwen2.5's quotes it.
func TestTextArguments(t *testing.T) {
	for name, want := range map[string]bool{"qwen3": false, "qwen2.5": true} {
		tpl, err := chat.Builtin(name)
		if err != nil {
			t.Fatal(err)
		}
		_, rows := runOn(t, "x.jsonl", Options{Trainer: TRL, AssistantOnly: true, Cutoff: 900, Template: tpl}, chatRow("a", `"{\"x\":1}"`))
		if got := rows[0].has(DoubleEncoded); got != want {
			t.Errorf("%s: double encoded %t, want %t", name, got, want)
		}
	}
}

func TestArrowUnitesTheTypes(t *testing.T) {
	o := Options{Trainer: TRL, AssistantOnly: true, Cutoff: 9000}
	_, rows := runOn(t, "x.jsonl", o, chatRow("a", `{"x":"1"}`), chatRow("b", `{"x":"1","y":2}`), chatRow("c", `{"x":"3","y":null}`))
	if !rows[0].has(ArrowNulls) || rows[1].has(ArrowNulls) || rows[2].has(ArrowNulls) {
		t.Errorf("want nulls added to row a alone: %+v", rows)
	}
	rep, rows := runOn(t, "x.jsonl", o, chatRow("a", `{"x":"1"}`), chatRow("b", `{"x":[1]}`), chatRow("c", `{"x":null}`))
	if rep.Fails != 1 || !slices.ContainsFunc(rows, func(r Row) bool { return r.has(ArrowType) }) {
		t.Errorf("a string and an array at one place: %+v", rep)
	}
	rep, _ = runOn(t, "x.jsonl", Options{Trainer: LlamaFactory, Cutoff: 9000}, share(oneTool, "human=q", "gpt=a"), share("[]", "human=q", `function_call={"name":"g","arguments":{"z":1}}`))
	if len(rep.Codes) != 0 {
		t.Errorf("texts have one type: %+v", rep.Codes)
	}
}

// TestShare holds vectors worked out by hand from the rule: the reply keeps all
// if twice its length is below the limit, else the prompt does, else both
// shrink alike.
func TestShare(t *testing.T) {
	tests := []struct{ source, target, limit, wantSource, wantTarget int }{
		{10, 5, 100, 10, 5},
		{3000, 10, 100, 90, 10},
		{10, 3000, 100, 10, 90},
		{300, 100, 100, 75, 25},
		{60, 60, 100, 50, 50},
		{0, 0, 10, 0, 0},
	}
	for _, tt := range tests {
		if s, r := keep(tt.source, tt.target, tt.limit); s != tt.wantSource || r != tt.wantTarget {
			t.Errorf("keep(%d, %d, %d) = %d, %d, want %d, %d", tt.source, tt.target, tt.limit, s, r, tt.wantSource, tt.wantTarget)
		}
	}
}

func TestWhereTheCutIs(t *testing.T) {
	long := strings.Repeat("word ", 300)
	tests := []struct {
		name string
		row  string
		want Code
		lost int
	}{
		{"a long call", share(oneTool, "human=q", `function_call={"name":"f","arguments":{"x":"`+long+`"}}`), CutInCall, 1},
		{"a long answer", share("", "human=q", "gpt="+long), CutInAnswer, 0},
		{"a long query", share("", "human="+long, "gpt=a"), CutInPrompt, 0},
		{"a long observation hides the calls behind it", share("", "human=q", `function_call={"name":"f","arguments":{}}`, "observation="+long, `function_call={"name":"f","arguments":{}}`, "observation="+long, `function_call={"name":"f","arguments":{}}`), CutInPrompt, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, rows := runOn(t, "x.jsonl", Options{Trainer: LlamaFactory, Cutoff: 300}, tt.row)
			r := rows[0]
			if r.Outcome != Cut || !r.has(tt.want) || r.CallsLost != tt.lost || r.Kept > 300 {
				t.Errorf("want %s and %d calls lost: %+v", tt.want, tt.lost, r)
			}
		})
	}
	// Who deletes long rows cuts none.
	for _, trainer := range []Trainer{MSSwift, Axolotl} {
		_, rows := runOn(t, "x.jsonl", Options{Trainer: trainer, Cutoff: 10}, chatRow("a", `{"x":"1"}`))
		if rows[0].Outcome != Dropped || !rows[0].has(OverLong) || rows[0].Kept != 0 || rows[0].CallsLost != 1 {
			t.Errorf("%s: %+v", trainer, rows[0])
		}
	}
	// TRL keeps the start, up to its own default.
	rep, rows := runOn(t, "x.jsonl", Options{Trainer: TRL, AssistantOnly: true}, strings.Replace(chatRow("a", `{"x":"1"}`), `"q"`, `"`+strings.Repeat(long, 3)+`"`, 1))
	if rep.Cutoff != 1024 || rows[0].Kept != 1024 || !rows[0].has(EmptyMask) {
		t.Errorf("%+v", rows[0])
	}
}

func TestMaskCountsTheReplies(t *testing.T) {
	// By hand: qwen3 writes the reply "aaa<|im_end|>\n" (14 bytes) behind
	// its prompt; LLaMA-Factory encodes it apart, and a token is 3 bytes.
	_, rows := runOn(t, "x.jsonl", Options{Trainer: LlamaFactory, Cutoff: 900}, share("", "human=q", "gpt=aaa"))
	want := rows[0].Trained
	tpl, _ := chat.Builtin("qwen3")
	r, err := tpl.Render(chat.Conversation{Messages: []chat.Message{{Role: chat.User, Content: "q"}, {Role: chat.Assistant, Content: "aaa"}}}, chat.Options{})
	if err != nil {
		t.Fatal(err)
	}
	turn := r.Find(chat.FieldTurn)[0]
	if n := (len(r.Text) - turn.Start + 2) / 3; n != want {
		t.Errorf("trained %d, want %d of %q", want, n, r.Text[turn.Start:])
	}
}

func TestPackingAgainstOneByOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.IntRange(1, 40).Draw(t, "limit")
		lengths := rapid.SliceOfN(rapid.IntRange(1, limit), 0, 60).Draw(t, "lengths")
		p := newPacker(limit)
		for _, n := range lengths {
			p.add(n)
		}
		slices.SortFunc(lengths, func(a, b int) int { return b - a })
		var room []int
		for _, n := range lengths {
			best := -1
			for i, r := range room {
				if r >= n && (best < 0 || r < room[best]) {
					best = i
				}
			}
			if best < 0 {
				room = append(room, limit)
				best = len(room) - 1
			}
			room[best] -= n
		}
		if got := p.pack(); got != len(room) {
			t.Fatalf("%d packs of %d, want %d for %v", got, limit, len(room), lengths)
		}
	})
}

func TestFilesAndDescriptions(t *testing.T) {
	rep, _ := runOn(t, "x.jsonl.gz", Options{Trainer: LlamaFactory}, share("", "human=q", "gpt=a"))
	if rep.Fails != 1 || rep.Codes[0].Code != FileType {
		t.Errorf("compressed rows: %+v", rep)
	}
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("rows.jsonl", `{"m":[{"role":"U","text":"q"},{"role":"A","text":"a"}]}`)
	write("dataset_info.json", `{"d":{"file_name":"rows.jsonl","formatting":"sharegpt","columns":{"messages":"m"},"tags":{"role_tag":"role","content_tag":"text","user_tag":"U","assistant_tag":"A"}},"out":{"file_name":"../x"}}`)
	if _, err := Open(LlamaFactory, []string{dir}, ""); err == nil || !strings.Contains(err.Error(), "one of d, out") {
		t.Errorf("two data sets: %v", err)
	}
	if _, err := Open(LlamaFactory, []string{dir}, "out"); err == nil || !strings.Contains(err.Error(), "beside it") {
		t.Errorf("a path out of the folder: %v", err)
	}
	in, err := Open(LlamaFactory, []string{dir}, "d")
	if err != nil {
		t.Fatal(err)
	}
	tpl, _ := chat.Builtin("chatml")
	rep, err = Run(context.Background(), in, Options{Trainer: LlamaFactory, Template: tpl})
	if err != nil || rep.Whole != 1 || len(rep.Codes) != 0 {
		t.Errorf("%v %+v", err, rep)
	}
}

func TestPreviewMarksTheMask(t *testing.T) {
	var got Preview
	o := Options{Trainer: LlamaFactory, Cutoff: 60, PreviewID: "r", OnPreview: func(p Preview) { got = p }}
	runOn(t, "x.jsonl", o, share("", "human=q\x1b[2J", "gpt="+strings.Repeat("a", 300)))
	var b strings.Builder
	if err := got.WriteText(&b, false); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	if strings.Contains(text, "\x1b") || !strings.Contains(text, "user\nq\uFFFD[2J<|im_end|>") || !strings.Contains(text, "a⟧⟨a") {
		t.Errorf("preview:\n%s", text)
	}
	whole := ""
	for _, p := range got.Pieces {
		whole += p.Text
	}
	if !strings.HasPrefix(whole, "<|im_start|>user") || strings.Count(whole, "a") < 300 {
		t.Errorf("pieces lose text: %q", whole)
	}
	b.Reset()
	_ = got.WriteText(&b, true)
	if !strings.Contains(b.String(), "\x1b[1;32m") {
		t.Error("want colours")
	}
}

// FuzzRows feeds what is no row: nothing may panic, and each row has an outcome.
func FuzzRows(f *testing.F) {
	f.Add(share(oneTool, "human=q", "gpt=a"), uint8(0))
	f.Add(chatRow("a", `{"x":"1"}`), uint8(1))
	f.Add(`{"messages":[{"role":"tool_call","content":"[1]"},{"role":"tool","content":[{"text":1}]}],"tools":[{"function":{"name":1}}]}`, uint8(2))
	f.Add(`{"conversations":[{"from":"system","value":1}],"tools":[null]}`, uint8(0))
	tpl, err := chat.Builtin("qwen3")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, line string, which uint8) {
		o := Options{Trainer: Trainers()[int(which)%4], Template: tpl, Cutoff: 40}
		s := look(rawRow{file: "f", data: []byte(line)}, Input{Columns: shareGPT()}, &schema{}, nil, o)
		if s.row.Outcome == "" || s.row.Kept > s.row.Tokens || s.row.Trained > s.row.Kept || s.row.CallsLost > s.row.Calls {
			t.Errorf("%+v", s.row)
		}
	})
}

func ExampleRun() {
	tpl, err := chat.Builtin("qwen3")
	if err != nil {
		fmt.Println(err)
		return
	}
	in, err := Open(LlamaFactory, []string{"testdata/rows.jsonl"}, "")
	if err != nil {
		fmt.Println(err)
		return
	}
	rep, err := Run(context.Background(), in, Options{Trainer: LlamaFactory, Template: tpl, Cutoff: 8192})
	fmt.Println(rep.Rows, rep.Whole, rep.Dropped, rep.Failing(nil), err)
	// Output: 2 1 1 [order_law] <nil>
}
