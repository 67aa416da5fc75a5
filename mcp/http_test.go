package mcp

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"assay/qaoa"
)

func TestHTTP(t *testing.T) {
	for _, opt := range []sdk.StreamableHTTPOptions{{}, {JSONResponse: true}, {Stateless: true}, {Stateless: true, JSONResponse: true}} {
		t.Run(fmt.Sprintf("stateless %v, JSON %v", opt.Stateless, opt.JSONResponse), func(t *testing.T) {
			server := newServer()
			web := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, &opt))
			defer web.Close()
			testServer(t, dial(t, web.URL, Options{Timeout: 20 * time.Second}))
		})
	}
}

// idOf returns the text of the ID of a message.
func idOf(message []byte) (id string) {
	qaoa.EachMember(string(message), func(name, value string) bool {
		if name == "id" {
			id = value
		}
		return true
	})
	return id
}

// jsonServer is a server whose answer to everything but the greeting is made by
// answer, from the text of the ID.
func jsonServer(t *testing.T, answer func(w http.ResponseWriter, id string)) *httptest.Server {
	t.Helper()
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, _ := io.ReadAll(req.Body)
		id := idOf(body)
		switch {
		case id == "":
			w.WriteHeader(http.StatusAccepted)
		case strings.Contains(string(body), `"initialize"`):
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}`, id)
		default:
			answer(w, id)
		}
	}))
	t.Cleanup(web.Close)
	return web
}

func TestStrangeHTTP(t *testing.T) {
	tests := []struct {
		name   string
		answer func(w http.ResponseWriter, id string)
		tools  int
		kind   error
		detail string
	}{
		{"events with several data lines, notifications and comments", func(w http.ResponseWriter, id string) {
			w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
			fmt.Fprintf(w, ": hello\r\n\r\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"level\":\"info\",\"data\":1}}\n\nevent: message\ndata: {\"jsonrpc\":\"2.0\",\"id\":%s,\ndata: \"result\":{\"tools\":[{\"name\":\"b\"}]}}\n\n", id)
		}, 1, nil, ""},
		{"a tool that the library cannot read", func(w http.ResponseWriter, id string) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"result":{"tools":[{"name":"b","annotations":7}]},"id":%s,"jsonrpc":"2.0"}`, id)
		}, 1, nil, ""},
		{"a huge reply", func(w http.ResponseWriter, id string) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":"`, id)
			flood(w)
		}, 0, ErrLimit, "want a reply of at most 1048576 bytes"},
		{"a huge event", func(w http.ResponseWriter, id string) {
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprintf(w, `data: {"jsonrpc":"2.0","id":%s,"result":"`, id)
			flood(w)
		}, 0, ErrLimit, "want a reply of at most 1048576 bytes"},
		{"events without end", func(w http.ResponseWriter, _ string) {
			w.Header().Set("Content-Type", "text/event-stream")
			for {
				if _, err := io.WriteString(w, "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"level\":\"info\",\"data\":\""+strings.Repeat("x", 1000)+"\"}}\n\n"); err != nil {
					return
				}
			}
		}, 0, ErrLimit, "want a reply of at most 1048576 bytes"},
		{"a stream that breaks off", func(w http.ResponseWriter, _ string) {
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprint(w, "data: {\"jsonrpc\":\"2.0\",")
		}, 0, nil, "failed to decode event"},
		{"a stream that ends without an answer", func(w http.ResponseWriter, _ string) {
			w.Header().Set("Content-Type", "text/event-stream")
		}, 0, nil, "request terminated without response"},
		{"a server error", func(w http.ResponseWriter, _ string) { w.WriteHeader(http.StatusServiceUnavailable) }, 0, nil, "Service Unavailable"},
		{"a refusal", func(w http.ResponseWriter, _ string) { w.WriteHeader(http.StatusUnauthorized) }, 0, nil, "Unauthorized"},
		{"a page for people", func(w http.ResponseWriter, _ string) {
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, "<html>")
		}, 0, nil, "unsupported content type"},
		{"a session that is lost", func(w http.ResponseWriter, _ string) { w.WriteHeader(http.StatusNotFound) }, 0, nil, "Not Found"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			web := jsonServer(t, tt.answer)
			c := dial(t, web.URL+"/mcp?token=sk-secret-value", Options{Timeout: 10 * time.Second, MaxReply: 1 << 20})
			tools, rejects, err := all(t.Context(), c)
			if len(tools) != tt.tools || len(rejects) != 0 {
				t.Errorf("have %d tools and rejects %v, want %d tools", len(tools), rejects, tt.tools)
			}
			switch {
			case tt.detail == "" && err != nil:
				t.Errorf("have error %v, want none", err)
			case tt.detail != "" && (err == nil || !strings.Contains(err.Error(), tt.detail)):
				t.Errorf("have error %v, want one with %q", err, tt.detail)
			case tt.kind != nil && !errors.Is(err, tt.kind):
				t.Errorf("have error %v, want one of kind %v", err, tt.kind)
			case err != nil && strings.Contains(err.Error(), "secret"):
				t.Errorf("the error shows the key: %v", err)
			}
		})
	}
}

