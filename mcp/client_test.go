package mcp

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"assay/qaoa"
)

// dial connects to a server, and closes the connection in the end.
func dial(t *testing.T, endpoint string, opt Options) *Client {
	t.Helper()
	c, err := Connect(t.Context(), endpoint, opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// all returns the tools of c, the rejects, and the error that came last.
func all(ctx context.Context, c *Client) (tools []qaoa.Tool, rejects []*Reject, last error) {
	for tool, err := range c.Tools(ctx) {
		if rej, ok := errors.AsType[*Reject](err); ok {
			rejects = append(rejects, rej)
			continue
		}
		if err != nil {
			last = err
			continue
		}
		tools = append(tools, tool)
	}
	return tools, rejects, last
}

func TestStdio(t *testing.T) {
	endpoint, opt := endpointOf("sdk")
	testServer(t, dial(t, endpoint, opt))
}

// testServer checks what newServer serves.
func testServer(t *testing.T, c *Client) {
	for range 2 { // the second time from whatever is kept
		tools, rejects, err := all(t.Context(), c)
		if err != nil || len(rejects) > 0 {
			t.Fatalf("have error %v and rejects %v", err, rejects)
		}
		var names []string
		for _, tool := range tools {
			names = append(names, tool.Name)
			if string(tool.Parameters) != schemas[0] {
				t.Errorf("schema of %s is\n%s, want\n%s", tool.Name, tool.Parameters, schemas[0])
			}
			if tool.Description != "Does "+tool.Name+"." {
				t.Errorf("description of %s is %q", tool.Name, tool.Description)
			}
		}
		if got, want := strings.Join(names, " "), "echo fails nothing picture prose several structured"; got != want {
			t.Fatalf("have tools %q, want %q", got, want)
		}
	}
	calls := []struct {
		name string
		call qaoa.Call
		want qaoa.JSON
		code int64 // of the failure, 1 for none
	}{
		{"arguments go out as they are", qaoa.Call{Name: "echo", Arguments: `{"z":1.0,"b":"<&>","a":[9007199254740993,1e3]}`}, `{"z":1.0,"b":"<&>","a":[9007199254740993,1e3]}`, 1},
		{"absent arguments are an empty object", qaoa.Call{Name: "echo"}, `{}`, 1},
		{"a text that is no JSON", qaoa.Call{Name: "prose"}, `"It rains."`, 1},
		{"several blocks", qaoa.Call{Name: "several"}, `[{"b":1,"a":2.0},"two"]`, 1},
		{"no block", qaoa.Call{Name: "nothing"}, `null`, 1},
		{"structured content comes first", qaoa.Call{Name: "structured"}, `{"z":1.0,"a":[9007199254740993]}`, 1},
		{"a picture stands as its size", qaoa.Call{Name: "picture"}, `{"type":"image","mimeType":"image/png","dataBytes":3000}`, 1},
		{"a tool that says it failed", qaoa.Call{Name: "fails"}, `"no such city"`, 0},
		{"a tool that is not there", qaoa.Call{Name: "nobody"}, `{"error":"unknown tool \"nobody\""}`, -32602},
		{"arguments that are a list", qaoa.Call{Name: "echo", Arguments: `[1]`}, `{"error":"invalid call: want a name and an object of arguments"}`, -32602},
		{"a call that did not parse", qaoa.Call{Raw: `f(`}, `{"error":"invalid call: want a name and an object of arguments"}`, -32602},
	}
	for _, tt := range calls {
		t.Run(tt.name, func(t *testing.T) {
			got, err := c.Call(t.Context(), tt.call)
			if got != tt.want {
				t.Errorf("have %s, want %s", got, tt.want)
			}
			failure, failed := errors.AsType[*Failure](err)
			switch {
			case tt.code == 1 && err != nil:
				t.Errorf("have error %v, want none", err)
			case tt.code != 1 && (!failed || failure.Code != tt.code || failure.Observation != got):
				t.Errorf("have error %#v, want a failure with code %d", err, tt.code)
			}
		})
	}
	t.Run("calls at the same time", func(t *testing.T) {
		var group sync.WaitGroup
		for i := range 40 {
			group.Go(func() {
				want := qaoa.JSON(fmt.Sprintf(`{"z":%d}`, i))
				if got, err := c.Call(t.Context(), qaoa.Call{Name: "echo", Arguments: want}); err != nil || got != want {
					t.Errorf("have %s, %v, want %s", got, err, want)
				}
			})
		}
		group.Wait()
	})
	if c.Dead() {
		t.Error("the client is dead")
	}
	if err := c.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	if _, err := c.Call(t.Context(), qaoa.Call{Name: "echo"}); !errors.Is(err, ErrClosed) {
		t.Errorf("a call after Close: have %v, want %v", err, ErrClosed)
	}
}

func TestStrangeLists(t *testing.T) {
	tests := []struct {
		mode    string
		tools   string
		rejects string
		kind    error  // of the error that comes last
		detail  string // in it
	}{
		{"sound", "b", "", nil, ""},
		{"banner", "b", "", nil, ""},
		{"endless pages", "", "", ErrLimit, "want at most 20 pages"},
		{"the same cursor", "", "", nil, `have the cursor "again" again after 2 pages`},
		{"too many tools", "", "", ErrLimit, "want at most 1000 tools"},
		{"a huge reply", "", "", ErrLimit, "want a reply of at most 1048576 bytes"},
		{"no end of line", "", "", ErrLimit, "want a reply of at most 1048576 bytes"},
		{"invalid UTF-8", "caf\ufffd", "", nil, ""},
		{"schemas that are none", "b d", "/pages/0/tools/0/inputSchema /pages/0/tools/2 /pages/0/tools/3/inputSchema", nil, ""},
		{"names that repeat", "a a", "", nil, ""},
		{"no list", "", "", nil, "want a result with a list of tools"},
		{"dies", "", "", ErrClosed, "exit status 7); it wrote: out of memory, key [key]"},
		{"half a message", "", "", nil, "want JSON-RPC messages"},
		{"broken JSON", "", "", nil, "want JSON-RPC messages"},
		{"another id", "right", "", nil, ""},
		{"a batch", "b", "", nil, ""},
		{"a flood of requests", "", "", ErrLimit, "more than 500 requests"},
		{"a flood of notifications", "b", "", nil, ""},
		{"depth", "b", "", nil, ""},
		{"refuses", "", "", nil, "the server answers with an error (code -32601): no method for [key]"},
	}
	for _, tt := range tests {
		t.Run(tt.mode, func(t *testing.T) {
			endpoint, opt := endpointOf(tt.mode)
			opt.MaxPages, opt.MaxTools = 20, 1000
			opt.Env = append(opt.Env, "SOME_API_KEY=sk-secret-value")
			tools, rejects, err := all(t.Context(), dial(t, endpoint, opt))
			var names, paths []string
			for _, tool := range tools {
				names = append(names, tool.Name)
			}
			for _, rej := range rejects {
				paths = append(paths, rej.Path)
			}
			if got := strings.Join(names, " "); tt.tools != "" && got != tt.tools {
				t.Errorf("have tools %q, want %q", got, tt.tools)
			}
			if got := strings.Join(paths, " "); got != tt.rejects {
				t.Errorf("have rejects at %q, want %q", got, tt.rejects)
			}
			if tt.detail == "" {
				if err != nil {
					t.Errorf("have error %v, want none", err)
				}
				return
			}
			if _, ok := errors.AsType[*Error](err); !ok || !strings.Contains(err.Error(), tt.detail) || tt.kind != nil && !errors.Is(err, tt.kind) {
				t.Errorf("have error %v, want one of kind %v with %q", err, tt.kind, tt.detail)
			}
		})
	}
}

func TestOddResults(t *testing.T) {
	endpoint, opt := endpointOf("odd results")
	c := dial(t, endpoint, opt)
	for _, want := range []string{`null`, "want a result as an object", `{"type":"hologram","dataBytes":3}`, `{"type":"text","text":5}`} {
		got, err := c.Call(t.Context(), qaoa.Call{Name: "f"})
		if string(got) != want && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("have %s, %v, want %s", got, err, want)
		}
	}
}

func TestTimeouts(t *testing.T) {
	tests := []struct {
		mode, op string
		large    bool
	}{
		{"never answers", "tools/call", false},
		{"deaf", "tools/call", true}, // its pipe is full before the request is out
		{"deaf from the start", "connect", false},
	}
	for _, tt := range tests {
		t.Run(tt.mode, func(t *testing.T) {
			endpoint, opt := endpointOf(tt.mode)
			opt.Timeout, opt.Grace = 150*time.Millisecond, 20*time.Millisecond
			if tt.op == "connect" {
				opt.ConnectTimeout = 150 * time.Millisecond
			}
			c, err := Connect(t.Context(), endpoint, opt)
			if err == nil {
				defer func() { _ = c.Close() }()
				arguments := `{"a":"` + strings.Repeat("x", 1<<20) + `"}`
				if !tt.large {
					arguments = `{}`
				}
				_, err = c.Call(t.Context(), qaoa.Call{Name: "f", Arguments: qaoa.JSON(arguments)})
			}
			e, ok := errors.AsType[*Error](err)
			if !ok || e.Op != tt.op {
				t.Fatalf("have error %v, want one at %s", err, tt.op)
			}
			if !errors.Is(err, context.DeadlineExceeded) && !strings.Contains(err.Error(), "does not read its input") {
				t.Errorf("have error %v, want one about time", err)
			}
		})
	}
}

func TestDeadOnArrival(t *testing.T) {
	endpoint, opt := endpointOf("dead on arrival")
	opt.Env = append(opt.Env, "SOME_API_KEY=sk-secret-value")
	_, err := Connect(t.Context(), endpoint, opt)
	if !errors.Is(err, ErrClosed) || !strings.Contains(err.Error(), "exit status 3); it wrote: no licence for [key]") {
		t.Errorf("have error %v, want one with status and reason", err)
	}
	_, err = Connect(t.Context(), "stdio:/nonexistent/server --token abcdefgh", Options{})
	if err == nil || !strings.Contains(err.Error(), "does not start") || strings.Contains(err.Error(), "abcdefgh") {
		t.Errorf("have error %v, want one that says that the command does not start", err)
	}
}

func TestErrorsKeepTheEndOfStandardError(t *testing.T) {
	endpoint, opt := endpointOf("drowns its errors")
	c := dial(t, endpoint, opt)
	_, err := c.Call(t.Context(), qaoa.Call{Name: "f"})
	if err == nil || !strings.HasSuffix(err.Error(), "x the end") || len(err.Error()) > 2*maxTail {
		t.Errorf("have an error of %d bytes, %.100v, want the end of what was written", len(fmt.Sprint(err)), err)
	}
}

// gone waits for a process to be gone: the kernel takes a moment after a signal.
func gone(pid int) bool {
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); runtime.Gosched() {
		if !alive(pid) {
			return true
		}
	}
	return false
}

