package eval

// PercentilesOf is percentiles, for tests.
func PercentilesOf(list []float64) Percentiles { return percentiles(list) }
