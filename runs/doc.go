// Package runs looks after the folders that runs leave: it lists them, removes
// them, and joins the parts of a run that several machines shared.
package runs
