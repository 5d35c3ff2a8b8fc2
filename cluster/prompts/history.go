package prompts

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync/atomic"

	iradix "github.com/hashicorp/go-immutable-radix/v2"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/store"
	"github.com/modelgateway/modelgateway/cluster/table"
)

// histories holds the versions of all prompts, most of which nobody uses. So they are packed:
// opened when they are needed, and kept open only while they are used. It is immutable, but for
// what it keeps open.
type histories struct {
	byPrompt *iradix.Tree[*history]
	includes *iradix.Tree[string] // name of a prompt, 0, key of a version that includes it → the version's prompt
	open     *openVersions        // shared with the histories before and after
}

// history is the versions of one prompt, sorted by number. It is immutable.
type history struct{ versions []*packed }

// packed is one version. A version often differs from another one of its prompt in one place
// only, so it may lack what the two begin and end with.
type packed struct {
	number         uint32
	stamp          uint32 // bytes of its stamp
	prefix, suffix uint32 // bytes that its content shares with that of base
	includes       bool
	used           atomic.Bool // since the last attempt to evict version
	base           *packed     // whole; nil for one that is whole itself
	text           string      // the stamp, and the rest of the content
	version        atomic.Pointer[Version]
}

// maxSharing is how many versions share the text of one. The greater it is, the more a changed
// prompt differs from the one it is compared with.
const maxSharing = 16

func newHistories() *histories {
	return &histories{byPrompt: iradix.New[*history](), includes: iradix.New[string](), open: &openVersions{}}
}

// find returns where a number is, or would be.
func (h *history) find(number uint32) (int, bool) {
	return slices.BinarySearchFunc(h.versions, number, func(p *packed, n uint32) int { return cmp.Compare(p.number, n) })
}

// of returns the history of a prompt, which may be empty.
func (h *histories) of(prompt string) *history {
	if one, ok := h.byPrompt.Get([]byte(prompt)); ok {
		return one
	}
	return &history{}
}

// get returns a version of a prompt.
func (h *histories) get(prompt string, number uint32) (*Version, bool) {
	one := h.of(prompt)
	i, ok := one.find(number)
	if !ok {
		return nil, false
	}
	return h.unpacked(prompt, one.versions[i])
}

// all returns the versions of a prompt, the latest first.
func (h *histories) all(prompt string) iter.Seq[*Version] {
	return func(yield func(*Version) bool) {
		for _, p := range slices.Backward(h.of(prompt).versions) {
			if v, ok := h.unpacked(prompt, p); ok && !yield(v) {
				return
			}
		}
	}
}

// including returns the prompts with versions that include a name. One may be there several times.
func (h *histories) including(name string) iter.Seq[string] {
	return func(yield func(string) bool) {
		it := h.includes.Root().Iterator()
		it.SeekPrefix([]byte(name + "\x00"))
		for _, prompt, ok := it.Next(); ok; _, prompt, ok = it.Next() {
			if !yield(prompt) {
				return
			}
		}
	}
}

// unpacked returns a version. It could be read when it was packed, so it can be read now.
func (h *histories) unpacked(prompt string, p *packed) (*Version, bool) {
	if v := p.version.Load(); v != nil {
		if !p.used.Load() {
			p.used.Store(true)
		}
		return v, true
	}
	v, err := decodeVersion(p.record())
	if err != nil {
		return nil, false
	}
	v.Prompt, v.Number, v.packed, v.open = prompt, p.number, p, h.open
	return v, true
}

// content returns the content of a version that is whole.
func (p *packed) content() string { return p.text[p.stamp:] }

// record returns the record of a version, without its key.
func (p *packed) record() []byte {
	if p.base == nil {
		return []byte(p.text)
	}
	whole := p.base.content()
	out := make([]byte, 0, int(p.prefix+p.suffix)+len(p.text))
	out = append(append(out, p.text[:p.stamp]...), whole[:p.prefix]...)
	return append(append(out, p.text[p.stamp:]...), whole[len(whole)-int(p.suffix):]...)
}

// pack sets the text of a version: whole if it has little in common with base, which may be nil.
func (p *packed) pack(base *packed, content, stamp []byte) {
	p.stamp = uint32(len(stamp))
	if base != nil {
		whole := base.content()
		prefix := 0
		for prefix < min(len(whole), len(content)) && whole[prefix] == content[prefix] {
			prefix++
		}
		suffix := 0
		for suffix < min(len(whole), len(content))-prefix && whole[len(whole)-1-suffix] == content[len(content)-1-suffix] {
			suffix++
		}
		if prefix+suffix > len(content)/2 {
			p.base, p.prefix, p.suffix = base, uint32(prefix), uint32(suffix)
			content = content[prefix : len(content)-suffix]
		}
	}
	p.text = string(stamp) + string(content)
}

// includedNames returns the names that a version includes.
func (p *packed) includedNames() []string {
	v, err := decodeVersion(p.record())
	if err != nil {
		return nil
	}
	return v.includedNames()
}

// lastOfKey is the last field number of a version's key: the prompt's id and the version.
const lastOfKey = 2

