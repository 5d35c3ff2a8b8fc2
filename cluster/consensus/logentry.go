package consensus

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"time"

	"github.com/hashicorp/raft"
)

// The format of a log entry on the disk. All numbers are big endian:
//
//	version      1 byte, 1
//	type         1 byte, raft.LogType
//	term         8 bytes
//	appended at  8 bytes, nanoseconds since the Unix epoch, 0 if unknown
//	extensions   4 bytes of length, then the extensions
//	data         all bytes but the last four
//	checksum     4 bytes: CRC-32C of the index (8 bytes) and all of the above
//
// Pebble has checksums of its blocks, too. This one also detects an intact entry at the wrong
// index.
const (
	entryVersion = 1
	entryHead    = 1 + 1 + 8 + 8 + 4
	entryTail    = 4
)

// appendEntry appends the encoding of l to dst.
func appendEntry(dst []byte, l *raft.Log) []byte {
	start := len(dst)
	dst = append(dst, entryVersion, byte(l.Type))
	dst = binary.BigEndian.AppendUint64(dst, l.Term)
	var appended int64
	if !l.AppendedAt.IsZero() {
		appended = l.AppendedAt.UnixNano()
	}
	dst = binary.BigEndian.AppendUint64(dst, uint64(appended))
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(l.Extensions)))
	dst = append(dst, l.Extensions...)
	dst = append(dst, l.Data...)
	return binary.BigEndian.AppendUint32(dst, entrySum(l.Index, dst[start:]))
}

// decodeEntry decodes the entry at index from b into l, which does not share memory with b.
func decodeEntry(index uint64, b []byte, l *raft.Log) error {
	if len(b) < entryHead+entryTail {
		return fmt.Errorf("%d bytes are too short for an entry", len(b))
	}
	body, tail := b[:len(b)-entryTail], b[len(b)-entryTail:]
	if entrySum(index, body) != binary.BigEndian.Uint32(tail) {
		return errors.New("the checksum does not match")
	}
	if body[0] != entryVersion {
		return fmt.Errorf("version %d is unknown", body[0])
	}
	if body[1] > byte(raft.LogConfiguration) {
		return fmt.Errorf("type %d is unknown", body[1])
	}
	extensions := binary.BigEndian.Uint32(body[18:])
	rest := body[entryHead:]
	if uint64(extensions) > uint64(len(rest)) {
		return errors.New("the extensions are longer than the entry")
	}
	*l = raft.Log{Index: index, Type: raft.LogType(body[1]), Term: binary.BigEndian.Uint64(body[2:])}
	if at := int64(binary.BigEndian.Uint64(body[10:])); at != 0 {
		l.AppendedAt = time.Unix(0, at).UTC()
	}
	own := append([]byte(nil), rest...)
	if extensions > 0 {
		l.Extensions = own[:extensions:extensions]
	}
	l.Data = own[extensions:]
	return nil
}

func entrySum(index uint64, body []byte) uint32 {
	var head [8]byte
	binary.BigEndian.PutUint64(head[:], index)
	table := crc32.MakeTable(crc32.Castagnoli) // the library caches it
	return crc32.Update(crc32.Checksum(head[:], table), table, body)
}
