package modeltest

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"assay/model"
	"assay/qaoa"
)

// ModelName is the one model that a [Server] has, unless told otherwise.
const ModelName = "test-model"

// A Request is one request for a chat as the server got it.
type Request struct {
	N        int    // 0-based number among the requests for chats
	Path     string // "/v1/chat/completions" or "/api/chat"
	Header   http.Header
	Body     []byte
	JSON     qaoa.Value // Body as a tree
	Model    string
	Messages []model.Message // role and content
	Tools    int             // length of the field tools
}

// Last returns the content of the last message, "" if there is none.
func (r Request) Last() string {
	if len(r.Messages) == 0 {
		return ""
	}
	return r.Messages[len(r.Messages)-1].Content
}

// A Reply says what the server does with one request. The zero Reply is an
// empty message with status 200.
type Reply struct {
	Text       string
	Reasoning  string
	Calls      []qaoa.Call // sent in the field tool_calls of the protocol
	Finish     string      // "" is "stop", or "tool_calls" if there are calls
	Prompt     int         // tokens; 0 is one a message, below 0 leaves usage out
	Completion int         // tokens; 0 is one

	Delay   time.Duration     // before the first byte
	Status  int               // 0 is 200; from 400 on Text is sent as the error
	Header  map[string]string // more headers, such as Retry-After
	Body    string            // sent instead of a JSON body, if it is not ""
	Cut     int               // the connection is cut after so many bytes of the body; below 0 before the status line
	Half    bool              // with Cut: the server ends its side of the connection and keeps the other open
	Pad     int               // so many bytes of text are added to Text
	Trickle time.Duration     // wait after each 16 bytes of the body
}

// A Script answers requests. It is called from several goroutines at once.
type Script func(Request) Reply

// Say returns the script that always answers with text.
func Say(text string) Script { return func(Request) Reply { return Reply{Text: text} } }

// Sequence returns the script that gives the replies in order, by the number
// of the request, and then the last one for ever.
func Sequence(replies ...Reply) Script {
	return func(r Request) Reply { return replies[min(r.N, len(replies)-1)] }
}

// A Server is a running server. Its fields may be set before the first request.
type Server struct {
	URL     string // "http://127.0.0.1:port"; OpenAI's base URL is URL + "/v1"
	Models  []string
	Digest  string // of every model, for Ollama
	Context int    // context length of every model, for both protocols
	Version string // for Ollama

	script Script
	http   *httptest.Server
	mu     sync.Mutex
	seen   []Request
}

// NewServer starts a server that is closed when the test ends. Connections that
// still wait for a reply are closed then, so no delay holds a test up.
func NewServer(tb testing.TB, script Script) *Server {
	tb.Helper()
	s := &Server{Models: []string{ModelName}, Digest: "sha256:0123456789ab", Context: 32768, Version: "0.24.0", script: script}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/completions", s.chat(openAIBody, openAIError))
	mux.HandleFunc("GET /v1/models", s.openAIModels)
	mux.HandleFunc("POST /api/chat", s.chat(ollamaBody, ollamaError))
	mux.HandleFunc("GET /api/version", s.ollamaVersion)
	mux.HandleFunc("GET /api/tags", s.ollamaTags)
	mux.HandleFunc("POST /api/show", s.ollamaShow)
	s.http = httptest.NewServer(mux)
	s.URL = s.http.URL
	tb.Cleanup(func() {
		s.http.CloseClientConnections()
		s.http.Close()
	})
	return s
}

// Requests returns the requests for chats so far, in order of arrival.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.seen)
}

// Close stops the server before the test ends: who asks now finds no server.
func (s *Server) Close() {
	s.http.CloseClientConnections()
	s.http.Close()
}

// chat handles a request for a chat; body and fault write the protocol.
func (s *Server) chat(body func(Request, Reply) qaoa.Value, fault func(Reply) qaoa.Value) http.HandlerFunc {
	return func(w http.ResponseWriter, hr *http.Request) {
		data, err := io.ReadAll(hr.Body)
		if err != nil {
			return // the client went away
		}
		req := Request{Path: hr.URL.Path, Header: hr.Header.Clone(), Body: data}
		req.JSON, err = qaoa.ParseValue(data)
		if err != nil {
			writeJSON(w, http.StatusBadRequest, fault(Reply{Text: err.Error()}))
			return
		}
		req.Model, req.Messages, req.Tools = read(req.JSON)
		s.mu.Lock()
		req.N = len(s.seen)
		s.seen = append(s.seen, req)
		s.mu.Unlock()
		if !slices.Contains(s.Models, req.Model) {
			writeJSON(w, http.StatusNotFound, fault(Reply{Text: "model '" + req.Model + "' not found"}))
			return
		}
		rep := s.script(req)
		rep.Text += strings.Repeat("x", rep.Pad)
		select {
		case <-time.After(rep.Delay):
		case <-hr.Context().Done():
			return
		}
		for k, v := range rep.Header {
			w.Header().Set(k, v)
		}
		out := []byte(rep.Body)
		switch {
		case rep.Body != "":
		case rep.Status >= 400:
			out = fault(rep).Append(nil)
		default:
			out = body(req, rep).Append(nil)
		}
		send(w, hr, rep, out)
	}
}

// send writes status and body, as broken as the reply wants them.
func send(w http.ResponseWriter, hr *http.Request, rep Reply, body []byte) {
	if rep.Cut < 0 {
		panic(http.ErrAbortHandler)
	}
	if rep.Cut > 0 && rep.Half {
		halfClose(w, hr, body[:min(rep.Cut, len(body))], len(body))
		return
	}
	if w.Header().Get("Content-Type") == "" {
		w.Header().Set("Content-Type", "application/json")
	}
	w.WriteHeader(max(rep.Status, http.StatusOK))
	rc := http.NewResponseController(w)
	if rep.Cut > 0 {
		_, _ = w.Write(body[:min(rep.Cut, len(body))]) // a test of cut connections may find it cut
		_ = rc.Flush()
		panic(http.ErrAbortHandler)
	}
	for rep.Trickle > 0 && len(body) > 0 {
		n := min(16, len(body))
		if _, err := w.Write(body[:n]); err != nil {
			return
		}
		_ = rc.Flush()
		body = body[n:]
		select {
		case <-time.After(rep.Trickle):
		case <-hr.Context().Done():
			return
		}
	}
	_, _ = w.Write(body) // the client may be gone
}

// halfClose promises size bytes, sends part of them and ends the server's side
// of the connection. The other side stays open until the client closes it.
func halfClose(w http.ResponseWriter, hr *http.Request, part []byte, size int) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	defer func() { _ = conn.Close() }() // the client may have closed it
	defer context.AfterFunc(hr.Context(), func() { _ = conn.Close() })()
	_, _ = fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", size, part)
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.CloseWrite()
	}
	_, _ = io.Copy(io.Discard, conn)
}

// read returns what both protocols have in common.
func read(v qaoa.Value) (name string, messages []model.Message, tools int) {
	m, _ := v.Get("model")
	list, _ := v.Get("messages")
	for _, item := range list.Items {
		role, _ := item.Get("role")
		content, _ := item.Get("content")
		text := content.Text
		if content.Kind == qaoa.Null {
			text = ""
		}
		messages = append(messages, model.Message{Role: model.Role(role.Text), Content: text})
	}
	t, _ := v.Get("tools")
	return m.Text, messages, len(t.Items)
}

func writeJSON(w http.ResponseWriter, status int, v qaoa.Value) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(v.Append(nil)) // the client may be gone
}
