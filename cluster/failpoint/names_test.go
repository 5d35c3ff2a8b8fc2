package failpoint_test

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

	"github.com/modelgateway/modelgateway/cluster/failpoint"
)

// hits returns the names that the source of the module passes to Hit, by where.
func hits(t *testing.T) map[string][]string {
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
		if err != nil || !strings.Contains(string(src), "failpoint.") {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, src, 0)
		if err != nil {
			return err
		}
		ast.Inspect(f, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || !isHit(call.Fun) {
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

// isHit reports whether a call is one of failpoint.Hit.
func isHit(fun ast.Expr) bool {
	sel, ok := fun.(*ast.SelectorExpr)
	if !ok || sel.Sel.Name != "Hit" {
		return false
	}
	pkg, ok := sel.X.(*ast.Ident)
	return ok && pkg.Name == "failpoint"
}

// TestNamesAreThoseOfTheSource: a point that is passed and not listed would never be
// tried, and one that is listed and not passed would be tried to no end.
func TestNamesAreThoseOfTheSource(t *testing.T) {
	t.Parallel()
	found := hits(t)
	names := failpoint.Names()
	for i, name := range names {
		if !slices.ContainsFunc(failpoint.Families(), func(family string) bool { return strings.HasPrefix(name, family) }) {
			t.Errorf("%s begins with none of %v", name, failpoint.Families())
		}
		if slices.Contains(names[:i], name) {
			t.Errorf("%s is listed twice", name)
		}
		if len(found[name]) == 0 {
			t.Errorf("%s is listed and never hit", name)
		}
	}
	for name, files := range found {
		if !slices.Contains(names, name) {
			t.Errorf("%s is hit in %v and not listed", name, files)
		}
		if len(files) > 1 {
			t.Errorf("%s is hit in more than one place: %v", name, files)
		}
	}
}
