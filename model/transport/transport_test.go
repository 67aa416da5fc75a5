package transport_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"assay/model"
	"assay/model/transport"
	"assay/qaoa"
)

// A trip answers requests without a network, so that time can be faked.
type trip func(*http.Request) (*http.Response, error)

func (f trip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func response(status int, body string, header ...string) *http.Response {
	h := http.Header{}
	for i := 0; i < len(header); i += 2 {
		h.Set(header[i], header[i+1])
	}
	return &http.Response{StatusCode: status, Header: h, Body: io.NopCloser(strings.NewReader(body))}
}

// run sends one request, and returns how long it took in fake time.
func run(ctx context.Context, opt transport.Options, f trip) (transport.Answer, time.Duration, error) {
	opt.Client = &http.Client{Transport: f}
	c := transport.New("test/m", "start it", opt)
	start := time.Now()
	ans, err := c.Do(ctx, transport.Request{Method: http.MethodPost, URL: "http://host/x", Body: []byte("{}")}, func(a transport.Answer) *model.Error {
		if string(a.Body) == "bad" {
			return &model.Error{Class: model.ClassBadReply, Msg: "bad"}
		}
		return c.Status(a, "")
	})
	return ans, time.Since(start), err
}

func TestBackoff(t *testing.T) {
	tests := []struct {
		name     string
		statuses []int
		header   string // Retry-After
		min, max time.Duration
		attempts int
		class    model.Class // "" if it succeeds in the end
	}{
		{"success at once", []int{200}, "", 0, 0, 1, ""},
		{"one failure", []int{500, 200}, "", 500 * time.Millisecond, time.Second, 2, ""},
		{"the wait doubles", []int{500, 503, 429, 200}, "", (500 + 1000 + 2000) * time.Millisecond, 7 * time.Second, 4, ""},
		{"up to its limit", []int{500, 500, 500, 500, 500, 200}, "", 7500 * time.Millisecond, 15 * time.Second, 6, ""},
		{"Retry-After in seconds", []int{429, 200}, "7", 7 * time.Second, 7 * time.Second, 2, ""},
		{"Retry-After as a date", []int{429, 200}, "date", 9 * time.Second, 9 * time.Second, 2, ""},
		{"a shorter Retry-After does not shorten the wait", []int{429, 200}, "0.001", 500 * time.Millisecond, time.Second, 2, ""},
		{"nonsense in Retry-After", []int{429, 200}, "soon", 500 * time.Millisecond, time.Second, 2, ""},
		{"a Retry-After over the limit", []int{429, 200}, "86400", 0, 0, 1, model.ClassRateLimit},
		{"the retries are used up", []int{500, 500, 500, 500, 500, 500, 200}, "", 7500 * time.Millisecond, 15 * time.Second, 6, model.ClassServer},
		{"a refusal is final", []int{400, 200}, "", 0, 0, 1, model.ClassRequest},
		{"so is no such page", []int{404, 200}, "", 0, 0, 1, model.ClassUnavailable},
		{"so is a redirect", []int{302, 200}, "", 0, 0, 1, model.ClassRequest},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := 0
				opt := transport.Options{Retries: 5, Backoff: time.Second, MaxBackoff: 4 * time.Second}
				ans, took, err := run(t.Context(), opt, func(*http.Request) (*http.Response, error) {
					status := tt.statuses[n]
					n++
					switch {
					case tt.header == "date" && status != 200:
						return response(status, "", "Retry-After", time.Now().Add(9*time.Second).UTC().Format(http.TimeFormat)), nil
					case status != 200:
						return response(status, "", "Retry-After", tt.header), nil
					}
					return response(status, "ok"), nil
				})
				if took < tt.min || took > tt.max {
					t.Errorf("took %s, want %s to %s", took, tt.min, tt.max)
				}
				fail, _ := errors.AsType[*model.Error](err)
				switch {
				case tt.class == "" && err != nil:
					t.Errorf("error %v", err)
				case tt.class != "" && (fail == nil || fail.Class != tt.class || fail.Attempts != tt.attempts || fail.Status == 0):
					t.Errorf("error %+v, want class %s after %d requests", fail, tt.class, tt.attempts)
				}
				if ans.Attempts != tt.attempts || n != tt.attempts {
					t.Errorf("%d attempts, %d requests, want %d", ans.Attempts, n, tt.attempts)
				}
			})
		})
	}
}

