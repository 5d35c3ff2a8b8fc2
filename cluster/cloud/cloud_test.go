package cloud_test

import (
	"testing"

	"github.com/modelgateway/modelgateway/cluster/cloud"
	"github.com/modelgateway/modelgateway/cluster/vault"
)

func TestTableNamesEachSettingOnce(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, s := range cloud.Table() {
		if seen[s.Name] || s.Of == cloud.None || s.Text == "" {
			t.Errorf("the setting %+v is there twice, of no cloud or without a text", s)
		}
		seen[s.Name] = true
		if got, ok := cloud.Named(s.Name); !ok || got != s {
			t.Errorf("%s is found as %+v", s.Name, got)
		}
	}
	if _, ok := cloud.Named("aws_region"); ok {
		t.Error("a name that is not in the table is found")
	}
}

func TestSettings(t *testing.T) {
	t.Parallel()
	values := map[string]vault.Secret{
		cloud.VertexProject:     vault.NewSecret("p"),
		cloud.VertexLocation:    vault.NewSecret("eu"),
		cloud.VertexCredentials: {},
	}
	s := cloud.Of(values)
	if len(s) != 2 || s.Get(cloud.VertexProject) != "p" || s.Get(cloud.VertexLocation) != "eu" || s.Get(cloud.VertexCredentials) != "" {
		t.Errorf("the settings are %v", s)
	}
	if !s.Equal(cloud.Of(values)) {
		t.Error("settings of the same values differ")
	}
	values[cloud.VertexLocation] = vault.NewSecret("us")
	if s.Equal(cloud.Of(values)) || s.Equal(nil) {
		t.Error("settings of other values are equal")
	}
}

func TestTokenIsZero(t *testing.T) {
	t.Parallel()
	if !(cloud.Token{AccessKeyID: "AKIA"}).IsZero() || (cloud.Token{Bearer: vault.NewSecret("t")}).IsZero() || (cloud.Token{SecretKey: vault.NewSecret("s")}).IsZero() {
		t.Error("a token is none without a bearer token and without a secret key, and only then")
	}
}
