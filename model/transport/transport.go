package transport

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"time"

	"assay/model"
)

// The values of [Options] that are zero.
const (
	DefaultTimeout     = 2 * time.Minute
	DefaultConcurrency = 64
	DefaultMaxBody     = 8 << 20
	DefaultBackoff     = 500 * time.Millisecond
	DefaultMaxBackoff  = 30 * time.Second
	DefaultMaxWait     = 5 * time.Minute
)

// Options say how requests are sent. The zero value is usable: no retries, and
// the defaults above.
type Options struct {
	// Timeout is for one request from dialling to the last byte of the answer.
	Timeout time.Duration
	// Retries is how often a request that failed is sent again; 0 is never.
	Retries int
	// MaxBody is how many bytes an answer may have, after decompression.
	MaxBody int64
	// Concurrency is how many requests will be in flight: as many connections
	// are kept open. 0 is [DefaultConcurrency].
	Concurrency int
	UserAgent   string // "" is "assay"
	// Secret is a key that goes into headers. Where a server sends it back, it
	// is taken out of the answer before anybody sees it: what is said to be
	// wrong with a key, or echoed by a server for tests, ends up in files.
	Secret string

	// Backoff is the wait before the first retry; it doubles for each further
	// one up to MaxBackoff, and is multiplied by a random number in [0.5,1).
	Backoff    time.Duration
	MaxBackoff time.Duration
	// MaxWait is the longest Retry-After that is waited for. A server that
	// asks for more ends the request.
	MaxWait time.Duration
	// Seed makes the random numbers of the waits repeatable.
	Seed uint64

	// Client sends the requests, if it is not nil: for tests, or for proxies
	// and certificates of one's own. Its Timeout should be 0.
	Client *http.Client
}

// bufferSize holds most requests and answers, so that each is one system call.
const bufferSize = 16 << 10

// A Client sends requests to one server. It is safe for concurrent use.
type Client struct {
	opt    Options
	http   *http.Client
	label  string
	remedy string

	mu  sync.Mutex
	rng *rand.Rand
}

// New returns a client. The label begins each message, as in "openai/qwen3";
// the remedy is what to do if there is no server, as in `start "ollama serve"`.
//
// Unless Options.Client is given, connections are the client's own, proxies are
// those of the environment (HTTP_PROXY, HTTPS_PROXY, NO_PROXY), and redirects
// are not followed: a key must not reach a server that nobody named.
func New(label, remedy string, opt Options) *Client {
	setDefault(&opt.Timeout, DefaultTimeout)
	setDefault(&opt.MaxBody, DefaultMaxBody)
	setDefault(&opt.Backoff, DefaultBackoff)
	setDefault(&opt.MaxBackoff, DefaultMaxBackoff)
	setDefault(&opt.MaxWait, DefaultMaxWait)
	if opt.UserAgent == "" {
		opt.UserAgent = "assay"
	}
	c := &Client{opt: opt, http: opt.Client, label: label, remedy: remedy, rng: rand.New(rand.NewPCG(opt.Seed, 0))}
	if c.http == nil {
		n := opt.Concurrency
		if n <= 0 {
			n = DefaultConcurrency
		}
		c.http = &http.Client{
			Transport: &http.Transport{
				Proxy:               http.ProxyFromEnvironment,
				MaxIdleConns:        n,
				MaxIdleConnsPerHost: n,
				WriteBufferSize:     bufferSize,
				ReadBufferSize:      bufferSize,
				IdleConnTimeout:     90 * time.Second,
				TLSHandshakeTimeout: 20 * time.Second,
				ForceAttemptHTTP2:   true,
			},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		}
	}
	return c
}

func setDefault[T time.Duration | int64](v *T, def T) {
	if *v <= 0 {
		*v = def
	}
}

// Close closes the connections that are kept open.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// A Request is one request; Body may be sent several times.
type Request struct {
	Method string
	URL    string
	Header http.Header // besides Content-Type, Accept and User-Agent
	Body   []byte      // nil for none
}

// An Answer is what a server sent.
type Answer struct {
	Status  int
	Header  http.Header
	Body    []byte
	Latency time.Duration // of the request that succeeded, waits not included
	// Attempts is how many requests were sent, at least 1.
	Attempts int
}

// A Check reads an answer with any status. It returns nil if the answer is
// good, and else the failure, of which Do fills in what it knows better:
// Status, RetryAfter and Attempts.
type Check func(Answer) *model.Error

