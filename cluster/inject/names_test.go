package inject_test

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

	"github.com/modelgateway/modelgateway/cluster/inject"
)

// calls returns the names that the source of the module passes to a function of this
// package, with the files that do so.
func calls(t *testing.T, function string) map[string][]string {
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
		if err != nil || !strings.Contains(string(src), "inject."+function) {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, src, 0)
		if err != nil {
			return err
		}
		ast.Inspect(f, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || !isCall(call.Fun, function) {
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

// isCall reports whether a call is one of the function of this package.
func isCall(fun ast.Expr, function string) bool {
	sel, ok := fun.(*ast.SelectorExpr)
	if !ok || sel.Sel.Name != function {
		return false
	}
	pkg, ok := sel.X.(*ast.Ident)
	return ok && pkg.Name == "inject"
}

// TestNames: each name is listed once and used in exactly one place. A fault that is not
// listed would never be tried; one that is not in the code could not fail a test.
func TestNames(t *testing.T) {
	t.Parallel()
	for function, names := range map[string][]string{"Crash": inject.Points(), "HasDefect": inject.Defects()} {
		found := calls(t, function)
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
}

// TestPrefixes: each point has the prefix of an owner.
func TestPrefixes(t *testing.T) {
	t.Parallel()
	owners := []string{"ack.", "audit.", "deliver.", "journal.", "lease.", "post.", "request.", "restore.", "ship.", "window."}
	for _, name := range inject.Points() {
		if !slices.ContainsFunc(owners, func(owner string) bool { return strings.HasPrefix(name, owner) }) {
			t.Errorf("%s begins with none of %v", name, owners)
		}
	}
}
