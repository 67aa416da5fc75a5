package openapi

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"assay/qaoa"
)

// Options are the bounds and choices of [Tools]. The zero value takes the
// defaults.
type Options struct {
	// SkipDeprecated leaves out deprecated operations and parameters. Else a
	// deprecated operation has "[deprecated] " before its description.
	SkipDeprecated bool
	// CleanNames makes every name one that servers with native tool calls
	// take: letters, digits, _ and -, at most 64. Else they stay as they are.
	CleanNames bool
	// MaxBytes is how many bytes a document may have, 64 MiB if 0. As YAML it
	// may have 24 MiB at most.
	MaxBytes int
	// MaxSchema is about how many bytes the parameters of one tool may have,
	// 256 KiB if 0. Schemas are cut where they reach it.
	MaxSchema int
	// MaxDepth is how many levels of schemas a schema may have, 32 if 0.
	// Schemas are cut where they reach it.
	MaxDepth int
}

func (o Options) withDefaults() Options {
	for _, d := range []struct {
		field *int
		value int
	}{{&o.MaxBytes, 64 << 20}, {&o.MaxSchema, 256 << 10}, {&o.MaxDepth, 32}} {
		if *d.field <= 0 {
			*d.field = d.value
		}
	}
	return o
}

// ErrNotOpenAPI is the error of a text that is JSON or YAML, but no OpenAPI 3
// document.
var ErrNotOpenAPI = errors.New("no OpenAPI 3 document")

// Tools returns the tools of the OpenAPI 3 document in data, JSON or YAML, in
// the order of the document, and what was left out, cut or renamed on the way.
// The package comment has the rules.
//
// Versions 3.0 and 3.1 are read by their own rules; a later 3.x as 3.1. The
// same data give the same tools and findings. An error wraps [ErrNotOpenAPI] if
// data is another document; it comes without tools.
func Tools(data []byte, opt Options) ([]qaoa.Tool, []Finding, error) {
	opt = opt.withDefaults()
	if len(data) > opt.MaxBytes {
		return nil, nil, fmt.Errorf("want a document of at most %d bytes, have %d", opt.MaxBytes, len(data))
	}
	v, err := parse(data)
	if err != nil {
		return nil, nil, err
	}
	d := &document{
		root:    v,
		opt:     opt,
		log:     log{seen: map[[2]string]bool{}},
		targets: map[string]target{},
		names:   map[string]int{},
		left:    maxTotal,
	}
	if err := d.version(); err != nil {
		return nil, nil, err
	}
	d.keys = d.securityKeys()
	d.paths()
	if d.unsafe > 0 {
		d.log.add(UnsafeName, d.firstUnsafe, fmt.Sprintf("servers with native tool calls want names of letters, digits, _ and -, at most 64; %d of %d names are others, the first here", d.unsafe, len(d.tools)))
	}
	return d.tools, d.log.findings, nil
}

// A document is an OpenAPI document of which tools are being made.
type document struct {
	root    qaoa.Value
	opt     Options
	old     bool // version 3.0, whose schemas are not quite JSON Schemas
	log     log
	targets map[string]target // what references led to
	names   map[string]int    // names of tools that are taken, and how often they were wanted
	keys    map[[2]string]bool
	left    int // bytes that all tools may still have
	// unsafe is how many names servers with native calls refuse. Where one does
	// nearly all do, so that they make one finding.
	unsafe      int
	firstUnsafe *place
	tools       []qaoa.Tool
}

// maxTotal is about how many bytes the schemas of all tools may have. Ten
// thousand operations that share one large component have more.
const maxTotal = 512 << 20

// version looks at what the document says that it is.
func (d *document) version() error {
	if old, ok := d.root.Get("swagger"); ok {
		return fmt.Errorf("%w: want openapi 3.0 or 3.1, have swagger %.20s: convert it to OpenAPI 3 first", ErrNotOpenAPI, old.JSON().Text())
	}
	v, ok := d.root.Get("openapi")
	version := v.JSON().Text()
	if !ok || version != "3" && !strings.HasPrefix(version, "3.") {
		return fmt.Errorf(`%w: want a member "openapi" of 3.0 or 3.1, have %.40s`, ErrNotOpenAPI, short(v))
	}
	d.old = version == "3.0" || strings.HasPrefix(version, "3.0.")
	return nil
}

// securityKeys returns where security schemes want their keys: place and name.
func (d *document) securityKeys() map[[2]string]bool {
	keys := map[[2]string]bool{}
	components, _ := d.root.Get("components")
	schemes, _ := components.Get("securitySchemes")
	at := root.in("components").in("securitySchemes")
	for _, m := range schemes.Members {
		scheme, _, ok := d.follow(m.Value, at.in(m.Name))
		if ok && text(scheme, "type") == "apiKey" {
			keys[[2]string{text(scheme, "in"), strings.ToLower(text(scheme, "name"))}] = true
		}
	}
	return keys
}

