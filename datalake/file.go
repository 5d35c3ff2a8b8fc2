package datalake

import (
	"encoding/binary"
	"errors"
	"io"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"
	parquetzstd "github.com/parquet-go/parquet-go/compress/zstd"

	"github.com/modelgateway/modelgateway/cluster/money"
)

const (
	// MediaType is the media type of a file.
	MediaType = "application/vnd.apache.parquet"

	batch    = 256    // rows that are encoded at once
	rowGroup = 20_000 // rows whose compressed columns are in memory
	// pageSize bounds what a column holds before it is compressed, and window is that of the
	// compression. With the standard, 256 KiB, columns would hold 10 MB.
	pageSize = 32 << 10
	window   = 128 << 10
)

// write encodes the rows that read passes to add. It stops when the writer fails.
func write[Row any](w io.Writer, read func(add func(Row) bool) error) error {
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(window), zstd.WithLowerEncoderMem(true))
	if err != nil {
		return err
	}
	defer func() { _ = encoder.Close() }()
	out := parquet.NewGenericWriter[Row](w,
		parquet.Compression(&codec{encoder: encoder}), parquet.MaxRowsPerRowGroup(rowGroup), parquet.PageBufferSize(pageSize),
		parquet.CreatedBy("modelgateway", "1", ""), // without the version of the program: the same rows make the same bytes
	)
	rows := make([]Row, 0, batch)
	var failed error
	flush := func() bool {
		_, failed = out.Write(rows)
		rows = rows[:0]
		return failed == nil
	}
	err = read(func(row Row) bool {
		rows = append(rows, row)
		return len(rows) < batch || flush()
	})
	if err == nil && failed == nil {
		flush()
	}
	if err := errors.Join(err, failed); err != nil {
		return err // without its footer no reader takes the file for a whole one
	}
	return out.Close()
}

// codec is zstd with the memory that pages need. The encoders of the Parquet package have windows of 8 MB.
type codec struct {
	parquetzstd.Codec

	encoder *zstd.Encoder
}

// Encode compresses a page.
func (c *codec) Encode(dst, src []byte) ([]byte, error) {
	return c.encoder.EncodeAll(src, dst[:0]), nil
}

// decimal is a DECIMAL(38,12): a two's complement in big-endian order.
type decimal [16]byte

func decimalOf(p money.Pico) (d decimal) {
	binary.BigEndian.PutUint64(d[:8], uint64(int64(p)>>63)) // the sign
	binary.BigEndian.PutUint64(d[8:], uint64(p))
	return d
}

// timeOrNull returns nil for a time that is not known.
func timeOrNull(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}
