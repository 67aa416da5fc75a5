package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-json"

	"assay/eval"
	"assay/model/modeltest"
)

const serverGold = `{"id":"a","source":{"name":"demo","file":"x","index":0,"split":"test"},"tools":[{"name":"weather","description":"Tells the weather.","parameters":{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}}],"turns":[{"query":"Weather in Oslo?","steps":[{"calls":[{"name":"weather","arguments":{"city":"Oslo"}}],"observations":["sunny"]}],"answer":"Sunny."}]}
{"id":"b","source":{"name":"demo","file":"x","index":1,"split":"test"},"tools":[{"name":"weather","description":"Tells the weather.","parameters":{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}}],"turns":[{"query":"Weather in Bergen and Narvik?","steps":[{"calls":[{"name":"weather","arguments":{"city":"Bergen"}},{"name":"weather","arguments":{"city":"Narvik"}}]}],"answer":""}]}
`

const oslo = "<tool_call>\n{\"name\":\"weather\",\"arguments\":{\"city\":\"Oslo\"}}\n</tool_call>"

// probeRequests is how many requests come before those of a run: a question,
// and a call twice.
const probeRequests = 3

// answer plays a model: it asks for Oslo whatever the question, then answers.
func answer(r modeltest.Request) modeltest.Reply {
	if strings.Contains(r.Last(), "<tool_response>") || strings.HasPrefix(r.Last(), "sunny") {
		return modeltest.Reply{Text: "<answer>Done.</answer>"}
	}
	return modeltest.Reply{Text: oslo}
}

// asked runs "assay run" against the server and returns its exit code, its
// talk and the run folder.
func asked(t *testing.T, s *modeltest.Server, flags ...string) (code int, talk, dir string) {
	t.Helper()
	gold := filepath.Join(t.TempDir(), "gold.jsonl")
	if err := os.WriteFile(gold, []byte(serverGold), 0o644); err != nil {
		t.Fatal(err)
	}
	dir = filepath.Join(t.TempDir(), "run")
	var out, errs bytes.Buffer
	args := append([]string{"run", gold, "--out", dir, "--model", "openai/" + modeltest.ModelName, "--base-url", s.URL + "/v1", "--retries", "2"}, flags...)
	code = run(context.Background(), args, stdio{strings.NewReader(""), &out, &errs})
	return code, errs.String(), dir
}

