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

func TestCutVersion(t *testing.T) {
	t.Parallel()
	for in, want := range map[string][2]string{
		"https://a.example.com/openai?api-version=2024-10-21":         {"https://a.example.com/openai", "2024-10-21"},
		"https://a.example.com/openai?api-version=2025-04-01-preview": {"https://a.example.com/openai", "2025-04-01-preview"},
		"https://a.example.com/openai":                                {"https://a.example.com/openai", ""},
		"https://a.example.com/?api-version=":                         {"https://a.example.com/?api-version=", ""},
		"https://a.example.com/?api-version=a&key=b":                  {"https://a.example.com/?api-version=a&key=b", ""},
		"https://a.example.com/?key=CANARY":                           {"https://a.example.com/?key=CANARY", ""},
	} {
		if base, version := cloud.CutVersion(in); base != want[0] || version != want[1] {
			t.Errorf("%s is cut to %q and %q", in, base, version)
		}
	}
}

func TestWithKeepsWhatIsSet(t *testing.T) {
	t.Parallel()
	s := cloud.Of(map[string]vault.Secret{cloud.VertexProject: vault.NewSecret("p")})
	if got := s.With(cloud.VertexProject, "q").With(cloud.VertexLocation, "").With(cloud.AzureAPIVersion, "v1"); len(got) != 2 || got.Get(cloud.VertexProject) != "p" || got[0].Name != cloud.AzureAPIVersion {
		t.Errorf("the settings are %v", got)
	}
	if len(s) != 1 {
		t.Errorf("the settings have changed to %v", s)
	}
}
