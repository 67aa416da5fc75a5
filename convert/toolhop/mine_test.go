package toolhop

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"assay/internal/pylit"
	"assay/qaoa"
)

func TestMine(t *testing.T) {
	const def = "def f(a, b=1, *, c=None):\n    f('inside')\n    return a\n\n"
	tests := []struct{ name, source, want string }{
		{"a call by itself", def + "f('x')\n", `{"a":"x"}`},
		{"assigned and printed later", def + "# Example usage\nresult = f('x', 2)  # f(3)\nprint(result)", `{"a":"x","b":2}`},
		{"printed", def + "print(f('x', c=[1, {'k': (None, True)}]))", `{"a":"x","c":[1,{"k":[null,true]}]}`},
		{"over several lines, with comments", def + "f(\n    a='x',  # (the\n    b=-1.50\n)", `{"a":"x","b":-1.50}`},
		{"in a try block", def + "try:\n    x = f('x')\nexcept ValueError as e:\n    print(e)", `{"a":"x"}`},
		{"the first of two", def + "f(1)\nf(2)", `{"a":1}`},
		{"the second if the first cannot be read", def + "f(g(1))\nf(2)", `{"a":2}`},
		{"a variable", def + "params = {\n 'k': 'x',\n}\nresult = f(params, b=params)\nf(params)", `{"a":{"k":"x"}}`},
		{"no arguments", def + "f()", `{}`},
		{"a helper between", def + "def g():\n    f('g')\n\nf('x')", `{"a":"x"}`},
		{"a decorator, and an import before", "import re\n@cache\n" + def + "f('x')", `{"a":"x"}`},
		{"line breaks of Windows", "def f(a):\r\n  return f(1)\r\n\r\nf('x')\r\n", `{"a":"x"}`},
		{"a line that goes on", def + "x = \\\n  f('x')", `{"a":"x"}`},
		{"only inside", def, ""},
		{"in a comment", def + "# f('x')", ""},
		{"in a string", def + "'''\nf('x')\n'''\n\"f('y')\"", ""},
		{"before the function", "f('x')\n" + def, ""},
		{"of another", def + "g.f('x')\nff('x')\nf", ""},
		{"too many by position", def + "f(1, 2, 3)", ""},
		{"given twice", def + "f(1, a=2)", ""},
		{"no literal", def + "f(open('x'))\nf(1 + 1)\nf(y)", ""},
		{"cut off", def + "f('x", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			sig, rej := signature(qaoa.StringValue(tt.source), 0)
			if rej != nil {
				t.Fatal(rej)
			}
			if got, _ := mine(tt.source, sig); string(got) != tt.want {
				t.Errorf("mine(%q) = %s, want %s", tt.source, got, tt.want)
			}
		})
	}
}

func TestMineIsLinear(t *testing.T) {
	// By the square these would take minutes and gigabytes.
	sig := pylit.Signature{Name: "f", Params: []pylit.Param{{Name: "a"}}}
	big := "x = [" + strings.Repeat("1,", 1<<16) + "]\n"
	if args, ok := mine("def f(a): 0\n"+big+strings.Repeat("f(x, y);", 1<<15), sig); ok {
		t.Errorf("mined %.40s", args)
	}
	if _, ok := mine("def f(a): 0\n"+big+"f(["+strings.Repeat("x,", 1<<15)+"])", sig); ok {
		t.Error("a variable was replaced again and again")
	}
}

// TestRealSources counts the functions whose source has a call that can be
// read. Of 450, 293 have one by a count with Python's own parser; one of them
// has a variable as its argument.
func TestRealSources(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", "..", "..", "shared", "data", "raw", "toolhop", "toolhop-100.localbench.jsonl"))
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("no ../shared/data: %v", err)
		}
		t.Skip("no ../shared/data: put parts of ToolHop beside the project, under ../shared/data/raw/toolhop")
	}
	read, mined := 0, 0
	for line := range strings.Lines(string(data)) {
		v, err := qaoa.ParseValue(line)
		if err != nil {
			t.Fatal(err)
		}
		functions, _ := v.Get("functions")
		for i, f := range functions.Items {
			sig, rej := signature(f, i)
			if rej != nil {
				t.Fatal(rej)
			}
			read++
			if _, ok := mine(f.Text, sig); ok {
				mined++
			}
		}
	}
	if read != 450 || mined != 293 {
		t.Errorf("read %d functions and mined %d, want 450 and 293", read, mined)
	}
}
