package view

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/goccy/go-json"

	"assay/page"
)

// The bounds of an answer.
const (
	defaultLimit = 100
	maxLimit     = 500
	maxPageBytes = 4 << 20 // rows of hostile data may be long
	searchTime   = time.Minute
)

// An api answers what the page asks about items, as JSON. All of it is GET:
//
//	api/items?offset=&limit=&FILTER   {"total", "offset", "rows"}
//	api/step?from=&back=&wrong=&FILTER {"at", "row"}
//	api/place?item=&FILTER            {"at"}
//	api/item?id=&turn=                {"row"}
//
// FILTER is run, against, status, cls, shape, ds and q, see [page.Filter]; what
// is not given is as in the form of the page at the start. at is a place in the
// filtered list, -1 for none, and then row is null. A parameter that is not
// known, is given twice, or has a value that the report does not know is
// answered by 400.
type api struct{ index *page.Index }

func (a api) register(mux *http.ServeMux) {
	filter := []string{"run", "against", "status", "cls", "shape", "ds", "q"}
	for _, e := range []struct {
		name    string
		known   []string
		respond func(context.Context, *params) (any, error)
	}{
		{"items", append([]string{"offset", "limit"}, filter...), a.items},
		{"step", append([]string{"from", "back", "wrong"}, filter...), a.step},
		{"place", append([]string{"item"}, filter...), a.place},
		{"item", []string{"id", "turn"}, a.item},
	} {
		mux.HandleFunc("GET /api/"+e.name, func(w http.ResponseWriter, req *http.Request) {
			p, err := parseParams(req.URL.RawQuery, e.known)
			var result any
			if err == nil {
				// The request's context ends when the reader goes away.
				ctx, cancel := context.WithTimeout(req.Context(), searchTime)
				defer cancel()
				result, err = e.respond(ctx, p)
			}
			respond(w, result, err)
		})
	}
}

// respond writes a result as JSON, or what was wrong as text.
func respond(w http.ResponseWriter, result any, err error) {
	bad, isBad := errors.AsType[*badRequest](err)
	filter, isFilter := errors.AsType[*page.FilterError](err)
	switch {
	case isBad:
		http.Error(w, bad.Error(), http.StatusBadRequest)
		return
	case isFilter:
		http.Error(w, filter.Error(), http.StatusBadRequest)
		return
	case errors.Is(err, context.DeadlineExceeded):
		http.Error(w, fmt.Sprintf("the search took more than %v; narrow it by a filter", searchTime), http.StatusServiceUnavailable)
		return
	case err == nil:
		var b bytes.Buffer
		enc := json.NewEncoder(&b) // which escapes <, > and &
		if err = enc.Encode(result); err == nil {
			answer(w, "application/json", b.Bytes())
			return
		}
	}
	http.Error(w, err.Error(), http.StatusInternalServerError)
}

type itemsAnswer struct {
	Total  int               `json:"total"`
	Offset int               `json:"offset"`
	Rows   []json.RawMessage `json:"rows"`
}

func (a api) items(ctx context.Context, p *params) (any, error) {
	offset, limit := p.number("offset", 0, 0, math.MaxInt32), p.number("limit", defaultLimit, 1, maxLimit)
	found, err := a.find(ctx, p)
	if err != nil {
		return nil, err
	}
	out := itemsAnswer{Total: found.Len(), Offset: offset, Rows: []json.RawMessage{}}
	size := 0
	for at := offset; at < found.Len() && at < offset+limit && size < maxPageBytes; at++ {
		data, err := a.index.Row(found.Item(at))
		if err != nil {
			return nil, err
		}
		out.Rows = append(out.Rows, data)
		size += len(data)
	}
	return out, nil
}

type placeAnswer struct {
	At  int             `json:"at"`
	Row json.RawMessage `json:"row"`
}

func (a api) step(ctx context.Context, p *params) (any, error) {
	from := p.number("from", -1, -1, math.MaxInt32)
	back, wrong := p.number("back", 0, 0, 1), p.number("wrong", 0, 0, 1)
	found, err := a.find(ctx, p)
	if err != nil {
		return nil, err
	}
	column := -1
	if wrong == 1 {
		column = p.filter.Run
	}
	at, ok := found.Next(from, back == 1, column)
	if !ok {
		return placeAnswer{At: -1}, nil
	}
	data, err := a.index.Row(found.Item(at))
	return placeAnswer{at, data}, err
}

func (a api) place(ctx context.Context, p *params) (any, error) {
	item := p.number("item", -1, -1, math.MaxInt32)
	found, err := a.find(ctx, p)
	if err != nil {
		return nil, err
	}
	at, ok := found.At(item)
	if !ok {
		at = -1
	}
	return placeAnswer{At: at}, nil
}

func (a api) item(_ context.Context, p *params) (any, error) {
	turn := p.number("turn", 0, 0, math.MaxInt32)
	if p.err != nil {
		return nil, p.err
	}
	item, ok, err := a.index.Lookup(p.values.Get("id"), turn)
	if err != nil || !ok {
		return placeAnswer{At: -1}, err
	}
	data, err := a.index.Row(item)
	return placeAnswer{-1, data}, err
}

// find returns what passes the filter of a request.
func (a api) find(ctx context.Context, p *params) (page.Found, error) {
	most := a.index.Columns() - 1
	p.filter = page.Filter{
		Run: p.number("run", 0, 0, most), Against: p.number("against", min(1, most), 0, most),
		Status: p.values.Get("status"), Class: p.values.Get("cls"), Shape: p.values.Get("shape"), Dataset: p.values.Get("ds"), Query: p.values.Get("q"),
	}
	if p.err != nil {
		return page.Found{}, p.err
	}
	return a.index.Find(ctx, p.filter)
}

// params are what a request asks. The first fault is kept.
type params struct {
	values url.Values
	filter page.Filter
	err    error
}

// A badRequest is a parameter that cannot be.
type badRequest struct{ name, value, want string }

func (e *badRequest) Error() string { return fmt.Sprintf("%s %.80q: want %s", e.name, e.value, e.want) }

func parseParams(query string, known []string) (*params, error) {
	values, err := url.ParseQuery(query)
	if err != nil {
		return nil, &badRequest{"query", query, "name=value pairs: " + err.Error()}
	}
	names := make([]string, 0, len(values))
	for name := range values {
		names = append(names, name)
	}
	slices.Sort(names) // the same message every time
	for _, name := range names {
		if !slices.Contains(known, name) {
			return nil, &badRequest{"parameter", name, fmt.Sprintf("one of %q", known)}
		}
		if len(values[name]) > 1 {
			return nil, &badRequest{name, values[name][1], "it once"}
		}
	}
	return &params{values: values}, nil
}

// number returns a parameter as a number from low to high.
func (p *params) number(name string, absent, low, high int) int {
	text := p.values.Get(name)
	if text == "" {
		return absent
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < low || n > high {
		if p.err == nil {
			p.err = &badRequest{name, text, fmt.Sprintf("a number from %d to %d", low, high)}
		}
		return absent
	}
	return n
}
