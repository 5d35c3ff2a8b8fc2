package template

// expr is an expression: one of the types of this file.
type expr interface{ isExpr() }

func (*literalExpr) isExpr() {}
func (*nameExpr) isExpr()    {}
func (*listExpr) isExpr()    {}
func (*dictExpr) isExpr()    {}
func (*memberExpr) isExpr()  {}
func (*sliceExpr) isExpr()   {}
func (*callExpr) isExpr()    {}
func (*filterExpr) isExpr()  {}
func (*testExpr) isExpr()    {}
func (*notExpr) isExpr()     {}
func (*signedExpr) isExpr()  {}
func (*andExpr) isExpr()     {}
func (*orExpr) isExpr()      {}
func (*binaryExpr) isExpr()  {}
func (*concatExpr) isExpr()  {}
func (*compareExpr) isExpr() {}
func (*chooseExpr) isExpr()  {}

type literalExpr struct{ value value }

type nameExpr struct {
	place
	text string
	ref  ref
	none *undefined // what the name is where it has no value
}

type listExpr struct {
	place
	items []expr
	tuple bool
}

type dictExpr struct {
	place
	keys, values []expr
}

// memberExpr is x.name, which prefers methods, or x[key], which prefers elements.
type memberExpr struct {
	place
	of   expr
	name string // of x.name
	key  expr   // of x[key]
	none *undefined
}

type sliceExpr struct {
	place
	of                expr
	start, stop, step expr // nil for none
}

// argumentsExpr are the arguments of a call, a filter or a test.
type argumentsExpr struct {
	values []expr
	names  []string // of the keywords
	named  []expr
	rest   expr // *rest, or nil
	others expr // **others, or nil
}

type callExpr struct {
	place
	of expr
	argumentsExpr
}

type filterExpr struct {
	place
	of   expr // nil: the text of a block
	with *native
	argumentsExpr
}

type testExpr struct {
	place
	of   expr
	with *native
	argumentsExpr
}

type notExpr struct{ of expr }

// signedExpr is -x or +x.
type signedExpr struct {
	place
	of    expr
	minus bool
}

type andExpr struct{ left, right expr }

type orExpr struct{ left, right expr }

type binaryExpr struct {
	place
	sign        string
	left, right expr
}

type concatExpr struct{ items []expr }

// compareExpr is a chain of comparisons: a < b < c.
type compareExpr struct {
	place
	first expr
	signs []string
	rest  []expr
}

// chooseExpr is `yes if test else no`.
type chooseExpr struct {
	test, yes expr
	no        expr // nil for none
	none      *undefined
}

// operands calls visit for each expression that e consists of, in the order in which
// they are read.
func operands(e expr, visit func(expr)) {
	all := func(list ...expr) {
		for _, e := range list {
			if e != nil {
				visit(e)
			}
		}
	}
	arguments := func(a *argumentsExpr) {
		all(a.values...)
		all(a.named...)
		all(a.rest, a.others)
	}
	switch e := e.(type) {
	case *listExpr:
		all(e.items...)
	case *dictExpr:
		for i := range e.keys {
			all(e.keys[i], e.values[i])
		}
	case *memberExpr:
		all(e.of, e.key)
	case *sliceExpr:
		all(e.of, e.start, e.stop, e.step)
	case *callExpr:
		all(e.of)
		arguments(&e.argumentsExpr)
	case *filterExpr:
		all(e.of)
		arguments(&e.argumentsExpr)
	case *testExpr:
		all(e.of)
		arguments(&e.argumentsExpr)
	case *notExpr:
		all(e.of)
	case *signedExpr:
		all(e.of)
	case *andExpr:
		all(e.left, e.right)
	case *orExpr:
		all(e.left, e.right)
	case *binaryExpr:
		all(e.left, e.right)
	case *concatExpr:
		all(e.items...)
	case *compareExpr:
		all(e.first)
		all(e.rest...)
	case *chooseExpr:
		all(e.test, e.yes, e.no)
	}
}

// names calls visit for each name in an expression, which may be nil.
func names(e expr, visit func(*nameExpr)) {
	if e == nil {
		return
	}
	if n, ok := e.(*nameExpr); ok {
		visit(n)
		return
	}
	operands(e, func(of expr) { names(of, visit) })
}
