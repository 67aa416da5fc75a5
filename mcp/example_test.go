package mcp_test

import (
	"fmt"

	"assay/mcp"
)

func ExampleCheckEndpoint() {
	fmt.Println(mcp.CheckEndpoint("stdio:npx -y 'my server' /data"))
	fmt.Println(mcp.CheckEndpoint("localhost:8000/mcp"))
	// Output:
	// <nil>
	// endpoint "localhost": want stdio:COMMAND ARG…, http://HOST/PATH or https://HOST/PATH
}
