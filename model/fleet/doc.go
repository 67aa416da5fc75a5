// Package fleet asks one model on one or several servers. It spreads requests
// over them, sends failed ones again, finds out how many each server can take
// at a time, and leaves servers alone that are down until they are back.
//
// What it does changes when a request is sent and where, and never what is in
// it: a run has the same predictions whatever the fleet.
package fleet