// methods are the members of a path that are operations.
var methods = map[string]bool{
	"get": true, "put": true, "post": true, "delete": true, "options": true,
	"head": true, "patch": true, "trace": true, "query": true,
}

// paths makes the tools of all operations.
func (d *document) paths() {
	paths, _ := d.root.Get("paths")
	at := root.in("paths")
	if paths.Kind != qaoa.Object && paths.Kind != qaoa.Invalid {
		d.log.add(BadOperation, at, "want an object of paths, have "+short(paths))
	}
	for _, p := range paths.Members {
		if strings.HasPrefix(p.Name, "x-") {
			continue
		}
		item, here, ok := d.follow(p.Value, at.in(p.Name))
		if !ok {
			continue
		}
		if len(p.Value.Members) > 1 && text(p.Value, "$ref") != "" {
			d.log.add(BadOperation, at.in(p.Name), "want nothing beside the reference of a path, have more: left out")
		}
		if item.Kind != qaoa.Object {
			d.log.add(BadOperation, here, "want an object of operations, have "+short(item)+": left out")
			continue
		}
		for _, m := range item.Members {
			if methods[m.Name] {
				d.operation(operation{method: m.Name, path: p.Name, item: item, itemAt: here, op: m.Value, at: here.in(m.Name)})
			}
		}
	}
}

// An operation is one method of one path.
type operation struct {
	method, path string
	item, op     qaoa.Value
	itemAt, at   *place
}

// operation makes the tool of an operation.
func (d *document) operation(o operation) {
	if o.op.Kind != qaoa.Object {
		d.log.add(BadOperation, o.at, "want an operation as an object, have "+short(o.op)+": left out")
		return
	}
	if d.left <= 0 {
		d.log.add(TooLarge, o.at, fmt.Sprintf("want at most %d bytes of schemas in all tools, have more: left out", maxTotal))
		return
	}
	deprecated := is(o.op, "deprecated")
	if deprecated && d.opt.SkipDeprecated {
		d.log.add(Deprecated, o.at, "a deprecated operation: left out")
		return
	}
	t := qaoa.Tool{Name: d.name(o), Description: d.describe(o)}
	if deprecated {
		t.Description = strings.TrimSpace("[deprecated] " + t.Description)
	}
	t.Parameters = d.parameters(o).JSON()
	d.tools = append(d.tools, t)
}

// name returns the name of the tool of o, which no other tool has.
func (d *document) name(o operation) string {
	want := strings.TrimSpace(text(o.op, "operationId"))
	if want == "" {
		want = pathName(o.method, o.path)
	}
	clean := cleanName(want)
	if clean != want {
		if d.opt.CleanNames {
			want = clean
		} else {
			if d.unsafe == 0 {
				d.firstUnsafe = o.at.in("operationId")
			}
			d.unsafe++
		}
	}
	name := want
	for d.names[name] > 0 {
		d.names[want]++
		end := "_" + strconv.Itoa(d.names[want])
		name = want + end
		if d.opt.CleanNames && len(name) > maxName {
			name = want[:maxName-len(end)] + end
		}
	}
	if name != want {
		d.log.add(Renamed, o.at, fmt.Sprintf("want names that differ, have %.100q again: called %.100q", want, name))
	}
	d.names[name] = 1
	return name
}

// maxName is how long the name of a tool may be for servers with native calls.
const maxName = 64

// pathName returns a name made of the method and the path of an operation:
// all that is no letter or digit becomes one _.
func pathName(method, path string) string {
	words := strings.FieldsFunc(path, func(c rune) bool { return !isWord(c) })
	return strings.Join(append([]string{method}, words...), "_")
}

func isWord(c rune) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

// cleanName returns name with other characters than letters, digits, _ and -
// replaced by _, and cut to 64.
func cleanName(name string) string {
	name = strings.Map(func(c rune) rune {
		if isWord(c) || c == '_' || c == '-' {
			return c
		}
		return '_'
	}, name)
	return name[:min(len(name), maxName)]
}

// describe returns the description of the tool of o: of the operation, or else
// of its path.
func (d *document) describe(o operation) string {
	for _, v := range []qaoa.Value{o.op, o.item} {
		summary := strings.TrimSpace(text(v, "summary"))
		description := strings.TrimSpace(text(v, "description"))
		switch {
		case summary == "" && description == "":
			continue
		case description == "" || strings.HasPrefix(summary, description):
			return summary
		case summary == "" || strings.HasPrefix(description, strings.TrimSuffix(summary, ".")):
			return description
		}
		return summary + "\n" + description
	}
	return ""
}