// alive reports whether there is a process with that number, other than one
// that has ended and waits for its parent.
func alive(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || !strings.Contains(string(stat), ") Z ")
}

func TestProcessesEnd(t *testing.T) {
	for _, by := range []string{"Close", "context"} {
		t.Run("by "+by, func(t *testing.T) {
			endpoint, opt := endpointOf("stubborn")
			opt.Grace = 30 * time.Millisecond
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			c, err := Connect(ctx, endpoint, opt)
			if err != nil {
				t.Fatal(err)
			}
			var child int
			if _, err := fmt.Sscanf(c.p.said(), "child %d", &child); err != nil {
				t.Fatalf("the server wrote %q: %v", c.p.said(), err)
			}
			inFlight := make(chan error)
			go func() {
				_, err := c.Call(context.WithoutCancel(ctx), qaoa.Call{Name: "f"})
				inFlight <- err
			}()
			if by == "Close" {
				if err := c.Close(); err != nil {
					t.Error(err)
				}
			} else {
				cancel()
			}
			<-c.p.done
			if err := <-inFlight; !errors.Is(err, ErrClosed) {
				t.Errorf("the call in flight: have %v, want %v", err, ErrClosed)
			}
			if pid := c.p.cmd.Process.Pid; alive(pid) {
				t.Errorf("the server, process %d, is alive", pid)
			}
			if !gone(child) {
				t.Errorf("the child of the server, process %d, is alive", child)
			}
			_ = c.Close()
			_ = c.Close()
		})
	}
}
