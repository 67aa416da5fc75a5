package openapi

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"assay/qaoa"
)

// maxChain is how many references may follow each other: a reference to a
// reference, and so on.
const maxChain = 16

// A target is what a reference leads to.
type target struct {
	value qaoa.Value
	at    *place
	ref   string // the text of the last reference, the name of what is there
}

// lookup returns what the reference ref, which stands at from, leads to.
func (d *document) lookup(ref string, from *place) (target, bool) {
	switch {
	case !strings.HasPrefix(ref, "#"):
		d.log.add(RemoteRef, from, fmt.Sprintf("want a reference within the document, have %.120q: it is not fetched; put the two into one file", ref))
		return target{}, false
	case ref != "#" && !strings.HasPrefix(ref, "#/"):
		d.log.add(UnsupportedRef, from, fmt.Sprintf("want a reference by JSON Pointer (#/…), have the anchor %.120q", ref))
		return target{}, false
	}
	if t, ok := d.targets[ref]; ok {
		return t, t.at != nil
	}
	t := target{value: d.root, at: root, ref: ref}
	if ref != "#" {
		for part := range strings.SplitSeq(ref[2:], "/") {
			name, ok := unescape(part)
			if ok {
				t.value, ok = child(t.value, name)
			}
			if !ok {
				d.log.add(DanglingRef, from, fmt.Sprintf("want something at %.120q, have nothing at %.60q", ref, name))
				d.targets[ref] = target{}
				return target{}, false
			}
			t.at = t.at.in(name)
		}
	}
	d.targets[ref] = t
	return t, true
}

// unescape returns the name that a part of a JSON Pointer in a URL stands for.
func unescape(part string) (string, bool) {
	name, err := url.PathUnescape(part)
	return strings.ReplaceAll(strings.ReplaceAll(name, "~1", "/"), "~0", "~"), err == nil
}

// child returns the member or item of v with that name.
func child(v qaoa.Value, name string) (qaoa.Value, bool) {
	if v.Kind == qaoa.Array {
		i, err := strconv.Atoi(name)
		if err != nil || i < 0 || i >= len(v.Items) {
			return qaoa.Value{}, false
		}
		return v.Items[i], true
	}
	return v.Get(name)
}

// follow returns what v is once its references are followed: of a parameter, a
// body or a path item, where nothing stands beside a reference. It returns
// false if one leads nowhere.
func (d *document) follow(v qaoa.Value, at *place) (qaoa.Value, *place, bool) {
	for range maxChain {
		ref, ok := v.Get("$ref")
		if !ok || ref.Kind != qaoa.String {
			return v, at, true
		}
		t, ok := d.lookup(ref.Text, at)
		if !ok {
			return v, at, false
		}
		v, at = t.value, t.at
	}
	d.log.add(Recursive, at, fmt.Sprintf("want an object behind at most %d references, have more", maxChain))
	return v, at, false
}
