package syntax

import (
	"slices"

	"github.com/modelgateway/modelgateway/cluster/prompts/template/library"
)

// binder says for each name of a template where it is, and for each frame what it holds
// when it starts.
type binder struct {
	source    string
	variables []string // that are looked up in the values
}

// bind completes the nodes of a template and returns its frame.
func (b *binder) bind(body []Node) (*Frame, error) {
	s := newSymbols(nil)
	s.nodes(body)
	err := b.nodes(body, s)
	return s.done(), err
}

// uses notes a variable that is looked up in the values.
func (b *binder) uses(n *NameExpr, s *symbols) {
	if !s.resolved(n) || slices.Contains(b.variables, n.Text) {
		return
	}
	if _, ok := library.GlobalOf(n.Text); !ok {
		b.variables = append(b.variables, n.Text)
	}
}

// resolved reports whether a name is looked up in the values.
func (s *symbols) resolved(n *NameExpr) bool {
	for range n.Ref.Up {
		s = s.parent
	}
	return s.loads[n.Ref.Index].Load == IsResolved
}

func (b *binder) nodes(nodes []Node, s *symbols) error {
	for _, n := range nodes {
		if err := b.node(n, s); err != nil {
			return err
		}
	}
	return nil
}

func (b *binder) node(n Node, s *symbols) error {
	switch n := n.(type) {
	case *OutputNode:
		return b.exprs(s, n.Values...)
	case *IfNode:
		for _, branch := range n.Branches {
			if err := b.exprs(s, branch.Condition); err != nil {
				return err
			}
			if err := b.nodes(branch.Body, s); err != nil {
				return err
			}
		}
		return b.nodes(n.Last, s)
	case *ForNode:
		return b.loop(n, s)
	case *SetNode:
		b.target(n.Target, s)
		return b.exprs(s, n.Value)
	case *SetBlockNode:
		return b.setBlock(n, s)
	case *WithNode:
		inner := newSymbols(s)
		for _, t := range n.Targets {
			inner.parameters(t)
		}
		inner.nodes(n.Body)
		for _, t := range n.Targets {
			b.target(t, inner)
		}
		err := b.exprs(s, n.Values...)
		if err == nil {
			err = b.nodes(n.Body, inner)
		}
		n.Frame = inner.done()
		return err
	case *FilterNode:
		inner := newSymbols(s)
		inner.nodes(n.Body)
		inner.expr(n.Filter)
		err := b.nodes(n.Body, inner)
		if err == nil {
			err = b.exprs(inner, n.Filter)
		}
		n.Frame = inner.done()
		return err
	case *MacroNode:
		r, _ := s.find(n.Name)
		n.Stored = &r
		return b.macro(n, s)
	case *CallNode:
		if err := b.macro(n.Macro, s); err != nil {
			return err
		}
		return b.exprs(s, n.Call)
	case *IncludeNode:
		n.Locals = visible(s)
	}
	return nil
}

func (b *binder) setBlock(n *SetBlockNode, s *symbols) error {
	inner := newSymbols(s)
	inner.nodes(n.Body)
	var err error
	names(n.Filter, func(name *NameExpr) {
		if _, ok := inner.find(name.Text); !ok && err == nil {
			err = wrongAt(b.source, name.At, "Jinja does not find %s in the filter of a set block; assign it before", name.Text)
		}
	})
	if err == nil {
		err = b.nodes(n.Body, inner)
	}
	if err == nil {
		err = b.exprs(inner, n.Filter)
	}
	b.target(n.Target, s)
	n.Frame = inner.done()
	return err
}

