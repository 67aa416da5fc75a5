package plot

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// fills returns the colours of the classes in one mode.
func fills(css string) map[string][3]float64 {
	out := map[string][3]float64{}
	for line := range strings.Lines(css) {
		sel, rule, ok := strings.Cut(line, "{")
		if !ok {
			continue
		}
		_, hex, ok := strings.Cut(rule, "fill:#")
		if !ok {
			continue
		}
		hex = strings.TrimRight(hex, "}\n")
		if len(hex) == 3 {
			hex = string([]byte{hex[0], hex[0], hex[1], hex[1], hex[2], hex[2]})
		}
		var rgb [3]float64
		for i := range rgb {
			n, err := strconv.ParseUint(hex[2*i:2*i+2], 16, 8)
			if err != nil {
				panic(err)
			}
			rgb[i] = float64(n) / 255
		}
		for s := range strings.SplitSeq(sel, ",") {
			out[strings.TrimPrefix(strings.TrimPrefix(s, ".assay-plot "), ".")] = rgb
		}
	}
	return out
}

// contrast returns the contrast ratio of WCAG 2.2, from 1 to 21.
func contrast(a, b [3]float64) float64 {
	luminance := func(c [3]float64) float64 {
		for i, v := range c {
			if v <= .04045 {
				c[i] = v / 12.92
			} else {
				c[i] = math.Pow((v+.055)/1.055, 2.4)
			}
		}
		return .2126*c[0] + .7152*c[1] + .0722*c[2]
	}
	x, y := luminance(a)+.05, luminance(b)+.05
	return max(x, y) / min(x, y)
}

// Text can be read on the page and on the bars in either mode, and bars stand
// out from the page.
func TestContrast(t *testing.T) {
	light, dark, ok := strings.Cut(style, "@media (prefers-color-scheme:dark)")
	if !ok {
		t.Fatal("no dark mode")
	}
	for mode, css := range map[string]string{"light": light, "dark": dark} {
		c := fills(css)
		check := func(front, back string, least float64) {
			a, okA := c[front]
			b, okB := c[back]
			if !okA || !okB {
				t.Errorf("%s: no colour for %s or %s", mode, front, back)
			} else if got := contrast(a, b); got < least {
				t.Errorf("%s: %s on %s has a contrast of %.2f, want %.1f", mode, front, back, got, least)
			}
		}
		for _, class := range []string{"text", "title", "heading", "panel", "note"} {
			check(class, "page", 4.5)
		}
		for i := range palette {
			check("on", fmt.Sprintf("s%d", i), 4.5)
			check(fmt.Sprintf("s%d", i), "page", 3)
		}
		check("tail", "page", 2.5) // its label says that it is there
	}
}

func TestFit(t *testing.T) {
	for _, test := range []struct {
		s     string
		width float64
		want  string
	}{
		{"short", 200, "short"},
		{"a very long name of a source", 60, "a very lon…"},
		{"天気予報を調べる", 45, "天気予…"},
		{"anything", 0, "…"},
		{"", 0, ""},
	} {
		if got := fit(test.s, 10, test.width); got != test.want {
			t.Errorf("fit(%q, 10, %v) = %q, want %q", test.s, test.width, got, test.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "s")
		width := rapid.Float64Range(0, 300).Draw(t, "width")
		got := fit(s, labelSize, width)
		if w := textWidth(got, labelSize); w > max(width, textWidth("…", labelSize))+1e-6 {
			t.Fatalf("fit(%q, %v) = %q is %v wide", s, width, got, w)
		}
		if got != s && !strings.HasPrefix(s, strings.TrimSuffix(got, "…")) {
			t.Fatalf("fit(%q) = %q is no beginning of it", s, got)
		}
	})
}

func TestShort(t *testing.T) {
	for v, want := range map[float64]string{0: "0", .5: "0.5", 20: "20", 1_500: "1.5k", 300_000: "300k", 2e6: "2M", 5e9: "5G", 1e12: "1T"} {
		if got := short(v); got != want {
			t.Errorf("short(%v) = %s, want %s", v, got, want)
		}
	}
}