func TestHTTPTimeout(t *testing.T) {
	release := make(chan struct{})
	web := jsonServer(t, func(http.ResponseWriter, string) { <-release })
	defer close(release)
	c := dial(t, web.URL, Options{Timeout: 100 * time.Millisecond})
	_, err := c.Call(t.Context(), qaoa.Call{Name: "f"})
	if err == nil || !strings.Contains(err.Error(), "no answer in time") {
		t.Errorf("have error %v, want one about time", err)
	}
}

func TestCloseEndsRequestsOverHTTP(t *testing.T) {
	entered, release := make(chan struct{}), make(chan struct{})
	web := jsonServer(t, func(http.ResponseWriter, string) {
		close(entered)
		<-release
	})
	defer close(release)
	c := dial(t, web.URL, Options{})
	go func() {
		<-entered
		_ = c.Close()
	}()
	if _, err := c.Call(t.Context(), qaoa.Call{Name: "f"}); !errors.Is(err, ErrClosed) {
		t.Errorf("have error %v, want %v", err, ErrClosed)
	}
}

func TestHeadersStayWithTheirHost(t *testing.T) {
	var here, there atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.Header.Get("X-Key") != "" || req.Header.Get("Authorization") != "" {
			there.Add(1)
		}
		w.WriteHeader(http.StatusTeapot)
	}))
	defer other.Close()
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.Header.Get("X-Key") == "sk-secret-value" && req.Header.Get("Authorization") == "Bearer abcdefgh" {
			here.Add(1)
		}
		http.Redirect(w, req, other.URL, http.StatusTemporaryRedirect)
	}))
	defer web.Close()
	_, err := Connect(t.Context(), web.URL, Options{Header: http.Header{"x-key": {"sk-secret-value"}, "Authorization": {"Bearer abcdefgh"}}})
	if err == nil {
		t.Error("have no error, want one")
	}
	if here.Load() == 0 || there.Load() != 0 {
		t.Errorf("headers went to the endpoint %d times and behind a redirect %d times, want some and none", here.Load(), there.Load())
	}
}

func TestNoServer(t *testing.T) {
	web := httptest.NewServer(http.NotFoundHandler())
	address, err := url.Parse(web.URL)
	if err != nil {
		t.Fatal(err)
	}
	for _, running := range []bool{true, false} {
		if !running {
			web.Close()
		}
		address.User = url.UserPassword("me", "sk-secret-value")
		address.RawQuery = "token=another-secret"
		_, err := Connect(t.Context(), address.String(), Options{})
		if err == nil || !strings.Contains(err.Error(), "/mcp") || strings.Contains(err.Error(), "secret") {
			t.Errorf("running %v: have error %v, want one with advice and without keys", running, err)
		}
	}
}

func TestOtherVersions(t *testing.T) {
	// A server that knows nothing but the version of 2026 refuses the greeting
	// of 2025, and is asked again.
	server := newServer()
	handler := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, &sdk.StreamableHTTPOptions{Stateless: true})
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, _ := io.ReadAll(req.Body)
		if strings.Contains(string(body), `"initialize"`) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"method not found"}}`, idOf(body))
			return
		}
		req.Body = io.NopCloser(strings.NewReader(string(body)))
		handler.ServeHTTP(w, req)
	}))
	defer web.Close()
	c := dial(t, web.URL, Options{})
	if v := c.session.InitializeResult().ProtocolVersion; v <= "2025-11-25" {
		t.Fatalf("the version is %s, want a newer one", v)
	}
	testServer(t, c)
}

func TestPagesThatTheLibraryKeeps(t *testing.T) {
	asked := map[string]int{}
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, _ := io.ReadAll(req.Body)
		answer := func(text string) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,%s}`, idOf(body), text)
		}
		method := req.Header.Get("Mcp-Method")
		asked[method]++
		switch {
		case strings.Contains(string(body), `"initialize"`):
			answer(`"error":{"code":-32601,"message":"method not found"}`)
		case method == "server/discover":
			answer(`"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}`)
		default:
			answer(`"result":{"resultType":"complete","ttlMs":600000,"cacheScope":"private","tools":[{"name":"b","inputSchema":{"type":"object","properties":{"z":{},"a":{}}}}]}`)
		}
	}))
	defer web.Close()
	c := dial(t, web.URL, Options{})
	for range 3 {
		tools, rejects, err := all(t.Context(), c)
		if err != nil || len(rejects) > 0 || len(tools) != 1 || tools[0].Parameters != `{"type":"object","properties":{"z":{},"a":{}}}` {
			t.Fatalf("have tools %v, rejects %v, error %v", tools, rejects, err)
		}
	}
	if asked["tools/list"] != 1 {
		t.Errorf("the server was asked %d times, want once: it said how long its answer holds", asked["tools/list"])
	}
}