func (b *binder) loop(n *ForNode, s *symbols) error {
	if err := b.exprs(s, n.List); err != nil {
		return err
	}
	inner := newSymbols(s)
	if n.Recursive || readsUndeclared(n.Body, "loop")["loop"] {
		n.Loop = &Slot{inner.parameter("loop")}
	}
	inner.parameters(n.Target)
	inner.nodes(n.Body)
	b.target(n.Target, inner)
	if err := b.nodes(n.Body, inner); err != nil {
		return err
	}
	n.InBody = inner.done()
	if n.Test != nil {
		test := newSymbols(s)
		test.parameters(n.Target)
		test.expr(n.Test)
		n.TestTargetInTest = n.Target.cloned()
		b.target(n.TestTargetInTest, test)
		if err := b.exprs(test, n.Test); err != nil {
			return err
		}
		n.InTest = test.done()
	}
	last := newSymbols(s)
	last.nodes(n.Last)
	err := b.nodes(n.Last, last)
	n.InLast = last.done()
	return err
}

func (b *binder) macro(n *MacroNode, s *symbols) error {
	inner := newSymbols(s)
	analyze := func() {
		for _, p := range n.Params {
			inner.parameter(p.Text)
		}
		for _, e := range n.Defaults {
			inner.expr(e)
		}
		inner.nodes(n.Body)
	}
	analyze()
	special := func(name string) *Slot { return &Slot{inner.parameter(name)} }
	isParam := func(name string) bool {
		return slices.ContainsFunc(n.Params, func(p *NameExpr) bool { return p.Text == name })
	}
	reads := readsUndeclared(n.Body, "caller", "kwargs", "varargs")
	if reads["caller"] {
		if isParam("caller") {
			return wrongAt(b.source, n.At, "caller cannot be a parameter of a macro that calls it")
		}
		n.Caller = special("caller")
	}
	if reads["kwargs"] && !isParam("kwargs") {
		n.Kwargs = special("kwargs")
	}
	if reads["varargs"] && !isParam("varargs") {
		n.Varargs = special("varargs")
	}
	analyze()
	for _, p := range n.Params {
		r, _ := inner.find(p.Text)
		n.Slots = append(n.Slots, r.Index)
	}
	err := b.exprs(inner, n.Defaults...)
	if err == nil {
		err = b.nodes(n.Body, inner)
	}
	n.Frame = inner.done()
	return err
}

func (b *binder) target(t *Target, s *symbols) {
	set := func(n *NameExpr) { n.Ref, _ = s.find(n.Text) }
	t.names(set)
	t.Spaces(set)
}

func (t *Target) cloned() *Target {
	out := &Target{place: t.place, Attr: t.Attr, Tuple: t.Tuple}
	if t.Name != nil {
		name := *t.Name
		out.Name = &name
	}
	for _, item := range t.Items {
		out.Items = append(out.Items, item.cloned())
	}
	return out
}

// exprs says for each name in expressions where it is. A call of a name that nothing can
// have defined is refused.
func (b *binder) exprs(s *symbols, list ...Expr) error {
	var err error
	var visit func(e Expr)
	visit = func(e Expr) {
		if c, ok := e.(*CallExpr); ok && err == nil {
			err = b.callable(c, s)
		}
		if n, ok := e.(*NameExpr); ok {
			n.Ref, _ = s.find(n.Text)
			b.uses(n, s)
			if n.Text == "lipsum" && s.resolved(n) && err == nil {
				err = wrongAt(b.source, n.At, "%s", library.NoFunction(n.Text))
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

func (b *binder) callable(c *CallExpr, s *symbols) error {
	n, ok := c.Of.(*NameExpr)
	if !ok {
		return nil
	}
	n.Ref, _ = s.find(n.Text)
	if !s.resolved(n) || s.assigned(n) {
		return nil
	}
	if _, ok := library.GlobalOf(n.Text); ok {
		return nil
	}
	return wrongAt(b.source, n.At, "%s", library.NoFunction(n.Text))
}

// assigned reports whether the frame of a name assigns it somewhere.
func (s *symbols) assigned(n *NameExpr) bool {
	for range n.Ref.Up {
		s = s.parent
	}
	return s.stores[n.Text]
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
			l := local{Name: name, From: from}
			if i, ok := top.refs[name]; ok && top.stores[name] && at != top {
				l.Base = &Ref{depthOf(s), i}
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
