package config

import (
	"cmp"
	"time"

	"github.com/modelgateway/modelgateway/cluster/vault"
)

// setting is one setting of a section: the one place for its name, its default, its
// bounds and its documentation. The decoder, Effective and the tables of
// the documentation use it.
type setting struct {
	name  string
	value value
	text  string // the meaning, in the documentation
}

// value is where a setting is kept.
type value interface {
	read(o *object, name string)  // fills in the default, then what the file gives
	write(w *writer, name string) // as YAML
}

// settings reads settings in the order of their table.
func (o *object) settings(table []setting) {
	for _, s := range table {
		s.value.read(o, s.name)
	}
}

// settings writes settings in the order of their table.
func (w *writer) settings(table []setting) {
	for _, s := range table {
		s.value.write(w, s.name)
	}
}

// unset is the default in the documentation of a setting that has none.
const unset = "–"

// number is a whole number within bounds. If without is set, the default is not
// written, and the documentation shows without instead.
type number struct {
	to                    *int64
	standard, least, most int64
	without               string
}

func (v number) read(o *object, name string) {
	*v.to = v.standard
	o.integer(name, v.to, v.least, v.most)
}

func (v number) write(w *writer, name string) {
	if v.without == "" || *v.to != v.standard {
		w.integer(name, *v.to)
	}
}

// span is a time span within bounds; without is as in number.
type span struct {
	to                    *time.Duration
	standard, least, most time.Duration
	without               string
}

func (v span) read(o *object, name string) {
	*v.to = v.standard
	o.duration(name, v.to, v.least, v.most)
}

func (v span) write(w *writer, name string) {
	if v.without == "" || *v.to != v.standard {
		w.seconds(name, *v.to)
	}
}

// word is a text. An empty one means the default; without is as in number. If parse is
// set, it checks the text and returns its usual form, as for single.
type word struct {
	to       *string
	standard string
	without  string
	parse    func(s string) (v, problem string)
}

func (v word) read(o *object, name string) {
	if v.parse != nil {
		single(o, name, v.to, v.parse)
	} else {
		o.str(name, v.to)
	}
	if *v.to == "" {
		*v.to = v.standard
	}
}

func (v word) write(w *writer, name string) {
	if v.without == "" || *v.to != v.standard {
		w.str(name, *v.to)
	}
}

// choice is one of some words. Without a standard, it is empty unless it is given.
type choice[T ~string] struct {
	to       *T
	standard T
	allowed  []T
}

func (v choice[T]) read(o *object, name string) {
	*v.to = v.standard
	oneOf(o, name, v.to, v.allowed...)
}

func (v choice[T]) write(w *writer, name string) { w.given(name, string(*v.to)) }

// names is a list of texts. If known is set, each must be one of them; what is as in
// namesOf. If without is set, an empty list is not written, and the documentation shows
// without instead.
type names struct {
	to      *[]string
	what    string
	known   []string
	without string
}

func (v names) read(o *object, name string) {
	if v.known == nil {
		o.strings(name, v.to)
	} else {
		o.namesOf(name, v.to, v.what, v.known)
	}
}

func (v names) write(w *writer, name string) {
	if v.without == "" || len(*v.to) > 0 {
		w.strings(name, *v.to)
	}
}

// group is a section within a section. It is written unless it is empty.
type group struct {
	of    []setting
	check func(o *object, before int)    // is called when all is read; before: the problems that the file had without the section
	known func(d *decoder, f field) bool // as for rest
}

func (v group) read(o *object, name string) {
	n, ok := o.take(name)
	if !ok {
		return
	}
	before := len(o.d.problems)
	section := o.d.open(n)
	section.settings(v.of)
	section.rest(func(f field) bool { return v.known != nil && v.known(o.d, f) })
	if v.check != nil {
		v.check(section, before)
	}
}

func (v group) write(w *writer, name string) { w.optional(name, func() { w.settings(v.of) }) }

// toggle is true or false.
type toggle struct{ to *bool }

func (v toggle) read(o *object, name string)  { o.boolean(name, v.to) }
func (v toggle) write(w *writer, name string) { w.boolean(name, *v.to) }

// secretText is a setting whose value is never shown.
type secretText struct{ to *vault.Secret }

func (v secretText) read(o *object, name string)  { o.secret(name, v.to) }
func (v secretText) write(w *writer, name string) { w.secret(name, *v.to) }

// custom is a value that is read and written in its own way. A nil writer writes
// nothing. The documentation shows without as the default.
type custom struct {
	reader  func(o *object, name string)
	writer  func(w *writer, name string)
	without string
}

func (v custom) read(o *object, name string) { v.reader(o, name) }

func (v custom) write(w *writer, name string) {
	if v.writer != nil {
		v.writer(w, name)
	}
}

// own returns a value that read fills in and write writes.
func own[T any](to *T, read func(d *decoder, o *object, name string, to *T), write func(w *writer, name string, v T), without string) custom {
	return custom{
		func(o *object, name string) { read(o.d, o, name, to) },
		func(w *writer, name string) { write(w, name, *to) }, without,
	}
}

// optional returns a single value that is nil unless the file gives it.
func optional[T any](to **T, parse func(s string) (v *T, problem string), text func(T) string, without string) custom {
	return custom{
		func(o *object, name string) { single(o, name, to, parse) },
		func(w *writer, name string) {
			if *to != nil {
				w.raw(name, text(**to))
			}
		}, without,
	}
}

// older returns another name of a setting, which was read before and takes precedence.
func older[T comparable](to *T, parse func(s string) (v T, problem string)) custom {
	return custom{reader: func(o *object, name string) {
		var given T
		single(o, name, &given, parse)
		*to = cmp.Or(*to, given)
	}, without: unset}
}
