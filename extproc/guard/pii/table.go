package pii

import "strings"

// entity is the number of an entity. 0 is none.
type entity uint8

// Entities that have code of their own.
const (
	_ entity = iota
	creditCard
	crypto
	dateTime
	emailAddress
	ibanCode
	ipAddress
	macAddress
	phoneNumber
	url
	uuid
	firstOfTable // those of rows follow
)

// goesOn reports whether a value of the entity can be longer than a window.
func (e entity) goesOn() bool { return e == url || e == emailAddress }

// holds reports whether a value of the entity that goes on can have a byte of ASCII.
func (e entity) holds(b byte) bool {
	if e == url {
		return inURL(b)
	}
	return isAlnum(b) || b == '.' || b == '-' || b == '_'
}

// row is a recognizer: shapes, and a test of what has one of them.
type row struct {
	name     string
	forms    string // shapes, as in shapes
	check    func(text []byte) bool
	score    float32
	small    bool // also with small letters
	anywhere bool // also after a number and a separator

	entity entity
}

// shape is a hash of a shape, by FNV-1a.
type shape uint64

const hashStart shape = 14695981039346656037

func (h shape) add(b byte) shape { return (h ^ shape(b)) * 1099511628211 }

// shapeOf returns the byte of a shape for one of a text.
func shapeOf(b byte) byte {
	switch {
	case isDigit(b):
		return '9'
	case isLetter(b):
		return 'A'
	case b == ' ' || b == '.':
		return '-'
	}
	return b
}

// table is what an engine looks for.
type table struct {
	rows       []row
	shapes     map[shape][]int
	names      []string // of entities
	contextBit []uint64 // by entity; 0 for those without a context
	context    contexts
	wanted     []bool // by entity
}

func (t *table) wants(e entity) bool { return t.wanted[e] }

// newTable returns the table for the entities that are wanted; none means all.
func newTable(wanted map[string]bool, threshold float32) *table {
	t := &table{shapes: map[shape][]int{}, context: contexts{}}
	t.names = []string{
		"", "CREDIT_CARD", "CRYPTO", "DATE_TIME", "EMAIL_ADDRESS", "IBAN_CODE", "IP_ADDRESS", "MAC_ADDRESS", "PHONE_NUMBER", "URL", "UUID",
	}
	number := map[string]entity{}
	for n, name := range t.names {
		number[name] = entity(n)
	}
	for _, r := range rows() {
		e, ok := number[r.name]
		if !ok {
			e = entity(len(t.names))
			t.names = append(t.names, r.name)
			number[r.name] = e
		}
		r.entity = e
		if len(wanted) > 0 && !wanted[r.name] || max(r.score+contextBoost, contextLeast) < threshold {
			continue
		}
		t.rows = append(t.rows, r)
		for form := range strings.FieldsSeq(r.forms) {
			h := hashStart
			for i := range len(form) {
				h = h.add(form[i])
			}
			t.shapes[h] = append(t.shapes[h], len(t.rows)-1)
		}
	}
	t.contextBit = make([]uint64, len(t.names))
	bit := 0
	for _, c := range contextTable() {
		e, ok := number[c.entity]
		if !ok || len(wanted) > 0 && !wanted[c.entity] {
			continue
		}
		t.contextBit[e] = 1 << bit
		for word := range strings.FieldsSeq(c.words) {
			t.context[word] |= 1 << bit
		}
		bit++
	}
	t.wanted = make([]bool, len(t.names))
	for n, name := range t.names {
		t.wanted[n] = n > 0 && (len(wanted) == 0 || wanted[name])
	}
	return t
}

// Entities returns the names of what an engine finds, without those of an engine for names and of one's own
// recognizers, in no order.
func Entities() []string { return newTable(nil, 0).names[1:] }