func TestWaitsAreRepeatable(t *testing.T) {
	took := func(seed uint64) (d time.Duration) {
		synctest.Test(t, func(t *testing.T) {
			opt := transport.Options{Retries: 3, Seed: seed}
			_, d, _ = run(t.Context(), opt, func(*http.Request) (*http.Response, error) { return response(500, ""), nil })
		})
		return d
	}
	if a, b := took(1), took(1); a != b {
		t.Errorf("same seed: %s and %s", a, b)
	}
	if a, b := took(1), took(2); a == b {
		t.Errorf("other seed: both %s", a)
	}
}

func TestBadReplyIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := 0
		ans, _, err := run(t.Context(), transport.Options{Retries: 1}, func(*http.Request) (*http.Response, error) {
			n++
			if n == 1 {
				return response(200, "bad"), nil
			}
			return response(200, "good"), nil
		})
		if err != nil || string(ans.Body) != "good" || ans.Attempts != 2 {
			t.Errorf("Do = %+v, %v", ans, err)
		}
	})
}

func TestTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, took, err := run(t.Context(), transport.Options{Timeout: 3 * time.Second}, func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		})
		fail, _ := errors.AsType[*model.Error](err)
		if fail == nil || fail.Class != model.ClassTimeout || took != 3*time.Second || !strings.Contains(fail.Msg, "--timeout") {
			t.Errorf("error %v after %s, want a timeout after 3s", err, took)
		}
	})
}

func TestCancel(t *testing.T) {
	tests := []struct {
		name string
		trip trip
	}{
		{"during a request", func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		}},
		{"during a wait", func(*http.Request) (*http.Response, error) { return response(503, "", "Retry-After", "60"), nil }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				time.AfterFunc(time.Second, cancel)
				_, took, err := run(ctx, transport.Options{Retries: 9}, tt.trip)
				if !errors.Is(err, context.Canceled) || took != time.Second {
					t.Errorf("error %v after %s, want context.Canceled after 1s", err, took)
				}
			})
		})
	}
}

func TestMaxBody(t *testing.T) {
	for n, want := range map[int]model.Class{10: "", 11: model.ClassBadReply} {
		_, _, err := run(t.Context(), transport.Options{MaxBody: 10}, func(*http.Request) (*http.Response, error) {
			return response(200, strings.Repeat("x", n)), nil
		})
		fail, _ := errors.AsType[*model.Error](err)
		if (want == "") != (err == nil) || fail != nil && fail.Class != want {
			t.Errorf("body of %d bytes: %v, want class %q", n, err, want)
		}
	}
}

func TestTooLong(t *testing.T) {
	tests := []struct {
		text string
		want bool
	}{
		{"This model's maximum context length is 4096 tokens. However, you requested 9000 tokens", true},
		{"(code context_length_exceeded)", true},
		{"the request exceeds the available context size, try increasing it (type exceed_context_size_error)", true},
		{"the input length exceeds the context length", true},
		{"The decoder prompt (length 9000) is longer than the maximum model length of 4096.", true},
		{"Prompt is too long", true},
		{"The input (9000 tokens) is longer than the model's context length (4096 tokens).", true},
		{"The number of tokens to keep from the initial prompt is greater than the context length.", true},
		{"Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096", true},
		{"The input token count (9000) exceeds the maximum number of tokens allowed (4096).", true},
		{"prompt length (9000) exceeds maximum input length (4096)", true},
		{"Please reduce the length of the messages or completion.", true},
		{"invalid api key: token expired", false},
		{"", false},
	}
	for _, tt := range tests {
		if got := transport.TooLong(tt.text); got != tt.want {
			t.Errorf("TooLong(%q) = %t, want %t", tt.text, got, tt.want)
		}
	}
}

