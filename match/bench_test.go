package match

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"assay/qaoa"
)

func BenchmarkCanonical(b *testing.B) {
	for _, bm := range []struct{ name, json string }{
		{"number", `40.7128`},
		{"number string", `"40.7128"`},
		{"date", `"April 1, 2023"`},
		{"text", `"Cheap hotels near the old town"`},
		{"text not ASCII", `"Günstige Hotels nahe der Altstadt"`},
		{"literal", `"[1, 2, {'a': True}]"`},
		{"object", `{"city":"Oslo","from":"2023-04-01","guests":2,"filters":{"stars":[4,5],"pool":true}}`},
	} {
		b.Run(bm.name, func(b *testing.B) {
			v, err := qaoa.ParseValue(bm.json)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			b.SetBytes(int64(len(bm.json)))
			for b.Loop() {
				Canonical(v, Options{})
			}
		})
	}
}

// words returns n tokens of about 4n/5 kinds, and the same with every tenth
// one changed if near is set, others if not.
func words(n int, near bool) (a, b []string) {
	rnd := rand.New(rand.NewPCG(uint64(n), 7))
	for i := range n {
		a = append(a, fmt.Sprintf("w%d", rnd.IntN(n)))
		switch {
		case near && i%10 != 9:
			b = append(b, a[i])
		default:
			b = append(b, fmt.Sprintf("w%d", rnd.IntN(n)))
		}
	}
	return a, b
}

func BenchmarkRougeL(b *testing.B) {
	for _, n := range []int{5, 50, 500, 5000} {
		for _, kind := range []string{"near", "unlike"} {
			x, y := words(n, kind == "near")
			b.Run(fmt.Sprintf("%s/%d", kind, n), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					RougeL(x, y)
				}
			})
			b.Run(fmt.Sprintf("threshold/%s/%d", kind, n), func(b *testing.B) {
				var v vocabulary
				s, want, got := lcsScratch{}, v.intern(y), v.intern(x)
				b.ReportAllocs()
				for b.Loop() {
					s.reaches(want, got, len(v.ids), need(n, n, 7, 10))
				}
			})
		}
	}
}

func BenchmarkInstance(b *testing.B) {
	tools := []qaoa.Tool{{Name: "search_hotels", Parameters: `{"type":"object","properties":{"city":{},"limit":{"default":10}}}`}}
	call := func(query string, n int) qaoa.Call {
		args := fmt.Sprintf(`{"city":"Oslo","query":%q,"from":"2023-04-01","guests":%d}`, query, n)
		return qaoa.Call{Name: "search_hotels", Arguments: qaoa.JSON(args)}
	}
	for _, n := range []int{1, 4, 16} {
		var gold, equal, similar []qaoa.Call
		for i := range n {
			q := "hotels near the old town " + strings.Repeat("x", i)
			gold = append(gold, call(q, i))
			equal = append(equal, call(q, i))
			similar = append(similar, call("cheap "+q, i))
		}
		for _, side := range []struct {
			name string
			pred []qaoa.Call
		}{{"equal", equal}, {"similar", similar}} {
			b.Run(fmt.Sprintf("%s/%d", side.name, n), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					Instance(gold, side.pred, tools, Options{})
				}
			})
			b.Run(fmt.Sprintf("prepared/%s/%d", side.name, n), func(b *testing.B) {
				g := Prepare(gold, tools, Options{})
				b.ReportAllocs()
				for b.Loop() {
					g.Counts(side.pred)
				}
			})
		}
	}
}

// One gold call with alternatives under each preset, prepared once.
func BenchmarkPresets(b *testing.B) {
	tools := []qaoa.Tool{{Name: "search_hotels", Parameters: `{"properties":{"city":{"type":"string"},"query":{"type":"string"},"guests":{"type":"integer"}},"required":["city"]}`}}
	gold := []qaoa.Call{{Name: "search_hotels", Arguments: `{"city":"Oslo","query":"hotels near the old town","guests":2}`}}
	pred := []qaoa.Call{{Name: "search_hotels", Arguments: `{"city":"oslo","query":"cheap hotels near the old town","guests":2}`}}
	alt, err := ParseAlternatives(`{"alternatives":[{"city":["Oslo"],"query":["cheap hotels near the old town","hotels near the old town"],"guests":[2,""]}]}`, 1)
	if err != nil {
		b.Fatal(err)
	}
	for _, opt := range append(presets(), foreignPresets()...) {
		b.Run(opt.Name, func(b *testing.B) {
			g := PrepareWith(gold, tools, alt, opt)
			b.ReportAllocs()
			for b.Loop() {
				g.Counts(pred).Score(opt)
			}
		})
	}
}
