package train

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/goccy/go-json"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"

	"assay/internal/raw"
)

// groupBytes is how much text of rows goes into one row group, which a writer
// holds in memory.
const groupBytes = 32 << 20

// A columnWriter writes the lines of in as Parquet.
type columnWriter func(out io.Writer, in io.Reader) error

// The columns by format. Their names and JSON forms are those of the lines.
type (
	llamaColumns struct {
		ID            string         `json:"id" parquet:"id"`
		Conversations []llamaMessage `json:"conversations" parquet:"conversations,list"`
		System        string         `json:"system" parquet:"system"`
		Tools         string         `json:"tools" parquet:"tools"`
	}
	llamaMessage struct {
		From  string `json:"from" parquet:"from"`
		Value string `json:"value" parquet:"value"`
	}

	swiftColumns struct {
		ID       string `json:"id" parquet:"id"`
		Messages []struct {
			Role    string `json:"role" parquet:"role"`
			Content string `json:"content" parquet:"content"`
		} `json:"messages" parquet:"messages,list"`
		Tools string `json:"tools" parquet:"tools"`
	}

	hermesColumns struct {
		ID   string `json:"id" parquet:"id"`
		Text string `json:"text" parquet:"text"`
	}

	chatColumns struct {
		ID       string            `json:"id" parquet:"id"`
		Messages []chatColumnsItem `json:"messages" parquet:"messages,list"`
		Tools    string            `json:"tools" parquet:"tools"`
	}
	chatColumnsItem struct {
		Role      string            `json:"role" parquet:"role"`
		Content   *string           `json:"content" parquet:"content,optional"`
		ToolCalls []chatColumnsCall `json:"tool_calls" parquet:"tool_calls,list"`
		CallID    *string           `json:"tool_call_id" parquet:"tool_call_id,optional"`
		Name      *string           `json:"name" parquet:"name,optional"`
	}
	chatColumnsCall struct {
		ID       string `json:"id" parquet:"id"`
		Type     string `json:"type" parquet:"type"`
		Function struct {
			Name      string `json:"name" parquet:"name"`
			Arguments string `json:"arguments" parquet:"arguments"`
		} `json:"function" parquet:"function"`
	}
)

// columnsOf writes lines that hold a T each. The bytes depend on the lines
// alone.
func columnsOf[T any](out io.Writer, in io.Reader) error {
	w := parquet.NewGenericWriter[T](out,
		parquet.Compression(&zstd.Codec{Level: zstd.SpeedDefault, Concurrency: 1}),
		parquet.CreatedBy("assay", "1", ""))
	lines := bufio.NewReaderSize(in, 1<<16)
	held := 0
	for {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) && len(line) == 0 {
			return w.Close()
		}
		if err != nil {
			return err
		}
		row := make([]T, 1)
		if err := json.Unmarshal(line, &row[0]); err != nil {
			return fmt.Errorf("a row does not fit the columns: %w", err)
		}
		if _, err := w.Write(row); err != nil {
			return err
		}
		if held += len(line); held >= groupBytes {
			held = 0
			if err := w.Flush(); err != nil {
				return err
			}
		}
	}
}

// eachRow calls f with each row of a shard, as a line without its line break.
func eachRow(ctx context.Context, shard io.Reader, name string, c Container, f func(line []byte) error) error {
	if c == Parquet {
		for el, err := range raw.Read(ctx, shard, name, raw.Options{}) {
			if err != nil {
				return err
			}
			if err := f(el.Data); err != nil {
				return err
			}
		}
		return nil
	}
	text, done, err := decompress(bufio.NewReaderSize(shard, 1<<16))
	if err != nil {
		return err
	}
	defer done()
	lines := bufio.NewReaderSize(text, 1<<16)
	for {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) && len(line) == 0 {
			return nil
		}
		if errors.Is(err, io.EOF) {
			return io.ErrUnexpectedEOF
		}
		if err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := f(line[:len(line)-1]); err != nil {
			return err
		}
	}
}
