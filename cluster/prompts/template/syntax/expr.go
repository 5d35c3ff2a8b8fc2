package syntax

import (
	"github.com/modelgateway/modelgateway/cluster/prompts/template/library"
	"github.com/modelgateway/modelgateway/cluster/prompts/template/values"
)

// Expr is an expression: one of the types of this file.
type Expr interface{ isExpr() }

func (*LiteralExpr) isExpr() {}
func (*NameExpr) isExpr()    {}
func (*ListExpr) isExpr()    {}
func (*DictExpr) isExpr()    {}
func (*MemberExpr) isExpr()  {}
func (*SliceExpr) isExpr()   {}
func (*CallExpr) isExpr()    {}
func (*FilterExpr) isExpr()  {}
func (*TestExpr) isExpr()    {}
func (*NotExpr) isExpr()     {}
func (*SignedExpr) isExpr()  {}
func (*AndExpr) isExpr()     {}
func (*OrExpr) isExpr()      {}
func (*BinaryExpr) isExpr()  {}
func (*ConcatExpr) isExpr()  {}
func (*CompareExpr) isExpr() {}
func (*ChooseExpr) isExpr()  {}

// LiteralExpr is a constant.
type LiteralExpr struct{ Value values.Value }

// NameExpr is a variable.
type NameExpr struct {
	place
	Text string
	Ref  Ref
	None *values.Undefined // what the name is where it has no value
}

// ListExpr is [a, b], or (a, b).
type ListExpr struct {
	place
	Items []Expr
	Tuple bool
}

// DictExpr is {key: value}.
type DictExpr struct {
	place
	Keys, Values []Expr
}

// MemberExpr is x.name, which prefers methods, or x[key], which prefers elements.
type MemberExpr struct {
	place
	Of   Expr
	Name string // of x.name
	Key  Expr   // of x[key]
	None *values.Undefined
}

// SliceExpr is x[start:stop:step].
type SliceExpr struct {
	place
	Of                Expr
	Start, Stop, Step Expr // nil for none
}

// ArgumentsExpr are the arguments of a call, a filter or a test.
type ArgumentsExpr struct {
	Values []Expr
	Names  []string // of the keywords
	Named  []Expr
	Rest   Expr // *rest, or nil
	Others Expr // **others, or nil
}

// CallExpr is f(arguments).
type CallExpr struct {
	place
	Of Expr
	ArgumentsExpr
}

// FilterExpr is x|filter(arguments).
type FilterExpr struct {
	place
	Of   Expr // nil: the text of a block
	With *library.Native
	ArgumentsExpr
}

// TestExpr is `x is test(arguments)`.
type TestExpr struct {
	place
	Of   Expr
	With *library.Native
	ArgumentsExpr
}

// NotExpr is `not x`.
type NotExpr struct{ Of Expr }

// SignedExpr is -x or +x.
type SignedExpr struct {
	place
	Of    Expr
	Minus bool
}

// AndExpr is `left and right`, one of the two values.
type AndExpr struct{ Left, Right Expr }

// OrExpr is `left or right`, one of the two values.
type OrExpr struct{ Left, Right Expr }

// BinaryExpr is an arithmetic operator between two values.
type BinaryExpr struct {
	place
	Sign        string
	Left, Right Expr
}

// ConcatExpr is a ~ b, which joins texts.
type ConcatExpr struct{ Items []Expr }

// CompareExpr is a chain of comparisons: a < b < c.
type CompareExpr struct {
	place
	First Expr
	Signs []string
	Rest  []Expr
}

// ChooseExpr is `yes if test else no`.
type ChooseExpr struct {
	Test, Yes Expr
	No        Expr // nil for none
	None      *values.Undefined
}

// operands calls visit for each expression that e consists of, in the order in which
// they are read.
func operands(e Expr, visit func(Expr)) {
	all := func(list ...Expr) {
		for _, e := range list {
			if e != nil {
				visit(e)
			}
		}
	}
	arguments := func(a *ArgumentsExpr) {
		all(a.Values...)
		all(a.Named...)
		all(a.Rest, a.Others)
	}
	switch e := e.(type) {
	case *ListExpr:
		all(e.Items...)
	case *DictExpr:
		for i := range e.Keys {
			all(e.Keys[i], e.Values[i])
		}
	case *MemberExpr:
		all(e.Of, e.Key)
	case *SliceExpr:
		all(e.Of, e.Start, e.Stop, e.Step)
	case *CallExpr:
		all(e.Of)
		arguments(&e.ArgumentsExpr)
	case *FilterExpr:
		all(e.Of)
		arguments(&e.ArgumentsExpr)
	case *TestExpr:
		all(e.Of)
		arguments(&e.ArgumentsExpr)
	case *NotExpr:
		all(e.Of)
	case *SignedExpr:
		all(e.Of)
	case *AndExpr:
		all(e.Left, e.Right)
	case *OrExpr:
		all(e.Left, e.Right)
	case *BinaryExpr:
		all(e.Left, e.Right)
	case *ConcatExpr:
		all(e.Items...)
	case *CompareExpr:
		all(e.First)
		all(e.Rest...)
	case *ChooseExpr:
		all(e.Test, e.Yes, e.No)
	}
}

// names calls visit for each name in an expression, which may be nil.
func names(e Expr, visit func(*NameExpr)) {
	if e == nil {
		return
	}
	if n, ok := e.(*NameExpr); ok {
		visit(n)
		return
	}
	operands(e, func(of Expr) { names(of, visit) })
}
