package defect_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/modelgateway/modelgateway/cluster/defect"
)

// asked returns the names that the source of the module passes to Is, by where.
func asked(t *testing.T) map[string][]string {
	t.Helper()
	found := map[string][]string{}
	root := os.DirFS("../..")
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if base := d.Name(); d.IsDir() && name != "." && (name == "proto/gen" || base == "testdata" || base == "bin" || strings.HasPrefix(base, ".")) {
			return fs.SkipDir
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		src, err := fs.ReadFile(root, name)
		if err != nil || !strings.Contains(string(src), "defect.") {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, src, 0)
		if err != nil {
			return err
		}
		ast.Inspect(f, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || !isIs(call.Fun) {
				return true
			}
			text := "?"
			if lit, ok := call.Args[0].(*ast.BasicLit); ok {
				text, _ = strconv.Unquote(lit.Value)
			}
			found[text] = append(found[text], name)
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// isIs reports whether a call is one of defect.Is.
func isIs(fun ast.Expr) bool {
	sel, ok := fun.(*ast.SelectorExpr)
	if !ok || sel.Sel.Name != "Is" {
		return false
	}
	pkg, ok := sel.X.(*ast.Ident)
	return ok && pkg.Name == "defect"
}

// TestNamesAreThoseOfTheSource: each bug is in one place, and no place has a bug that
// nobody looks for.
func TestNamesAreThoseOfTheSource(t *testing.T) {
	t.Parallel()
	found := asked(t)
	names := defect.Names()
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			t.Errorf("%s is listed twice", name)
		}
		if len(found[name]) != 1 {
			t.Errorf("%s is in %v, want it in one place", name, found[name])
		}
	}
	for name, files := range found {
		if !slices.Contains(names, name) {
			t.Errorf("%s is in %v and not listed", name, files)
		}
	}
}
