package ollama

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
)

const (
	defaultHost = "127.0.0.1"
	defaultPort = "11434"
)

// BaseURL returns the address of the server that a value of OLLAMA_HOST means,
// read as Ollama itself reads it: a host, host:port, :port or a URL, with 11434
// as the port, or that of the scheme if there is a scheme. An address that a
// server listens on everywhere (0.0.0.0, ::) is asked on loopback. "" is
// http://127.0.0.1:11434.
func BaseURL(host string) (string, error) {
	host = strings.Trim(strings.TrimSpace(host), `"'`)
	told, _, _ := strings.Cut(host, "?") // what follows may be a key
	fault := func(why string) (string, error) {
		return "", fmt.Errorf("ollama: OLLAMA_HOST %q: %s; want host:port or a URL, such as 127.0.0.1:11434", told, why)
	}
	if strings.Contains(host, "@") {
		return "", errors.New("ollama: OLLAMA_HOST: want no user name or password; want host:port or a URL, such as 127.0.0.1:11434")
	}
	scheme, rest, ok := strings.Cut(host, "://")
	port := defaultPort
	switch {
	case !ok:
		scheme, rest = "http", host
	case scheme == "http":
		port = "80"
	case scheme == "https":
		port = "443"
	default:
		return fault("unknown scheme")
	}
	rest, path, _ := strings.Cut(rest, "/")
	if !plain(rest+path, "./:[]-_~") {
		return fault("only letters, digits and ./:[]-_~ are allowed")
	}
	name := rest
	if h, p, err := net.SplitHostPort(rest); err == nil {
		name = h
		if p != "" {
			port = p
		}
	} else if ip := net.ParseIP(strings.Trim(rest, "[]")); ip != nil {
		name = ip.String()
	} else if strings.Contains(rest, ":") {
		return fault("no such port")
	}
	if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
		return fault("no such port")
	}
	if name == "" {
		name = defaultHost
	}
	if net.ParseIP(name) == nil && !plain(name, ".-_") {
		return fault("no such host")
	}
	if ip := net.ParseIP(name); ip != nil && ip.IsUnspecified() {
		name = defaultHost
		if ip.To4() == nil {
			name = "::1"
		}
	}
	u := url.URL{Scheme: scheme, Host: net.JoinHostPort(name, port), Path: strings.Trim(path, "/")}
	if u.Path != "" {
		u.Path = "/" + u.Path
	}
	return u.String(), nil
}

// plain reports whether s holds nothing but ASCII letters, digits and others.
func plain(s, others string) bool {
	for i := range len(s) {
		c := s[i]
		if (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'z') && strings.IndexByte(others, c) < 0 {
			return false
		}
	}
	return true
}
