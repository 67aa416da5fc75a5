package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goccy/go-json"

	"assay/eval"
	"assay/model"
	"assay/model/modeltest"
	"assay/qaoa"
)

// replayGold plays a model that fills the slots of serverGold in a guided flow:
// it knows a record by its query, and the slot by the replies after it.
func replayGold(r modeltest.Request) modeltest.Reply {
	city, n := "", 0
	for _, m := range r.Messages {
		switch {
		case m.Role == model.User && strings.Contains(m.Content, "Weather in"):
			city, n = m.Content, 0
		case m.Role == model.Assistant:
			n++
		}
	}
	cities := []string{"Oslo"}
	if strings.Contains(city, "Narvik") {
		cities = []string{"Bergen", "Narvik"}
	}
	if n >= len(cities) {
		return modeltest.Reply{Text: "<answer>Done.</answer>"}
	}
	call := qaoa.Call{Name: "weather", Arguments: qaoa.JSON(fmt.Sprintf(`{"city":%q}`, cities[n]))}
	if r.Tools > 0 {
		return modeltest.Reply{Calls: []qaoa.Call{call}}
	}
	return modeltest.Reply{Text: "<tool_call>\n" + string(qaoa.AppendCall(nil, call)) + "\n</tool_call>"}
}

// runInfo reads the run.json of a folder.
func runInfo(t *testing.T, dir string) eval.RunInfo {
	t.Helper()
	info, err := eval.ReadRun(dir)
	if err != nil {
		t.Fatal(err)
	}
	return info
}

func TestGuidedRunOnAServerThatReplaysGold(t *testing.T) {
	for _, flags := range [][]string{
		{"--flow", "guided"},
		{"--flow", "guided", "--history", "gold"},
		{"--flow", "guided", "--calls", "native", "--tool-choice", "required"},
	} {
		t.Run(strings.Join(flags, " "), func(t *testing.T) {
			t.Parallel()
			s := modeltest.NewServer(t, replayGold)
			code, talk, dir := asked(t, s, append(flags, "--skip-probes")...)
			if code != exitOK {
				t.Fatalf("exit code %d\n%s", code, talk)
			}
			got := scored(t, dir)
			if *got.Cells.SH.SP != 1 || *got.Cells.SH.SPA != 1 || *got.Cells.MH.SP != 1 || *got.Cells.MH.SPA != 1 {
				t.Errorf("scores %+v; want 1", got.Cells)
			}
			if n := len(s.Requests()); n != 3 {
				t.Errorf("%d requests; want one for each of 3 gold calls", n)
			}
			if info := runInfo(t, dir); info.Settings.Flow != eval.FlowGuided || !info.Settings.SkippedProbes || info.Counts.Slots != 3 || info.Counts.Unfilled != 0 {
				t.Errorf("run.json: %+v", info)
			}
		})
	}
}

// A server that calls the same for ever ends each turn by the repeat rule, in
// prompt and in native mode, and the call counts once.
func TestRunEndsAServerThatRepeatsItself(t *testing.T) {
	for _, mode := range []string{"prompt", "native"} {
		s := modeltest.NewServer(t, func(r modeltest.Request) modeltest.Reply {
			if r.Tools > 0 {
				return modeltest.Reply{Calls: []qaoa.Call{{Name: "weather", Arguments: `{"city":"Oslo"}`}}}
			}
			return modeltest.Reply{Text: oslo}
		})
		code, talk, dir := asked(t, s, "--calls", mode, "--skip-probes")
		if code != exitOK {
			t.Fatalf("exit code %d\n%s", code, talk)
		}
		if n := len(s.Requests()); n != 4 {
			t.Errorf("%s: %d requests; want 2 for each of 2 turns", mode, n)
		}
		if got := scored(t, dir); *got.Cells.SH.SP != 1 {
			t.Errorf("%s: scores %+v", mode, got.Cells)
		}
	}
}

