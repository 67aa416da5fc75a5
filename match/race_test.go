//go:build race

package match

// The race detector makes the laws ten times slower, and they share nothing.
const underRace = true
