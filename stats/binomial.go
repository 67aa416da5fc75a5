package stats

import (
	"math"
	"math/rand/v2"
)

// binomials draws exact binomial variates for up to a fixed number of trials.
type binomials struct {
	logFact []float64 // logFact[k] = ln k!
}

func newBinomials(maxTrials int) *binomials {
	b := &binomials{logFact: make([]float64, maxTrials+1)}
	for k := range b.logFact {
		b.logFact[k], _ = math.Lgamma(float64(k) + 1)
	}
	return b
}

// draw returns the number of successes in n trials of probability p in [0,1].
//
// gonum's Binomial is not used: it takes a Poisson variate for small means,
// which is an approximation, and its setup is paid at each draw.
func (b *binomials) draw(g *rand.PCG, n int, p float64) int {
	switch {
	case n == 0 || p <= 0:
		return 0
	case p >= 1:
		return n
	case p > 0.5:
		return n - b.draw(g, n, 1-p)
	case float64(n)*p < 10:
		return inversion(g, n, p)
	}
	return b.btrs(g, n, p)
}

// inversion walks up the distribution function until it passes a uniform
// number (Kachitvichyanukul and Schmeiser, 1988, algorithm BINV).
func inversion(g *rand.PCG, n int, p float64) int {
	s := p / (1 - p)
	a := float64(n+1) * s
	start := math.Exp(float64(n) * math.Log1p(-p))
	for {
		u, r := uniform(g), start
		for x := 0; x <= n; x++ {
			if u <= r {
				return x
			}
			u -= r
			r *= a/float64(x+1) - s
		}
		// Rounding left a sliver of probability above n: draw again.
	}
}

// btrs is the transformed rejection method of W. Hörmann, "The generation of
// binomial random variates", 1993, algorithm BTRS. It wants p <= 0.5 and
// np >= 10; the constants are his.
func (b *binomials) btrs(g *rand.PCG, n int, p float64) int {
	fn := float64(n)
	spq := math.Sqrt(fn * p * (1 - p))
	bb := 1.15 + 2.53*spq
	a := -0.0873 + 0.0248*bb + 0.01*p
	c := fn*p + 0.5
	vr := 0.92 - 4.2/bb
	alpha := (2.83 + 5.1/bb) * spq
	mode := int((fn + 1) * p)
	logOdds := math.NaN() // computed when first needed: most draws do not
	for {
		u, v := uniform(g)-0.5, uniform(g)
		us := 0.5 - math.Abs(u)
		fk := math.Floor((2*a/us+bb)*u + c)
		if us >= 0.07 && v <= vr {
			return int(fk)
		}
		if fk < 0 || fk > fn {
			continue
		}
		if math.IsNaN(logOdds) {
			logOdds = math.Log(p / (1 - p))
		}
		k := int(fk)
		bound := b.logFact[mode] + b.logFact[n-mode] - b.logFact[k] - b.logFact[n-k] + float64(k-mode)*logOdds
		if math.Log(v*alpha/(a/(us*us)+bb)) <= bound {
			return k
		}
	}
}

// uniform returns a number strictly between 0 and 1.
func uniform(g *rand.PCG) float64 { return (float64(g.Uint64()>>12) + 0.5) * 0x1p-52 }
