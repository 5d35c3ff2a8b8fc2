package values

import (
	"fmt"
	"math/big"
	"strconv"
)

// Dict keeps its entries in the order in which they were added.
type Dict struct {
	Keys   []Value
	Values []Value
	index  map[any]int // by hashed key; nil for few entries
}

// fewEntries are searched one after the other.
const fewEntries = 8

// Len returns the number of entries.
func (d *Dict) Len() int { return len(d.Keys) }

// hashed returns a key in a form that is equal for keys that Python counts as equal: 1,
// 1.0 and True are the same key. It is false for values that cannot be keys.
func hashed(v Value) (any, bool) { return hashedAt(v, 0) }

// maxKeyDepth bounds tuples in tuples that are keys.
const maxKeyDepth = 8

func hashedAt(v Value, depth int) (any, bool) {
	switch v := v.(type) {
	case bool:
		if v {
			return 1, true
		}
		return 0, true
	case Markup:
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
	case *Undefined:
		return Undefined{Strict: v.Strict}, true
	case *Tuple:
		key := make([]byte, 0, 16*len(v.Items))
		for _, item := range v.Items {
			h, ok := hashedAt(item, depth+1)
			if !ok || depth > maxKeyDepth {
				return nil, false
			}
			key = appendKey(key, h)
		}
		return tupleKey(key), true
	case *List, *Dict, *View:
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

// Hash is hashed for a template's value. It is an error if it cannot be a key.
func (m *Counter) Hash(v Value) any {
	if t, ok := v.(*Tuple); ok {
		m.Step(len(t.Items))
		m.Grow(16 * len(t.Items))
	}
	h, ok := hashed(v)
	if !ok {
		m.Fail("a %s cannot be a key", TypeName(v))
	}
	if k, ok := h.(tupleKey); ok {
		m.Grow(len(k))
		m.Work(len(k))
	}
	return h
}

// Find returns the position of a key; -1 if it is not there.
func (d *Dict) Find(hash any) int {
	if d.index != nil {
		if i, ok := d.index[hash]; ok {
			return i
		}
		return -1
	}
	for i, k := range d.Keys {
		if h, _ := hashed(k); h == hash {
			return i
		}
	}
	return -1
}

// Text returns the value of a key that is text.
func (d *Dict) Text(key string) (Value, bool) {
	if d.index == nil {
		for i, k := range d.Keys {
			if s, ok := TextOf(k); ok && s == key {
				return d.Values[i], true
			}
		}
		return nil, false
	}
	i, ok := d.index[key]
	if !ok {
		return nil, false
	}
	return d.Values[i], true
}

// put adds an entry or replaces the value of one.
func (d *Dict) put(key, hash any, v Value) {
	if i := d.Find(hash); i >= 0 {
		d.Values[i] = v
		return
	}
	d.Keys, d.Values = append(d.Keys, key), append(d.Values, v)
	switch {
	case d.index != nil:
		d.index[hash] = len(d.Keys) - 1
	case len(d.Keys) > fewEntries:
		d.index = make(map[any]int, 2*len(d.Keys))
		for i, k := range d.Keys {
			h, _ := hashed(k) // it was a key before
			d.index[h] = i
		}
	}
}

// EntryBytes is what an entry of a dict takes, with its place in the index.
const EntryBytes = 96

// Set is put for a key that may be none.
func (m *Counter) Set(d *Dict, key, v Value) {
	h := m.Hash(key)
	m.Step(1)
	m.Grow(EntryBytes)
	d.put(key, h, v)
}

// Get returns the value of a key.
func (m *Counter) Get(d *Dict, key Value) (Value, bool) {
	if s, ok := key.(string); ok {
		return d.Text(s)
	}
	h, ok := hashed(key)
	if !ok {
		return nil, false
	}
	i := d.Find(h)
	if i < 0 {
		return nil, false
	}
	return d.Values[i], true
}

// Entries returns the pairs of a dict.
func (m *Counter) Entries(d *Dict) *View {
	m.Times(d.Len(), 5*WordBytes)
	m.Step(d.Len() / 4)
	items := make([]Value, d.Len())
	for i, k := range d.Keys {
		items[i] = &Tuple{Items: []Value{k, d.Values[i]}}
	}
	return &View{"items", items}
}
