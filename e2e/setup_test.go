//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/goccy/go-json"
)

// setting returns a variable that run.sh sets.
func setting(t *testing.T, name string) string {
	t.Helper()
	v := os.Getenv(name)
	if v == "" {
		t.Fatalf("%s is not set: run the end-to-end tests by \"make e2e\" or e2e/run.sh", name)
	}
	return v
}

// server is the base URL of Ollama.
func server(t *testing.T) string { return setting(t, "ASSAY_E2E_SERVER") }

// An outcome is what a run of the binary left.
type outcome struct {
	code           int
	stdout, stderr string
}

// command prepares the binary in an environment that holds nothing but what
// the test gives, so that no setting of the user's gets in.
func command(t *testing.T, env []string, args ...string) (cmd *exec.Cmd, stdout, stderr *bytes.Buffer) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	t.Cleanup(cancel)
	cmd = exec.CommandContext(ctx, setting(t, "ASSAY_E2E_BIN"), args...)
	cmd.Env = append([]string{"HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH"), "NO_PROXY=127.0.0.1"}, env...)
	stdout, stderr = new(bytes.Buffer), new(bytes.Buffer)
	cmd.Stdout, cmd.Stderr = stdout, stderr
	return cmd, stdout, stderr
}

// assay runs the binary to its end.
func assay(t *testing.T, env []string, args ...string) outcome {
	t.Helper()
	cmd, stdout, stderr := command(t, env, args...)
	err := cmd.Run()
	if _, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok {
		t.Fatal(err)
	}
	return outcome{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

// mustAssay runs the binary and fails the test unless it ends with 0.
func mustAssay(t *testing.T, env []string, args ...string) outcome {
	t.Helper()
	o := assay(t, env, args...)
	if o.code != 0 {
		t.Fatalf("assay %s: exit code %d\n%s", strings.Join(args, " "), o.code, o.stderr)
	}
	return o
}

// ollamaAt is the environment that points the binary at a server.
func ollamaAt(base string) []string { return []string{"OLLAMA_HOST=" + base} }

// A call is a call of a prediction line. Raw is text that did not parse.
type call struct {
	Name      string         `json:"name"`
	Arguments map[string]any `json:"arguments"`
	Raw       string         `json:"raw"`
}

// A prediction is a line of predictions.jsonl, as far as the tests look.
type prediction struct {
	ID     string `json:"id"`
	Repeat int    `json:"repeat"`
	Turns  []struct {
		Steps []struct {
			Calls []call `json:"calls"`
		} `json:"steps"`
		Answer string `json:"answer"`
	} `json:"turns"`
	Requests []struct {
		Text         string `json:"text"`
		Rung         string `json:"rung"`
		Class        string `json:"class"`
		Finish       string `json:"finish"`
		PromptTokens int    `json:"prompt_tokens"`
	} `json:"requests"`
}

// calls returns the calls of p turn by turn in a short notation:
// "get_weather(city=Paris)", calls of a turn joined by " ", turns by "; ".
func (p prediction) calls() string {
	var turns []string
	for _, t := range p.Turns {
		var calls []string
		for _, s := range t.Steps {
			for _, c := range s.Calls {
				var args []string
				for k, v := range c.Arguments {
					args = append(args, fmt.Sprintf("%s=%v", k, v))
				}
				slices.Sort(args)
				if c.Raw != "" {
					calls = append(calls, "raw")
					continue
				}
				calls = append(calls, c.Name+"("+strings.Join(args, ",")+")")
			}
		}
		turns = append(turns, strings.Join(calls, " "))
	}
	return strings.Join(turns, "; ")
}

// predictions reads the prediction file of a run folder, with its bytes.
func predictions(t *testing.T, dir string) ([]prediction, []byte) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "predictions.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var all []prediction
	for line := range bytes.Lines(data) {
		var p prediction
		if err := json.Unmarshal(line, &p); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		all = append(all, p)
	}
	return all, data
}

// byID returns the calls of the predictions of repeat 0.
func byID(all []prediction) map[string]string {
	m := map[string]string{}
	for _, p := range all {
		if p.Repeat == 0 {
			m[p.ID] = p.calls()
		}
	}
	return m
}

// goldFile writes gold lines into a temporary file and returns its path.
func goldFile(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "gold.jsonl")
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// post sends a JSON body and returns status and reply.
func post(t *testing.T, url, body string) (int, []byte) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, data
}

// A gate is a reverse proxy in front of the server. It notes which records are
// asked about, and can be shut, so that a run stands still at a known place
// without any clock.
type gate struct {
	*httptest.Server
	mu      sync.Mutex
	pass    int            // chat requests that may still pass; <0 is all
	asked   map[string]int // requests by marker
	held    map[string]int // of these, how many stand at the gate
	waiting chan struct{}  // receives a value per request that is held
	open    chan struct{}  // closed to let everybody through
}

// marker finds what [numbered] writes into a query.
var marker = regexp.MustCompile(`marker (\d+)`)

// newGate returns a gate that lets pass chat requests about records through,
// and holds those after them; -1 lets all through.
func newGate(t *testing.T, pass int) *gate {
	t.Helper()
	target, err := url.Parse(server(t))
	if err != nil {
		t.Fatal(err)
	}
	g := &gate{
		pass: pass, asked: map[string]int{}, held: map[string]int{},
		waiting: make(chan struct{}, 1000), open: make(chan struct{}),
	}
	proxy := httputil.NewSingleHostReverseProxy(target)
	// Clients that are killed are the point here, not news.
	proxy.ErrorHandler = func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) }
	g.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !g.admit(r) {
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		g.CloseClientConnections()
		g.Close()
	})
	return g
}

// admit counts a request, and waits if it is to be held. It reports whether
// the client is still there.
func (g *gate) admit(r *http.Request) bool {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return false
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	m := marker.FindSubmatch(body)
	if m == nil {
		return true // a probe, or a question about the server
	}
	id := string(m[1])
	g.mu.Lock()
	g.asked[id]++
	hold := g.pass == 0
	if g.pass > 0 {
		g.pass--
	}
	if hold {
		g.held[id]++
	}
	g.mu.Unlock()
	if !hold {
		return true
	}
	g.waiting <- struct{}{}
	select {
	case <-g.open:
		return true
	case <-r.Context().Done():
		return false
	}
}

// await returns when n requests stand at the gate.
func (g *gate) await(t *testing.T, n int) {
	t.Helper()
	for range n {
		select {
		case <-g.waiting:
		case <-time.After(time.Minute):
			t.Fatalf("fewer than %d requests came within a minute", n)
		}
	}
}

// markers returns the markers of the records that were asked about; of the
// finished ones only, those that have no request at the gate.
func (g *gate) markers(finished bool) []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	var ids []string
	for id := range g.asked {
		if !finished || g.held[id] == 0 {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// times returns how often the record of a marker was asked about.
func (g *gate) times(id string) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.asked[id]
}

// requests returns how many requests about records came.
func (g *gate) requests() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	n := 0
	for _, k := range g.asked {
		n += k
	}
	return n
}
