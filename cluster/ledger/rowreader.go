package ledger

import (
	"bytes"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/money"
)

// mostNames limits the number of names that a rowReader keeps.
const mostNames = 1024

// rowReader decodes the rows of a scan. A report may read millions of rows several times. So it
// decodes without an intermediate message, and rows share equal names. It is not safe for
// concurrent use.
type rowReader struct {
	names map[string]string
}

// name returns the bytes as a shared string.
func (x *rowReader) name(b []byte) string {
	if kept, ok := x.names[string(b)]; ok {
		return kept
	}
	if x.names == nil || len(x.names) >= mostNames {
		x.names = make(map[string]string)
	}
	text := string(b)
	x.names[text] = text
	return text
}

// read decodes a cluster.v1.DailyRow and its key.
func (x *rowReader) read(key, value []byte) (DailyRow, error) {
	n := len(key) - digestSize - len(dayLayout)
	if n < 2 || key[n-1] != 0 {
		return DailyRow{}, errKey
	}
	var day [len(dateLayout)]byte
	at := append(day[:0], key[n:n+4]...)
	at = append(append(at, '-'), key[n+4:n+6]...)
	at = append(append(at, '-'), key[n+6:n+8]...)
	owner, part, _ := bytes.Cut(key[1:n-1], []byte{0, 0})
	row := DailyRow{Kind: id.AccountKind(key[0]), Owner: x.name(owner), Organization: id.Organization(x.name(part)), Day: x.name(at)}
	for len(value) > 0 {
		number, kind, size := protowire.ConsumeTag(value)
		if size < 0 {
			return row, protowire.ParseError(size)
		}
		value = value[size:]
		var field []byte
		if kind == protowire.BytesType {
			field, size = protowire.ConsumeBytes(value)
		} else {
			size = protowire.ConsumeFieldValue(number, kind, value)
		}
		if size < 0 {
			return row, protowire.ParseError(size)
		}
		value = value[size:]
		if kind != protowire.BytesType {
			continue
		}
		if err := x.set(&row, number, field); err != nil {
			return row, err
		}
	}
	return row, nil
}

func (x *rowReader) set(row *DailyRow, number protowire.Number, field []byte) error {
	switch uint32(number) {
	case 1:
		copy(row.Key[:], field)
	case 2:
		row.KeyAlias = string(field) // rows rarely share it
	case 3:
		row.Team = id.Team(x.name(field))
	case 4:
		row.Group = id.ModelName(x.name(field))
	case 5:
		row.Model = x.name(field)
	case 6:
		row.Provider = x.name(field)
	case 7:
		row.CallType = x.name(field)
	case 8:
		return readCounts(&row.Counts, field)
	}
	return nil
}

// readCounts decodes a cluster.v1.Counts.
func readCounts(c *Counts, value []byte) error {
	for len(value) > 0 {
		number, kind, size := protowire.ConsumeTag(value)
		if size < 0 {
			return protowire.ParseError(size)
		}
		value = value[size:]
		var field uint64
		if kind == protowire.VarintType {
			field, size = protowire.ConsumeVarint(value)
		} else {
			size = protowire.ConsumeFieldValue(number, kind, value)
		}
		if size < 0 {
			return protowire.ParseError(size)
		}
		value = value[size:]
		if kind != protowire.VarintType {
			continue
		}
		switch uint32(number) {
		case 1:
			c.Spend.Low = money.Pico(field)
		case 2:
			c.PromptTokens = int64(field)
		case 3:
			c.CompletionTokens = int64(field)
		case 4:
			c.CacheReadTokens = int64(field)
		case 5:
			c.CacheWriteTokens = int64(field)
		case 6:
			c.Successful = int64(field)
		case 7:
			c.Failed = int64(field)
		case 8:
			c.Attempts = int64(field)
		case 9:
			c.Duration = time.Duration(int64(field)) * time.Millisecond
		case 10:
			c.Spend.High = protowire.DecodeZigZag(field)
		}
	}
	return nil
}
