package model_test

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"assay/model"
)

// floats draws finite float32 numbers, tiny and huge ones included.
func floats() *rapid.Generator[[]float32] {
	return rapid.SliceOf(rapid.Custom(func(t *rapid.T) float32 {
		f := math.Float32frombits(rapid.Uint32().Draw(t, "bits"))
		if math.IsNaN(float64(f)) || math.IsInf(float64(f), 0) {
			return 0
		}
		return f
	}))
}

func TestVectorsTravelExactly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := floats().Draw(t, "vector")
		items := make([]string, len(want))
		var raw []byte
		for i, f := range want {
			width := 32
			if i%2 == 1 {
				width = 64 // servers print either
			}
			items[i] = strconv.FormatFloat(float64(f), 'g', -1, width)
			raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(f))
		}
		got, err := model.DecodeVector([]byte("[ " + strings.Join(items, " ,\n") + " ]"))
		if err != nil || !sameBits(got, want) {
			t.Fatalf("DecodeVector = %v, %v; want %v", got, err, want)
		}
		got, err = model.DecodeVectorBase64(base64.StdEncoding.EncodeToString(raw))
		if err != nil || !sameBits(got, want) {
			t.Fatalf("DecodeVectorBase64 = %v, %v; want %v", got, err, want)
		}
	})
}

func sameBits(a, b []float32) bool {
	return slices.EqualFunc(a, b, func(x, y float32) bool { return math.Float32bits(x) == math.Float32bits(y) })
}

func TestDecodeVectorRefuses(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"null", `[1, null]`, "/1: "},
		{"a word", `[NaN]`, "/0: "},
		{"infinity", `[1, 2, Infinity]`, "/2: "},
		{"a number over the range", `[1e39]`, "/0: "},
		{"a hexadecimal number", `[0x1p3]`, "/0: "},
		{"a list in the list", `[[1, 2]]`, "/0: "},
		{"nothing between commas", `[1,,2]`, "/1: "},
		{"no list", `"abc"`, "want an array"},
		{"nothing", ``, "want an array"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := model.DecodeVector([]byte(tt.text))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("DecodeVector(%s) = %v, %v; want an error with %q", tt.text, got, err, tt.want)
			}
		})
	}
	for _, text := range []string{"AAA=", "!", "AADAfw==" /* NaN */} {
		if got, err := model.DecodeVectorBase64(text); err == nil {
			t.Errorf("DecodeVectorBase64(%s) = %v, want an error", text, got)
		}
	}
}

func FuzzDecodeVector(f *testing.F) {
	for _, s := range []string{"[1,2.5,-1e-3]", "[]", "[null]", "[1,", "x"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := model.DecodeVector(data)
		for _, x := range v {
			if y := float64(x); err == nil && (math.IsNaN(y) || math.IsInf(y, 0)) {
				t.Errorf("DecodeVector(%q) holds %v", data, x)
			}
		}
	})
}

func TestCheckVectors(t *testing.T) {
	for _, tt := range []struct {
		name    string
		vectors [][]float32
		texts   int
		dim     int
		want    string
	}{
		{"good ones pass", [][]float32{{1, 0}, {0, 1}}, 2, 0, ""},
		{"the dimension asked for passes", [][]float32{{1, 0}}, 1, 2, ""},
		{"too few", [][]float32{{1}}, 2, 0, "want 2 vectors for 2 texts, have 1"},
		{"another dimension than asked", [][]float32{{1, 2}}, 1, 3, "want 3 dimensions, as asked, have 2"},
		{"two dimensions", [][]float32{{1, 2}, {1}}, 2, 0, "has 1 dimensions, those before it 2"},
		{"an empty one", [][]float32{{}}, 1, 0, "is empty"},
		{"zeros", [][]float32{{1, 2}, {0, 0}}, 2, 0, "vector 1 of 2 is all zeros"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			fail := model.CheckVectors("x/y", tt.vectors, tt.texts, tt.dim)
			if tt.want == "" {
				if fail != nil {
					t.Errorf("want nil, have %v", fail)
				}
				return
			}
			if fail == nil || !strings.Contains(fail.Msg, "x/y: ") || !strings.Contains(fail.Msg, tt.want) {
				t.Errorf("have %v, want a message with %q", fail, tt.want)
			}
		})
	}
}

