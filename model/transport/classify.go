package transport

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"assay/model"
)

// failure sorts an error of sending a request or of reading its answer.
func (c *Client) failure(err error, u *url.URL) *model.Error {
	err = unwrapURL(err)
	to := SafeURL(u.String())
	if strings.HasPrefix(err.Error(), "invalid proxy address") {
		return &model.Error{Class: model.ClassUnavailable, Msg: fmt.Sprintf("%s: the address of the proxy is no URL; check HTTP_PROXY and HTTPS_PROXY, or name the host in NO_PROXY", c.label)}
	}
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "proxyconnect" {
		class := model.ClassConnection
		if dns, ok := errors.AsType[*net.DNSError](err); ok && dns.IsNotFound {
			class = model.ClassUnavailable
		}
		return &model.Error{Class: class, Msg: fmt.Sprintf("%s: the proxy on the way to %s: %v; check HTTP_PROXY and HTTPS_PROXY, or name the host in NO_PROXY", c.label, hostOf(u), op.Err)}
	}
	if fail := c.tlsFailure(err, u); fail != nil {
		return fail
	}
	if dns, ok := errors.AsType[*net.DNSError](err); ok && dns.IsNotFound {
		return &model.Error{Class: model.ClassUnavailable, Msg: fmt.Sprintf("%s: no host %q; %s", c.label, u.Hostname(), c.remedy)}
	}
	switch {
	case IsTimeout(err):
		return &model.Error{Class: model.ClassTimeout, Msg: fmt.Sprintf("%s: no full answer of %s within %s; give a longer --timeout or a lower --concurrency", c.label, to, c.opt.Timeout)}
	case errors.Is(err, syscall.ECONNREFUSED):
		return &model.Error{Class: model.ClassConnection, Msg: fmt.Sprintf("%s: no server at %s; %s", c.label, hostOf(u), c.remedy)}
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return &model.Error{Class: model.ClassConnection, Msg: fmt.Sprintf("%s: %s cut the connection before the answer was complete (%v); see the log of the server", c.label, hostOf(u), err)}
	}
	return &model.Error{Class: model.ClassConnection, Msg: fmt.Sprintf("%s: %s: %v", c.label, to, err)}
}

// tlsFailure returns the failure of a server that does not speak TLS, or whose
// certificate is not trusted, and nil for other errors. Asking again does not
// help against either.
func (c *Client) tlsFailure(err error, u *url.URL) *model.Error {
	why := ""
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		why = "the certificate is not trusted; name a file with its authority in SSL_CERT_FILE"
	}
	if _, ok := errors.AsType[tls.RecordHeaderError](err); ok || errors.Is(err, http.ErrSchemeMismatch) {
		why = "the server speaks no TLS; give the address with http:// instead of https://"
	}
	if why == "" {
		return nil
	}
	return &model.Error{Class: model.ClassUnavailable, Msg: fmt.Sprintf("%s: %s: %v: %s", c.label, hostOf(u), err, why)}
}

// unwrapURL returns what happened, without the method and the URL that net/http
// puts before it: our messages name the URL themselves.
func unwrapURL(err error) error {
	if ue, ok := errors.AsType[*url.Error](err); ok {
		return ue.Err
	}
	return err
}

// SafeURL returns an address without what may be a key: user name, password,
// query and fragment. Of what is no URL it returns the scheme at most.
func SafeURL(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		if scheme, _, ok := strings.Cut(address, "://"); ok && len(scheme) < 10 {
			return scheme + "://…"
		}
		return "…"
	}
	hidden := u.User != nil || u.RawQuery != "" || u.Fragment != ""
	u.User, u.RawQuery, u.Fragment, u.RawFragment = nil, "", "", ""
	if u.Host == "" && u.Opaque != "" {
		return u.Scheme + ":…" // user:password@host without a scheme
	}
	if hidden {
		return u.String() + " (and what is not told here)"
	}
	return u.String()
}

func hostOf(u *url.URL) string { return u.Scheme + "://" + u.Host }

