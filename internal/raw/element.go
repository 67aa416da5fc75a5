// Package raw reads the elements of a file, whatever holds them: JSON lines, a
// JSON array of any size, an object map or one object, a CSV table or a Parquet
// file, each plain, gzip or zstd, told apart by content and never by name. It
// streams: memory is bounded by the largest element, and for Parquet by the
// largest pages.
//
// It finds where elements begin and end. What is inside is the business of
// those who read them; an element of a JSON text may hold invalid JSON. A row
// of a table becomes an object with a member for each column.
//
// # Rows of Parquet
//
// Text and annotated JSON are strings; integers and decimals are numbers with
// all their digits; floating point numbers are the shortest that read back the
// same, and null if they are not finite; dates, times and timestamps are
// strings like 2006-01-02, 15:04:05.999 and 2006-01-02T15:04:05.999Z, the last
// without Z where the file has local time; UUIDs are strings in their usual
// form, other bytes are base64, unless they are not annotated and valid UTF-8.
// Lists of two and three levels and repeated columns are arrays; structs are
// objects; maps are objects whose names are the keys, as JSON text if they are
// no strings, and may repeat. What is missing is null.
//
// A Parquet file is read in place. One that is compressed once more, or comes
// through a pipe, is copied to a temporary file, since its index is at its end.
// Memory holds two pages of each column that is read and one row: a writer that
// puts a whole column in one page costs that much. A hostile file can make the
// decoder ask for up to 2 GiB for a page.
//
// # Rows of CSV
//
// The first record names the columns, see [CSV]. All values are strings.
package raw

import (
	"unsafe"

	"assay/qaoa"
)

// An Element is one raw element of a file.
type Element struct {
	Pos qaoa.Pos
	Key string // name of the member, where the container is an object map
	// Data is the JSON text of the element. It belongs to the receiver, but see
	// [Options].
	Data []byte
	// Cells are the columns of a row of a table, where [Options] asks for
	// them. There is no Data then.
	Cells []Cell
	// Valid is set if Data is known to be valid JSON. Readers of files leave
	// that open.
	Valid bool
}

// A Cell is one column of a row.
type Cell struct {
	Name string
	// Value is a text as it is, or the JSON of anything else.
	Value []byte
	Text  bool
}

// Row returns the Data of an element that has Cells: an object with a member
// for each.
func Row(cells []Cell) []byte {
	dst := []byte{'{'}
	for i, f := range cells {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(qaoa.AppendQuote(dst, f.Name), ':')
		if f.Text {
			dst = appendText(dst, f.Value)
		} else {
			dst = append(dst, f.Value...)
		}
	}
	return append(dst, '}')
}

// appendText appends b as a JSON string.
func appendText(dst, b []byte) []byte {
	// AppendQuote copies and keeps nothing, so b need not become a string of
	// its own first.
	return qaoa.AppendQuote(dst, unsafe.String(unsafe.SliceData(b), len(b)))
}