// capped is a server that refuses lists longer than most, and texts that begin
// with "long". It notes the lengths it was asked for.
func capped(most int, asked *[]int) func(context.Context, []string) ([][]float32, error) {
	return func(_ context.Context, texts []string) ([][]float32, error) {
		*asked = append(*asked, len(texts))
		if len(texts) > most {
			return nil, model.OrHalve(&model.Error{Class: model.ClassServer, Status: 500}, len(texts))
		}
		out := make([][]float32, len(texts))
		for i, text := range texts {
			if strings.HasPrefix(text, "long") {
				return nil, &model.Error{Class: model.ClassTruncated, Status: 400, Msg: "too long"}
			}
			n, err := strconv.Atoi(text)
			if err != nil {
				return nil, err
			}
			out[i] = []float32{float32(n)}
		}
		return out, nil
	}
}

func TestHalvingKeepsOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		most, n := rapid.IntRange(1, 40).Draw(t, "most"), rapid.IntRange(0, 100).Draw(t, "texts")
		texts := make([]string, n)
		for i := range texts {
			texts[i] = strconv.Itoa(i)
		}
		var h model.Halving
		var asked []int
		for range 2 {
			got, err := h.Embed(t.Context(), texts, capped(most, &asked))
			if err != nil || len(got) != n {
				t.Fatalf("%d vectors, %v", len(got), err)
			}
			for i, v := range got {
				if v[0] != float32(i) {
					t.Fatalf("vector %d is that of text %v", i, v[0])
				}
			}
		}
		if n <= most && !slices.Equal(asked, slices.Repeat([]int{n}, min(n, 1)*2)) {
			t.Errorf("requests of %v texts, want two of %d", asked, n)
		}
	})
}

func TestHalvingLearns(t *testing.T) {
	texts := strings.Fields(strings.Repeat("7 ", 64))
	var h model.Halving
	var asked []int
	for range 2 {
		if _, err := h.Embed(t.Context(), texts, capped(20, &asked)); err != nil {
			t.Fatal(err)
		}
	}
	// 64 is refused, 32 is refused, 16 works; the rest of the first list is
	// still cut by halves, and then nothing is refused any more.
	want := []int{64, 32, 16, 16, 32, 16, 16, 16, 16, 16, 16}
	if !slices.Equal(asked, want) || h.Most() != 16 {
		t.Errorf("requests of %v texts, at most %d; want %v, 16", asked, h.Most(), want)
	}
}

func TestHalvingNamesTheTextThatIsRefused(t *testing.T) {
	var h model.Halving
	var asked []int
	_, err := h.Embed(t.Context(), []string{"1", "2", "long story", "4"}, capped(9, &asked))
	if err == nil || !strings.Contains(err.Error(), `10 bytes and begins "long story"`) {
		t.Errorf("error %v, want one that names the text", err)
	}
	if h.Most() != 0 {
		t.Errorf("one long text must not shorten all lists to come, at most %d", h.Most())
	}
}

func TestOrHalve(t *testing.T) {
	for _, tt := range []struct {
		name   string
		status int
		class  model.Class
		texts  int
		want   model.Class
	}{
		{"500 for many is not repeated", 500, model.ClassServer, 2, model.ClassRequest},
		{"500 for one is repeated", 500, model.ClassServer, 1, model.ClassServer},
		{"503 is repeated", 503, model.ClassServer, 2, model.ClassServer},
		{"429 is repeated", 429, model.ClassRateLimit, 2, model.ClassRateLimit},
		{"a long text stays one", 400, model.ClassTruncated, 2, model.ClassTruncated},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := model.OrHalve(&model.Error{Class: tt.class, Status: tt.status}, tt.texts); got.Class != tt.want {
				t.Errorf("class %s, want %s", got.Class, tt.want)
			}
		})
	}
	if model.OrHalve(nil, 2) != nil {
		t.Error("nil must stay nil")
	}
}
