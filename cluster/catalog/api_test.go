package catalog_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/cloud"
	"github.com/modelgateway/modelgateway/cluster/fault"
)

// spelling are providers of which one has a spelling for an interface.
func spelling() catalog.Providers {
	return catalog.Providers{
		"two": {
			DefaultBase: "https://two.example.com/base",
			Spelled: func(model string) (name, api string) {
				if name, ok := strings.CutPrefix(model, "second/"); ok {
					return name, "second"
				}
				return model, ""
			},
			APIs: func(model, baseModel, basePath string, _ cloud.Settings) []string {
				if basePath != "/base" || model == "small" && baseModel == "" {
					return []string{"first"}
				}
				return []string{"first", "second"}
			},
		},
		"none": {DefaultBase: "https://none.example.com"},
	}
}

func TestInterfaceOfADeployment(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ model, base, api, wantModel, want string }{
		{"two/m", "", "", "m", ""},
		{"two/m", "", "second", "m", "second"},
		{"two/second/m", "", "", "m", "second"},
		{"two/second/m", "", "second", "m", "second"},
		{"two/second/*", "", "", "*", "second"},
		{"two/small", "large", "second", "small", "second"},
		{"none/second/m", "", "", "second/m", ""},
		{"two/second/m", "", "first", "", `gateway_params.api: api is "first", but the model begins with second/`},
		{"two/second/", "", "", "", `gateway_params.model: the model id is longer`},
		{"two/m", "", "third", "", `gateway_params.api: api is "third"; with this model and these settings, the provider "two" has first, second`},
		{"two/small", "", "second", "", `the provider "two" has first`},
		{"two/second/small", "", "", "", `gateway_params.model: api is "second"`},
		{"none/m", "", "first", "", `gateway_params.api: api is "first", but the provider "none" has no chats with this model; remove it`},
	} {
		spec := catalog.DeploymentSpec{ModelName: "m*", Model: c.model, BaseModel: c.base, API: c.api}
		made, err := catalog.New(catalog.Spec{Deployments: []catalog.DeploymentSpec{spec}}, spelling(), nil)
		switch {
		case c.wantModel == "":
			if text := described(err); !strings.Contains(text, c.want) {
				t.Errorf("%s with api %q: the error is %q, want %s", c.model, c.api, text, c.want)
			}
		case err != nil:
			t.Errorf("%s with api %q: %v", c.model, c.api, err)
		default:
			d := made.Deployments()[0]
			if d.Model != c.wantModel || d.API != c.want || d.Stored().Spec.Model != c.model || d.Stored().Spec.API != c.api {
				t.Errorf("%s with api %q is the model %s with %q, stored as %s with %q", c.model, c.api, d.Model, d.API, d.Stored().Spec.Model, d.Stored().Spec.API)
			}
		}
	}
}

// described returns the first problem of a refused specification, with its field.
func described(err error) string {
	e, ok := errors.AsType[*fault.Error](err)
	if !ok {
		return ""
	}
	return e.Param + ": " + e.Message()
}
