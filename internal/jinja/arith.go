package jinja

import (
	"math"
	"strings"
)

type binaryExpr struct {
	line int
	op   string
	a, b expr
}

func (e *binaryExpr) eval(r *renderer) Value {
	r.step()
	a, b := e.a.eval(r), e.b.eval(r)
	r.line = e.line
	return r.arith(e.op, a, b)
}

func (r *renderer) arith(op string, a, b Value) Value {
	if op == "~" {
		x, y := r.text(a), r.text(b)
		r.grow(len(x) + len(y))
		return x + y
	}
	if v, ok := r.arithTexts(op, a, b); ok {
		return v
	}
	i, okI := integer(a)
	k, okK := integer(b)
	if okI && okK && op != "/" {
		if op == "**" && k < 0 {
			return math.Pow(float64(i), float64(k))
		}
		return r.integers(op, i, k)
	}
	x, okX := number(a)
	y, okY := number(b)
	if !okX || !okY {
		if u, ok := a.(undefined); ok {
			r.failf("%s, so it cannot be used with %s", u.what, op)
		}
		if u, ok := b.(undefined); ok {
			r.failf("%s, so it cannot be used with %s", u.what, op)
		}
		r.failf("cannot do %s %s %s", typeName(a), op, typeName(b))
	}
	return r.floats(op, x, y)
}

// arithTexts is + and * on texts and lists, and % on texts.
func (r *renderer) arithTexts(op string, a, b Value) (Value, bool) {
	switch x := a.(type) {
	case string:
		if y, ok := b.(string); ok && op == "+" {
			r.grow(len(x) + len(y))
			return x + y, true
		}
		if n, ok := integer(b); ok && op == "*" {
			return r.repeat(x, n), true
		}
		if op == "%" {
			return r.format(x, b), true
		}
	case *List:
		if y, ok := b.(*List); ok && op == "+" && x.tuple == y.tuple {
			r.grow(16 * (len(x.Items) + len(y.Items)))
			return &List{Items: append(append([]Value{}, x.Items...), y.Items...), tuple: x.tuple}, true
		}
		if n, ok := integer(b); ok && op == "*" {
			out := &List{tuple: x.tuple}
			if n > 0 && len(x.Items) > 0 {
				r.grow(16 * times(len(x.Items), n))
				for range n {
					out.Items = append(out.Items, x.Items...)
				}
			}
			return out, true
		}
	}
	if y, ok := b.(string); ok && op == "*" {
		if n, ok := integer(a); ok {
			return r.repeat(y, n), true
		}
	}
	return nil, false
}

// times returns n*k, or -1 if that is too much.
func times(n int, k int64) int {
	if k > 0 && int64(n) > (1<<40)/k {
		return -1
	}
	return n * int(k)
}

func (r *renderer) repeat(s string, n int64) string {
	if n <= 0 || s == "" {
		return ""
	}
	r.grow(times(len(s), n))
	return strings.Repeat(s, int(n))
}

func (r *renderer) integers(op string, a, b int64) Value {
	switch op {
	case "+":
		if c := a + b; (c > a) == (b > 0) {
			return c
		}
	case "-":
		if c := a - b; (c < a) == (b > 0) {
			return c
		}
	case "*":
		if a == 0 || b == 0 {
			return int64(0)
		}
		if c := a * b; c/b == a && (a != -1 || b != math.MinInt64) && (b != -1 || a != math.MinInt64) {
			return c
		}
	case "//", "%":
		if b == 0 {
			r.failf("division by zero")
		}
		q, m := a/b, a%b
		if m != 0 && (m < 0) != (b < 0) {
			q, m = q-1, m+b
		}
		if op == "//" {
			return q
		}
		return m
	case "**":
		c := int64(1)
		for range b {
			r.step()
			v, ok := r.integers("*", c, a).(int64)
			if !ok {
				break
			}
			c = v
		}
		return c
	}
	r.failf("%d %s %d is beyond 64 bits", a, op, b)
	return nil
}

func (r *renderer) floats(op string, x, y float64) Value {
	switch op {
	case "+":
		return x + y
	case "-":
		return x - y
	case "*":
		return x * y
	case "**":
		return math.Pow(x, y)
	}
	if y == 0 {
		r.failf("division by zero")
	}
	switch op {
	case "/":
		return x / y
	case "//":
		return math.Floor(x / y)
	}
	m := math.Mod(x, y)
	if m != 0 && (m < 0) != (y < 0) {
		m += y
	}
	return m
}

// format is Python's % for texts, with %s, %d and %%.
func (r *renderer) format(s string, v Value) string {
	args := []Value{v}
	if l, ok := v.(*List); ok && l.tuple {
		args = l.Items
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '%' {
			b.WriteByte(s[i])
			continue
		}
		i++
		switch {
		case i < len(s) && s[i] == '%':
			b.WriteByte('%')
			continue
		case i < len(s) && (s[i] == 's' || s[i] == 'd') && len(args) > 0:
			text := r.text(args[0])
			r.grow(len(text))
			b.WriteString(text)
			args = args[1:]
			continue
		}
		r.failf("%.60q: want %%s, %%d or %%%% and a value for each", s)
	}
	return b.String()
}
