package transport

import (
	"sync"

	"assay/qaoa"
)

// cachedLists is how many tool lists a [ToolCache] holds: more than the
// conversations that are under way at a time.
const cachedLists = 512

// A ToolCache remembers the JSON of tool lists. A conversation offers one list
// in each of its requests, and writing it costs more than all the rest of a
// request. The zero ToolCache is empty, and safe for concurrent use.
type ToolCache struct {
	mu    sync.Mutex
	lists map[*qaoa.Tool]cachedList
}

// A cachedList is known by the place of its first tool. It holds the tools, so
// that no other list comes to stand there.
type cachedList struct {
	tools []qaoa.Tool
	json  []byte
}

// Append is [AppendTools] for lists that nobody changes.
func (c *ToolCache) Append(dst []byte, tools []qaoa.Tool) []byte {
	if len(tools) == 0 {
		return AppendTools(dst, tools)
	}
	c.mu.Lock()
	list, ok := c.lists[&tools[0]]
	c.mu.Unlock()
	if !ok || len(list.tools) != len(tools) {
		list = cachedList{tools, AppendTools(make([]byte, 0, ToolsSize(tools)), tools)}
		c.mu.Lock()
		if c.lists == nil || len(c.lists) >= cachedLists {
			c.lists = make(map[*qaoa.Tool]cachedList, cachedLists)
		}
		c.lists[&tools[0]] = list
		c.mu.Unlock()
	}
	return append(dst, list.json...)
}
