package mcp_test

import (
	"testing"

	"assay/mcp"
)

func TestEndpointName(t *testing.T) {
	for in, want := range map[string]string{
		"stdio:server --key secret":            "stdio:server",
		"https://u:secret@host/mcp?key=secret": "https://host/mcp",
		"http://127.0.0.1:8000/mcp#x":          "http://127.0.0.1:8000/mcp",
		"ftp://host":                           "",
	} {
		if got := mcp.EndpointName(in); got != want {
			t.Errorf("EndpointName(%q) = %q, want %q", in, got, want)
		}
	}
}
