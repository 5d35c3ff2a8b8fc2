package template

import "slices"

// binder says for each name of a template where it is, and for each frame what it holds
// when it starts.
type binder struct {
	source    string
	variables []string // that are looked up in the values
}

// bind completes the nodes of a template and returns its frame.
func (b *binder) bind(body []node) (*frame, error) {
	s := newSymbols(nil)
	s.nodes(body)
	err := b.nodes(body, s)
	return s.done(), err
}

// uses notes a variable that is looked up in the values.
func (b *binder) uses(n *nameExpr, s *symbols) {
	if !s.resolved(n) || slices.Contains(b.variables, n.text) {
		return
	}
	if _, ok := globalOf(n.text); !ok {
		b.variables = append(b.variables, n.text)
	}
}

// resolved reports whether a name is looked up in the values.
func (s *symbols) resolved(n *nameExpr) bool {
	for range n.ref.up {
		s = s.parent
	}
	return s.loads[n.ref.index].load == isResolved
}

func (b *binder) nodes(nodes []node, s *symbols) error {
	for _, n := range nodes {
		if err := b.node(n, s); err != nil {
			return err
		}
	}
	return nil
}

func (b *binder) node(n node, s *symbols) error {
	switch n := n.(type) {
	case *outputNode:
		return b.exprs(s, n.values...)
	case *ifNode:
		for _, branch := range n.branches {
			if err := b.exprs(s, branch.condition); err != nil {
				return err
			}
			if err := b.nodes(branch.body, s); err != nil {
				return err
			}
		}
		return b.nodes(n.last, s)
	case *forNode:
		return b.loop(n, s)
	case *setNode:
		b.target(n.target, s)
		return b.exprs(s, n.value)
	case *setBlockNode:
		return b.setBlock(n, s)
	case *withNode:
		inner := newSymbols(s)
		for _, t := range n.targets {
			inner.parameters(t)
		}
		inner.nodes(n.body)
		for _, t := range n.targets {
			b.target(t, inner)
		}
		err := b.exprs(s, n.values...)
		if err == nil {
			err = b.nodes(n.body, inner)
		}
		n.frame = inner.done()
		return err
	case *filterNode:
		inner := newSymbols(s)
		inner.nodes(n.body)
		inner.expr(n.filter)
		err := b.nodes(n.body, inner)
		if err == nil {
			err = b.exprs(inner, n.filter)
		}
		n.frame = inner.done()
		return err
	case *macroNode:
		r, _ := s.find(n.name)
		n.stored = &r
		return b.macro(n, s)
	case *callNode:
		if err := b.macro(n.macro, s); err != nil {
			return err
		}
		return b.exprs(s, n.call)
	case *includeNode:
		n.locals = visible(s)
	}
	return nil
}

func (b *binder) setBlock(n *setBlockNode, s *symbols) error {
	inner := newSymbols(s)
	inner.nodes(n.body)
	var err error
	names(n.filter, func(name *nameExpr) {
		if _, ok := inner.find(name.text); !ok && err == nil {
			err = wrongAt(b.source, name.at, "Jinja does not find %s in the filter of a set block; assign it before", name.text)
		}
	})
	if err == nil {
		err = b.nodes(n.body, inner)
	}
	if err == nil {
		err = b.exprs(inner, n.filter)
	}
	b.target(n.target, s)
	n.frame = inner.done()
	return err
}

func (b *binder) loop(n *forNode, s *symbols) error {
	if err := b.exprs(s, n.list); err != nil {
		return err
	}
	inner := newSymbols(s)
	if n.recursive || readsUndeclared(n.body, "loop")["loop"] {
		n.loop = &slot{inner.parameter("loop")}
	}
	inner.parameters(n.target)
	inner.nodes(n.body)
	b.target(n.target, inner)
	if err := b.nodes(n.body, inner); err != nil {
		return err
	}
	n.inBody = inner.done()
	if n.test != nil {
		test := newSymbols(s)
		test.parameters(n.target)
		test.expr(n.test)
		n.testTargetInTest = n.target.cloned()
		b.target(n.testTargetInTest, test)
		if err := b.exprs(test, n.test); err != nil {
			return err
		}
		n.inTest = test.done()
	}
	last := newSymbols(s)
	last.nodes(n.last)
	err := b.nodes(n.last, last)
	n.inLast = last.done()
	return err
}

