package syntax

// Node is a statement, which writes to the output or changes variables: one of the types of this file.
type Node interface{ isNode() }

func (*TextNode) isNode()     {}
func (*OutputNode) isNode()   {}
func (*IfNode) isNode()       {}
func (*ForNode) isNode()      {}
func (*BreakNode) isNode()    {}
func (*ContinueNode) isNode() {}
func (*SetNode) isNode()      {}
func (*SetBlockNode) isNode() {}
func (*WithNode) isNode()     {}
func (*FilterNode) isNode()   {}
func (*MacroNode) isNode()    {}
func (*CallNode) isNode()     {}
func (*IncludeNode) isNode()  {}

// place is where a node begins in its source.
type place struct{ At int }

// TextNode is text outside of tags.
type TextNode struct{ Text string }

// OutputNode is {{ value }}.
type OutputNode struct {
	place
	Values []Expr
}

// IfNode is {% if %} with its branches.
type IfNode struct {
	Branches []branch
	Last     []Node // else
}

type branch struct {
	Condition Expr
	Body      []Node
}

// ForNode is {% for target in list if test %}.
type ForNode struct {
	place
	Target    *Target
	List      Expr
	Test      Expr // nil for none
	Body      []Node
	Last      []Node // where the body never came to its end
	Recursive bool

	Loop             *Slot // of the variable loop, nil if the body does not read it
	InBody, InTest   *Frame
	InLast           *Frame
	TestTargetInTest *Target
}

// BreakNode is {% break %}.
type BreakNode struct{ place }

// ContinueNode is {% continue %}.
type ContinueNode struct{ place }

// SetNode is {% set target = value %}.
type SetNode struct {
	place
	Target *Target
	Value  Expr
}

// SetBlockNode is {% set target %}body{% endset %}, perhaps with filters.
type SetBlockNode struct {
	place
	Target *Target
	Filter Expr // its innermost operand is the body's text; nil for none
	Body   []Node
	Frame  *Frame
}

// WithNode is {% with target = value %}body{% endwith %}.
type WithNode struct {
	place
	Targets []*Target
	Values  []Expr
	Body    []Node
	Frame   *Frame
}

// FilterNode is {% filter name %}body{% endfilter %}.
type FilterNode struct {
	place
	Filter Expr
	Body   []Node
	Frame  *Frame
}

// MacroNode is a macro, or the body of a call block, which has no name.
type MacroNode struct {
	place
	Name     string
	Params   []*NameExpr
	Defaults []Expr // of the last params
	Body     []Node

	Frame                   *Frame
	Slots                   []int // of params
	Caller, Kwargs, Varargs *Slot // nil if the body does not read them
	Stored                  *Ref  // where a macro's name is
}

// CallNode is {% call(params) f(args) %}body{% endcall %}.
type CallNode struct {
	place
	Call  *CallExpr
	Macro *MacroNode
}

// IncludeNode is {% include "prompt:NAME" %}.
type IncludeNode struct {
	place
	Reference Reference
	Locals    []local // what the included template sees besides the values
}

// local is a variable that an included template sees.
type local struct {
	Name string
	From Ref
	Base *Ref // the variable of the same name of the template's top; nil for none
}

// Target is what a value is assigned to: a name, an attribute of a namespace, or a tuple
// of targets.
type Target struct {
	place
	Name  *NameExpr
	Attr  string // of a namespace that name is; empty for none
	Items []*Target
	Tuple bool
}

// names calls visit for each name that is stored to.
func (t *Target) names(visit func(*NameExpr)) {
	if t.Tuple {
		for _, item := range t.Items {
			item.names(visit)
		}
		return
	}
	if t.Attr == "" {
		visit(t.Name)
	}
}

// Spaces calls visit for each name that is read because an attribute of it is stored to.
func (t *Target) Spaces(visit func(*NameExpr)) {
	for _, item := range t.Items {
		item.Spaces(visit)
	}
	if t.Attr != "" {
		visit(t.Name)
	}
}
