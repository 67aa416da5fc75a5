//go:build !amd64

package vector

import "testing"

// eachSet runs f with the only kernels there are.
func eachSet(t *testing.T, f func(t *testing.T)) { f(t) }
