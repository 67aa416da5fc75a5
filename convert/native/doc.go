// Package native reads this program's own records as a source, so that they
// can be checked, brought together from several files, and written again in
// either form. An element is a record in native form
//
//	{"schema":"qaoa/1","id":"acme/7","source":{"name":"acme","file":"a.json","index":7,"split":"test"},
//	 "tools":[{"name":"add","description":"Adds","parameters":{"type":"object","properties":{"a":{"type":"integer"}}}}],
//	 "turns":[{"query":"What is 2 + 3?","steps":[{"calls":[{"name":"add","arguments":{"a":2}}]}],"answer":"5"}]}
//
// or in interchange form, each as its strict reader takes it: a fault of
// structure is parse_error with the path of the culprit. What others wrote in
// the layout of interchange is for package sharegpt.
//
// Nothing is changed in tools, turns, system text and meta, except that meta
// gets a member source with what the record said of itself, unless it has one:
// the records of a run belong to that run, with its own name, file and split.
// The ID is "qaoa/" and the old one, whose prefix "qaoa/" is not repeated; so a
// second run changes nothing but file and index.
package native
