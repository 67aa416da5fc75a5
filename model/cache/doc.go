// Package cache keeps replies of models across runs in one SQLite file, so that
// what was asked once need not be paid twice. Several processes may use one
// file at a time; it wants a local disk, since SQLite's shared memory does not
// work over networks.
//
// A reply is found again by all that decided it: the name of the model and the
// digest of its weights, messages, tools, sampling, seed and repeat. A server
// that tells no digest is known by the name of its model alone, so a file
// should serve one set of weights of that name.
package cache
