package raw

import (
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// Bounds of what the header of a page may say. The library gets memory for it
// before it looks at the data, so that one changed bit could cost 2 GiB.
const (
	// A page may grow by maxPageRatio when it is decompressed, and pages of
	// constants, which are small, by more.
	maxPageRatio = 2048
	freePageSize = 16 << 20
	maxPageSize  = 1 << 30
	// maxPageValues bounds the values of a page: each costs two bytes of
	// levels, while a billion nulls cost the file nothing.
	maxPageValues = 1 << 27

	// Headers hold the smallest and the largest value, so they may be long.
	minPageHeader = 512
	maxPageHeader = 1 << 20
)

// A pageGuard walks the headers of the pages of a column in a row group, just
// ahead of the library.
type pageGuard struct {
	src      io.ReaderAt
	off, end int64
	values   int64 // that the pages to come may hold
	buf      []byte
}

func newPageGuard(src io.ReaderAt, chunk *format.ColumnMetaData, buf []byte) pageGuard {
	off := chunk.DataPageOffset
	if chunk.DictionaryPageOffset != 0 {
		off = chunk.DictionaryPageOffset
	}
	return pageGuard{src: src, off: off, end: off + chunk.TotalCompressedSize, values: chunk.NumValues, buf: buf}
}

// next checks the headers up to that of the next page of data.
func (g *pageGuard) next() error {
	for g.off < g.end {
		h, n, err := g.header()
		if err != nil {
			return err
		}
		g.off += int64(n)
		packed, size := int64(h.CompressedPageSize), int64(h.UncompressedPageSize)
		switch {
		case packed < 0 || packed > g.end-g.off:
			return fmt.Errorf("the page at byte %d has %d bytes, want at most the %d that are left of the column", g.off, packed, g.end-g.off)
		case size < 0 || size > maxPageSize || size > freePageSize+maxPageRatio*packed:
			return fmt.Errorf("the page at byte %d grows from %d to %d bytes, which no writer makes", g.off, packed, size)
		}
		g.off += packed
		var values int32
		switch h.Type {
		case format.DataPage:
			values = h.DataPageHeader.V.NumValues
		case format.DataPageV2:
			values = h.DataPageHeaderV2.V.NumValues
		default:
			if n := h.DictionaryPageHeader.V.NumValues; n < 0 || n > maxPageValues {
				return fmt.Errorf("the dictionary before byte %d has %d values, want at most %d", g.off, n, maxPageValues)
			}
			continue
		}
		if values < 0 || values > maxPageValues || int64(values) > g.values {
			return fmt.Errorf("the page before byte %d has %d values, want at most %d", g.off, values, min(g.values, maxPageValues))
		}
		g.values -= int64(values)
		return nil
	}
	return nil
}

// header reads the header at the cursor and returns its length.
func (g *pageGuard) header() (h *format.PageHeader, size int, err error) {
	for want := int64(minPageHeader); ; want *= 8 {
		most := min(want, g.end-g.off)
		if int64(cap(g.buf)) < most {
			g.buf = make([]byte, most)
		}
		n, err := g.src.ReadAt(g.buf[:most], g.off)
		if n == 0 {
			return nil, 0, fmt.Errorf("no page at byte %d: %w", g.off, err)
		}
		h = new(format.PageHeader)
		r := new(thrift.CompactProtocol).NewReaderFromBytes(g.buf[:n])
		if err = thrift.NewDecoder(r).Decode(h); err == nil {
			return h, r.BytesRead(), nil
		}
		if int64(n) < want || want >= maxPageHeader {
			return nil, 0, fmt.Errorf("no header of a page at byte %d: %w", g.off, err)
		}
	}
}
