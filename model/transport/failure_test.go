package transport_test

import (
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"syscall"
	"testing"

	"assay/model"
	"assay/model/transport"
)

// A failure that no server of the name is to blame for says who is, and is
// tried again only if that may help.
func TestWhoIsToBlame(t *testing.T) {
	refused := &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
	tests := []struct {
		name     string
		err      error
		class    model.Class
		says     string
		attempts int
	}{
		{"the server refuses", refused, model.ClassConnection, "no server at http://host; start it", 2},
		{"the proxy refuses", &net.OpError{Op: "proxyconnect", Net: "tcp", Err: refused}, model.ClassConnection, "HTTP_PROXY", 2},
		{"there is no such proxy", &net.OpError{Op: "proxyconnect", Net: "tcp", Err: &net.DNSError{Err: "no such host", Name: "proxy", IsNotFound: true}}, model.ClassUnavailable, "HTTP_PROXY", 1},
		{"there is no such host", &net.DNSError{Err: "no such host", Name: "host", IsNotFound: true}, model.ClassUnavailable, `no host "host"`, 1},
		{"a name server that fails", &net.DNSError{Err: "server misbehaving", Name: "host", IsTemporary: true}, model.ClassConnection, "misbehaving", 2},
		{"a certificate that nobody knows", &tls.CertificateVerificationError{Err: errors.New("unknown authority")}, model.ClassUnavailable, "SSL_CERT_FILE", 1},
		{"no TLS at all", tls.RecordHeaderError{Msg: "first record does not look like a TLS handshake"}, model.ClassUnavailable, "http://", 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			opt := transport.Options{Retries: 1, Backoff: 1}
			_, _, err := run(t.Context(), opt, func(*http.Request) (*http.Response, error) { return nil, tt.err })
			fail, ok := errors.AsType[*model.Error](err)
			if !ok || fail.Class != tt.class || fail.Attempts != tt.attempts || !strings.Contains(fail.Msg, tt.says) {
				t.Errorf("error %+v, want class %s after %d requests, saying %q", err, tt.class, tt.attempts, tt.says)
			}
		})
	}
}

// The same with servers and proxies in place of made-up errors.
func TestWrongScheme(t *testing.T) {
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	secure := httptest.NewUnstartedServer(http.NotFoundHandler())
	secure.Config.ErrorLog = nil
	secure.StartTLS()
	defer secure.Close()
	down, err := url.Parse("http://" + closedAddress(t))
	if err != nil {
		t.Fatal(err)
	}
	behind := &http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(down)}}
	tests := []struct {
		name, url string
		client    *http.Client
		class     model.Class
		says      string
	}{
		{"https of an http server", strings.Replace(plain.URL, "http:", "https:", 1), nil, model.ClassUnavailable, "http://"},
		{"a certificate of one's own", secure.URL, nil, model.ClassUnavailable, "SSL_CERT_FILE"},
		{"a proxy that is down", plain.URL, behind, model.ClassConnection, "HTTP_PROXY"},
		{"a proxy that is down, for https", secure.URL, behind, model.ClassConnection, "HTTP_PROXY"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := transport.New("test/m", "start it", transport.Options{Client: tt.client})
			_, err := c.Do(t.Context(), transport.Request{Method: http.MethodGet, URL: tt.url}, func(a transport.Answer) *model.Error { return c.Status(a, "") })
			fail, ok := errors.AsType[*model.Error](err)
			if !ok || fail.Class != tt.class || !strings.Contains(fail.Msg, tt.says) {
				t.Errorf("error %v, want class %s, saying %q", err, tt.class, tt.says)
			}
		})
	}
}

// closedAddress returns an address of loopback on which nobody listens.
func closedAddress(t *testing.T) string {
	t.Helper()
	var lc net.ListenConfig
	l, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }() // nothing was written
	return l.Addr().String()
}

// What may be a key is in no message.
func TestSafeURL(t *testing.T) {
	const key = "sk-secret"
	tests := []struct{ address, want string }{
		{"http://host:80/v1", "http://host:80/v1"},
		{"http://" + key + "@host/v1", "http://host/v1 (and what is not told here)"},
		{"http://user:" + key + "@host/v1", "http://host/v1 (and what is not told here)"},
		{"http://host/v1?key=" + key, "http://host/v1 (and what is not told here)"},
		{"http://host/v1#" + key, "http://host/v1 (and what is not told here)"},
		{"http://user:" + key + "@ho st/", "http://…"},
		{"user:" + key + "@host", "user:…"},
		{key + "\x00", "…"},
		{"", ""},
	}
	for _, tt := range tests {
		if got := transport.SafeURL(tt.address); got != tt.want || strings.Contains(got, key) {
			t.Errorf("SafeURL(%q) = %q, want %q", tt.address, got, tt.want)
		}
	}
}

func TestProxyThatIsNoURL(t *testing.T) {
	const key = "pass-word"
	client := &http.Client{Transport: &http.Transport{Proxy: func(*http.Request) (*url.URL, error) {
		return nil, errors.New(`invalid proxy address "http://user:` + key + `@[::1": parse error`) // as net/http says it
	}}}
	c := transport.New("test/m", "start it", transport.Options{Client: client})
	_, err := c.Do(t.Context(), transport.Request{Method: http.MethodGet, URL: "http://host/"}, func(transport.Answer) *model.Error { return nil })
	if err == nil || strings.Contains(err.Error(), key) || !strings.Contains(err.Error(), "HTTP_PROXY") {
		t.Errorf("error %v; want one without the password that says HTTP_PROXY", err)
	}
}

// A server that sends the key back does not get it into anything.
func TestSecretIsTakenOutOfAnswers(t *testing.T) {
	const key = "sk-secret"
	opt := transport.Options{Secret: key}
	ans, _, err := run(t.Context(), opt, func(*http.Request) (*http.Response, error) {
		return response(200, "your key "+key+" and "+key, "X-Echo", "Bearer "+key), nil
	})
	if err != nil || string(ans.Body) != "your key [key] and [key]" || ans.Header.Get("X-Echo") != "Bearer [key]" {
		t.Errorf("answer %q, %v, %v", ans.Body, ans.Header, err)
	}
	ans, _, err = run(t.Context(), transport.Options{Secret: "no"}, func(*http.Request) (*http.Response, error) { return response(200, "no"), nil })
	if err != nil || string(ans.Body) != "no" {
		t.Errorf("a word that is too short to be a key: %q, %v", ans.Body, err)
	}
}
