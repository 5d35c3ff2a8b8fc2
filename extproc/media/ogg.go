package media

import (
	"bytes"
	"encoding/binary"
	"time"
)

// maxStreams bounds the logical streams of a file. The sound of further ones does not count.
const maxStreams = 64

// stream is a logical stream of an Ogg file.
type stream struct {
	serial uint32
	rate   uint64 // granules per second; 0 if it is not sound
	skip   uint64 // granules at the beginning that are not played
	last   uint64 // granule position of the last page
}

// ogg reads the headers of all pages. Streams that begin together are played together, and those
// that begin after them are played after them.
func ogg(b []byte) (time.Duration, bool) {
	var sum time.Duration
	var list []stream // that began together
	data := false     // a page after the beginnings
	for page, rest := oggPage(b); page != nil; page, rest = oggPage(rest) {
		serial, granule := binary.LittleEndian.Uint32(page[14:]), binary.LittleEndian.Uint64(page[6:])
		if page[5]&2 != 0 { // the first page of a stream
			if data {
				sum, list, data = min(sum+longest(list), Longest+1), list[:0], false
			}
			if len(list) < maxStreams {
				list = append(list, opening(serial, page[27+int(page[26]):]))
			}
			continue
		}
		data = true
		for i := range list {
			if list[i].serial == serial && granule != 1<<64-1 { // otherwise no packet ends on the page
				list[i].last = granule
			}
		}
	}
	sum += longest(list)
	return sum, sum > 0 && sum <= Longest
}

// oggPage returns the next page and what follows it; nil if there is none.
func oggPage(b []byte) (page, rest []byte) {
	for {
		i := bytes.Index(b, []byte("OggS\x00")) // of version 0
		if i < 0 || len(b)-i < 27 {
			return nil, nil
		}
		b = b[i:]
		segments := int(b[26])
		size := 27 + segments
		if size <= len(b) {
			for _, n := range b[27:size] {
				size += int(n)
			}
		}
		if size <= len(b) {
			return b[:size], b[size:]
		}
		b = b[4:] // cut off, or not a page
	}
}

// opening reads the first packet of a stream.
func opening(serial uint32, p []byte) stream {
	s := stream{serial: serial}
	switch {
	case is(p, "OpusHead") && len(p) >= 19:
		s.rate, s.skip = 48000, uint64(binary.LittleEndian.Uint16(p[10:]))
	case is(p, "\x01vorbis") && len(p) >= 30:
		s.rate = uint64(binary.LittleEndian.Uint32(p[12:]))
	case is(p, "Speex   ") && len(p) >= 40:
		s.rate = uint64(binary.LittleEndian.Uint32(p[36:]))
	case is(p, "\x7fFLAC") && len(p) >= 51:
		s.rate = uint64(binary.BigEndian.Uint32(p[27:]) >> 12)
	}
	return s
}

// longest returns the longest time of the streams.
func longest(list []stream) time.Duration {
	var most time.Duration
	for _, s := range list {
		if s.last > s.skip {
			if d, ok := seconds(s.last-s.skip, s.rate); ok {
				most = max(most, d)
			}
		}
	}
	return most
}