// Status returns the failure of an answer whose status is not 2xx, or nil. The
// text is what the server says in its own protocol, or "" to use the body; the
// answer's first bytes are quoted then. The class is taken from the status,
// but a text that says that the prompt is too long is [model.ClassTruncated]
// whatever the status: servers send 400, 413, 422 or 500 for it.
func (c *Client) Status(ans Answer, text string) *model.Error {
	if ans.Status >= 200 && ans.Status < 300 {
		return nil
	}
	if text == "" {
		text = Excerpt(ans.Body)
	}
	return c.Refusal(ans.Status, text)
}

// Refusal returns the failure that a status and a text of the server amount to.
func (c *Client) Refusal(status int, text string) *model.Error {
	e := &model.Error{Class: ClassOf(status), Status: status}
	advice := ""
	switch {
	case TooLong(text):
		e.Class = model.ClassTruncated
		advice = "the prompt does not fit the context; serve the model with a longer one, or ask with fewer candidates"
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		advice = "the key is missing or not accepted"
	case status == http.StatusProxyAuthRequired:
		advice = "the proxy wants a user name and password; give them in HTTP_PROXY and HTTPS_PROXY"
	case status == http.StatusTooManyRequests && strings.Contains(text, "insufficient_quota"):
		e.Class = model.ClassRequest
		advice = "the quota is used up, which waiting does not change"
	case status == http.StatusTooManyRequests:
		advice = "give a lower --concurrency"
	case status == http.StatusNotFound:
		advice = "check the base URL and the name of the model"
	case status >= 300 && status < 400:
		advice = "give the address it redirects to as the base URL"
	}
	e.Msg = fmt.Sprintf("%s: status %d: %s", c.label, status, Excerpt(text))
	if advice != "" {
		e.Msg += "; " + advice
	}
	return e
}

// ClassOf returns the class of an HTTP status outside of 2xx.
func ClassOf(status int) model.Class {
	switch {
	case status == http.StatusTooManyRequests:
		return model.ClassRateLimit
	case status == http.StatusRequestTimeout:
		return model.ClassTimeout
	case status == http.StatusNotFound:
		return model.ClassUnavailable
	case status >= 500:
		return model.ClassServer
	}
	return model.ClassRequest
}

// tooLong are the phrases by which servers say that a prompt is too long.
var tooLong = []string{
	"context_length_exceeded", "maximum context length", // OpenAI, vLLM
	"longer than the maximum model length", "max_model_len", // vLLM
	"exceed_context_size", "available context size", // llama.cpp
	"exceeds the context length", "exceeds maximum context length", // Ollama
	"longer than the model's context length",                        // SGLang
	"greater than the context length",                               // LM Studio
	"`inputs` tokens + `max_new_tokens` must be",                    // TGI
	"exceeds maximum input length",                                  // TensorRT-LLM
	"context window", "prompt is too long", "maximum prompt length", // hosted servers
	"exceeds the maximum number of tokens", "reduce the length of the messages",
}

// TooLong reports whether the text of an error says that the prompt does not
// fit the context of the model.
func TooLong(text string) bool {
	text = strings.ToLower(text)
	for _, phrase := range tooLong {
		if strings.Contains(text, phrase) {
			return true
		}
	}
	return false
}

// Excerpt returns the beginning of what a server sent as one line of at most
// 300 bytes, without control characters, for a message.
func Excerpt[Text ~string | ~[]byte](text Text) string {
	const longest = 300
	s := string(text[:min(len(text), 4*longest)])
	s = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(s, "\uFFFD"), func(r rune) bool { return r <= ' ' || r == 0x7f }), " ")
	if s == "" {
		return "(no text)"
	}
	if len(s) <= longest {
		return s
	}
	cut := longest
	for !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}

// retryAfter returns how long the header asks to wait: seconds, or a date in
// the form of HTTP. It is 0 if it says nothing that makes sense.
func retryAfter(h http.Header, now time.Time) time.Duration {
	v := strings.TrimSpace(h.Get("Retry-After"))
	if v == "" {
		return 0
	}
	if s, err := strconv.ParseFloat(v, 64); err == nil {
		const longest = 1e9 // seconds: keeps the product below the limit of a Duration
		if !(s > 0) {
			return 0
		}
		return time.Duration(min(s, longest) * float64(time.Second))
	}
	if t, err := http.ParseTime(v); err == nil {
		return max(t.Sub(now), 0)
	}
	return 0
}
