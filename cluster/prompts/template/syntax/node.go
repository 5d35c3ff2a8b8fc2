package template

// node is a statement, which writes to the output or changes variables: one of the types of this file.
type node interface{ isNode() }

func (*textNode) isNode()     {}
func (*outputNode) isNode()   {}
func (*ifNode) isNode()       {}
func (*forNode) isNode()      {}
func (*breakNode) isNode()    {}
func (*continueNode) isNode() {}
func (*setNode) isNode()      {}
func (*setBlockNode) isNode() {}
func (*withNode) isNode()     {}
func (*filterNode) isNode()   {}
func (*macroNode) isNode()    {}
func (*callNode) isNode()     {}
func (*includeNode) isNode()  {}

// place is where a node begins in its source.
type place struct{ at int }

type textNode struct{ text string }

type outputNode struct {
	place
	values []expr
}

type ifNode struct {
	branches []branch
	last     []node // else
}

type branch struct {
	condition expr
	body      []node
}

type forNode struct {
	place
	target    *target
	list      expr
	test      expr // nil for none
	body      []node
	last      []node // where the body never came to its end
	recursive bool

	loop             *slot // of the variable loop, nil if the body does not read it
	inBody, inTest   *frame
	inLast           *frame
	testTargetInTest *target
}

type breakNode struct{ place }

type continueNode struct{ place }

// setNode is {% set target = value %}.
type setNode struct {
	place
	target *target
	value  expr
}

// setBlockNode is {% set target %}body{% endset %}, perhaps with filters.
type setBlockNode struct {
	place
	target *target
	filter expr // its innermost operand is the body's text; nil for none
	body   []node
	frame  *frame
}

type withNode struct {
	place
	targets []*target
	values  []expr
	body    []node
	frame   *frame
}

// filterNode is {% filter name %}body{% endfilter %}.
type filterNode struct {
	place
	filter expr
	body   []node
	frame  *frame
}

// macroNode is a macro, or the body of a call block, which has no name.
type macroNode struct {
	place
	name     string
	params   []*nameExpr
	defaults []expr // of the last params
	body     []node

	frame                   *frame
	slots                   []int // of params
	caller, kwargs, varargs *slot // nil if the body does not read them
	stored                  *ref  // where a macro's name is
}

// callNode is {% call(params) f(args) %}body{% endcall %}.
type callNode struct {
	place
	call  *callExpr
	macro *macroNode
}

type includeNode struct {
	place
	reference Reference
	locals    []local // what the included template sees besides the values
}

// local is a variable that an included template sees.
type local struct {
	name string
	from ref
	base *ref // the variable of the same name of the template's top; nil for none
}

// target is what a value is assigned to: a name, an attribute of a namespace, or a tuple
// of targets.
type target struct {
	place
	name  *nameExpr
	attr  string // of a namespace that name is; empty for none
	items []*target
	tuple bool
}

// names calls visit for each name that is stored to.
func (t *target) names(visit func(*nameExpr)) {
	if t.tuple {
		for _, item := range t.items {
			item.names(visit)
		}
		return
	}
	if t.attr == "" {
		visit(t.name)
	}
}

// spaces calls visit for each name that is read because an attribute of it is stored to.
func (t *target) spaces(visit func(*nameExpr)) {
	for _, item := range t.items {
		item.spaces(visit)
	}
	if t.attr != "" {
		visit(t.name)
	}
}
