// Package route reads the routes of operations, as the option operation of proto/options/v1
// has them.
package route

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// Route is one method and path.
type Route struct {
	Method string
	Path   string // with parameters as {name}, and {name=**} for one that may have slashes
	Body   bool   // whether the parameters are in the body
}

// Parse reads routes of the form "METHOD /path". There must be one at least.
func Parse(texts []string) ([]Route, error) {
	if len(texts) == 0 {
		return nil, fmt.Errorf("it has no route; add routes to its option operation")
	}
	out := make([]Route, len(texts))
	for i, text := range texts {
		method, path, _ := strings.Cut(text, " ")
		if !slices.Contains([]string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete}, method) || !strings.HasPrefix(path, "/") || strings.Contains(path, " ") {
			return nil, fmt.Errorf("%q is not a route; write it as \"GET /path\", with GET, POST, PUT, PATCH or DELETE", text)
		}
		query := method == http.MethodGet || method == http.MethodDelete && strings.Contains(path, "{")
		out[i] = Route{Method: method, Path: path, Body: !query}
	}
	return out, nil
}
