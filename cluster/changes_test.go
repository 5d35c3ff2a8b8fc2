package cluster_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/modelgateway/modelgateway/cluster"
	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/cooldown"
	"github.com/modelgateway/modelgateway/cluster/credential"
	"github.com/modelgateway/modelgateway/cluster/event"
	"github.com/modelgateway/modelgateway/cluster/id"
	records "github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
	"github.com/modelgateway/modelgateway/cluster/vault"
)

type memberStatus = cluster.MemberStatus

// actor is who the tests say they are.
const actor = "test"

// newKey is the key that has an alias.
func newKey(alias string) tenancy.Key {
	return tenancy.Key{Alias: alias, Hash: hashOf(alias), Name: credential.DisplayName(text(alias))}
}

// newDeployment is a deployment that every node can use.
func newDeployment(name string) catalog.DeploymentSpec {
	return catalog.DeploymentSpec{ID: name, ModelName: "model-" + name, Model: "openai/gpt-4o", APIKey: vault.NewSecret("sk-provider-" + name)}
}

// setRetries changes a setting, if nobody has changed any since from.
func setRetries(ctx context.Context, node *cluster.Node, retries int, from *cluster.View) error {
	_, revision := from.Catalog.Patch()
	return updateRouter(ctx, node, catalog.RouterSpec{NumRetries: &retries}, revision)
}

// setFails is setRetries for another setting.
func setFails(ctx context.Context, node *cluster.Node, fails int, from *cluster.View) error {
	_, revision := from.Catalog.Patch()
	return updateRouter(ctx, node, catalog.RouterSpec{AllowedFails: &fails}, revision)
}

func keyCommand(c *command) string {
	alias, node := c.word(1), c.on().node()
	return c.answer(func(ctx context.Context) error {
		switch c.word(0) {
		case "create":
			err := createKey(ctx, node, newKey(alias))
			return err
		case "delete":
			return deleteKeys(ctx, node, hashOf(alias))
		case "show":
			found, err := findKey(ctx, node, hashOf(alias))
			if err == nil && !found {
				err = fmt.Errorf("there is no such key")
			}
			return err
		}
		c.d.Fatalf(c.t, "create, delete or show?")
		return nil
	})
}

func useCommand(c *command) string {
	return c.each(c.places(), func(h *host) string { return codeOf(identify(h.node(), c.word(0))) })
}

func deploymentCommand(c *command) string {
	name, node := c.word(1), c.on().node()
	return c.answer(func(ctx context.Context) error {
		switch c.word(0) {
		case "create":
			err := createDeployment(ctx, node, newDeployment(name))
			return err
		case "delete":
			return deleteDeployment(ctx, node, id.Deployment(name))
		}
		c.d.Fatalf(c.t, "create or delete?")
		return nil
	})
}

func routerCommand(c *command) string {
	node := c.on().node()
	return c.answer(func(ctx context.Context) error { return setRetries(ctx, node, c.number("retries", 0), node.View()) })
}

func viewCommand(c *command) string {
	return c.each(c.words, func(h *host) string { return contentOf(h.node().View()) })
}

// contentOf is what a view says, but for its revision.
func contentOf(v *cluster.View) string {
	var aliases, deployments []string
	page := slices.Collect(v.Keys.KeysByAge().From(0))
	for i := range page {
		aliases = append(aliases, page[i].Alias)
	}
	for _, d := range v.Catalog.Deployments() {
		deployments = append(deployments, string(d.ID))
	}
	slices.Sort(aliases)
	slices.Sort(deployments)
	if len(aliases) > 20 {
		aliases = []string{fmt.Sprintf("%d of them", len(aliases))}
	}
	return fmt.Sprintf("keys [%s], deployments [%s], retries %d",
		strings.Join(aliases, " "), strings.Join(deployments, " "), v.Catalog.Settings().NumRetries)
}

func fillCommand(c *command) string {
	n, err := strconv.Atoi(c.word(0))
	if err != nil {
		c.d.Fatalf(c.t, "how many?")
	}
	for i := range n {
		if err := createKey(c.t.Context(), c.on().node(), newKey(fmt.Sprintf("fill%04d", i))); err != nil {
			return c.s.readable(err.Error())
		}
	}
	return "ok"
}

func backupCommand(c *command) string {
	var b bytes.Buffer
	err := c.on().node().Backup(c.t.Context(), &b)
	c.s.backup = b.Bytes()
	return codeOf(err)
}

func restoreCommand(c *command) string {
	return c.s.readable(codeOf(restore(c.t.Context(), c.on().node(), c.s.backup)))
}

// restore brings the settings of a backup back.
func restore(ctx context.Context, node *cluster.Node, backup []byte) error {
	_, err := node.Restore(ctx, bytes.NewReader(backup), cluster.RestoreRequest{
		Actor: actor, Audit: records.Audit{Type: event.TypeManagement, Details: `{"action":"restored"}`},
	})
	return err
}

func restCommand(c *command) string {
	set := c.on().node().Cooldown()
	failure := cooldown.Failure{Reason: cooldown.RateLimited, Now: time.Now()}
	_, rests := set.Fail(id.Deployment(c.word(0)), failure, cooldown.Policy{Time: time.Minute})
	return fmt.Sprint(rests)
}

func hintedCommand(c *command) string {
	limit := c.within(0)
	return c.each(c.places(), func(h *host) string {
		return fmt.Sprint(until(limit, func() bool {
			_, _, hinted := h.node().Cooldown().Hinted(id.Deployment(c.word(0)), time.Now())
			return hinted
		}))
	})
}
