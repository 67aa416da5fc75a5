package transport_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"assay/model"
	"assay/model/transport"
)

// A lineServer reads one request after the other from each connection and
// sends what its script says, byte by byte as it is.
type lineServer struct {
	addr   string
	conns  atomic.Int64
	served chan struct{} // a value for each answer that was sent, connection closed if that is to be
}

// serveRaw starts a server. The script gets the number of the request on its
// connection; an answer that ends in "CLOSE" is sent without that, and the
// connection is closed.
func serveRaw(t *testing.T, script func(conn, n int) string) *lineServer {
	t.Helper()
	var lc net.ListenConfig
	l, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &lineServer{addr: l.Addr().String(), served: make(chan struct{}, 100)}
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			conn := int(s.conns.Add(1))
			wg.Go(func() {
				defer func() { _ = c.Close() }()
				r := bufio.NewReader(c)
				for n := 0; ; n++ {
					req, err := http.ReadRequest(r)
					if err != nil {
						return
					}
					_, _ = io.Copy(io.Discard, req.Body)
					out, end := strings.CutSuffix(script(conn, n), "CLOSE")
					_, _ = io.WriteString(c, out)
					if end {
						_ = c.Close()
					}
					s.served <- struct{}{}
					if end {
						return
					}
				}
			})
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		wg.Wait()
	})
	return s
}

func ok(body string) string {
	return fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
}

// do sends one request without retries.
func do(ctx context.Context, c *transport.Client, addr string) (string, error) {
	ans, err := c.Do(ctx, transport.Request{Method: http.MethodPost, URL: "http://" + addr + "/x", Body: []byte(`{"a":1}`)},
		func(a transport.Answer) *model.Error { return c.Status(a, "") })
	return string(ans.Body), err
}

func TestConnections(t *testing.T) {
	tests := []struct {
		name   string
		script func(conn, n int) string
		bodies string // of three requests; - is a failure of class connection
		conns  int64
	}{
		{"one serves all requests", func(_, n int) string { return ok(fmt.Sprint(n)) }, "0 1 2", 1},
		{"chunks", func(_, n int) string {
			return fmt.Sprintf("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n%d\r\n2\r\nxx\r\n0\r\n\r\n", n)
		}, "0xx 1xx 2xx", 1},
		{"a body that ends with the connection", func(conn, _ int) string {
			return fmt.Sprintf("HTTP/1.1 200 OK\r\n\r\nbody %d", conn) + "CLOSE"
		}, "body 1,body 2,body 3", 3},
		{"HTTP/1.0", func(conn, _ int) string {
			return fmt.Sprintf("HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\n%d", conn) + "CLOSE"
		}, "1 2 3", 3},
		{"closed by name", func(conn, _ int) string {
			return strings.Replace(ok(fmt.Sprint(conn)), "\r\n", "\r\nConnection: close\r\n", 1) + "CLOSE"
		}, "1 2 3", 3},
		{"closed without a word after the answer", func(conn, _ int) string { return ok(fmt.Sprint(conn)) + "CLOSE" }, "1 2 3", 3},
		{"more than was promised", func(conn, _ int) string { return ok(fmt.Sprint(conn)) + ok("smuggled") }, "1 2 3", 3},
		{"interim answers", func(_, n int) string {
			return "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + ok(fmt.Sprint(n))
		}, "0 1 2", 1},
		{"nothing but interim answers", func(int, int) string { return strings.Repeat("HTTP/1.1 102 Processing\r\n\r\n", 20) + "CLOSE" }, "- - -", 3},
		{"closed without an answer, which is told and not hidden", func(_, n int) string {
			if n == 1 {
				return "CLOSE"
			}
			return ok(fmt.Sprint(n))
		}, "0 - 0", 2},
		{"no HTTP at all", func(int, int) string { return "hello\r\n\r\nCLOSE" }, "- - -", 3},
		{"a head without end", func(int, int) string {
			return "HTTP/1.1 200 OK\r\n" + strings.Repeat("X-Pad: "+strings.Repeat("x", 1000)+"\r\n", 2000) + "CLOSE"
		}, "- - -", 3},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := serveRaw(t, tt.script)
			c := transport.New("test/m", "start it", transport.Options{Timeout: time.Minute})
			defer c.Close()
			var got []string
			for range 3 {
				body, err := do(t.Context(), c, s.addr)
				if fail, isFail := errors.AsType[*model.Error](err); isFail {
					body = "-"
					if fail.Class != model.ClassConnection {
						t.Errorf("failure %v, want class connection", fail)
					}
				}
				got = append(got, body)
				<-s.served
			}
			sep := " "
			if strings.Contains(tt.bodies, ",") {
				sep = ","
			}
			if text := strings.Join(got, sep); text != tt.bodies || s.conns.Load() != tt.conns {
				t.Errorf("bodies %q over %d connections, want %q over %d", text, s.conns.Load(), tt.bodies, tt.conns)
			}
		})
	}
}

