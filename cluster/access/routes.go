package access

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/dataplane"
	"github.com/modelgateway/modelgateway/proto/gen/gateway/surface"
)

// Groups of routes, which a key's allowed_routes may name.
const (
	groupInference  = "llm_api_routes"
	groupManagement = "management_routes"
	groupInfo       = "info_routes"
)

// What lets a key use paths of providers that the gateway does not serve itself. Nothing else does: neither a list
// without such an element, nor an empty one, nor a path or a star without the prefix. Callers of such a path reach
// whatever the provider's account has.
const (
	groupPassthrough  = "passthrough_routes" // all such paths
	prefixPassthrough = "passthrough:"       // those that the path or the pattern behind it names
)

// Types of keys: what they may do whatever the role of their user.
const (
	TypeDefault    = ""           // all that the role allows
	TypeInference  = "llm_api"    // inference only
	TypeManagement = "management" // no inference
	TypeReadOnly   = "read_only"  // reads of the management API
)

// ownRoute reports whether a path is one that a key of every type and role has: what
// it is itself, and the models.
func ownRoute(path string) bool {
	return dataplane.IsModels(path) || surface.GroupOf(path) == surface.Own
}

// infoRoute reports whether a path is one of groupInfo.
func infoRoute(path string) bool { return ownRoute(path) || surface.GroupOf(path) == surface.Info }

// reading reports whether a request of the management API changes nothing.
func reading(method, path string) bool {
	return method == http.MethodGet || method == http.MethodHead || method == http.MethodPost && surface.ReadsByPost(path)
}

// CheckRoutes checks a key's allowed_routes. The error is a *fault.Error of param.
func CheckRoutes(param string, routes []string) error {
	for i, r := range routes {
		star := strings.IndexByte(r, '*')
		path, passes := strings.CutPrefix(r, prefixPassthrough)
		switch {
		case r == groupInference, r == groupManagement, r == groupInfo, r == groupPassthrough, r == "*":
		case passes && !dataplane.IsPassed(path):
			prefixes := dataplane.PassedPrefixes()
			return fault.Field(fmt.Sprintf("%s[%d]", param, i), "invalid_value",
				"A route behind %s is below one of %s, such as %s/openai_passthrough/v1/files*.", prefixPassthrough, strings.Join(prefixes[:], ", "), prefixPassthrough)
		case !passes && !strings.HasPrefix(r, "/"), star >= 0 && star != len(r)-1:
			return fault.Field(fmt.Sprintf("%s[%d]", param, i), "invalid_value",
				"A route is a path such as /key/info, the beginning of one and a star such as /key/*, one of %s, %s, %s and %s, or %s before a path of a provider.",
				groupInference, groupManagement, groupInfo, groupPassthrough, prefixPassthrough)
		}
	}
	return nil
}

// Routes are what a key may call: what its type has, and of that only what a list
// names, if there is one.
type Routes struct {
	Type string // one of the types of keys
	List []string
}

// Has reports whether a request is among the routes.
func (r Routes) Has(method, path string) bool {
	switch {
	case ownRoute(path):
	case dataplane.IsInference(path):
		if !r.Infers() {
			return false
		}
	case r.Type == TypeInference, r.Type == TypeReadOnly && !reading(method, path):
		return false
	}
	return len(r.List) == 0 || slices.ContainsFunc(r.List, func(e string) bool { return names(e, path) })
}

// Passes reports whether the routes include a path of a provider that the gateway does not serve itself.
func (r Routes) Passes(path string) bool {
	return r.Infers() && slices.ContainsFunc(r.List, func(e string) bool { return isPassthrough(e) && names(e, path) })
}

// PassesAny reports whether the routes include any such path.
func (r Routes) PassesAny() bool { return r.Infers() && slices.ContainsFunc(r.List, isPassthrough) }

// isPassthrough reports whether an element of a list of routes is about paths that the gateway does not serve itself.
func isPassthrough(element string) bool {
	return element == groupPassthrough || strings.HasPrefix(element, prefixPassthrough)
}