func TestRefusal(t *testing.T) {
	c := transport.New("test/m", "start it", transport.Options{})
	tests := []struct {
		name   string
		status int
		text   string
		want   model.Class
		advice string
	}{
		{"prompt too long, as 400", 400, "maximum context length is 10", model.ClassTruncated, "fewer candidates"},
		{"prompt too long, as 500", 500, "exceeds the context length", model.ClassTruncated, "fewer candidates"},
		{"no key", 401, "no", model.ClassRequest, "key"},
		{"too fast", 429, "slow down", model.ClassRateLimit, "--concurrency"},
		{"no money", 429, "You exceeded your quota (code insufficient_quota)", model.ClassRequest, "quota"},
		{"the proxy wants a password", 407, "no", model.ClassRequest, "HTTP_PROXY"},
		{"no such model", 404, "no", model.ClassUnavailable, "base URL"},
		{"overloaded", 529, "no", model.ClassServer, ""},
		{"server was too slow", 408, "no", model.ClassTimeout, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := c.Refusal(tt.status, tt.text)
			if e.Class != tt.want || e.Status != tt.status || !strings.Contains(e.Msg, tt.advice) || !strings.HasPrefix(e.Msg, "test/m: ") {
				t.Errorf("Refusal(%d, %q) = %+v, want class %s and advice %q", tt.status, tt.text, e, tt.want, tt.advice)
			}
		})
	}
}

func TestExcerpt(t *testing.T) {
	if got := transport.Excerpt("a\n\x00\tb\x1b[31m\xff"); got != "a b [31m\uFFFD" {
		t.Errorf("Excerpt = %q", got)
	}
	if got := transport.Excerpt(" "); got != "(no text)" {
		t.Errorf("Excerpt of blanks = %q", got)
	}
	if got := transport.Excerpt([]byte(strings.Repeat("é", 1000))); len(got) > 304 || !strings.HasSuffix(got, "é…") {
		t.Errorf("Excerpt of a long text has %d bytes, ends in %q", len(got), got[len(got)-8:])
	}
}

func TestAppendTools(t *testing.T) {
	tools := []qaoa.Tool{
		{Name: "f", Description: `"x"`, Parameters: `{"type":"object","properties":{"b":{"default":1.0},"a":{"$ref":"#/x"}}}`},
		{Name: "g"},
	}
	const want = `[{"type":"function","function":{"name":"f","description":"\"x\"","parameters":{"type":"object","properties":{"b":{"default":1.0},"a":{"$ref":"#/x"}}}}},` +
		`{"type":"function","function":{"name":"g","description":"","parameters":{"type":"object","properties":{}}}}]`
	if got := string(transport.AppendTools(nil, tools)); got != want {
		t.Errorf("AppendTools =\n%s, want\n%s", got, want)
	}
	if size := transport.ToolsSize(tools); size < len(want) {
		t.Errorf("ToolsSize = %d, less than the %d bytes written", size, len(want))
	}
}

func TestToolCache(t *testing.T) {
	var c transport.ToolCache
	list := func(name string, n int) (tools []qaoa.Tool) {
		for range n {
			tools = append(tools, qaoa.Tool{Name: name})
		}
		return tools
	}
	same := list("same", 3)
	for i := range 2000 {
		for _, tools := range [][]qaoa.Tool{same, same[:2], list(strings.Repeat("x", i%7), i%5), nil} {
			want := string(transport.AppendTools([]byte("a"), tools))
			if got := string(c.Append([]byte("a"), tools)); got != want {
				t.Fatalf("Append = %s, want %s", got, want)
			}
		}
	}
}
