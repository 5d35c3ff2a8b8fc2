package eventstream

import (
	"encoding/binary"
	"hash/crc32"
)

// headers are what is read of a frame: those of its headers that say what it is, and its payload. They alias the frame.
type headers struct {
	message   []byte // event, exception or error
	event     []byte // type of an event
	exception []byte // type of an exception
	code      []byte // of an error
	text      []byte // message of an error
	payload   []byte
}

// Sizes of headers' values, by the type of the value. 7 and 6 have a length before them.
const (
	typeBytes  = 6
	typeString = 7
)

// sizeOf returns the size of a value of a type of fixed size; not ok for other types.
func sizeOf(kind byte) (int, bool) {
	switch kind {
	case 0, 1: // true and false
		return 0, true
	case 2:
		return 1, true
	case 3:
		return 2, true
	case 4:
		return 4, true
	case 5, 8: // a long, and a time
		return 8, true
	case 9: // a UUID
		return 16, true
	}
	return 0, false
}

// read reads a complete frame.
func (h *headers) read(frame []byte) error {
	end := len(frame) - checksumSize
	if crc32.ChecksumIEEE(frame[:end]) != binary.BigEndian.Uint32(frame[end:]) {
		return damaged("the checksum of a frame is wrong")
	}
	size := int(binary.BigEndian.Uint32(frame[4:]))
	list := frame[preludeSize : preludeSize+size]
	h.payload = frame[preludeSize+size : end]
	for len(list) > 0 {
		n := int(list[0])
		if n == 0 || len(list) < 1+n+1 {
			return damaged("a header has no name")
		}
		name, kind := list[1:1+n], list[1+n]
		list = list[2+n:]
		value, ok := sizeOf(kind)
		if kind == typeBytes || kind == typeString {
			if ok = len(list) >= 2; ok {
				value, list = int(binary.BigEndian.Uint16(list)), list[2:]
			}
		}
		if !ok || len(list) < value {
			return damaged("a header has no value")
		}
		if kind == typeString {
			h.set(name, list[:value])
		}
		list = list[value:]
	}
	return nil
}

// set keeps a header. The first one of a name counts.
func (h *headers) set(name, value []byte) {
	var to *[]byte
	switch string(name) {
	case ":message-type":
		to = &h.message
	case ":event-type":
		to = &h.event
	case ":exception-type":
		to = &h.exception
	case ":error-code":
		to = &h.code
	case ":error-message":
		to = &h.text
	default:
		return
	}
	if *to == nil {
		*to = value
	}
}
