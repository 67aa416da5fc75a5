package mcp

// EndpointName returns an endpoint as errors show it, without the arguments of
// a command and without what may be a key in a URL; "" if s is no endpoint.
func EndpointName(s string) string {
	e, err := parseEndpoint(s)
	if err != nil {
		return ""
	}
	return e.String()
}
