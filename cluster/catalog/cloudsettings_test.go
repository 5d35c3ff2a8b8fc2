package catalog_test

import (
	"strings"
	"testing"

	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/cloud"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/vault"
)

// regional is a provider whose address depends on the region.
func regional() catalog.Providers {
	base := func(_ string, s cloud.Settings) (string, error) {
		if s.Get(cloud.AWSRegion) == "" {
			return "", fault.Field(cloud.AWSRegion, "missing_required_parameter", "aws_region_name is missing")
		}
		return "https://models." + s.Get(cloud.AWSRegion) + ".example.com", nil
	}
	return catalog.Providers{"regional": {Cloud: cloud.AWS, Base: base}, "plain": {DefaultBase: "https://plain.example.com"}}
}

func withSettings(model string, settings ...string) catalog.DeploymentSpec {
	s := catalog.DeploymentSpec{ModelName: "m", Model: model, Cloud: map[string]vault.Secret{}}
	for i := 0; i < len(settings); i += 2 {
		s.Cloud[settings[i]] = vault.NewSecret(settings[i+1])
	}
	return s
}

func TestAddressOfARegion(t *testing.T) {
	t.Parallel()
	c, err := catalog.New(catalog.Spec{Deployments: []catalog.DeploymentSpec{
		withSettings("regional/a", cloud.AWSRegion, "eu-west-1"),
		withSettings("regional/a", cloud.AWSRegion, "us-west-1"),
	}}, regional(), nil)
	if err != nil {
		t.Fatal(err)
	}
	hosts := map[string]string{}
	for _, d := range c.Deployments() {
		hosts[d.Endpoint.Host] = string(d.ID)
		if d.Endpoint.Host != "models."+d.Cloud.Get(cloud.AWSRegion)+".example.com" {
			t.Errorf("%s is the host of a deployment in %s", d.Endpoint.Host, d.Cloud.Get(cloud.AWSRegion))
		}
	}
	if len(hosts) != 2 {
		t.Errorf("the hosts are %v", hosts)
	}
	// The id depends on the region, so it stays when an entry is added before it.
	other, err := catalog.New(catalog.Spec{Deployments: []catalog.DeploymentSpec{withSettings("regional/a", cloud.AWSRegion, "us-west-1")}}, regional(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range other.Deployments() {
		if hosts[d.Endpoint.Host] != string(d.ID) {
			t.Errorf("the id of the same deployment was %s, and is %s", hosts[d.Endpoint.Host], d.ID)
		}
	}
}

func TestSettingsAreRejected(t *testing.T) {
	t.Parallel()
	const canary = "CANARY"
	for name, c := range map[string]struct {
		spec  catalog.DeploymentSpec
		param string
	}{
		"no region":           {withSettings("regional/a"), cloud.AWSRegion},
		"of another cloud":    {withSettings("regional/a", cloud.AWSRegion, "eu-west-1", cloud.VertexCredentials, canary), cloud.VertexCredentials},
		"of a plain provider": {withSettings("plain/a", cloud.AWSSecretAccessKey, canary), cloud.AWSSecretAccessKey},
		"unknown":             {withSettings("regional/a", cloud.AWSRegion, "eu-west-1", "aws_region", canary), "aws_region"},
		"with a space":        {withSettings("regional/a", cloud.AWSRegion, "eu 1"), cloud.AWSRegion},
		"too long":            {withSettings("regional/a", cloud.AWSRegion, "eu-west-1", cloud.AWSSecretAccessKey, strings.Repeat(canary, 20_000)), cloud.AWSSecretAccessKey},
	} {
		_, err := catalog.New(catalog.Spec{Deployments: []catalog.DeploymentSpec{c.spec}}, regional(), nil)
		if err == nil || !strings.Contains(err.Error(), c.param) || strings.Contains(err.Error(), canary) {
			t.Errorf("%s: the error is %v", name, err)
		}
	}
}

// A whole address of Azure's has a version, which becomes the setting unless there is one. Other providers take no query.
func TestAddressWithAVersion(t *testing.T) {
	t.Parallel()
	read := func(base string, _ bool, s cloud.Settings) (string, cloud.Settings, error) {
		base, version := cloud.CutVersion(base)
		return base, s.With(cloud.AzureAPIVersion, version), nil
	}
	known := catalog.Providers{"azure": {Cloud: cloud.Azure, NeedsBase: true, Read: read}, "plain": {DefaultBase: "https://plain.example.com"}}
	for query, want := range map[string]string{"?api-version=2024-10-21": "2024-10-21", "": "", "?api-version=2024-10-21&key=CANARY": "refused"} {
		spec := withSettings("azure/a")
		spec.APIBase = "https://r.openai.azure.com/openai/deployments/a" + query
		c, err := catalog.New(catalog.Spec{Deployments: []catalog.DeploymentSpec{spec}}, known, nil)
		got := "refused"
		if err == nil {
			got = c.Deployments()[0].Cloud.Get(cloud.AzureAPIVersion)
		} else if strings.Contains(err.Error(), "CANARY") {
			t.Errorf("the error shows the query: %v", err)
		}
		if got != want {
			t.Errorf("the version of %q is %q, want %q (%v)", query, got, want, err)
		}
	}
	spec := withSettings("plain/a")
	spec.APIBase = "https://plain.example.com?api-version=2024-10-21"
	if _, err := catalog.New(catalog.Spec{Deployments: []catalog.DeploymentSpec{spec}}, known, nil); err == nil || !strings.Contains(err.Error(), "query") {
		t.Errorf("a query of another provider: %v", err)
	}
}
