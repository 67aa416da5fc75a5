//go:build !linux

package main

// adviseHugePages does nothing: only Linux takes such advice.
func adviseHugePages([]byte) {}
