// Stats is the contestant of bench/stats/bootstrap.py that is ours: it reads
// metrics as little-endian float64 from a file, answers each line of standard
// input, {"metrics": 4, "resamples": 10000, "seed": 1, "workers": 1}, with the
// processor time that the bootstrap took and its percentile intervals.
package main

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"syscall"
	"time"

	"github.com/goccy/go-json"

	"assay/stats"
)

type request struct {
	Metrics   int    `json:"metrics"`
	Resamples int    `json:"resamples"`
	Seed      uint64 `json:"seed"`
	Workers   int    `json:"workers"`
}

type answer struct {
	CPU       float64      `json:"cpu"`
	Wall      float64      `json:"wall"`
	Intervals [][3]float64 `json:"intervals"` // low, high, standard error
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "bench/stats:", err)
		os.Exit(2)
	}
}

func run() error {
	if len(os.Args) != 2 {
		return fmt.Errorf("want the file of scores, have %d arguments", len(os.Args)-1)
	}
	raw, err := os.ReadFile(os.Args[1])
	if err != nil {
		return err
	}
	xs := make([]float64, len(raw)/8)
	for i := range xs {
		xs[i] = math.Float64frombits(binary.LittleEndian.Uint64(raw[8*i:]))
	}
	out := json.NewEncoder(os.Stdout)
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		var r request
		if err := json.Unmarshal(in.Bytes(), &r); err != nil {
			return err
		}
		if r.Metrics < 1 || len(xs)%r.Metrics != 0 {
			return fmt.Errorf("%d scores of %d metrics: want as many of each", len(xs), r.Metrics)
		}
		if err := out.Encode(measure(xs, r)); err != nil {
			return err
		}
	}
	return nil
}

func measure(xs []float64, r request) answer {
	n := len(xs) / r.Metrics
	var a answer
	cpu, wall := processorTime(), time.Now()
	for m := range r.Metrics {
		b := stats.Bootstrap(xs[m*n:(m+1)*n], stats.BootstrapOptions{Resamples: r.Resamples, Seed: r.Seed, Workers: r.Workers})
		a.Intervals = append(a.Intervals, [3]float64{b.Percentile.Low, b.Percentile.High, b.StdErr})
	}
	a.Wall = time.Since(wall).Seconds()
	a.CPU = processorTime() - cpu
	return a
}

// processorTime returns the seconds that the process has computed, all threads.
func processorTime() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}
