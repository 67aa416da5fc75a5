// Package all lists the sources. It holds no logic of its own: what a source
// is stands in package convert, and each source in its folder.
package all
