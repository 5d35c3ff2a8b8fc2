package catalog_test

import (
	"strings"
	"testing"

	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/cloud"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/vault"
)

// A credential's secret that a node cannot open stays as it is until it is written again.
func TestCredentialWithASettingThatCannotBeOpened(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	must := func(op func(tx *record.Txn) error) {
		t.Helper()
		if err := w.do(op); err != nil {
			t.Fatal(err)
		}
	}
	values := map[string]vault.Secret{cloud.AzureClient: vault.NewSecret("app"), cloud.AzureClientSecret: vault.NewSecret(locked)}
	must(func(tx *record.Txn) error {
		_, err := w.now.CreateCredential(tx, catalog.Credential{Name: "c", Cloud: values}, seal)
		return err
	})
	c, _ := w.now.Credential("c")
	if c.Locked() == nil || !strings.Contains(c.Locked().Error(), "opening client_secret") || c.Cloud[cloud.AzureClient].Reveal() != "app" {
		t.Fatalf("the credential is %+v, and locked for %v", c, c.Locked())
	}
	before := string(c.SealedCloud[cloud.AzureClientSecret])
	must(func(tx *record.Txn) error {
		next := *c
		next.Info = "{}"
		_, err := w.now.UpdateCredential(tx, next, 0, seal)
		return err
	})
	if c, _ = w.now.Credential("c"); string(c.SealedCloud[cloud.AzureClientSecret]) != before || c.Info != "{}" {
		t.Errorf("the secret is lost: %+v", c)
	}
	must(func(tx *record.Txn) error {
		next := *c
		next.Cloud = map[string]vault.Secret{cloud.AzureClient: vault.NewSecret("app"), cloud.AzureClientSecret: vault.NewSecret("new")}
		_, err := w.now.UpdateCredential(tx, next, 0, seal)
		return err
	})
	if c, _ = w.now.Credential("c"); c.Locked() != nil || c.Cloud[cloud.AzureClientSecret].Reveal() != "new" {
		t.Errorf("the credential is %+v, and locked for %v", c, c.Locked())
	}
}

// Only deployments of the file may sign in as the gateway's machine.
func TestCredentialOfTheMachine(t *testing.T) {
	t.Parallel()
	file := withSettings("regional/a", cloud.AWSRegion, "eu-west-1", cloud.AWSProfile, "p")
	c, err := catalog.New(catalog.Spec{Deployments: []catalog.DeploymentSpec{file}}, regional(), nil)
	if err != nil {
		t.Fatal(err)
	}
	file.ID = "d"
	for _, s := range []catalog.DeploymentSpec{file, {ID: "d", ModelName: "m", Model: "regional/a", Cloud: map[string]vault.Secret{cloud.AWSRegion: vault.NewSecret("eu-west-1")}}} {
		if _, err := c.With(s); err == nil || !strings.Contains(err.Error(), "configuration file") {
			t.Errorf("the error is %v", err)
		}
		s.APIKey = vault.NewSecret("bedrock")
		delete(s.Cloud, cloud.AWSProfile)
		if _, err := c.With(s); err != nil {
			t.Error(err)
		}
	}
}
