package syntax

// readsUndeclared returns which of names the nodes read before they assign them. Jinja
// gives a macro the variables caller, kwargs and varargs, and a loop the variable loop,
// only if their bodies read them so.
func readsUndeclared(nodes []Node, names ...string) map[string]bool {
	f := &finder{wanted: map[string]bool{}, found: map[string]bool{}}
	for _, name := range names {
		f.wanted[name] = true
	}
	f.nodes(nodes)
	return f.found
}

type finder struct{ wanted, found map[string]bool }

func (f *finder) expr(list ...Expr) {
	for _, e := range list {
		names(e, func(n *NameExpr) {
			if f.wanted[n.Text] {
				f.found[n.Text] = true
			}
		})
	}
}

func (f *finder) target(t *Target) {
	t.names(func(n *NameExpr) { delete(f.wanted, n.Text) })
}

func (f *finder) nodes(nodes []Node) {
	for _, n := range nodes {
		f.node(n)
	}
}

func (f *finder) node(n Node) {
	switch n := n.(type) {
	case *OutputNode:
		f.expr(n.Values...)
	case *IfNode:
		for _, b := range n.Branches {
			f.expr(b.Condition)
			f.nodes(b.Body)
		}
		f.nodes(n.Last)
	case *ForNode:
		f.target(n.Target)
		f.expr(n.List)
		f.nodes(n.Body)
		f.nodes(n.Last)
		f.expr(n.Test)
	case *SetNode:
		f.target(n.Target)
		f.expr(n.Value)
	case *SetBlockNode:
		f.target(n.Target)
		f.expr(n.Filter)
		f.nodes(n.Body)
	case *WithNode:
		for _, t := range n.Targets {
			f.target(t)
		}
		f.expr(n.Values...)
		f.nodes(n.Body)
	case *FilterNode:
		f.nodes(n.Body)
		f.expr(n.Filter)
	case *MacroNode:
		f.macro(n)
	case *CallNode:
		f.expr(n.Call)
		f.macro(n.Macro)
	}
}

func (f *finder) macro(n *MacroNode) {
	for _, p := range n.Params {
		delete(f.wanted, p.Text)
	}
	f.expr(n.Defaults...)
	f.nodes(n.Body)
}
