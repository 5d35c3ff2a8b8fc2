package media

import (
	"encoding/binary"
	"iter"
	"math"
	"time"
)

// maxTracks bounds the tracks of a file. Further ones do not count.
const maxTracks = 64

// track is a track of a file in fragments.
type track struct {
	id, rate uint64 // rate is in units per second
	each     uint64 // units of a sample, unless a fragment says otherwise
	end      uint64 // in units
}

// mp4 returns the time in the movie's header. A file in fragments, as browsers record it, has none
// there: then it is the end of the last fragment.
func mp4(b []byte) (time.Duration, bool) {
	var tracks []track
	for kind, body := range boxes(b) {
		switch kind {
		case "moov":
			d, ok := movie(body, &tracks)
			if ok {
				return d, true
			}
		case "moof":
			for kind, traf := range boxes(body) {
				if kind == "traf" {
					fragment(traf, tracks)
				}
			}
		}
	}
	var most time.Duration
	for _, t := range tracks {
		if d, ok := seconds(t.end, t.rate); ok {
			most = max(most, d)
		}
	}
	return most, most > 0
}

// boxes yields the boxes in b, with their types.
func boxes(b []byte) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		for len(b) >= 8 {
			size, head := uint64(binary.BigEndian.Uint32(b)), uint64(8)
			switch {
			case size == 0: // to the end
				size = uint64(len(b))
			case size == 1 && len(b) >= 16:
				size, head = binary.BigEndian.Uint64(b[8:]), 16
			}
			if size < head || size > uint64(len(b)) {
				return
			}
			if !yield(string(b[4:8]), b[head:size]) {
				return
			}
			b = b[size:]
		}
	}
}

// movie reads a movie's header, or the tracks if it states no time.
func movie(b []byte, tracks *[]track) (time.Duration, bool) {
	for kind, body := range boxes(b) {
		switch kind {
		case "mvhd":
			rate, units := clock(body)
			if d, ok := seconds(units, rate); ok {
				return d, true
			}
		case "trak":
			if len(*tracks) < maxTracks {
				*tracks = append(*tracks, trackOf(body))
			}
		}
	}
	for kind, body := range boxes(b) {
		if kind != "mvex" {
			continue
		}
		for kind, trex := range boxes(body) {
			if t := trackIn(*tracks, trex); t != nil && kind == "trex" && len(trex) >= 16 {
				t.each = uint64(binary.BigEndian.Uint32(trex[12:]))
			}
		}
	}
	return 0, false
}

// clock reads the units per second and the units of a movie's or a track's header; 0 if unknown.
func clock(b []byte) (rate, units uint64) {
	switch {
	case len(b) >= 32 && b[0] == 1:
		rate, units = uint64(binary.BigEndian.Uint32(b[20:])), binary.BigEndian.Uint64(b[24:])
		if units == math.MaxUint64 {
			units = 0
		}
	case len(b) >= 20 && b[0] == 0:
		rate, units = uint64(binary.BigEndian.Uint32(b[12:])), uint64(binary.BigEndian.Uint32(b[16:]))
		if units == math.MaxUint32 {
			units = 0
		}
	}
	return rate, units
}

// trackOf reads the identifier and the rate of a track.
func trackOf(b []byte) track {
	var t track
	for kind, body := range boxes(b) {
		switch {
		case kind == "tkhd" && len(body) >= 24 && body[0] == 1:
			t.id = uint64(binary.BigEndian.Uint32(body[20:]))
		case kind == "tkhd" && len(body) >= 16:
			t.id = uint64(binary.BigEndian.Uint32(body[12:]))
		case kind == "mdia":
			for kind, body := range boxes(body) {
				if kind == "mdhd" {
					t.rate, _ = clock(body)
				}
			}
		}
	}
	return t
}

// trackIn returns the track whose identifier a box has after its version and flags; nil if there
// is none.
func trackIn(tracks []track, b []byte) *track {
	if len(b) >= 8 {
		for i := range tracks {
			if tracks[i].id == uint64(binary.BigEndian.Uint32(b[4:])) {
				return &tracks[i]
			}
		}
	}
	return nil
}

// fragment adds the samples of a fragment of one track.
func fragment(b []byte, tracks []track) {
	var t *track
	var each uint64
	for kind, body := range boxes(b) {
		switch {
		case kind == "tfhd":
			if t = trackIn(tracks, body); t == nil {
				return
			}
			each = defaultUnits(body, t.each)
		case t == nil || len(body) < 8:
		case kind == "tfdt" && body[0] == 1 && len(body) >= 12:
			t.end = binary.BigEndian.Uint64(body[4:])
		case kind == "tfdt":
			t.end = uint64(binary.BigEndian.Uint32(body[4:]))
		case kind == "trun":
			t.end += run(body, each)
		}
	}
}

// defaultUnits returns the units of a sample by a fragment's header, which has optional fields.
func defaultUnits(b []byte, each uint64) uint64 {
	at, flags := 8, binary.BigEndian.Uint32(b)
	if flags&0x1 != 0 { // offset of the data
		at += 8
	}
	if flags&0x2 != 0 { // index of the description
		at += 4
	}
	if flags&0x8 == 0 || len(b) < at+4 {
		return each
	}
	return uint64(binary.BigEndian.Uint32(b[at:]))
}

// run returns the units of the samples of a run.
func run(b []byte, each uint64) uint64 {
	flags, samples := binary.BigEndian.Uint32(b), uint64(binary.BigEndian.Uint32(b[4:]))
	if flags&0x100 == 0 { // no time of each sample
		return samples * each
	}
	at, step := 8, 0
	for _, flag := range [...]uint32{0x1, 0x4} { // offset of the data, flags of the first sample
		if flags&flag != 0 {
			at += 4
		}
	}
	for _, flag := range [...]uint32{0x100, 0x200, 0x400, 0x800} { // time, size, flags, offset of each
		if flags&flag != 0 {
			step += 4
		}
	}
	var units uint64
	for ; samples > 0 && at+step <= len(b); samples-- {
		units += uint64(binary.BigEndian.Uint32(b[at:]))
		at += step
	}
	return units
}