// A server that refuses a long request before it has read it is heard.
func TestAnswerBeforeTheRequestIsSent(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Connection", "close")
		http.Error(w, "too long", http.StatusRequestEntityTooLarge)
	}))
	defer s.Close()
	c := transport.New("test/m", "start it", transport.Options{Timeout: time.Minute})
	defer c.Close()
	_, err := c.Do(t.Context(), transport.Request{Method: http.MethodPost, URL: s.URL, Body: []byte(strings.Repeat("x", 64<<10))},
		func(a transport.Answer) *model.Error { return c.Status(a, "") })
	if fail, ok := errors.AsType[*model.Error](err); !ok || fail.Status != http.StatusRequestEntityTooLarge {
		t.Errorf("error %v, want the status 413", err)
	}
}

// Time limits and interrupts end a request wherever it is.
func TestEndsAnywhere(t *testing.T) {
	for name, answer := range map[string]string{
		"before the head": "",
		"in the head":     "HTTP/1.1 200 OK\r\nContent-Le",
		"in the body":     "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf",
	} {
		t.Run(name, func(t *testing.T) {
			s := serveRaw(t, func(int, int) string { return answer })
			c := transport.New("test/m", "start it", transport.Options{Timeout: 100 * time.Millisecond})
			defer c.Close()
			_, err := do(t.Context(), c, s.addr)
			if fail, ok := errors.AsType[*model.Error](err); !ok || fail.Class != model.ClassTimeout {
				t.Errorf("error %v, want a timeout", err)
			}
			c = transport.New("test/m", "start it", transport.Options{Timeout: time.Hour})
			defer c.Close()
			ctx, cancel := context.WithCancel(t.Context())
			go func() {
				<-s.served // of the first
				<-s.served
				cancel()
			}()
			if _, err := do(ctx, c, s.addr); !errors.Is(err, context.Canceled) {
				t.Errorf("error %v, want that of the interrupt", err)
			}
		})
	}
}

// Connections are kept for as many as are in flight. The server answers a
// round when all of it has come, so that each round needs every connection at
// once: net/http's own limit of two kept ones would open six more a round.
func TestPoolIsAsLargeAsConcurrency(t *testing.T) {
	const workers, rounds = 8, 10
	var together sync.WaitGroup
	s := serveRaw(t, func(int, int) string {
		together.Done()
		together.Wait()
		return ok("x")
	})
	c := transport.New("test/m", "start it", transport.Options{Concurrency: workers, Timeout: time.Minute})
	defer c.Close()
	for range rounds {
		together.Add(workers)
		var round sync.WaitGroup
		for range workers {
			round.Go(func() {
				if _, err := do(t.Context(), c, s.addr); err != nil {
					t.Error(err)
				}
			})
		}
		round.Wait()
	}
	if n := s.conns.Load(); n != workers {
		t.Errorf("%d connections for %d at a time", n, workers)
	}
}
