package jinja

import "fmt"

// Limits bound what rendering may cost. The zero value means the defaults.
type Limits struct {
	Steps  int // expressions and statements evaluated; default 20 million
	Output int // bytes of output; default 256 MB
	Memory int // bytes of all texts and lists made on the way; default 1 GB
}

const (
	defaultSteps  = 20_000_000
	defaultOutput = 256 << 20
	defaultMemory = 1 << 30

	maxTemplate = 1 << 20 // bytes of source
	maxNesting  = 200     // of expressions and blocks in the source
	maxCalls    = 100     // of macros inside of macros
)

func (l Limits) withDefaults() Limits {
	if l.Steps <= 0 {
		l.Steps = defaultSteps
	}
	if l.Output <= 0 {
		l.Output = defaultOutput
	}
	if l.Memory <= 0 {
		l.Memory = defaultMemory
	}
	return l
}

// An Error is a fault of a template, or an exception that it raises.
type Error struct {
	Line int // 1-based
	Msg  string
	// Raised tells that the template itself refused its input, by
	// raise_exception.
	Raised bool
}

// Error returns line and fault.
func (e *Error) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Msg) }

// step counts a step.
func (r *renderer) step() {
	r.steps++
	if r.steps > r.limits.Steps {
		r.failf("the template takes more than %d steps", r.limits.Steps)
	}
}

// grow counts n bytes of memory, before they are allocated.
func (r *renderer) grow(n int) {
	if n < 0 || r.memory+n > r.limits.Memory {
		r.failf("the template makes more than %d bytes of text on the way", r.limits.Memory)
	}
	r.memory += n
}

// failf ends rendering.
func (r *renderer) failf(format string, args ...any) {
	panic(&Error{Line: r.line, Msg: fmt.Sprintf(format, args...)})
}
