package stats_test

import (
	"fmt"

	"assay/stats"
)

// Three training seeds, as in the paper's Tables 6 and 7.
func ExampleSummarize() {
	s := stats.Summarize([]float64{0.928, 0.939, 0.950}, 0.95)
	fmt.Printf("%.3f ± %.3f, 95 %% interval %.3f to %.3f\n", s.Mean, s.SD, s.CI.Low, s.CI.High)
	fmt.Println(s.Warnings[0])
	// Output:
	// 0.939 ± 0.011, 95 % interval 0.912 to 0.966
	// 3 values: the 95 % interval is mean ± 2.48·SD, and the SD itself is known only to 0.52–6.28 times its value
}

// Three of 36 multi-turn conversations right.
func ExampleWilson() {
	iv := stats.Wilson(3, 36, 0.95)
	fmt.Printf("%.3f to %.3f\n", iv.Low, iv.High)
	// Output: 0.029 to 0.218
}

func ExampleBootstrap() {
	scores := make([]float64, 200)
	for i := range scores {
		scores[i] = float64(i%4) / 3
	}
	b := stats.Bootstrap(scores, stats.BootstrapOptions{Seed: 1})
	fmt.Printf("%.2f, 95 %% interval %.2f to %.2f\n", b.Mean, b.BCa.Low, b.BCa.High)
	// Output: 0.50, 95 % interval 0.45 to 0.55
}

func ExampleSpearmanTest() {
	gt := []float64{0.96, 0.90, 0.71, 0.50}
	hybrid := []float64{0.67, 0.70, 0.51, 0.47}
	c := stats.SpearmanTest(gt, hybrid)
	fmt.Printf("rho %.2f, n %d, %s p %.2f\n", c.Value, c.N, c.Method, c.P)
	// Output: rho 0.80, n 4, exact p 0.33
}

func ExampleMcNemar() {
	// Of 1,000 items, A alone solves 30 and B alone 12.
	r := stats.McNemar(30, 12)
	fmt.Printf("p = %.3f over %d items (%s)\n", r.P, r.N, r.Method)
	// Output: p = 0.008 over 42 items (mcnemar exact)
}

func ExampleHolm() {
	fmt.Println(stats.Holm([]float64{0.01, 0.04, 0.03}))
	// Output: [0.03 0.06 0.06]
}

func ExampleDesign_Detectable() {
	d := stats.Design{SDA: 1.3, SDB: 1.0, RunsA: 3, RunsB: 3, Alpha: 0.05}
	fmt.Printf("three seeds a side find %.1f points in 80 %% of experiments\n", d.Detectable(0.8))
	// Output: three seeds a side find 4.1 points in 80 % of experiments
}
