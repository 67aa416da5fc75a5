package report

import (
	"encoding/csv"
	"io"
	"strings"
)

// CSV writes t with its header as comma-separated values (RFC 4180), without
// marks. A text that a spreadsheet would run as a formula gets an apostrophe
// before it.
func (t Table) CSV(w io.Writer) error {
	grid := t.grid(func(c TableCell) string { return cleanLine(c.Text) })
	for _, row := range grid[1:] {
		for j := range min(t.Left, len(row)) {
			if row[j] != "" && strings.ContainsRune("=+-@", rune(row[j][0])) {
				row[j] = "'" + row[j]
			}
		}
	}
	return csv.NewWriter(w).WriteAll(grid)
}
