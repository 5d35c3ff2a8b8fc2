package unread

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
	"github.com/modelgateway/modelgateway/dataplane"
	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/inbound"
	"github.com/modelgateway/modelgateway/extproc/operation"
	"github.com/modelgateway/modelgateway/extproc/provider"
)

// Codes of requests that are not passed on.
const (
	codeNoRoute      = "route_not_allowed"
	codeNoDeployment = "deployment_not_found"
	codeAmbiguous    = "deployment_ambiguous"
)

// Permit rejects a request, unless the key may use its path, and everybody who reads the path reads the same.
func Permit(who *tenancy.Principal, method, path string) error {
	methods := dataplane.PassedMethods()
	switch _, known := dataplane.Find(path); {
	case !slices.Contains(methods[:], method):
		return fault.New(fault.MethodNotAllowed, "", "Requests to this path are %s.", strings.Join(methods[:], ", "))
	case who.Passes(path):
	case known:
		return fault.New(fault.MethodNotAllowed, "", "Requests to this path are POST.")
	case who.PassesAny():
		return &fault.Error{Kind: fault.Denied, Code: codeNoRoute, Detail: "The gateway does not serve this path itself, and this API key may not use it: its allowed_routes has others."}
	default:
		return operation.Unknown(path)
	}
	if !dataplane.Clean(path) {
		return fault.New(fault.Malformed, "invalid_path", "The path has empty or dotted segments, backslashes, or escapes within escapes. Send the path as the provider documents it.")
	}
	if method == http.MethodPost && dataplane.Disguised(path) {
		return operation.Unknown(path)
	}
	return nil
}

// Account returns the deployment whose account a request uses: any of those that take it, if they all have one account. Of
// several accounts the caller chooses one, by a model's name or a deployment's id. to returns the path to which a deployment
// would get the request: empty if it does not take it, with an error if that says why.
func Account(all []*catalog.Deployment, chosen string, to func(*catalog.Deployment) (string, error)) (*catalog.Deployment, error) {
	var found *catalog.Deployment
	var at string
	var names []string
	var first error
	several := false
	for _, d := range all {
		if chosen != "" && chosen != string(d.Name) && chosen != string(d.ID) {
			continue
		}
		path, err := to(d)
		if path == "" {
			first = cmp.Or(first, err)
			continue
		}
		several = several || found != nil && (path != at || !found.SharesCredentials(d))
		found, at = cmp.Or(found, d), cmp.Or(at, path)
		if !slices.Contains(names, string(d.Name)) {
			names = append(names, string(d.Name))
		}
	}
	switch {
	case found == nil && first != nil:
		return nil, first
	case found == nil && chosen != "":
		return nil, &fault.Error{Kind: fault.NotFound, Code: codeNoDeployment, Param: inbound.HeaderModel, Detail: "No model or deployment of that name, which this API key may use, is at the provider whose path this is."}
	case found == nil:
		return nil, &fault.Error{Kind: fault.NotFound, Code: codeNoDeployment, Detail: "No model that this API key may use is at the provider whose path this is."}
	case several:
		return nil, ambiguous(names)
	}
	return found, nil
}

// ambiguous is the error for a request that could use one of several accounts of its provider.
func ambiguous(names []string) error {
	slices.Sort(names)
	e := fault.Field(inbound.HeaderModel, codeAmbiguous,
		"The models of this provider that this API key may use have several accounts or addresses. Name a model, or the id of a deployment, in the header %s.", inbound.HeaderModel)
	e.Details = map[string]any{"models": names[:min(len(names), mostNamedModels)]}
	return e
}

// mostNamedModels bounds the models that an error names.
const mostNamedModels = 20

// Call returns where a request to a path goes at a deployment, with credentials. of is nil for an unknown provider.
func Call(of *provider.Provider, d *catalog.Deployment, path string) (driver.Call, error) {
	if of == nil {
		return driver.Call{}, fault.New(fault.Internal, "", "no driver for provider %s", d.Provider)
	}
	through, ok := of.Driver.(driver.Through)
	if !ok {
		return driver.Call{}, driver.NotServed("The provider")
	}
	return through.PassThrough(of.Target(d, false), path)
}

// Guarded reports whether one of all deployments that a deployment's account reaches has guardrails.
func Guarded(all []*catalog.Deployment, d *catalog.Deployment) bool {
	return slices.ContainsFunc(all, func(other *catalog.Deployment) bool { return len(other.Guardrails) > 0 && other.SharesCredentials(d) })
}

// WithQuery adds the caller's query to the path of a call. Parameters of the call's own are for what the caller does not
// say.
func WithQuery(path string, in *inbound.Headers) string {
	path, own, _ := strings.Cut(path, "?")
	query := in.PassedQuery()
	if name, _, _ := strings.Cut(own, "="); own != "" && !in.HasParameter(name) {
		query = strings.TrimSuffix(own+"&"+query, "&")
	}
	if query == "" {
		return path
	}
	return path + "?" + query
}

// IsGateways reports whether a status of a provider is about the gateway and not about the caller.
func IsGateways(status int) bool {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusProxyAuthRequired:
		return true
	}
	return status >= http.StatusMultipleChoices && status < http.StatusBadRequest
}