// names reports whether an element of a list of routes names a path.
func names(element, path string) bool {
	if of, ok := strings.CutPrefix(element, prefixPassthrough); ok {
		return dataplane.IsPassed(path) && names(of, path)
	}
	switch element {
	case groupPassthrough:
		return dataplane.IsPassed(path)
	case groupInference:
		return dataplane.IsInference(path)
	case groupManagement:
		return !dataplane.IsInference(path)
	case groupInfo:
		return infoRoute(path)
	}
	if prefix, ok := strings.CutSuffix(element, "*"); ok {
		return strings.HasPrefix(path, prefix)
	}
	return element == path
}

// Infers reports whether the type has inference.
func (r Routes) Infers() bool { return r.Type == TypeDefault || r.Type == TypeInference }

// Manages reports whether the type has the management API.
func (r Routes) Manages() bool { return r.Type != TypeInference }

// InfersWithin reports whether all inference that r has is in o.
func (r Routes) InfersWithin(o Routes) bool {
	if !r.Infers() || !r.touches(dataplane.IsInference, groupInference, groupPassthrough) {
		return true
	}
	return o.Infers() && r.passesWithin(o) && r.listed(o, groupInference)
}

// passesWithin reports whether o includes all paths that only r's elements about them include.
func (r Routes) passesWithin(o Routes) bool {
	return !slices.ContainsFunc(r.List, func(e string) bool {
		return isPassthrough(e) && !slices.ContainsFunc(o.List, func(outer string) bool { return includesPassed(outer, e) })
	})
}

// includesPassed is includes for an element about paths that the gateway does not serve itself.
func includesPassed(outer, e string) bool {
	if outer == groupPassthrough || outer == e {
		return true
	}
	of, ok := strings.CutPrefix(outer, prefixPassthrough)
	prefix, star := strings.CutSuffix(of, "*")
	return ok && star && e != groupPassthrough && strings.HasPrefix(strings.TrimSuffix(strings.TrimPrefix(e, prefixPassthrough), "*"), prefix)
}

// ManagesWithin reports whether all management that r has is in o, but for what
// every key has.
func (r Routes) ManagesWithin(o Routes) bool {
	if !r.Manages() || !r.touches(func(path string) bool { return !dataplane.IsInference(path) }, groupManagement, groupInfo) {
		return true
	}
	return o.Manages() && (o.Type != TypeReadOnly || r.Type == TypeReadOnly) && r.listed(o, groupManagement)
}

// touches reports whether a list may name a path of a class, which groups are all
// in: true for one that cannot be told.
func (r Routes) touches(in func(path string) bool, groups ...string) bool {
	return len(r.List) == 0 || slices.ContainsFunc(r.List, func(e string) bool {
		switch {
		case e == groupInference, e == groupManagement, e == groupInfo:
			return slices.Contains(groups, e)
		case isPassthrough(e):
			return slices.Contains(groups, groupPassthrough)
		case strings.HasSuffix(e, "*"):
			return true
		}
		return in(e)
	})
}

// listed reports whether o's list has all that r's has of a class, whose group is
// given. It may say no where only several elements together have it.
func (r Routes) listed(o Routes, class string) bool {
	if len(o.List) == 0 {
		return true
	}
	return len(r.List) > 0 && !slices.ContainsFunc(r.List, func(e string) bool {
		return !slices.ContainsFunc(o.List, func(outer string) bool { return includes(outer, e, class) })
	})
}

// includes reports whether an element of a list names all paths of a class that
// another does.
func includes(outer, e, class string) bool {
	if outer == class || outer == e {
		return true
	}
	switch {
	case isPassthrough(e):
		return class != groupInference || includesPassed(outer, e)
	case isPassthrough(outer):
		return false
	}
	group := e == groupInference || e == groupManagement || e == groupInfo
	prefix, star := strings.CutSuffix(outer, "*")
	switch {
	case star && group:
		return prefix == "" || prefix == "/"
	case star:
		return strings.HasPrefix(strings.TrimSuffix(e, "*"), prefix)
	}
	return outer == groupInfo && !group && !strings.HasSuffix(e, "*") && infoRoute(e)
}