func TestReferenceRun(t *testing.T) {
	s := modeltest.NewServer(t, modeltest.Say(oslo))
	code, talk, dir := asked(t, s, "--compat", "reference+stop", "--skip-probes")
	if code != exitOK {
		t.Fatalf("exit code %d\n%s", code, talk)
	}
	if !strings.Contains(talk, "slots: 5 asked about, 2 of them not filled") {
		t.Errorf("talk:\n%s", talk)
	}
	set := runInfo(t, dir).Settings
	if set.Compat != "reference+stop" || len(set.Faults) != 11 || set.Sampling.Temperature != 0.6 || set.Sampling.TopP != 0.95 || set.Flow != eval.FlowGuided {
		t.Errorf("settings %+v", set)
	}
	var body struct {
		Messages []struct{ Role, Content string }
	}
	if err := json.Unmarshal(s.Requests()[0].Body, &body); err != nil || !strings.Contains(body.Messages[0].Content, "</chat_history>") || strings.Contains(body.Messages[0].Content, "{tools}") {
		t.Errorf("the prompt is not the one of compat (%v): %+v", err, body.Messages)
	}
}

func TestRunJSONAndQuiet(t *testing.T) {
	gold := filepath.Join(t.TempDir(), "gold.jsonl")
	prices := filepath.Join(t.TempDir(), "prices.yaml")
	for path, text := range map[string]string{gold: serverGold, prices: modeltest.ModelName + ": {input: 1000, output: 2000}\nother: {input: 1, output: 1}\n"} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	s := modeltest.NewServer(t, func(r modeltest.Request) modeltest.Reply {
		rep := answer(r)
		rep.Prompt, rep.Completion = 500, 50
		return rep
	})
	var out, errs bytes.Buffer
	dir := filepath.Join(t.TempDir(), "run")
	code := run(context.Background(), []string{
		"run", gold, "--out", dir, "--model", "openai/" + modeltest.ModelName, "--base-url", s.URL + "/v1",
		"--prices", prices, "--json", "--quiet",
	}, stdio{strings.NewReader(""), &out, &errs})
	if code != exitOK || errs.Len() > 0 {
		t.Fatalf("exit code %d, talk in spite of --quiet:\n%s", code, &errs)
	}
	var got struct {
		Dir    string
		State  string
		Counts struct{ Replies, Planned int }
		Speed  struct {
			Requests  int
			LatencyMS struct{ P50, Max float64 } `json:"latency_ms"`
		}
		Cost struct{ Total float64 }
	}
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatalf("%v in %s", err, &out)
	}
	// 4 replies of 500 tokens at 1000 and 50 tokens at 2000 a million.
	if got.Dir != dir || got.State != "complete" || got.Counts.Replies != 4 || got.Speed.Requests != 4 || got.Speed.LatencyMS.Max <= 0 || got.Cost.Total != 2.4 {
		t.Errorf("object %+v of %s", got, &out)
	}
	info := runInfo(t, dir)
	if info.Cost.Total != 2.4 || len(info.Settings.Probes) != 4 || info.Settings.SkippedProbes {
		t.Errorf("run.json: cost %s, probes %+v", info.Cost, info.Settings.Probes)
	}
}

func TestPrices(t *testing.T) {
	path := filepath.Join(t.TempDir(), "prices.yaml")
	tests := []struct {
		name, text string
		price      string // of openai/gpt: input output, "" unknown, "!" an error
	}{
		{"by name", "gpt: {input: 0.15, output: 0.6}", "0.15 0.6"},
		{"the whole name goes first", "gpt: {input: 1, output: 1}\nopenai/gpt: {input: 2, output: 3}", "2 3"},
		{"not in the file", "other: {input: 1, output: 1}", ""},
		{"an empty file", "", ""},
		{"half a price", "gpt: {input: 1}", "!"},
		{"below nothing", "gpt: {input: -1, output: 1}", "!"},
		{"a word", "gpt: {input: cheap, output: 1}", "!"},
		{"a slip", "gpt: {inptu: 1, output: 1}", "!"},
		{"no YAML", "gpt: {", "!"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if err := os.WriteFile(path, []byte(tt.text), 0o644); err != nil {
				t.Fatal(err)
			}
			p, err := readPrice(path, "openai/gpt")
			got := ""
			switch {
			case err != nil:
				got = "!"
			case p != nil:
				got = fmt.Sprint(p.Input, " ", p.Output)
			}
			if got != tt.price {
				t.Errorf("price %q, %v; want %q", got, err, tt.price)
			}
		})
	}
	if _, err := readPrice(filepath.Join(t.TempDir(), "absent"), "openai/gpt"); err == nil {
		t.Error("a file that is not there is no error")
	}
}

