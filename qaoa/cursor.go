package qaoa

import "strings"

// A Cursor reads a JSON text once, from front to back, without a tree: for
// those who know what most texts look like and have another way, such as
// [ParseValue], for the rest. It gives up at the first thing that is not as
// wanted, and from then on its methods do nothing and return nothing: whether
// it did is asked once, at the end, with [Cursor.Done].
//
//	c := CursorOf(text)
//	for c.Open('['); c.More(']'); {
//		for c.Open('{'); c.More('}'); {
//			switch name := c.Key(); name { … }
//		}
//	}
//	if !c.Done() { … }
//
// It checks all that it reads, but not that the text is valid UTF-8, which is
// cheaper to check for all of it at once, and not what [Cursor.Raw] passes over.
type Cursor struct {
	p     fast
	first bool // a container was opened, and nothing was read of it
	bad   bool
}

// CursorOf returns a cursor at the beginning of text, which must not be changed
// while the cursor and what it returned as strings are used.
func CursorOf[Bytes ~[]byte | ~string](text Bytes) Cursor {
	return Cursor{p: fast{s: textOf(text)}}
}

// Done reports whether the cursor never gave up and only blanks are left.
func (c *Cursor) Done() bool {
	return !c.bad && c.p.next() == 0 && c.p.i == len(c.p.s)
}

// OK reports whether the cursor has not given up so far.
func (c *Cursor) OK() bool { return !c.bad }

// Fail makes the cursor give up, because its user found something unusual.
func (c *Cursor) Fail() { c.bad = true }

// Peek returns the first byte of what comes next, 0 at the end. It tells the
// kind of a value as [JSON.Kind] does.
func (c *Cursor) Peek() byte {
	if c.bad {
		return 0
	}
	return c.p.next()
}

// Open moves into a container that begins with the bracket, '{' or '['. After
// it comes [Cursor.More].
func (c *Cursor) Open(bracket byte) {
	if c.bad || c.p.next() != bracket {
		c.bad = true
		return
	}
	c.p.i++
	c.first = true
}

// More moves to the next item or member of a container that ends with the
// bracket, '}' or ']', and reports whether there is one. If not, the cursor is
// behind the container.
func (c *Cursor) More(bracket byte) bool {
	if c.bad {
		return false
	}
	next := c.p.next()
	switch {
	case next == bracket:
		c.first = false
		c.p.i++
		return false
	case c.first: // who reads the item sees whether it is one
		c.first = false
		return true
	case next == ',':
		c.p.i++
		return true
	}
	c.bad = true
	return false
}

// Key returns the name of a member and moves to its value. It may be a piece of
// the text.
func (c *Cursor) Key() string {
	name := c.Text()
	c.colon()
	return name
}

func (c *Cursor) colon() {
	if c.bad || c.p.next() != ':' {
		c.bad = true
		return
	}
	c.p.i++
}

// AppendKey is [Cursor.Key] and appends the name and a colon to dst.
func (c *Cursor) AppendKey(dst []byte) (out []byte, name string) {
	start := c.Mark()
	name = c.Text()
	if !c.bad && len(name) == c.p.i-start-2 { // nothing is escaped
		dst = append(dst, c.p.s[start:c.p.i]...)
	} else if !c.bad {
		dst = AppendQuote(dst, name)
	}
	c.colon()
	return append(dst, ':'), name
}

// Text returns the content of a string. It may be a piece of the text.
func (c *Cursor) Text() string {
	if c.bad || c.p.next() != '"' {
		c.bad = true
		return ""
	}
	s, ok := c.p.str()
	c.bad = !ok
	return s
}

// AppendText appends the content of a string to dst.
func (c *Cursor) AppendText(dst []byte) []byte {
	if c.bad || c.p.next() != '"' {
		c.bad = true
		return dst
	}
	dst, used, ok := appendUnescaped(dst, c.p.s[c.p.i+1:])
	c.p.i += 1 + used
	c.bad = !ok
	return dst
}

// AppendValue appends a value in the project's form to dst.
func (c *Cursor) AppendValue(dst []byte) []byte {
	if c.bad {
		return dst
	}
	dst, ok := c.p.compact(dst)
	c.bad = !ok
	return dst
}

// Raw returns the text of a value. It is only read as far as needed to find its
// end.
func (c *Cursor) Raw() string {
	start := c.Mark()
	c.bad = c.bad || !c.p.skip()
	return c.Since(start)
}

// Word reads the bare word w, such as true.
func (c *Cursor) Word(w string) {
	c.bad = c.bad || c.p.next() == 0 || !c.p.word(w)
}

// Mark returns the place where what comes next begins.
func (c *Cursor) Mark() int {
	c.p.blanks()
	return c.p.i
}

// Since returns the text from a place on to where the cursor is, nothing if it
// gave up.
func (c *Cursor) Since(mark int) string {
	if c.bad {
		return ""
	}
	return c.p.s[mark:c.p.i]
}

// Reset moves the cursor back to a place, as if it had not given up since.
func (c *Cursor) Reset(mark int) {
	c.p.i, c.first, c.bad = mark, false, false
}

// HasPrefix reports whether the text from a place on begins with prefix.
func (c *Cursor) HasPrefix(mark int, prefix string) bool {
	return strings.HasPrefix(c.p.s[mark:], prefix)
}
