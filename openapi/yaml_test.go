package openapi

import (
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	tests := []struct{ name, data, want string }{
		{"JSON keeps order and numbers", `{"b":1.0,"a":9007199254740993}`, `{"b":1.0,"a":9007199254740993}`},
		{"a byte order mark is passed over", "\ufeff{\"b\":1}", `{"b":1}`},
		{"YAML keeps order and numbers", "b: 1.0\na: 9007199254740993\n", `{"b":1.0,"a":9007199254740993}`},
		{"numbers of YAML become numbers of JSON", "a: 0x1F\nb: 0o17\nc: 1_000\nd: +5\ne: .5\nf: 1e3\n", `{"a":31,"b":15,"c":1000,"d":5,"e":0.5,"f":1e3}`},
		{"keys are texts", "200: ok\n1.5: x\ntrue: y\n'404': z\n", `{"200":"ok","1.5":"x","true":"y","404":"z"}`},
		{"scalars", "a: yes\nb: true\nc: ~\nd:\ne: '1'\nf: 2020-01-01\ng: .inf\nh: !!str 12\n", `{"a":"yes","b":true,"c":null,"d":null,"e":"1","f":"2020-01-01","g":".inf","h":"12"}`},
		{"block texts", "a: |\n  x\n  y\nb: >\n  x\n  y\n", `{"a":"x\ny\n","b":"x y\n"}`},
		{"sequences", "a:\n- 1\n- b: 2\n  c: 3\n- [x, {y: z}]\n", `{"a":[1,{"b":2,"c":3},["x",{"y":"z"}]]}`},
		{"anchors and aliases", "a: &x {p: 1}\nb: *x\nc: [*x, *x]\n", `{"a":{"p":1},"b":{"p":1},"c":[{"p":1},{"p":1}]}`},
		{"a merge key comes first and is replaced", "a: &x {p: 1, q: 2}\nb:\n  <<: *x\n  q: 3\n  r: 4\n", `{"a":{"p":1,"q":2},"b":{"p":1,"q":3,"r":4}}`},
		{"several merge keys, the first counts", "a: &x {p: 1}\nb: &y {p: 2, q: 2}\nc:\n  <<: [*x, *y]\n", `{"a":{"p":1},"b":{"p":2,"q":2},"c":{"p":1,"q":2}}`},
		{"the first document of several", "---\na: 1\n---\nb: 2\n", `{"a":1}`},
		{"a flow mapping over lines", "{a: 1,\n b: [x]}", `{"a":1,"b":["x"]}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			v, err := parse([]byte(tt.data))
			if err != nil {
				t.Fatal(err)
			}
			if got := string(v.JSON()); got != tt.want {
				t.Errorf("have %s, want %s", got, tt.want)
			}
		})
	}
}

func TestParseErrors(t *testing.T) {
	bomb := "a0: &a0 [x, x, x, x, x, x, x, x, x]\n"
	for i := range 9 {
		this, last := string(rune('1'+i)), string(rune('0'+i))
		bomb += "a" + this + ": &a" + this + " [" + strings.TrimSuffix(strings.Repeat("*a"+last+", ", 9), ", ") + "]\n"
	}
	tests := []struct{ name, data, want string }{
		{"nothing", "", "want a document"},
		{"broken JSON", `{"a":`, "no JSON"},
		{"broken YAML", "a: [", "no YAML"},
		{"aliases of aliases of aliases", bomb, "values from aliases"},
		{"an alias inside of its anchor", "a: &x\n  b: *x\n", "inside of its own anchor"},
		{"an alias without an anchor", "a: *x\n", "anchor"},
		{"brackets without end", strings.Repeat("[", 1_000_000), "levels of brackets"},
		{"braces without end", "a: " + strings.Repeat("{a: ", 1_000_000), "levels of brackets"},
		{"dashes without end", strings.Repeat("- ", 1_000_000), "levels of indentation"},
		{"question marks without end", strings.Repeat("? ", 1_000_000), "levels of indentation"},
		{"a large YAML document", "a: 1\n" + strings.Repeat("# x\n", 7<<20), "convert it to JSON first"},
		{"a large document that begins like JSON", "{a: 1" + strings.Repeat(" ", 2<<20) + "}", "no JSON"},
		{"indentation without end", strings.Repeat(" ", 10_000) + "a: 1", "levels of indentation"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if v, err := parse([]byte(tt.data)); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("have %.60s and error %v, want an error with %q", v.JSON(), err, tt.want)
			}
		})
	}
}