func TestProbesStopARun(t *testing.T) {
	refuses := func(r modeltest.Request) modeltest.Reply {
		if r.Tools > 0 {
			return modeltest.Reply{Status: 400, Text: `"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set`}
		}
		return answer(r)
	}
	code, talk, dir := asked(t, modeltest.NewServer(t, refuses), "--calls", "native")
	if code != exitBackend || !strings.Contains(talk, "give --calls prompt") || exists(dir) {
		t.Errorf("tools refused: exit code %d, want 5, a remedy and no folder:\n%s", code, talk)
	}
	// What is only odd is told and kept.
	n := 0
	code, talk, dir = asked(t, modeltest.NewServer(t, func(modeltest.Request) modeltest.Reply {
		n++
		return modeltest.Reply{Text: fmt.Sprint("answer ", n)}
	}))
	if code != exitOK || !strings.Contains(talk, "warning: call in text: no call came") || !strings.Contains(talk, "warning: determinism: the same request twice got two replies") {
		t.Errorf("odd answers: exit code %d\n%s", code, talk)
	}
	if probes := runInfo(t, dir).Settings.Probes; len(probes) != 4 || probes[2].OK || probes[3].OK {
		t.Errorf("probes %+v", probes)
	}
}

func TestOllamaContext(t *testing.T) {
	gold := filepath.Join(t.TempDir(), "gold.jsonl")
	if err := os.WriteFile(gold, []byte(serverGold), 0o644); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name  string
		model string
		flags []string
		code  int
		talk  string
		chats int // at least
	}{
		{"from the longest prompt", modeltest.ModelName, nil, exitOK, "2 of 2 conversations finished", 5},
		{"too small to be true", modeltest.ModelName, []string{"--num-ctx", "64"}, exitBackend, "--num-ctx 64: the longest prompt", 0},
		{"and without probes", modeltest.ModelName, []string{"--num-ctx", "64", "--skip-probes"}, exitBackend, "would be truncated", 0},
		{"more than the model has", modeltest.ModelName, []string{"--num-ctx", "100000"}, exitBackend, "the model has a context of 32768", 0},
		{"a near name", "test-mode", nil, exitBackend, `did you mean "test-model"?`, 0},
		{"thinking that the model cannot", modeltest.ModelName, []string{"--think", "on"}, exitBackend, "give --think off", 0},
		{"native tools with a schema that it loses", modeltest.ModelName, []string{"--calls", "native"}, exitOK, "2 of 2", 5},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := modeltest.NewServer(t, answer)
			dir := filepath.Join(t.TempDir(), "run")
			var out, errs bytes.Buffer
			code := run(context.Background(), append([]string{"run", gold, "--out", dir, "--model", "ollama/" + tt.model, "--base-url", s.URL}, tt.flags...),
				stdio{strings.NewReader(""), &out, &errs})
			if code != tt.code || !strings.Contains(errs.String(), tt.talk) {
				t.Errorf("exit code %d, want %d and %q:\n%s", code, tt.code, tt.talk, &errs)
			}
			if exists(dir) != (tt.code == exitOK) {
				t.Errorf("run folder there: %v", exists(dir))
			}
			// The question of the first probe loads the model; nothing else was asked.
			if n := len(s.Requests()); tt.code != exitOK && n > 1 || n < tt.chats {
				t.Errorf("%d chats", n)
			}
		})
	}
}

func TestSchemaLossIsToldAndKept(t *testing.T) {
	gold := filepath.Join(t.TempDir(), "gold.jsonl")
	text := strings.ReplaceAll(serverGold, `"city":{"type":"string"}`, `"city":{"type":"string","default":"Oslo","pattern":"x"}`)
	if err := os.WriteFile(gold, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	s := modeltest.NewServer(t, answer)
	dir := filepath.Join(t.TempDir(), "run")
	var out, errs bytes.Buffer
	code := run(context.Background(), []string{"run", gold, "--out", dir, "--model", "ollama/" + modeltest.ModelName, "--base-url", s.URL, "--calls", "native"},
		stdio{strings.NewReader(""), &out, &errs})
	if code != exitOK || !strings.Contains(errs.String(), "schema loss: the server drops 2 keywords in 1 of 1 tools (1 default, 1 pattern)") {
		t.Errorf("exit code %d\n%s", code, &errs)
	}
	if loss := runInfo(t, dir).Settings.SchemaLoss; loss == nil || loss.Keywords["default"] != 1 || loss.Tools != 1 {
		t.Errorf("run.json: %+v", loss)
	}
}

// mcpServer answers JSON-RPC over HTTP: a weather tool that knows Oslo.
func mcpServer(t *testing.T, tools string) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var req struct {
			ID     json.RawMessage
			Method string
			Params struct{ Arguments struct{ City string } }
		}
		data, _ := io.ReadAll(r.Body) // a short one does not decode
		if r.Method != http.MethodPost || json.Unmarshal(data, &req) != nil || req.ID == nil {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		result := `{}`
		switch req.Method {
		case "initialize":
			result = `{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"t","version":"1"}}`
		case "tools/list":
			result = `{"tools":[` + tools + `]}`
		case "tools/call":
			result = `{"content":[{"type":"text","text":"rain in ` + req.Params.Arguments.City + `"}],"isError":` + fmt.Sprint(req.Params.Arguments.City != "Oslo") + `}`
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, req.ID, result)
	}))
	t.Cleanup(s.Close)
	return s.URL + "/mcp"
}

