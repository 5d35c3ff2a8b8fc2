package template

import (
	"strconv"

	"github.com/modelgateway/modelgateway/cluster/prompts/template/library"
	"github.com/modelgateway/modelgateway/cluster/prompts/template/syntax"
	"github.com/modelgateway/modelgateway/cluster/prompts/template/values"
)

// loop is the variable loop of a loop's body.
type loop struct {
	m       *machine
	feed    *feed
	index   int // from 0
	depth   int // from 0
	before  values.Value
	current values.Value
	waiting []values.Value // items that were read early
	changed []values.Value
	node    *syntax.ForNode // for a recursive loop
	env     *env            // around it
	tpl     *Template
}

// feed reads the items of a loop. The test of a loop is asked for an item when it is that
// item's turn, since the body may change what the test reads.
type feed struct {
	node  *syntax.ForNode
	items []values.Value
	count *values.RangeOf // in place of items; nil for others
	size  int             // how many items there are
	at    int
	env   *env // of the test
	tpl   *Template
}

func (f *feed) next(m *machine) (values.Value, bool) {
	for f.at < f.size {
		m.Step(1)
		var item values.Value
		if f.count != nil {
			item = f.count.Start + f.at*f.count.Step
			m.Grow(8)
		} else {
			item = f.items[f.at]
		}
		f.at++
		if f.node.Test == nil || f.passes(m, item) {
			return item, true
		}
	}
	return nil, false
}

func (f *feed) passes(m *machine, item values.Value) bool {
	outer, includes := m.where, m.Includes
	defer func() { // a filter can end with the failure of the test, and the rendering goes on
		m.goTo(outer)
		m.Includes = includes
	}()
	m.env = f.env
	m.enterSource(f.tpl)
	m.assign(f.node.TestTargetInTest, item)
	return values.Truth(m.eval(f.node.Test))
}

func (l *loop) next(m *machine) (values.Value, bool) {
	var v values.Value
	if len(l.waiting) > 0 {
		v, l.waiting = l.waiting[0], l.waiting[1:]
	} else {
		var ok bool
		if v, ok = l.feed.next(m); !ok {
			return nil, false
		}
	}
	l.index++
	l.before, l.current = l.current, v
	return v, true
}

// peek returns the item after the current one.
func (l *loop) peek(m *machine) (values.Value, bool) {
	if len(l.waiting) == 0 {
		v, ok := l.feed.next(m)
		if !ok {
			return nil, false
		}
		m.Grow(values.WordBytes)
		l.waiting = append(l.waiting, v)
	}
	return l.waiting[0], true
}

func (l *loop) Length() int {
	m := l.m
	if l.feed.node.Test == nil {
		return l.feed.size
	}
	for {
		v, ok := l.feed.next(m)
		if !ok {
			return l.index + 1 + len(l.waiting)
		}
		m.Grow(values.WordBytes)
		l.waiting = append(l.waiting, v)
	}
}

func (m *machine) execFor(n *syntax.ForNode) control {
	v := m.eval(n.List)
	m.At = n.At
	if !n.Recursive {
		return m.iterate(n, v, 0)
	}
	text, _ := m.captured(func() control { return m.iterate(n, v, 0) })
	m.Write(text)
	return goOn
}

// again runs the body of a recursive loop with other items.
func (m *machine) again(l *loop, items values.Value) values.Value {
	if l.node == nil {
		m.Fail("the loop must be recursive to be called")
	}
	m.Deeper()
	outer := m.where
	m.env = l.env
	m.enterSource(l.tpl)
	text, _ := m.captured(func() control { return m.iterate(l.node, items, l.depth+1) })
	m.goTo(outer)
	m.Higher()
	return text
}

// iterate runs a loop. Its last part runs if the body never came to its end, as in Jinja.
func (m *machine) iterate(n *syntax.ForNode, v values.Value, depth int) control {
	f := &feed{node: n, tpl: m.tpl}
	m.Grow(112)
	if r, ok := v.(*values.RangeOf); ok {
		f.count, f.size = r, r.Length
	} else {
		f.items = m.Items(v)
		f.size = len(f.items)
	}
	if n.Test != nil {
		m.enter(n.InTest)
		f.env = m.env
		m.env = m.env.outer
	}
	m.enter(n.InBody)
	next := f.next
	var state *loop
	if n.Loop != nil {
		m.Grow(160)
		state = &loop{m: m, feed: f, index: -1, depth: depth}
		if n.Recursive {
			state.node, state.env, state.tpl = n, m.env.outer, m.tpl
		}
		next = state.next
	}
	finished, out := false, goOn
	for {
		item, ok := next(m)
		if !ok {
			break
		}
		m.start(n.InBody)
		if state != nil {
			m.env.slots[n.Loop.Index] = state
		}
		m.assign(n.Target, item)
		c := m.nodes(n.Body)
		if c == breaks {
			break
		}
		finished = finished || c == goOn
	}
	m.leave()
	if !finished && len(n.Last) > 0 {
		m.enter(n.InLast)
		out = m.nodes(n.Last)
		m.leave()
	}
	return out
}

func (*loop) TypeName() string { return "loop" }

func (l *loop) AppendTo(out []byte) []byte {
	out = strconv.AppendInt(append(out, "<LoopContext "...), int64(l.index+1), 10)
	return append(strconv.AppendInt(append(out, '/'), int64(l.Length()), 10), '>')
}

// Attribute returns an attribute of the loop.
func (l *loop) Attribute(name string) (values.Value, bool) {
	switch name {
	case "index":
		return l.index + 1, true
	case "index0":
		return l.index, true
	case "revindex":
		return l.Length() - l.index, true
	case "revindex0":
		return l.Length() - l.index - 1, true
	case "first":
		return l.index == 0, true
	case "last":
		_, more := l.peek(l.m)
		return !more, true
	case "length":
		return l.Length(), true
	case "depth":
		return l.depth + 1, true
	case "depth0":
		return l.depth, true
	case "previtem":
		if l.index == 0 {
			return &values.Undefined{Name: "the item before the first"}, true
		}
		return l.before, true
	case "nextitem":
		if v, more := l.peek(l.m); more {
			return v, true
		}
		return &values.Undefined{Name: "the item after the last"}, true
	}
	return nil, false
}

func (l *loop) Method(name string) (*library.Native, bool) {
	switch name {
	case "cycle":
		return &library.Native{Name: name, Most: -1, Call: func(m *library.Caller, _ values.Value, a *library.Arguments) values.Value {
			if len(a.Pos) == 0 {
				m.Fail("loop.cycle needs values")
			}
			return a.Pos[l.index%len(a.Pos)]
		}}, true
	case "changed":
		return &library.Native{Name: name, Most: -1, Call: func(m *library.Caller, _ values.Value, a *library.Arguments) values.Value {
			if l.changed != nil && m.EqualLists(l.changed, a.Pos) {
				return false
			}
			m.Grow(values.WordBytes * len(a.Pos))
			l.changed = append(make([]values.Value, 0, len(a.Pos)+1), a.Pos...)
			return true
		}}, true
	}
	return nil, false
}
