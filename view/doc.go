// Package view serves a built report (package page) to a browser on the same
// machine.
//
// It is read-only and small: the page, and its blobs by number. No path of a
// request ever becomes the name of a file. A request whose Host header is not
// the address that is served is refused, so that no site on the web can reach
// the report through a name that it points to this machine (DNS rebinding).
package view
