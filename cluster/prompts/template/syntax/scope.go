package template

import "maps"

// A name belongs to the frame that Jinja would find it in. Jinja decides that before it
// renders: a frame is the template, the body of a loop, a macro and so on; a name that a
// frame assigns is the frame's own from its start, and one that it only reads is that of
// the frame around it. These rules are idtracking.py's, and each matters: with them
// {{ x }}{% set x = 1 %} reads the value, and a macro called before the assignment does
// not.

// frame is what one run of a part of a template needs: slots for its own names.
type frame struct {
	slots []slotStart
	index map[string]int
}

// slotStart says what a slot holds when the frame starts.
type slotStart struct {
	name  string
	load  loadKind
	outer ref // of copiesOuter
}

type loadKind uint8

const (
	startsUnset loadKind = iota
	isParameter
	copiesOuter
	isResolved // from the values, then from the globals
)

// slot is a place in a frame.
type slot struct{ index int }

// ref is where a name is: a slot of a frame that is up frames above the current one.
type ref struct{ up, index int }

// symbols are the names of a frame while its nodes are analyzed.
type symbols struct {
	parent *symbols
	frame  *frame
	refs   map[string]int
	loads  map[int]slotStart
	stores map[string]bool
}

func newSymbols(parent *symbols) *symbols {
	return &symbols{
		parent: parent, frame: &frame{index: map[string]int{}},
		refs: map[string]int{}, loads: map[int]slotStart{}, stores: map[string]bool{},
	}
}

func (s *symbols) define(name string, start slotStart) int {
	i, ok := s.frame.index[name]
	if !ok {
		i = len(s.frame.slots)
		s.frame.slots = append(s.frame.slots, slotStart{})
		s.frame.index[name] = i
	}
	start.name = name
	s.refs[name], s.loads[i] = i, start
	return i
}

// find returns where a name is, if this frame or one around it has it.
func (s *symbols) find(name string) (ref, bool) {
	for up := 0; s != nil; up, s = up+1, s.parent {
		if i, ok := s.refs[name]; ok {
			return ref{up, i}, true
		}
	}
	return ref{}, false
}

// outer is find in the frames around, as seen from this one.
func (s *symbols) outer(name string) (ref, bool) {
	if s.parent == nil {
		return ref{}, false
	}
	r, ok := s.parent.find(name)
	r.up++
	return r, ok
}

func (s *symbols) store(name string) {
	s.stores[name] = true
	if _, ok := s.refs[name]; ok {
		return
	}
	if r, ok := s.outer(name); ok {
		s.define(name, slotStart{load: copiesOuter, outer: r})
		return
	}
	s.define(name, slotStart{load: startsUnset})
}

func (s *symbols) parameter(name string) int {
	s.stores[name] = true
	return s.define(name, slotStart{load: isParameter})
}

func (s *symbols) load(name string) {
	if _, ok := s.find(name); !ok {
		s.define(name, slotStart{load: isResolved})
	}
}

func (s *symbols) copied() *symbols {
	out := &symbols{parent: s.parent, frame: s.frame, refs: map[string]int{}, loads: map[int]slotStart{}, stores: map[string]bool{}}
	out.merge(s)
	return out
}

func (s *symbols) merge(from *symbols) {
	maps.Copy(s.refs, from.refs)
	maps.Copy(s.loads, from.loads)
	for name := range from.stores {
		s.stores[name] = true
	}
}

// join takes over what the branches of an if have. A name that one of them assigns has
// its outer value where another one runs.
func (s *symbols) join(branches ...*symbols) {
	fresh := map[string]bool{}
	for _, b := range branches {
		for name := range b.stores {
			if !s.stores[name] {
				fresh[name] = true
			}
		}
	}
	for _, b := range branches {
		s.merge(b)
	}
	for name := range fresh {
		r, ok := s.find(name)
		if !ok || r.up > 0 {
			continue
		}
		if outer, ok := s.outer(name); ok {
			s.loads[r.index] = slotStart{name: name, load: copiesOuter, outer: outer}
			continue
		}
		s.loads[r.index] = slotStart{name: name, load: isResolved}
	}
}

// done completes the frame.
func (s *symbols) done() *frame {
	for i, start := range s.loads {
		s.frame.slots[i] = start
	}
	return s.frame
}

// target notes the names that are assigned to.
func (s *symbols) target(t *target) {
	t.spaces(func(n *nameExpr) { s.load(n.text) })
	t.names(func(n *nameExpr) { s.store(n.text) })
}

func (s *symbols) parameters(t *target) {
	t.names(func(n *nameExpr) { s.parameter(n.text) })
}

func (s *symbols) expr(e expr) { names(e, func(n *nameExpr) { s.load(n.text) }) }

func (s *symbols) nodes(nodes []node) {
	for _, n := range nodes {
		s.node(n)
	}
}

// node notes the names of a node that belong to the frame around it.
func (s *symbols) node(n node) {
	switch n := n.(type) {
	case *outputNode:
		for _, e := range n.values {
			s.expr(e)
		}
	case *ifNode:
		s.choice(n)
	case *forNode:
		s.expr(n.list)
	case *setNode:
		s.expr(n.value)
		s.target(n.target)
	case *setBlockNode:
		s.target(n.target)
	case *withNode:
		for _, e := range n.values {
			s.expr(e)
		}
	case *filterNode:
		s.expr(n.filter)
	case *macroNode:
		s.store(n.name)
	case *callNode:
		s.expr(n.call)
	}
}

func (s *symbols) choice(n *ifNode) {
	s.expr(n.branches[0].condition)
	body, others, last := s.copied(), s.copied(), s.copied()
	body.nodes(n.branches[0].body)
	for _, b := range n.branches[1:] {
		inner := &ifNode{branches: []branch{b}}
		others.choice(inner)
	}
	last.nodes(n.last)
	s.join(body, others, last)
}