// Do sends r until check accepts the answer, until a failure that asking again
// does not help, or until the retries are used up. Its error is a
// [*model.Error], or the error of ctx if that is done.
func (c *Client) Do(ctx context.Context, r Request, check Check) (Answer, error) {
	for attempt := 1; ; attempt++ {
		ans, fail := c.once(ctx, r)
		ans.Attempts = attempt
		if fail == nil {
			fail = check(ans)
		}
		if fail == nil {
			return ans, nil
		}
		// If the caller gave up, what failed is of no interest.
		if err := ctx.Err(); err != nil {
			return ans, err
		}
		if fail.Status == 0 {
			fail.Status = ans.Status
		}
		if fail.RetryAfter == 0 {
			fail.RetryAfter = retryAfter(ans.Header, time.Now())
		}
		fail.Attempts = attempt
		if !fail.Class.Retryable() || attempt > c.opt.Retries {
			if attempt > 1 {
				fail.Msg += fmt.Sprintf(" (request %d of %d)", attempt, c.opt.Retries+1)
			}
			return ans, fail
		}
		if fail.RetryAfter > c.opt.MaxWait {
			fail.Msg += fmt.Sprintf("; the server asks to wait %s, which is over the limit of %s", fail.RetryAfter, c.opt.MaxWait)
			return ans, fail
		}
		if err := Sleep(ctx, max(fail.RetryAfter, c.backoff(attempt))); err != nil {
			return ans, err
		}
	}
}

// once sends r one time.
func (c *Client) once(ctx context.Context, r Request) (Answer, *model.Error) {
	ctx, cancel := context.WithTimeout(ctx, c.opt.Timeout)
	defer cancel()
	var body io.Reader
	if r.Body != nil {
		body = bytes.NewReader(r.Body)
	}
	req, err := http.NewRequestWithContext(ctx, r.Method, r.URL, body)
	if err != nil {
		return Answer{}, &model.Error{Class: model.ClassRequest, Msg: fmt.Sprintf("%s: %v; check the base URL", c.label, unwrapURL(err))}
	}
	maps.Copy(req.Header, r.Header)
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", c.opt.UserAgent)
	if r.Body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	start := time.Now()
	resp, err := c.http.Do(req)
	if err != nil {
		return Answer{}, c.failure(err, req.URL)
	}
	defer func() { _ = resp.Body.Close() }() // reading is over: its error says nothing
	data, err := readAll(resp, c.opt.MaxBody+1)
	data = c.scrub(data, resp.Header)
	ans := Answer{Status: resp.StatusCode, Header: resp.Header, Body: data, Latency: time.Since(start)}
	if err != nil {
		return ans, c.failure(err, req.URL)
	}
	if int64(len(data)) > c.opt.MaxBody {
		return ans, &model.Error{Class: model.ClassBadReply, Msg: fmt.Sprintf("%s: the answer of %s is longer than the limit of %d bytes; lower --max-tokens", c.label, SafeURL(r.URL), c.opt.MaxBody)}
	}
	return ans, nil
}

// readAll reads a body, at most limit bytes of it, into a buffer of the length
// that the server promises, if that makes sense.
func readAll(resp *http.Response, limit int64) ([]byte, error) {
	const unknown, longest = 1024, 1 << 20
	size := int64(unknown)
	if n := resp.ContentLength; n >= 0 && n <= min(limit, longest) {
		size = n + bytes.MinRead // so the end shows in the same read
	}
	buf := bytes.NewBuffer(make([]byte, 0, size))
	_, err := buf.ReadFrom(io.LimitReader(resp.Body, limit))
	return buf.Bytes(), err
}

// redacted stands where a secret was.
const redacted = "[key]"

// scrub takes the secret out of what a server sent.
func (c *Client) scrub(body []byte, header http.Header) []byte {
	if len(c.opt.Secret) < minSecret {
		return body
	}
	for _, values := range header {
		for i, v := range values {
			values[i] = strings.ReplaceAll(v, c.opt.Secret, redacted)
		}
	}
	if secret := []byte(c.opt.Secret); bytes.Contains(body, secret) {
		body = bytes.ReplaceAll(body, secret, []byte(redacted))
	}
	return body
}

// minSecret is the shortest secret that is taken out: shorter ones are words.
const minSecret = 4

// backoff returns the wait after that many requests.
func (c *Client) backoff(attempt int) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return Backoff(attempt, c.opt.Backoff, c.opt.MaxBackoff, c.rng.Float64())
}

// IsTimeout reports whether err says that the time for a request was over.
func IsTimeout(err error) bool {
	if t, ok := errors.AsType[interface {
		error
		Timeout() bool
	}](err); ok {
		return t.Timeout()
	}
	return errors.Is(err, context.DeadlineExceeded)
}

// WithoutRetries returns a client that shares the connections of c and sends
// each request once.
func (c *Client) WithoutRetries() *Client {
	opt := c.opt
	opt.Retries = 0
	opt.Client = c.http
	return New(c.label, c.remedy, opt)
}
