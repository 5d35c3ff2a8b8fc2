package syntax

import "maps"

// A name belongs to the frame that Jinja would find it in. Jinja decides that before it
// renders: a frame is the template, the body of a loop, a macro and so on; a name that a
// frame assigns is the frame's own from its start, and one that it only reads is that of
// the frame around it. These rules are idtracking.py's, and each matters: with them
// {{ x }}{% set x = 1 %} reads the value, and a macro called before the assignment does
// not.

// Frame is what one run of a part of a template needs: slots for its own names.
type Frame struct {
	Slots []SlotStart
	index map[string]int
}

// SlotStart says what a slot holds when the frame starts.
type SlotStart struct {
	Name  string
	Load  LoadKind
	Outer Ref // of CopiesOuter
}

// LoadKind says what a slot holds when its frame starts.
type LoadKind uint8

// Where the value of a slot comes from when its frame starts.
const (
	StartsUnset LoadKind = iota
	IsParameter
	CopiesOuter
	IsResolved // from the values, then from the globals
)

// Slot is a place in a frame.
type Slot struct{ Index int }

// Ref is where a name is: a slot of a frame that is Up frames above the current one.
type Ref struct{ Up, Index int }

// symbols are the names of a frame while its nodes are analyzed.
type symbols struct {
	parent *symbols
	frame  *Frame
	refs   map[string]int
	loads  map[int]SlotStart
	stores map[string]bool
}

func newSymbols(parent *symbols) *symbols {
	return &symbols{
		parent: parent, frame: &Frame{index: map[string]int{}},
		refs: map[string]int{}, loads: map[int]SlotStart{}, stores: map[string]bool{},
	}
}

func (s *symbols) define(name string, start SlotStart) int {
	i, ok := s.frame.index[name]
	if !ok {
		i = len(s.frame.Slots)
		s.frame.Slots = append(s.frame.Slots, SlotStart{})
		s.frame.index[name] = i
	}
	start.Name = name
	s.refs[name], s.loads[i] = i, start
	return i
}

// find returns where a name is, if this frame or one around it has it.
func (s *symbols) find(name string) (Ref, bool) {
	for up := 0; s != nil; up, s = up+1, s.parent {
		if i, ok := s.refs[name]; ok {
			return Ref{up, i}, true
		}
	}
	return Ref{}, false
}

// outer is find in the frames around, as seen from this one.
func (s *symbols) outer(name string) (Ref, bool) {
	if s.parent == nil {
		return Ref{}, false
	}
	r, ok := s.parent.find(name)
	r.Up++
	return r, ok
}

func (s *symbols) store(name string) {
	s.stores[name] = true
	if _, ok := s.refs[name]; ok {
		return
	}
	if r, ok := s.outer(name); ok {
		s.define(name, SlotStart{Load: CopiesOuter, Outer: r})
		return
	}
	s.define(name, SlotStart{Load: StartsUnset})
}

func (s *symbols) parameter(name string) int {
	s.stores[name] = true
	return s.define(name, SlotStart{Load: IsParameter})
}

func (s *symbols) load(name string) {
	if _, ok := s.find(name); !ok {
		s.define(name, SlotStart{Load: IsResolved})
	}
}

func (s *symbols) copied() *symbols {
	out := &symbols{parent: s.parent, frame: s.frame, refs: map[string]int{}, loads: map[int]SlotStart{}, stores: map[string]bool{}}
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
		if !ok || r.Up > 0 {
			continue
		}
		if outer, ok := s.outer(name); ok {
			s.loads[r.Index] = SlotStart{Name: name, Load: CopiesOuter, Outer: outer}
			continue
		}
		s.loads[r.Index] = SlotStart{Name: name, Load: IsResolved}
	}
}

// done completes the frame.
func (s *symbols) done() *Frame {
	for i, start := range s.loads {
		s.frame.Slots[i] = start
	}
	return s.frame
}

// target notes the names that are assigned to.
func (s *symbols) target(t *Target) {
	t.Spaces(func(n *NameExpr) { s.load(n.Text) })
	t.names(func(n *NameExpr) { s.store(n.Text) })
}

func (s *symbols) parameters(t *Target) {
	t.names(func(n *NameExpr) { s.parameter(n.Text) })
}

func (s *symbols) expr(e Expr) { names(e, func(n *NameExpr) { s.load(n.Text) }) }

func (s *symbols) nodes(nodes []Node) {
	for _, n := range nodes {
		s.node(n)
	}
}

// node notes the names of a node that belong to the frame around it.
func (s *symbols) node(n Node) {
	switch n := n.(type) {
	case *OutputNode:
		for _, e := range n.Values {
			s.expr(e)
		}
	case *IfNode:
		s.choice(n)
	case *ForNode:
		s.expr(n.List)
	case *SetNode:
		s.expr(n.Value)
		s.target(n.Target)
	case *SetBlockNode:
		s.target(n.Target)
	case *WithNode:
		for _, e := range n.Values {
			s.expr(e)
		}
	case *FilterNode:
		s.expr(n.Filter)
	case *MacroNode:
		s.store(n.Name)
	case *CallNode:
		s.expr(n.Call)
	}
}

func (s *symbols) choice(n *IfNode) {
	s.expr(n.Branches[0].Condition)
	body, others, last := s.copied(), s.copied(), s.copied()
	body.nodes(n.Branches[0].Body)
	for _, b := range n.Branches[1:] {
		inner := &IfNode{Branches: []branch{b}}
		others.choice(inner)
	}
	last.nodes(n.Last)
	s.join(body, others, last)
}
