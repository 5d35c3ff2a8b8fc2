package template

import (
	"fmt"
	"math/big"
	"strconv"
)

// dict keeps its entries in the order in which they were added.
type dict struct {
	keys   []value
	values []value
	index  map[any]int // by hashed key; nil for few entries
}

// fewEntries are searched one after the other.
const fewEntries = 8

func (d *dict) len() int { return len(d.keys) }

// hashed returns a key in a form that is equal for keys that Python counts as equal: 1,
// 1.0 and True are the same key. It is false for values that cannot be keys.
func hashed(v value) (any, bool) { return hashedAt(v, 0) }

// maxKeyDepth bounds tuples in tuples that are keys.
const maxKeyDepth = 8

func hashedAt(v value, depth int) (any, bool) {
	switch v := v.(type) {
	case bool:
		if v {
			return 1, true
		}
		return 0, true
	case markup:
		return string(v), true
	case float64:
		if n, ok := wholeInt(v); ok {
			return n, true
		}
		if b, ok := wholeBig(v); ok {
			return bigKey(b.String()), true
		}
		return v, true
	case *big.Int:
		return bigKey(v.String()), true
	case *undefined:
		return undefined{strict: v.strict}, true
	case *tuple:
		key := make([]byte, 0, 16*len(v.items))
		for _, item := range v.items {
			h, ok := hashedAt(item, depth+1)
			if !ok || depth > maxKeyDepth {
				return nil, false
			}
			key = appendKey(key, h)
		}
		return tupleKey(key), true
	case *list, *dict, *view:
		return nil, false
	}
	return v, true
}

// bigKey is the key of a number that is no int; tupleKey that of a tuple.
type (
	bigKey   string
	tupleKey string
)

// appendKey adds a part of a tuple's key, with its kind and length.
func appendKey(key []byte, part any) []byte {
	switch part := part.(type) {
	case nil:
		return append(key, 'n')
	case int:
		return strconv.AppendInt(append(key, 'i'), int64(part), 10)
	case float64:
		return strconv.AppendFloat(append(key, 'f'), part, 'g', -1, 64)
	case string:
		return append(strconv.AppendInt(append(key, 's'), int64(len(part)), 10), ":"+part...)
	case bigKey:
		return append(append(key, 'b'), part...)
	case tupleKey:
		return append(strconv.AppendInt(append(key, 't'), int64(len(part)), 10), ":"+part...)
	}
	return fmt.Appendf(key, "%T%p", part, part)
}

// hash is hashed for a template's value. It is an error if it cannot be a key.
func (m *counter) hash(v value) any {
	if t, ok := v.(*tuple); ok {
		m.step(len(t.items))
		m.grow(16 * len(t.items))
	}
	h, ok := hashed(v)
	if !ok {
		m.fail("a %s cannot be a key", typeName(v))
	}
	if k, ok := h.(tupleKey); ok {
		m.grow(len(k))
		m.work(len(k))
	}
	return h
}

// find returns the position of a key; -1 if it is not there.
func (d *dict) find(hash any) int {
	if d.index != nil {
		if i, ok := d.index[hash]; ok {
			return i
		}
		return -1
	}
	for i, k := range d.keys {
		if h, _ := hashed(k); h == hash {
			return i
		}
	}
	return -1
}

// text returns the value of a key that is text.
func (d *dict) text(key string) (value, bool) {
	if d.index == nil {
		for i, k := range d.keys {
			if s, ok := textOf(k); ok && s == key {
				return d.values[i], true
			}
		}
		return nil, false
	}
	i, ok := d.index[key]
	if !ok {
		return nil, false
	}
	return d.values[i], true
}

// put adds an entry or replaces the value of one.
func (d *dict) put(key, hash any, v value) {
	if i := d.find(hash); i >= 0 {
		d.values[i] = v
		return
	}
	d.keys, d.values = append(d.keys, key), append(d.values, v)
	switch {
	case d.index != nil:
		d.index[hash] = len(d.keys) - 1
	case len(d.keys) > fewEntries:
		d.index = make(map[any]int, 2*len(d.keys))
		for i, k := range d.keys {
			h, _ := hashed(k) // it was a key before
			d.index[h] = i
		}
	}
}

// entryBytes is what an entry of a dict takes, with its place in the index.
const entryBytes = 96

// set is put for a key that may be none.
func (m *counter) set(d *dict, key, v value) {
	h := m.hash(key)
	m.step(1)
	m.grow(entryBytes)
	d.put(key, h, v)
}

// get returns the value of a key.
func (m *counter) get(d *dict, key value) (value, bool) {
	if s, ok := key.(string); ok {
		return d.text(s)
	}
	h, ok := hashed(key)
	if !ok {
		return nil, false
	}
	i := d.find(h)
	if i < 0 {
		return nil, false
	}
	return d.values[i], true
}

// entries returns the pairs of a dict.
func (m *counter) entries(d *dict) *view {
	m.times(d.len(), 5*wordBytes)
	m.step(d.len() / 4)
	items := make([]value, d.len())
	for i, k := range d.keys {
		items[i] = &tuple{items: []value{k, d.values[i]}}
	}
	return &view{"items", items}
}
