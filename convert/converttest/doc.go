// Package converttest is what every source of package convert promises, as a
// test suite. A source is tested by a folder with
//
//	raw/      small files of the publisher's form, elements to reject included
//	want.txt  the records and rejects that must come out
//
// and one call of [Run]; "go test -update" rewrites want.txt.
package converttest