func (b *binder) macro(n *macroNode, s *symbols) error {
	inner := newSymbols(s)
	analyze := func() {
		for _, p := range n.params {
			inner.parameter(p.text)
		}
		for _, e := range n.defaults {
			inner.expr(e)
		}
		inner.nodes(n.body)
	}
	analyze()
	special := func(name string) *slot { return &slot{inner.parameter(name)} }
	isParam := func(name string) bool {
		return slices.ContainsFunc(n.params, func(p *nameExpr) bool { return p.text == name })
	}
	reads := readsUndeclared(n.body, "caller", "kwargs", "varargs")
	if reads["caller"] {
		if isParam("caller") {
			return wrongAt(b.source, n.at, "caller cannot be a parameter of a macro that calls it")
		}
		n.caller = special("caller")
	}
	if reads["kwargs"] && !isParam("kwargs") {
		n.kwargs = special("kwargs")
	}
	if reads["varargs"] && !isParam("varargs") {
		n.varargs = special("varargs")
	}
	analyze()
	for _, p := range n.params {
		r, _ := inner.find(p.text)
		n.slots = append(n.slots, r.index)
	}
	err := b.exprs(inner, n.defaults...)
	if err == nil {
		err = b.nodes(n.body, inner)
	}
	n.frame = inner.done()
	return err
}

func (b *binder) target(t *target, s *symbols) {
	set := func(n *nameExpr) { n.ref, _ = s.find(n.text) }
	t.names(set)
	t.spaces(set)
}

func (t *target) cloned() *target {
	out := &target{place: t.place, attr: t.attr, tuple: t.tuple}
	if t.name != nil {
		name := *t.name
		out.name = &name
	}
	for _, item := range t.items {
		out.items = append(out.items, item.cloned())
	}
	return out
}

// exprs says for each name in expressions where it is. A call of a name that nothing can
// have defined is refused.
func (b *binder) exprs(s *symbols, list ...expr) error {
	var err error
	var visit func(e expr)
	visit = func(e expr) {
		if c, ok := e.(*callExpr); ok && err == nil {
			err = b.callable(c, s)
		}
		if n, ok := e.(*nameExpr); ok {
			n.ref, _ = s.find(n.text)
			b.uses(n, s)
			if n.text == "lipsum" && s.resolved(n) && err == nil {
				err = wrongAt(b.source, n.at, "%s", noFunction(n.text))
			}
		}
		operands(e, visit)
	}
	for _, e := range list {
		if e != nil {
			visit(e)
		}
	}
	return err
}

func (b *binder) callable(c *callExpr, s *symbols) error {
	n, ok := c.of.(*nameExpr)
	if !ok {
		return nil
	}
	n.ref, _ = s.find(n.text)
	if !s.resolved(n) || s.assigned(n) {
		return nil
	}
	if _, ok := globalOf(n.text); ok {
		return nil
	}
	return wrongAt(b.source, n.at, "%s", noFunction(n.text))
}

// assigned reports whether the frame of a name assigns it somewhere.
func (s *symbols) assigned(n *nameExpr) bool {
	for range n.ref.up {
		s = s.parent
	}
	return s.stores[n.text]
}

// visible are the variables that a template included here sees: those that this frame and
// the ones around it assign.
func visible(s *symbols) []local {
	var out []local
	top := s
	for top.parent != nil {
		top = top.parent
	}
	seen := map[string]bool{}
	for at := s; at != nil; at = at.parent {
		stored := make([]string, 0, len(at.stores))
		for name := range at.stores {
			stored = append(stored, name)
		}
		slices.Sort(stored)
		for _, name := range stored {
			if seen[name] {
				continue
			}
			seen[name] = true
			from, _ := s.find(name)
			l := local{name: name, from: from}
			if i, ok := top.refs[name]; ok && top.stores[name] && at != top {
				l.base = &ref{depthOf(s), i}
			}
			out = append(out, l)
		}
	}
	return out
}

func depthOf(s *symbols) int {
	n := 0
	for ; s.parent != nil; s = s.parent {
		n++
	}
	return n
}
