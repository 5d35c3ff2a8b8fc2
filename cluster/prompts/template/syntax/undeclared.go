package template

// readsUndeclared returns which of names the nodes read before they assign them. Jinja
// gives a macro the variables caller, kwargs and varargs, and a loop the variable loop,
// only if their bodies read them so.
func readsUndeclared(nodes []node, names ...string) map[string]bool {
	f := &finder{wanted: map[string]bool{}, found: map[string]bool{}}
	for _, name := range names {
		f.wanted[name] = true
	}
	f.nodes(nodes)
	return f.found
}

type finder struct{ wanted, found map[string]bool }

func (f *finder) expr(list ...expr) {
	for _, e := range list {
		names(e, func(n *nameExpr) {
			if f.wanted[n.text] {
				f.found[n.text] = true
			}
		})
	}
}

func (f *finder) target(t *target) {
	t.names(func(n *nameExpr) { delete(f.wanted, n.text) })
}

func (f *finder) nodes(nodes []node) {
	for _, n := range nodes {
		f.node(n)
	}
}

func (f *finder) node(n node) {
	switch n := n.(type) {
	case *outputNode:
		f.expr(n.values...)
	case *ifNode:
		for _, b := range n.branches {
			f.expr(b.condition)
			f.nodes(b.body)
		}
		f.nodes(n.last)
	case *forNode:
		f.target(n.target)
		f.expr(n.list)
		f.nodes(n.body)
		f.nodes(n.last)
		f.expr(n.test)
	case *setNode:
		f.target(n.target)
		f.expr(n.value)
	case *setBlockNode:
		f.target(n.target)
		f.expr(n.filter)
		f.nodes(n.body)
	case *withNode:
		for _, t := range n.targets {
			f.target(t)
		}
		f.expr(n.values...)
		f.nodes(n.body)
	case *filterNode:
		f.nodes(n.body)
		f.expr(n.filter)
	case *macroNode:
		f.macro(n)
	case *callNode:
		f.expr(n.call)
		f.macro(n.macro)
	}
}

func (f *finder) macro(n *macroNode) {
	for _, p := range n.params {
		delete(f.wanted, p.text)
	}
	f.expr(n.defaults...)
	f.nodes(n.body)
}
