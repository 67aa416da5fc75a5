package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestPowerOfWelchBySimulation(t *testing.T) {
	g := rand.New(rand.NewPCG(3, 3))
	for _, d := range []Design{
		{1.3, 1.0, 3, 3, .05}, {2.4, .7, 3, 3, .05}, {1.3, 4, 3, 5, .05}, {1, 1, 10, 10, .01}, {0, 2, 2, 4, .1},
	} {
		for _, power := range []float64{.5, .8} {
			diff := d.Detectable(power)
			const tries = 2000
			found := 0
			for range tries {
				a, b := make([]float64, d.RunsA), make([]float64, d.RunsB)
				for i := range a {
					a[i] = diff + d.SDA*g.NormFloat64()
				}
				for i := range b {
					b[i] = d.SDB * g.NormFloat64()
				}
				if Welch(a, b, .95).P <= d.Alpha {
					found++
				}
			}
			// Four standard errors of the simulation.
			if got := float64(found) / tries; math.Abs(got-power) > 4*math.Sqrt(power*(1-power)/tries) {
				t.Errorf("%+v: a difference of %.3f is found in %.3f of tries, want %.2f", d, diff, got, power)
			}
		}
	}
}

func TestRunsForIsTheInverseOfDetectable(t *testing.T) {
	d := Design{SDA: 1.3, SDB: 1, Alpha: .05}
	for _, diff := range []float64{1, 2, 5} {
		n := d.RunsFor(diff, .8, 1000)
		d.RunsA, d.RunsB = n, n
		if d.Power(diff) < .8 {
			t.Errorf("%d runs find %v with power %v", n, diff, d.Power(diff))
		}
		if n > 2 {
			d.RunsA, d.RunsB = n-1, n-1
			if d.Power(diff) >= .8 {
				t.Errorf("%d runs were enough for %v, want %d", n-1, diff, n)
			}
		}
	}
	if n := d.RunsFor(.001, .8, 50); n != 0 {
		t.Errorf("%d runs for a difference that 50 do not show", n)
	}
}

// With many runs the t test is a z test, which has a closed form.
func TestPowerOfManyRunsInClosedForm(t *testing.T) {
	d := Design{SDA: 2, SDB: 1, RunsA: 2000, RunsB: 3000, Alpha: .05}
	want := (1.959964 + .841621) * math.Sqrt(4./2000+1./3000)
	if got := d.Detectable(.8); !near(got, want, .002*want) {
		t.Errorf("detectable %v, want %v", got, want)
	}
	if got := d.Power(0); !near(got, .05, .001) {
		t.Errorf("power at no difference is %v, want alpha", got)
	}
}

func TestPairedPlanning(t *testing.T) {
	for _, row := range []struct {
		n    int
		want float64 // percent points, with a fifth of the items discordant
	}{{200, 8.9}, {1000, 4.0}, {6163, 1.6}} {
		got := 100 * PairedDetectable(row.n, math.Sqrt(.2), .05, .8)
		if math.Abs(got-row.want) > .05 {
			t.Errorf("%d items show %.2f points, want %.1f", row.n, got, row.want)
		}
		if back := ItemsFor(got/100, math.Sqrt(.2), .05, .8); back != row.n {
			t.Errorf("%.3f points want %d items, want %d", got, back, row.n)
		}
		// The approximation against the exact test, which is a little weaker
		// for being exact and a little stronger for the term left out.
		if p := McNemarPower(row.n, .2, got/100, .05); p < .76 || p > .84 {
			t.Errorf("%d items: exact power %v, want about 0.8", row.n, p)
		}
	}
}

func TestMcNemarPowerByEnumeration(t *testing.T) {
	const n = 9
	gain, lose := .5, .1
	var want float64
	for g := range n + 1 {
		for l := range n + 1 - g {
			if McNemar(g, l).P <= .05 {
				ways := float64(factorial(n)) / float64(factorial(g)*factorial(l)*factorial(n-g-l))
				want += ways * math.Pow(gain, float64(g)) * math.Pow(lose, float64(l)) * math.Pow(1-gain-lose, float64(n-g-l))
			}
		}
	}
	if got := McNemarPower(n, .6, .4, .05); !near(got, want, 1e-9) {
		t.Errorf("power %v, want %v", got, want)
	}
	if p := McNemarPower(100, 0, 0, .05); p != 0 {
		t.Errorf("power without an item that differs: %v", p)
	}
}

// The exact test finds a planted difference as often as it is said to.
func TestPowerOfMcNemarBySimulation(t *testing.T) {
	g := rand.New(rand.NewPCG(8, 8))
	const n, discordant, tries = 150, .2, 4000
	diff := McNemarDetectable(n, discordant, .05, .8)
	found := 0
	for range tries {
		gained, lost := 0, 0
		for range n {
			switch u := g.Float64(); {
			case u < (discordant+diff)/2:
				gained++
			case u < discordant:
				lost++
			}
		}
		if McNemar(gained, lost).P <= .05 {
			found++
		}
	}
	// Four standard errors of the simulation.
	if got := float64(found) / tries; math.Abs(got-.8) > 4*math.Sqrt(.8*.2/tries) {
		t.Errorf("a difference of %.4f is found in %.3f of tries, want 0.80", diff, got)
	}
	if p := McNemarPower(n, discordant, diff-.001, .05); p >= .8 {
		t.Errorf("a smaller difference is found as often: %v", p)
	}
	if d := McNemarDetectable(5, .2, .05, .8); !math.IsNaN(d) {
		t.Errorf("5 items show a difference of %v, want none", d)
	}
	items := McNemarItems(diff, discordant, .05, .8, 10_000)
	if math.Abs(float64(items-n)) > 3 {
		t.Errorf("%.4f wants %d items, want about %d", diff, items, n)
	}
	if near := ItemsFor(diff, math.Sqrt(discordant), .05, .8); math.Abs(float64(near-items)) > .1*n {
		t.Errorf("the normal approximation wants %d items, the exact test %d", near, items)
	}
	if n := McNemarItems(.001, .5, .05, .8, 100); n != 0 {
		t.Errorf("%d items for a difference that 100 do not show", n)
	}
}

// The approximation for differences of any kind, by simulation of the t test
// that it stands for.
func TestPairedDetectableBySimulation(t *testing.T) {
	g := rand.New(rand.NewPCG(9, 9))
	const n, sd, tries = 200, .4, 3000
	diff := PairedDetectable(n, sd, .05, .8)
	found := 0
	for range tries {
		xs := make([]float64, n)
		for i := range xs {
			xs[i] = diff + sd*g.NormFloat64()
		}
		if iv := TInterval(xs, .95); iv.Low > 0 || iv.High < 0 {
			found++
		}
	}
	if got := float64(found) / tries; math.Abs(got-.8) > 4*math.Sqrt(.8*.2/tries) {
		t.Errorf("a difference of %.4f is found in %.3f of tries, want 0.80", diff, got)
	}
}