// scored runs "assay score" on the run folder.
func scored(t *testing.T, dir string) eval.Scores {
	t.Helper()
	out, _ := assay(t, "score", dir, "--json")
	var s eval.Scores
	if err := json.Unmarshal([]byte(out), &s); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestRunAgainstServer(t *testing.T) {
	broken := func(first ...modeltest.Reply) modeltest.Script {
		return func(r modeltest.Request) modeltest.Reply {
			if n := r.N - probeRequests; n >= 0 && n < len(first) {
				return first[n]
			}
			return answer(r)
		}
	}
	tests := []struct {
		name   string
		script modeltest.Script
		flags  []string
	}{
		{"a good server", answer, nil},
		{"a slow one", func(r modeltest.Request) modeltest.Reply {
			rep := answer(r)
			rep.Delay = 20 * time.Millisecond
			return rep
		}, nil},
		{"too many requests, with Retry-After", broken(modeltest.Reply{Status: 429, Header: map[string]string{"Retry-After": "0"}}), nil},
		{"an error of the server", broken(modeltest.Reply{Status: 500, Text: "oops"}), nil},
		{"a cut connection", broken(modeltest.Reply{Text: oslo, Cut: 20}), nil},
		{"no status line", broken(modeltest.Reply{Cut: -1}), nil},
		{"an answer that is not JSON", broken(modeltest.Reply{Body: "<html>busy</html>"}), nil},
		{"one conversation at a time", answer, []string{"--concurrency", "1"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			code, talk, dir := asked(t, modeltest.NewServer(t, tt.script), tt.flags...)
			if code != exitOK {
				t.Fatalf("exit code %d\n%s", code, talk)
			}
			s := scored(t, dir)
			// a is right; b has one of two calls by name, with a wrong city.
			if *s.Cells.SH.SPA != 1 || *s.Cells.MH.FP != .5 || *s.Cells.MH.SPA != 0 || *s.Cells.MH.SP != 0 || s.Coverage.Missing != 0 {
				t.Errorf("scores are %+v", s.Cells)
			}
		})
	}
}

func TestRunReportsWhatTheServerDid(t *testing.T) {
	tests := []struct {
		name   string
		script modeltest.Script
		flags  []string
		code   int
		talk   string
		missed int
	}{
		{"a server that always fails leaves every answer missing", func(r modeltest.Request) modeltest.Reply {
			if r.N < probeRequests {
				return answer(r)
			}
			return modeltest.Reply{Status: 503, Text: "down", Header: map[string]string{"Retry-After": "0"}}
		}, []string{"--retries", "0"}, exitBackend, "2 conversations have no answer", 2},
		{"a prompt that does not fit is no answer", func(r modeltest.Request) modeltest.Reply {
			if strings.Contains(r.Last(), "Narvik") {
				return modeltest.Reply{Status: 400, Text: "This model's maximum context length is 10 tokens"}
			}
			return answer(r)
		}, nil, exitBackend, "truncated", 1},
		{"a time-out", func(r modeltest.Request) modeltest.Reply {
			rep := answer(r)
			if strings.Contains(r.Last(), "Narvik") {
				rep.Delay = time.Hour
			}
			return rep
		}, []string{"--timeout", "150ms", "--retries", "0"}, exitBackend, "timeout", 1},
		{"text that is no call raises the alarm", modeltest.Say("<tool_call>{\"name\": weather(</tool_call>"), nil, exitOK, "does not parse", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			code, talk, dir := asked(t, modeltest.NewServer(t, tt.script), tt.flags...)
			if code != tt.code || !strings.Contains(talk, tt.talk) {
				t.Fatalf("exit code %d, want %d and talk of %q:\n%s", code, tt.code, tt.talk, talk)
			}
			s := scored(t, dir)
			if s.Coverage.Planned != 2 || s.Coverage.Missing != tt.missed {
				t.Errorf("coverage %+v, want %d of 2 missing", s.Coverage, tt.missed)
			}
			if (s.Bounds != nil) != (tt.missed > 0) {
				t.Errorf("bounds are %v with %d missing", s.Bounds, tt.missed)
			}
		})
	}
}

func TestRunStopsBeforeTheFirstToken(t *testing.T) {
	s := modeltest.NewServer(t, answer)
	s.Models = []string{"another"}
	code, talk, dir := asked(t, s)
	if code != exitBackend || !strings.Contains(talk, "another") {
		t.Errorf("unknown model: exit code %d, want 5 and the models that are there:\n%s", code, talk)
	}
	if exists(dir) {
		t.Error("a run folder was made")
	}
	s.Close()
	if code, talk, _ = asked(t, s); code != exitBackend || !strings.Contains(talk, "--base-url") {
		t.Errorf("no server: exit code %d, want 5 and a remedy:\n%s", code, talk)
	}
}

func TestDoctor(t *testing.T) {
	s := modeltest.NewServer(t, answer)
	out, _ := assay(t, "doctor", "--model", "openai/"+modeltest.ModelName, "--base-url", s.URL+"/v1")
	if !strings.Contains(out, "answers") || !strings.Contains(out, modeltest.ModelName) {
		t.Errorf("the doctor does not tell of a model that answers:\n%s", out)
	}
	var text, errs bytes.Buffer
	s.Close()
	code := run(context.Background(), []string{"doctor", "--model", "openai/x", "--base-url", s.URL + "/v1", "--retries", "0"}, stdio{strings.NewReader(""), &text, &errs})
	if code != exitBackend {
		t.Errorf("exit code %d without a server, want 5\n%s%s", code, &text, &errs)
	}
}
