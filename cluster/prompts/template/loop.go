package template

import "strconv"

// loop is the variable loop of a loop's body.
type loop struct {
	m       *machine
	feed    *feed
	index   int // from 0
	depth   int // from 0
	before  value
	current value
	waiting []value // items that were read early
	changed []value
	node    *forNode // for a recursive loop
	env     *env     // around it
	tpl     *Template
}

// feed reads the items of a loop. The test of a loop is asked for an item when it is that
// item's turn, since the body may change what the test reads.
type feed struct {
	node  *forNode
	items []value
	count *rangeOf // in place of items; nil for others
	size  int      // how many items there are
	at    int
	env   *env // of the test
	tpl   *Template
}

func (f *feed) next(m *machine) (value, bool) {
	for f.at < f.size {
		m.step(1)
		var item value
		if f.count != nil {
			item = f.count.start + f.at*f.count.step
			m.grow(8)
		} else {
			item = f.items[f.at]
		}
		f.at++
		if f.node.test == nil || f.passes(m, item) {
			return item, true
		}
	}
	return nil, false
}

func (f *feed) passes(m *machine, item value) bool {
	outer, includes := m.where, m.includes
	defer func() { // a filter can end with the failure of the test, and the rendering goes on
		m.goTo(outer)
		m.includes = includes
	}()
	m.env = f.env
	m.enterSource(f.tpl)
	m.assign(f.node.testTargetInTest, item)
	return truth(m.eval(f.node.test))
}

func (l *loop) next(m *machine) (value, bool) {
	var v value
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
func (l *loop) peek(m *machine) (value, bool) {
	if len(l.waiting) == 0 {
		v, ok := l.feed.next(m)
		if !ok {
			return nil, false
		}
		m.grow(wordBytes)
		l.waiting = append(l.waiting, v)
	}
	return l.waiting[0], true
}

func (l *loop) length() int {
	m := l.m
	if l.feed.node.test == nil {
		return l.feed.size
	}
	for {
		v, ok := l.feed.next(m)
		if !ok {
			return l.index + 1 + len(l.waiting)
		}
		m.grow(wordBytes)
		l.waiting = append(l.waiting, v)
	}
}

func (m *machine) execFor(n *forNode) control {
	v := m.eval(n.list)
	m.at = n.at
	if !n.recursive {
		return m.iterate(n, v, 0)
	}
	text, _ := m.captured(func() control { return m.iterate(n, v, 0) })
	m.write(text)
	return goOn
}

// again runs the body of a recursive loop with other items.
func (m *machine) again(l *loop, items value) value {
	if l.node == nil {
		m.fail("the loop must be recursive to be called")
	}
	m.deeper()
	outer := m.where
	m.env = l.env
	m.enterSource(l.tpl)
	text, _ := m.captured(func() control { return m.iterate(l.node, items, l.depth+1) })
	m.goTo(outer)
	m.higher()
	return text
}

// iterate runs a loop. Its last part runs if the body never came to its end, as in Jinja.
func (m *machine) iterate(n *forNode, v value, depth int) control {
	f := &feed{node: n, tpl: m.tpl}
	m.grow(112)
	if r, ok := v.(*rangeOf); ok {
		f.count, f.size = r, r.length
	} else {
		f.items = m.items(v)
		f.size = len(f.items)
	}
	if n.test != nil {
		m.enter(n.inTest)
		f.env = m.env
		m.env = m.env.outer
	}
	m.enter(n.inBody)
	next := f.next
	var state *loop
	if n.loop != nil {
		m.grow(160)
		state = &loop{m: m, feed: f, index: -1, depth: depth}
		if n.recursive {
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
		m.start(n.inBody)
		if state != nil {
			m.env.slots[n.loop.index] = state
		}
		m.assign(n.target, item)
		c := m.nodes(n.body)
		if c == breaks {
			break
		}
		finished = finished || c == goOn
	}
	m.leave()
	if !finished && len(n.last) > 0 {
		m.enter(n.inLast)
		out = m.nodes(n.last)
		m.leave()
	}
	return out
}

func (*loop) typeName() string { return "loop" }

func (l *loop) appendTo(out []byte) []byte {
	out = strconv.AppendInt(append(out, "<LoopContext "...), int64(l.index+1), 10)
	return append(strconv.AppendInt(append(out, '/'), int64(l.length()), 10), '>')
}

// attribute returns an attribute of the loop.
func (l *loop) attribute(name string) (value, bool) {
	switch name {
	case "index":
		return l.index + 1, true
	case "index0":
		return l.index, true
	case "revindex":
		return l.length() - l.index, true
	case "revindex0":
		return l.length() - l.index - 1, true
	case "first":
		return l.index == 0, true
	case "last":
		_, more := l.peek(l.m)
		return !more, true
	case "length":
		return l.length(), true
	case "depth":
		return l.depth + 1, true
	case "depth0":
		return l.depth, true
	case "previtem":
		if l.index == 0 {
			return &undefined{name: "the item before the first"}, true
		}
		return l.before, true
	case "nextitem":
		if v, more := l.peek(l.m); more {
			return v, true
		}
		return &undefined{name: "the item after the last"}, true
	}
	return nil, false
}

func (l *loop) method(name string) (*native, bool) {
	switch name {
	case "cycle":
		return &native{name: name, most: -1, call: func(m *caller, _ value, a *arguments) value {
			if len(a.pos) == 0 {
				m.fail("loop.cycle needs values")
			}
			return a.pos[l.index%len(a.pos)]
		}}, true
	case "changed":
		return &native{name: name, most: -1, call: func(m *caller, _ value, a *arguments) value {
			if l.changed != nil && m.equalLists(l.changed, a.pos) {
				return false
			}
			m.grow(wordBytes * len(a.pos))
			l.changed = append(make([]value, 0, len(a.pos)+1), a.pos...)
			return true
		}}, true
	}
	return nil, false
}
