package embed

import (
	"context"
	"runtime"
	"slices"
	"sync"

	"assay/internal/lexical"
	"assay/vector"
)

// A lexicalSource projects the words and n-grams of a text into a row of a
// fixed length. A row depends on its text alone, so rows of different calls can
// be compared, and no cache would be faster.
//
// A search for neighbours among texts that are all at hand is better served by
// the index of package lexical, which is exact and knows which words are rare.
type lexicalSource struct{ dim, workers int }

func newLexical(opt Options) Source {
	s := lexicalSource{opt.Dimensions, opt.Workers}
	setDefault(&s.dim, DefaultDimensions)
	setDefault(&s.workers, runtime.GOMAXPROCS(0))
	return s
}

func (s lexicalSource) Name() string { return Lexical }

// Vectors implements [Source]. Its only error is that of ctx.
func (s lexicalSource) Vectors(ctx context.Context, texts []string) (*vector.Matrix, error) {
	m := vector.NewMatrix(len(texts), s.dim)
	const part = 64 // texts between two looks at ctx
	next := make(chan [2]int)
	var wg sync.WaitGroup
	for range s.workers {
		wg.Go(func() {
			for r := range next {
				for i := r[0]; i < r[1]; i++ {
					lexical.Project(texts[i], m.Row(i))
				}
			}
		})
	}
	from := 0
	for chunk := range slices.Chunk(texts, part) {
		if ctx.Err() != nil {
			break
		}
		next <- [2]int{from, from + len(chunk)}
		from += len(chunk)
	}
	close(next)
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return m, nil
}
