package splice

import (
	"encoding/base64"
	"encoding/binary"
	"math"
	"strconv"
)

// Vectors returns a response with all embeddings in the other form: base64 of 32-bit floats in
// little-endian order, or arrays of numbers. List must have accepted the response. An embedding
// that is in the requested form already, or in neither, stays.
func Vectors(body []byte, text bool) []byte {
	s := scanner{b: body}
	i, err := s.open()
	if err != nil {
		return body
	}
	var edits []Edit
	w := s.members(i)
	for w.next() {
		if string(w.name) != "data" || body[w.at] != '[' {
			w.at = s.value(w.at)
			continue
		}
		all := s.elements(w.at)
		for all.next() {
			if body[all.at] != '{' {
				all.at = s.value(all.at)
				continue
			}
			one := s.members(all.at)
			for one.next() {
				from := one.at
				one.at = s.value(from)
				if string(one.name) != "embedding" || one.at < 0 {
					continue
				}
				if with, ok := vector(body[from:one.at], text); ok {
					edits = append(edits, Edit{from, one.at, with})
				}
			}
			all.at = one.at
		}
		w.at = all.at
	}
	return Apply(nil, body, edits)
}

// vector returns an embedding in the other form.
func vector(raw []byte, text bool) (string, bool) {
	switch {
	case text && raw[0] == '[':
		return packed(raw)
	case !text && raw[0] == '"':
		return unpacked(raw[1 : len(raw)-1])
	}
	return "", false
}

// packed returns an array of numbers as base64.
func packed(raw []byte) (string, bool) {
	s := scanner{b: raw}
	out := make([]byte, 0, len(raw)/2)
	w := s.elements(0)
	for w.next() {
		from := w.at
		w.at = s.value(from)
		v, err := strconv.ParseFloat(string(raw[from:max(w.at, from)]), 32)
		if err != nil {
			return "", false
		}
		out = binary.LittleEndian.AppendUint32(out, math.Float32bits(float32(v)))
	}
	return `"` + base64.StdEncoding.EncodeToString(out) + `"`, true
}

// unpacked returns base64 as an array of numbers.
func unpacked(text []byte) (string, bool) {
	raw, err := base64.StdEncoding.DecodeString(string(Plain(text)))
	if err != nil || len(raw)%4 != 0 {
		return "", false
	}
	out := make([]byte, 1, len(raw)*3)
	out[0] = '['
	for i := 0; i < len(raw); i += 4 {
		v := float64(math.Float32frombits(binary.LittleEndian.Uint32(raw[i:])))
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return "", false // JSON has no such numbers
		}
		if i > 0 {
			out = append(out, ',')
		}
		out = strconv.AppendFloat(out, v, 'g', -1, 32)
	}
	return string(append(out, ']')), true
}