func TestRunMakesCallsForReal(t *testing.T) {
	const tool = `{"name":"weather","inputSchema":{"type":"object"}}`
	s := modeltest.NewServer(t, replayGold)
	code, talk, dir := asked(t, s, "--observe", "mcp:"+mcpServer(t, tool)+"?key=secret", "--skip-probes")
	if code != exitOK || !strings.Contains(talk, "tools: 3 calls were really made, 2 of them failed") {
		t.Fatalf("exit code %d\n%s", code, talk)
	}
	shown := ""
	for _, r := range s.Requests() {
		shown += r.Last() + "\n"
	}
	if !strings.Contains(shown, "rain in Oslo") || !strings.Contains(shown, "rain in Narvik") || strings.Contains(shown, "sunny") {
		t.Errorf("the model is shown\n%s", shown)
	}
	info := runInfo(t, dir)
	if info.Settings.Observe != eval.ObserveMCP || !strings.HasPrefix(info.Settings.Observer, "http://127.0.0.1") || strings.Contains(info.Settings.Observer, "secret") {
		t.Errorf("run.json: observe %s at %s", info.Settings.Observe, info.Settings.Observer)
	}
	code, talk, _ = asked(t, s, "--observe", "mcp:"+mcpServer(t, `{"name":"other","inputSchema":{"type":"object"}}`))
	if code != exitBackend || !strings.Contains(talk, `not 1 of the 1 that the records offer, such as "weather"`) {
		t.Errorf("a server without the tools: exit code %d\n%s", code, talk)
	}
	for _, tt := range []struct{ endpoint, talk string }{
		{"ftp://x", "want stdio:COMMAND"}, {"http://127.0.0.1:1/mcp", "127.0.0.1:1"}, {"stdio:/no/such/program", "no such"},
	} {
		code, talk, dir := asked(t, s, "--observe", "mcp:"+tt.endpoint)
		if code == exitOK || !strings.Contains(talk, tt.talk) || exists(dir) {
			t.Errorf("%s: exit code %d\n%s", tt.endpoint, code, talk)
		}
	}
}

func TestDoctorTellsWhatARunWouldMeet(t *testing.T) {
	s := modeltest.NewServer(t, func(r modeltest.Request) modeltest.Reply {
		const call = "<tool_call>\n{\"name\":\"get_weather\",\"arguments\":{\"city\":\"Paris\"}}\n</tool_call>"
		return modeltest.Reply{Text: call} // in native mode too: no parser
	})
	out, _ := assay(t, "doctor", "--model", "openai/"+modeltest.ModelName, "--base-url", s.URL+"/v1", "--json")
	var got struct{ Checks []checkup }
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	found := map[string]checkup{}
	for _, c := range got.Checks {
		found[c.What] = c
	}
	if c := found[eval.ProbePromptCall]; !c.OK {
		t.Errorf("call in the text: %+v", c)
	}
	if c := found[eval.ProbeNativeCall]; c.OK || !strings.Contains(c.Remedy, "--tool-call-parser") {
		t.Errorf("native call: %+v", c)
	}
	if c := found[eval.ProbeDeterminism]; !c.OK || !strings.Contains(c.Detail, "seed 7") {
		t.Errorf("determinism: %+v", c)
	}
	before := len(s.Requests())
	if _, talk := assay(t, "doctor", "--model", "openai/"+modeltest.ModelName, "--base-url", s.URL+"/v1", "--skip-probes"); talk != "" || len(s.Requests()) != before {
		t.Errorf("--skip-probes asked %d times: %s", len(s.Requests())-before, talk)
	}
}
