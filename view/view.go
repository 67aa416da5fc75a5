package view

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"time"

	"assay/page"
)

// Handler returns what answers requests: GET and HEAD of "/", "/blob/N", and
// "/api/…", by which the page asks for rows of the list, searches, and steps. r
// has to be built with [page.Input.Paged]; Handler panics if it is not. The
// listener's address decides which Host headers are good: its port with its own
// host or a loopback name, and if it listens on all interfaces, with any IP
// address.
func Handler(r *page.Report, listener net.Addr) http.Handler {
	index := r.Index()
	if index == nil {
		panic("view: the report was not built with Input.Paged")
	}
	mux := http.NewServeMux()
	api{index}.register(mux)
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		var b bytes.Buffer
		if err := r.WriteServed(&b); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		answer(w, "text/html; charset=utf-8", b.Bytes())
	})
	mux.HandleFunc("GET /blob/{n}", func(w http.ResponseWriter, req *http.Request) {
		n, err := strconv.Atoi(req.PathValue("n"))
		if err != nil || n < 0 || n >= r.Blobs() {
			http.NotFound(w, req)
			return
		}
		data, err := r.Blob(n)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		answer(w, "application/octet-stream", data)
	})
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", page.Policy(true)+"; frame-ancestors 'none'")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		if !goodHost(req.Host, listener) {
			http.Error(w, fmt.Sprintf("want the address %s, have another Host header", listener), http.StatusForbidden)
			return
		}
		mux.ServeHTTP(w, req)
	})
}

func answer(w http.ResponseWriter, kind string, data []byte) {
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Content-Length", strconv.Itoa(len(data)))
	_, _ = w.Write(data) // the reader has gone
}

// goodHost reports whether a Host header names the listener.
func goodHost(header string, listener net.Addr) bool {
	host, port, err := net.SplitHostPort(header)
	if err != nil {
		host, port = header, "80"
	}
	own, ownPort, err := net.SplitHostPort(listener.String())
	if err != nil || port != ownPort {
		return false
	}
	if host == "localhost" || host == own {
		return true
	}
	ip, err := netip.ParseAddr(host)
	if err != nil {
		return false
	}
	ownIP, err := netip.ParseAddr(own)
	return ip.IsLoopback() || err == nil && ownIP.IsUnspecified()
}

// drain is how long requests in flight may go on after the end.
const drain = 2 * time.Second

// Serve serves r on listener until ctx is done, and closes the listener. r is as
// for [Handler].
func Serve(ctx context.Context, listener net.Listener, r *page.Report) error {
	server := &http.Server{
		Handler:           Handler(r, listener.Addr()),
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       30 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    16 << 10,
	}
	stopped := make(chan error, 1)
	stop := context.AfterFunc(ctx, func() {
		within, cancel := context.WithTimeout(context.WithoutCancel(ctx), drain)
		defer cancel()
		stopped <- server.Shutdown(within)
	})
	defer stop()
	err := server.Serve(listener)
	if !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	if err := <-stopped; !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return server.Close()
}
