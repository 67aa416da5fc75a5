package modeltest_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"assay/model/modeltest"
	"assay/qaoa"
)

// post sends a chat and returns status and body; a cut body is an error.
func post(t *testing.T, url, body string) (int, qaoa.Value, error) {
	t.Helper()
	resp, err := http.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		return 0, qaoa.Value{}, err
	}
	defer func() { _ = resp.Body.Close() }()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		return resp.StatusCode, qaoa.Value{}, err
	}
	v, err := qaoa.ParseValue(data)
	return resp.StatusCode, v, err
}

const chat = `{"model":"test-model","messages":[{"role":"user","content":"hi"}],"tools":[{},{}]}`

func TestServerFollowsItsScript(t *testing.T) {
	s := modeltest.NewServer(t, modeltest.Sequence(
		modeltest.Reply{Text: "one"},
		modeltest.Reply{Status: 503, Text: "busy"},
		modeltest.Reply{Text: "three", Cut: 5},
		modeltest.Reply{Text: "last"},
	))
	for i, want := range []struct {
		status int
		text   string // of the message, or of the error; "" if the body is cut
	}{{200, "one"}, {503, "busy"}, {200, ""}, {200, "last"}, {200, "last"}} {
		status, v, err := post(t, s.URL+"/v1/chat/completions", chat)
		if status != want.status || (err != nil) != (want.text == "") || err == nil && !strings.Contains(string(v.JSON()), `"`+want.text+`"`) {
			t.Errorf("request %d: status %d, %s, %v; want %d with %q", i, status, v.JSON(), err, want.status, want.text)
		}
	}
	reqs := s.Requests()
	if len(reqs) != 5 || reqs[4].N != 4 || reqs[0].Last() != "hi" || reqs[0].Tools != 2 || reqs[0].Path != "/v1/chat/completions" {
		t.Errorf("%d requests, the first %+v", len(reqs), reqs[0])
	}
}

func TestServerKnowsItsModels(t *testing.T) {
	s := modeltest.NewServer(t, modeltest.Say("hi"))
	for _, path := range []string{"/v1/chat/completions", "/api/chat", "/api/show"} {
		status, v, err := post(t, s.URL+path, `{"model":"other","messages":[]}`)
		if status != http.StatusNotFound || err != nil || !strings.Contains(string(v.JSON()), "'other' not found") {
			t.Errorf("%s: status %d, %s, %v", path, status, v.JSON(), err)
		}
	}
	if status, _, _ := post(t, s.URL+"/api/chat", "{"); status != http.StatusBadRequest {
		t.Errorf("a body that is no JSON: status %d", status)
	}
}
