package bedrock

import (
	"encoding/binary"
	"hash/crc32"
	"strings"
)

// Media is the content type of AWS's streams.
const Media = "application/vnd.amazon.eventstream"

// text is the type of a header's value that is a text.
const text = 7

// Frame is an event as AWS's binary streams have it: two lengths and their checksum, headers, the payload, and a checksum
// of all. An event whose name ends with Exception is a failure.
func Frame(name, payload string) string {
	kind := "event"
	if strings.HasSuffix(name, "Exception") {
		kind = "exception"
	}
	var headers []byte
	for _, h := range [][2]string{{":" + kind + "-type", name}, {":content-type", "application/json"}, {":message-type", kind}} {
		headers = append(append(headers, byte(len(h[0]))), h[0]...)
		headers = binary.BigEndian.AppendUint16(append(headers, text), uint16(len(h[1])))
		headers = append(headers, h[1]...)
	}
	const around = 16 // lengths and checksums
	out := binary.BigEndian.AppendUint32(nil, uint32(around+len(headers)+len(payload)))
	out = binary.BigEndian.AppendUint32(out, uint32(len(headers)))
	out = binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(out))
	out = append(append(out, headers...), payload...)
	return string(binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(out)))
}
