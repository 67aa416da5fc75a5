package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goccy/go-json"

	"assay/model/modeltest"
	"assay/toolset"
)

// serveTools is an MCP server of two tools on two pages, over standard input
// and output: scripts run it as a command.
func serveTools() {
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Params struct {
				Cursor  string `json:"cursor"`
				Version string `json:"protocolVersion"`
			} `json:"params"`
		}
		if err := json.Unmarshal(in.Bytes(), &m); err != nil || m.ID == nil {
			continue
		}
		result := `{}`
		switch {
		case m.Method == "initialize":
			result = fmt.Sprintf(`{"protocolVersion":%q,"capabilities":{"tools":{}},"serverInfo":{"name":"toolserver","version":"1"}}`, m.Params.Version)
		case m.Method == "tools/list" && m.Params.Cursor == "":
			result = `{"tools":[{"name":"read_file","description":"Reads a file","inputSchema":{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}}],"nextCursor":"2"}`
		case m.Method == "tools/list":
			result = `{"tools":[{"name":"search_code","description":"Looks for a text","inputSchema":{"type":"object","properties":{"text":{"type":"string"},"limit":{"type":"integer"}},"required":["text"]}}]}`
		}
		fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", m.ID, result)
	}
}

// tellsCode runs a verb in this process and returns its exit code and its talk.
func tellsCode(args ...string) (code int, talk string) {
	var out, errs bytes.Buffer
	code = run(context.Background(), args, stdio{strings.NewReader(""), &out, &errs})
	return code, errs.String()
}

const vectorPool = `{"name":"get_weather","description":"tells the weather of a city","parameters":{"type":"object","properties":{"city":{"type":"string"}}},"origin":"a"}
{"name":"weather_get","description":"tells the weather of a city","parameters":{"type":"object","properties":{"city":{"type":"string"}}},"origin":"b"}
{"name":"send_mail","description":"sends a mail to a person","parameters":{"type":"object","properties":{"to":{"type":"string"}}},"origin":"b"}
{"name":"play_music","description":"plays a song","parameters":{"type":"object","properties":{"song":{"type":"string"}}},"origin":"b"}
{"name":"book_flight","description":"books a flight to a city","parameters":{"type":"object","properties":{"city":{"type":"string"}}},"origin":"b"}
`

// Vectors of a server: for the semantic stage, for lists and for a search, kept
// in a cache that makes the server needless, and refused for another model.
func TestToolsByVectors(t *testing.T) {
	server := modeltest.NewEmbedServer(t, nil)
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	if err := os.WriteFile(path("tools.jsonl"), []byte(vectorPool), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path("gold.jsonl"), []byte(serverGold), 0o600); err != nil {
		t.Fatal(err)
	}
	vectors := []string{"--embed", "openai:" + server.Model, "--base-url", server.URL + "/v1", "--vectors-cache", path("vectors")}
	with := func(args ...string) []string { return append(args, vectors...) }

	assay(t, with("tools", "build", path("tools.jsonl"), "-o", path("pool.jsonl"), "--ledger", path("ledger.jsonl"), "--stages", "semantic", "--threshold", "0.6")...)
	if ledger := string(read(t, path("ledger.jsonl"))); strings.Count(ledger, "\n") != 1 || !strings.Contains(ledger, `"name":"weather_get"`) || !strings.Contains(ledger, `"against":{"name":"get_weather"`) {
		t.Errorf("ledger:\n%s\nwant weather_get removed for get_weather", ledger)
	}
	lists := with("candidates", path("gold.jsonl"), "--pool", path("tools.jsonl"), "--k", "3", "--easy", "1", "--report", path("report.json"))
	assay(t, append(lists, "-o", path("first.jsonl"))...)
	var r toolset.Report
	readJSON(t, path("report.json"), &r)
	if r.Lists != 2 || r.Coverage != 1 || r.Vectors != "openai:"+server.Model || r.HardNegatives.N != 2 || r.HardNegatives.Mean <= r.EasyNegatives.Mean {
		t.Errorf("report %+v", r)
	}
	asked := len(server.Requests())
	server.Close()
	assay(t, append(lists, "-o", path("again.jsonl"), "--workers", "1")...)
	if !bytes.Equal(read(t, path("first.jsonl")), read(t, path("again.jsonl"))) || len(server.Requests()) != asked {
		t.Error("lists from the cache are not those from the server")
	}
	if out, _ := assay(t, with("tools", "search", "--pool", path("tools.jsonl"), "-k", "2", "get_weather\ntells the weather of a city")...); !strings.HasPrefix(out, "1  1.000  a  get_weather(city?: string)") {
		t.Errorf("search by vectors:\n%s", out)
	}
	if code, talk := tellsCode(with("tools", "search", "--pool", path("tools.jsonl"), "--retries", "0", "a new text")...); code != exitBackend {
		t.Errorf("without the server exit code %d, want %d: %s", code, exitBackend, talk)
	}
	vectors[1] = "openai:another"
	if code, talk := tellsCode(with("tools", "search", "--pool", path("tools.jsonl"), "weather")...); code == exitOK || !strings.Contains(talk, "another") || !strings.Contains(talk, server.Model) {
		t.Errorf("vectors of another model: exit code %d, %s", code, talk)
	}
}
