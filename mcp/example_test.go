package mcp_test

import (
	"fmt"

	"assay/mcp"
)

func ExampleParseToolsList() {
	tools, err := mcp.ParseToolsList([]byte(`{"jsonrpc": "2.0", "id": 2, "result": {"tools": [
		{"name": "weather", "inputSchema": {"type": "object", "properties": {"city": {"type": "string"}}}}]}}`))
	fmt.Println(tools[0].Name, tools[0].Parameters, err)
	// Output: weather {"type":"object","properties":{"city":{"type":"string"}}} <nil>
}

func ExampleCheckEndpoint() {
	fmt.Println(mcp.CheckEndpoint("stdio:npx -y 'my server' /data"))
	fmt.Println(mcp.CheckEndpoint("localhost:8000/mcp"))
	// Output:
	// <nil>
	// endpoint "localhost": want stdio:COMMAND ARG…, http://HOST/PATH or https://HOST/PATH
}
