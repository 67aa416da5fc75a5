package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Two questions over three tools: "send a mail" has its tool first, and the
// other asks for two tools with words of one of them.
func TestRun(t *testing.T) {
	dir := t.TempDir()
	records := filepath.Join(dir, "asked.jsonl")
	lines := `{"schema":"qaoa/1","id":"s/1","source":{"name":"s"},"tools":[{"name":"send_mail","description":"Sends a mail"},{"name":"get_weather","description":"Tells the weather"}],"turns":[{"query":"send a mail","steps":[{"calls":[{"name":"send_mail","arguments":{}}]}],"answer":""}]}
{"schema":"qaoa/1","id":"s/2","source":{"name":"s"},"tools":[{"name":"send_mail","description":"Sends a mail"},{"name":"get_weather","description":"Tells the weather"}],"turns":[{"query":"the weather","steps":[{"calls":[{"name":"get_weather","arguments":{}},{"name":"send_mail","arguments":{}}]}],"answer":""}]}
`
	if err := os.WriteFile(records, []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	tools := filepath.Join(dir, "more.tools")
	if err := os.WriteFile(tools, []byte(`{"name":"book_table","description":"Books a table"}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := run([]string{records, tools}, &out); err != nil {
		t.Fatal(err)
	}
	got := strings.Split(strings.TrimSpace(out.String()), "\n")
	// At 1 each question finds one of the one tool that has room; at 5 the
	// second finds one of two.
	for i, want := range []string{
		"3 tools questions cosine@1 cosine@5 cosine@20 bm25@1 bm25@5 bm25@20",
		"asked 2 100.0 75.0 75.0 100.0 75.0 75.0",
		"all questions 2 100.0 75.0 75.0 100.0 75.0 75.0",
		"mean of files 2 100.0 75.0 75.0 100.0 75.0 75.0",
	} {
		if i >= len(got) || strings.Join(strings.Fields(got[i]), " ") != want {
			t.Fatalf("line %d: want %q in\n%s", i, want, &out)
		}
	}
	if err := run([]string{filepath.Join(dir, "none.jsonl")}, &out); err == nil {
		t.Error("a missing file is no error")
	}
}
