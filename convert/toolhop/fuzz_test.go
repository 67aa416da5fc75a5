package toolhop

import (
	"strings"
	"testing"

	"assay/convert/converttest"
	"assay/internal/pylit"
	"assay/qaoa"
)

func FuzzSource(f *testing.F) { converttest.Fuzz(f, Source, "testdata/toolhop") }

// FuzzMine: no source makes it panic, and what is found is an object.
func FuzzMine(f *testing.F) {
	f.Add("def f(a, b=1):\n    return f(a)\n\nx = {'a': 1}\nprint(f(x, b=2))\n")
	f.Add("@d\ndef f(*, a): pass\ntry:\n  f(\n a=1) # f(\n")
	f.Add("def f(): '''\nf(1)'''\nf('\\\n')")
	f.Fuzz(func(t *testing.T, source string) {
		sig := pylit.Signature{Name: "f", Params: []pylit.Param{{Name: "a"}, {Name: "b"}}}
		args, ok := mine(source, sig)
		if ok != (args != "") || ok && args.Kind() != qaoa.Object {
			t.Errorf("mine(%q) = %s, %v", source, args, ok)
		}
		var lines strings.Builder
		eachLine(source, "f", func(l line) bool {
			for _, at := range l.calls {
				if !strings.HasPrefix(l.text[at:], "f") {
					t.Errorf("no call at byte %d of %q", at, l.text)
				}
			}
			lines.WriteString(l.text)
			return true
		})
		if lines.Len() > len(source) {
			t.Errorf("the lines of %q are longer than it is", source)
		}
	})
}
