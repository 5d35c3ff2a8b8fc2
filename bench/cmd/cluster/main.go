// Command cluster measures a cluster of three gateways, each with its Envoy, on this machine's
// loopback. It prints the measured values next to the project's targets:
//
//   - the duration of a management write, from one caller and from several;
//   - the time after a kill -9 of the leader until the others accept writes again;
//   - the time after a response until its spend is visible, when the leader is killed under
//     load;
//   - the time after the request to delete a key during which a node still accepts the key;
//   - the time from start to ready of a node with many keys;
//   - with -what mgmt, instead: the duration of operations of the management API with many
//     keys, the memory of reports over all of them, and the duration of a restore of all of
//     them while the nodes serve; with -what reports or -what restore one of the two alone;
//   - with -what prompts, instead: the time until an edited prompt, and a moved label, is in force
//     on all nodes, while all of them use it;
//   - with -what deployments, instead: the time until one node with many deployments, each at a
//     different address, is ready, and the memory of its Envoy;
//   - with -what credentials, instead: the time until one node with 200 deployments of 20 credentials is ready while no token
//     service responds, and the time until a rotated credential is in force on all nodes, while all of them use it;
//   - with -what webhook, instead: the number of records that wait for delivery while one node
//     serves 500 requests a second.
//
// The exit status says whether it could measure, never how fast it was. The nodes share one
// disk with its syncs, and about two cores; on separate machines they are faster.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
)

type options struct {
	gateway, envoy, dir string
	what                string
	writes, writers     int
	kills, deletions    int
	moves               int
	rotations           int
	spendKills          int
	keys, fillers       int
	nodes, deployments  int
	extra               string // of the nodes' files
}

func main() {
	var o options
	flag.StringVar(&o.gateway, "gateway", "bin/modelgateway", "gateway to `run`")
	flag.StringVar(&o.envoy, "envoy", "", "Envoy to `run` (default: the one that the gateway finds)")
	flag.StringVar(&o.dir, "dir", "", "empty `directory` for data and logs, on the disk to measure")
	flag.StringVar(&o.what, "what", "cluster", "what to measure: `cluster`, mgmt, prompts, returns, reports, restore, deployments, credentials or webhook")
	flag.IntVar(&o.writes, "writes", 1000, "management writes to time, twice")
	flag.IntVar(&o.writers, "writers", 8, "callers that write at once, the second time")
	flag.IntVar(&o.kills, "kills", 20, "leaders to kill")
	flag.IntVar(&o.spendKills, "spend-kills", 5, "leaders to kill under load")
	flag.IntVar(&o.deletions, "deletions", 50, "keys to delete while they are used")
	flag.IntVar(&o.moves, "moves", 200, "edits of a prompt, and moves of its label, with -what prompts")
	flag.IntVar(&o.rotations, "rotations", 50, "rotations of a credential, with -what credentials")
	flag.IntVar(&o.keys, "keys", 100_000, "keys that the restarted nodes have")
	flag.IntVar(&o.fillers, "fillers", 32, "callers that make them")
	flag.IntVar(&o.nodes, "nodes", nodes, "nodes of the cluster; 1 with -what reports or restore, for one alone")
	flag.IntVar(&o.deployments, "deployments", 2000, "deployments of -what deployments")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, o)
	stop()
	if err != nil {
		log.Fatal(err)
	}
}

// nodes is the smallest cluster size that survives the loss of one node.
const nodes = 3

func run(ctx context.Context, o options) (err error) {
	if o.dir == "" {
		return fmt.Errorf("-dir is needed: an empty directory")
	}
	if o.nodes < nodes && o.what != "reports" && o.what != "restore" {
		return fmt.Errorf("-nodes %d: -what %s needs %d", o.nodes, o.what, nodes)
	}
	if o.what == "deployments" {
		return measureDeployments(ctx, o, os.Stdout)
	}
	if o.what == "webhook" {
		return measureWebhook(ctx, o, os.Stdout)
	}
	if o.what == "credentials" {
		if err := measureSilence(ctx, o, os.Stdout); err != nil {
			return err
		}
	}
	p, err := startProvider()
	if err != nil {
		return err
	}
	defer p.Close()
	c, err := newCluster(o, o.nodes, []deployment{{model: model, url: p.URL}})
	if err != nil {
		return err
	}
	defer c.close(&err)
	if err := c.startAll(ctx); err != nil {
		return err
	}
	figures := &report{}
	steps, err := c.steps(o.what)
	if err != nil {
		return err
	}
	for _, step := range steps {
		log.Printf("measuring %s", step.what)
		if err := step.measure(ctx, o, figures); err != nil {
			return fmt.Errorf("%s: %w", step.what, err)
		}
	}
	figures.print(os.Stdout)
	return nil
}

// step is one measurement.
type step struct {
	what    string
	measure func(context.Context, options, *report) error
}

func (c *cluster) steps(what string) ([]step, error) {
	switch what {
	case "cluster":
		return []step{{"writes", c.measureWrites}, {"deletions", c.measureDeletions}, {"failovers", c.measureFailovers}, {"spend", c.measureSpend}, {"restarts", c.measureRestarts}, {"returns", c.measureReturns}}, nil
	case "mgmt":
		return []step{{"operations", c.measureOperations}, {"reports", c.measureReports}, {"restores", c.measureRestore}, {"deletions", c.measureDeletions}, {"restarts", c.measureRestarts}}, nil
	case "prompts":
		return []step{{"prompts", c.measurePrompts}}, nil
	case "credentials":
		return []step{{"rotations", c.measureRotations}}, nil
	case "returns":
		return []step{{"returns", c.measureReturns}}, nil
	case "reports":
		return []step{{"reports", c.measureReports}}, nil
	case "restore":
		return []step{{"restores", c.measureRestore}}, nil
	}
	return nil, fmt.Errorf("-what %s: must be cluster, mgmt, prompts, returns, reports, restore, deployments, credentials or webhook", what)
}

// lastWords returns the ends of the nodes' logs.
func (c *cluster) lastWords() string {
	var b strings.Builder
	for _, n := range c.nodes {
		text, err := os.ReadFile(n.log)
		if err != nil {
			continue // never started
		}
		const last = 4 << 10
		fmt.Fprintf(&b, "--- %s\n%s", filepath.Base(n.log), text[max(0, len(text)-last):])
	}
	return b.String()
}