// parts divides a record of a version into its content and its stamp. Its key is in neither.
func parts(value []byte) (content, stamp []byte, err error) {
	content = make([]byte, 0, len(value))
	for len(value) > 0 {
		number, kind, n := protowire.ConsumeTag(value)
		if n < 0 {
			return nil, nil, protowire.ParseError(n)
		}
		size := protowire.ConsumeFieldValue(number, kind, value[n:])
		if size < 0 {
			return nil, nil, protowire.ParseError(size)
		}
		field := value[:n+size]
		value = value[n+size:]
		if number == record.StampField {
			stamp = append(stamp, field...)
		} else if number > lastOfKey {
			content = append(content, field...)
		}
	}
	return content, stamp, nil
}

// versionAt reads the key of a version.
func versionAt(key []byte) (prompt string, number uint32, ok bool) {
	name, rest, ok := strings.Cut(string(key), "\x00")
	const length = 4
	if !ok || len(rest) != length {
		return "", 0, false
	}
	return name, binary.BigEndian.Uint32([]byte(rest)), true
}

// with returns the histories after changes of the replicated state, and an error for each record
// that cannot be read. Such a version stays as it was.
func (h *histories) with(changes []record.Change) (*histories, []error) {
	var e *historyEdit
	var broken []error
	for _, c := range changes {
		if c.Space != store.SpacePromptVersion {
			continue
		}
		if e == nil {
			e = h.edit()
		}
		if err := e.set(c.Key, c.Value); err != nil {
			broken = append(broken, err)
		}
	}
	if e == nil {
		return h, nil
	}
	return e.done(), broken
}

// load returns the histories of all records in the replicated state.
func (h *histories) load(ctx context.Context, state table.Scanner) (loaded *histories, broken []error, err error) {
	e := newHistories().edit()
	err = state.Scan(ctx, store.Range{Space: store.SpacePromptVersion}, func(key, value []byte) bool {
		if err := e.set(key, value); err != nil {
			broken = append(broken, err)
		}
		return true
	})
	if err != nil {
		return nil, nil, err
	}
	return e.done(), broken, nil
}

// historyEdit is an edit of histories.
type historyEdit struct {
	byPrompt *iradix.Txn[*history]
	includes *iradix.Txn[string]
	open     *openVersions
	own      map[*history]bool // that the edit has made, and so may change; nil for none
}

func (h *histories) edit() *historyEdit {
	return &historyEdit{byPrompt: h.byPrompt.Txn(), includes: h.includes.Txn(), open: h.open}
}

func (e *historyEdit) done() *histories {
	return &histories{byPrompt: e.byPrompt.CommitOnly(), includes: e.includes.CommitOnly(), open: e.open}
}

// set stores the record of a version, or removes the version if value is nil.
func (e *historyEdit) set(key, value []byte) error {
	prompt, number, ok := versionAt(key)
	if !ok {
		return unreadable(key, errors.New("the key is not that of a version"))
	}
	var next *packed
	var included []string
	if value != nil {
		body, stamp, err := parts(value)
		if err != nil {
			return unreadable(key, err)
		}
		v, err := decodeVersion(value)
		if err != nil {
			return unreadable(key, err)
		}
		included = v.includedNames()
		next = &packed{number: number, includes: included != nil}
		next.pack(e.nearest(prompt, number), body, stamp)
	}
	e.replace(prompt, number, next)
	for _, name := range included {
		e.includes.Insert(includeKey(name, prompt, number), prompt)
	}
	return nil
}

func unreadable(key []byte, err error) error {
	return fmt.Errorf("record %q of the space %q: %w", key, string(rune(store.SpacePromptVersion)), err)
}

// nearest returns the whole version that the text of another one is compared with: that of the
// versions before it; nil if there is none near.
func (e *historyEdit) nearest(prompt string, number uint32) *packed {
	h, ok := e.byPrompt.Get([]byte(prompt))
	if !ok {
		return nil
	}
	i, _ := h.find(number)
	if i == 0 {
		return nil
	}
	base := cmp.Or(h.versions[i-1].base, h.versions[i-1])
	if number-base.number >= maxSharing {
		return nil
	}
	return base
}

// replace puts a version in the place of the one with its number; next is nil to remove it.
func (e *historyEdit) replace(prompt string, number uint32, next *packed) {
	h, _ := e.byPrompt.Get([]byte(prompt))
	if h == nil {
		h = &history{}
	}
	i, found := h.find(number)
	if found && h.versions[i].includes {
		for _, name := range h.versions[i].includedNames() {
			e.includes.Delete(includeKey(name, prompt, number))
		}
	}
	if !found && next == nil {
		return
	}
	if !e.own[h] {
		h = &history{append(make([]*packed, 0, len(h.versions)+1), h.versions...)}
		if e.own == nil {
			e.own = map[*history]bool{}
		}
		e.own[h] = true
		e.byPrompt.Insert([]byte(prompt), h)
	}
	switch {
	case next == nil:
		h.versions = slices.Delete(h.versions, i, i+1)
	case found:
		h.versions[i] = next
	default:
		h.versions = slices.Insert(h.versions, i, next)
	}
	if len(h.versions) == 0 {
		e.byPrompt.Delete([]byte(prompt))
	}
}

func includeKey(name, prompt string, number uint32) []byte {
	return append([]byte(name+"\x00"), versionKey(prompt, number)...)
}
