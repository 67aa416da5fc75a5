package model

// As returns c, or the first of the models that c wraps, as a T: what a
// wrapper such as a cache hides of a client, a caller can still find. A wrapper
// has a method Unwrap that returns the model below it.
func As[T any](c Chatter) (T, bool) {
	for c != nil {
		if t, ok := c.(T); ok {
			return t, true
		}
		w, ok := c.(interface{ Unwrap() Chatter })
		if !ok {
			break
		}
		c = w.Unwrap()
	}
	var none T
	return none, false
}
