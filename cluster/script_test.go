package cluster_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/modelgateway/modelgateway/cluster/id"
)

// TestScripts plays every script of testdata on a cluster in memory, in virtual
// time. A command that takes a node takes its number, `leader`, `follower`
// and `last` (the first and the last node that run and do not lead), or a name that
// `let` has given.
//
//	nodes N [expect=N] [alone] [snapshots=N]
//	                                put up N machines and start their nodes
//	join N... expect=N              put up one more machine and start its node
//	start|stop|crash|wipe NODE      crash is a power cut; wipe puts in an empty disk
//	restart NODE [expect=N]         starts it again
//	let NAME=NODE...                from now on NAME is that machine; the output says so, too
//	ready NODES [within=D]          waits until they are
//	leader [within=D]               waits for one
//	tick D                          lets time go by
//	partition A|B,C                 only nodes of a group reach each other
//	oneway A B                      nothing gets from A to B
//	heal, delay BASE JITTER, loss SHARE
//	key create|delete|show ALIAS on=NODE
//	use ALIAS on=NODES              presents the key
//	deployment create|delete ID on=NODE
//	router retries=N on=NODE
//	view NODES                      what their requests are decided by
//	fill N on=NODE                  makes so many keys
//	backup on=NODE, restore on=NODE
//	status on=NODE                  what it says of the cluster
//	problems on=NODE [says=(TEXT)]  what it thinks an operator should look at, or whether that says so
//	remove NODE on=NODE
//	installed NODE                  whether it ever had the whole state from another
//	rest ID on=NODE, hinted ID on=NODES [within=D]
//	same                            all that run have the same state at the same index
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			s := &script{lab: newLab(t, 1), names: map[string]*host{}}
			defer s.close()
			datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
				t.Helper()
				return s.run(t, d)
			})
		})
	})
}

// script is a lab that commands are given to.
type script struct {
	*lab
	names  map[string]*host
	backup []byte
}

// command is one of the script's.
type command struct {
	t     *testing.T
	s     *script
	words []string // what has no value
	d     *datadriven.TestData
}

func (s *script) run(t *testing.T, d *datadriven.TestData) string {
	t.Helper()
	c := &command{t: t, s: s, d: d}
	for _, a := range d.CmdArgs {
		if len(a.Vals) == 0 {
			c.words = append(c.words, a.Key)
		}
	}
	run, ok := map[string]func(*command) string{
		"nodes": nodesCommand, "join": joinCommand, "start": startCommand, "stop": stopCommand,
		"crash": crashCommand, "wipe": wipeCommand, "restart": restartCommand, "let": letCommand,
		"ready": readyCommand, "leader": leaderCommand, "tick": tickCommand,
		"partition": partitionCommand, "oneway": oneWayCommand, "heal": healCommand, "delay": delayCommand, "loss": lossCommand,
		"key": keyCommand, "use": useCommand, "deployment": deploymentCommand, "router": routerCommand,
		"fill": fillCommand, "backup": backupCommand, "restore": restoreCommand,
		"view": viewCommand, "status": statusCommand, "problems": problemsCommand, "remove": removeCommand,
		"rest": restCommand, "hinted": hintedCommand, "same": sameCommand, "installed": installedCommand,
	}[d.Cmd]
	if !ok {
		d.Fatalf(t, "there is no command %s", d.Cmd)
	}
	return run(c)
}

// word is the i-th of the command's words.
func (c *command) word(i int) string {
	c.t.Helper()
	if i >= len(c.words) {
		c.d.Fatalf(c.t, "a word is missing")
	}
	return c.words[i]
}

// number is the value of name, or otherwise.
func (c *command) number(name string, otherwise int) int {
	c.t.Helper()
	c.d.MaybeScanArgs(c.t, name, &otherwise)
	return otherwise
}

// within is how long the command may take.
func (c *command) within(otherwise time.Duration) time.Duration {
	c.t.Helper()
	text := otherwise.String()
	c.d.MaybeScanArgs(c.t, "within", &text)
	return c.duration(text)
}

func (c *command) duration(text string) time.Duration {
	c.t.Helper()
	d, err := time.ParseDuration(text)
	if err != nil {
		c.d.Fatalf(c.t, "%v", err)
	}
	return d
}

// host is the machine that a word means.
func (c *command) host(word string) *host {
	c.t.Helper()
	if h := c.s.names[word]; h != nil {
		return h
	}
	switch word {
	case "leader", "follower", "last":
		leader := c.s.leader(settleTime)
		if leader == nil {
			c.d.Fatalf(c.t, "nobody leads")
		}
		followers := slices.DeleteFunc(c.s.running(), func(h *host) bool { return h == leader })
		switch {
		case word == "leader":
			return leader
		case len(followers) == 0:
			c.d.Fatalf(c.t, "nobody follows")
		case word == "follower":
			return followers[0]
		}
		return followers[len(followers)-1]
	}
	n, err := strconv.Atoi(word)
	if err != nil || n < 1 || n > len(c.s.hosts) {
		c.d.Fatalf(c.t, "there is no node %s", word)
	}
	return c.s.hosts[n-1]
}

// on is the machine that the command is for.
func (c *command) on() *host {
	c.t.Helper()
	return c.host(c.places()[0])
}

// places are the words for the machines that the command is for.
func (c *command) places() []string {
	c.t.Helper()
	arg, ok := c.d.Arg("on")
	if !ok {
		c.d.Fatalf(c.t, "on which node?")
	}
	return strings.Split(arg.SingleVal(c.t), ",")
}

// all are the machines that the words mean.
func (c *command) all(words []string) []*host {
	c.t.Helper()
	out := make([]*host, 0, len(words))
	for _, w := range words {
		out = append(out, c.host(w))
	}
	return out
}

// answer makes a call that has to be answered in time, and says how it was.
func (c *command) answer(call func(context.Context) error) string {
	start := time.Now()
	err := call(context.Background())
	out := codeOf(err)
	if took := time.Since(start); took > answerTime {
		out += fmt.Sprintf(" after %s, which is too late", took)
	}
	return c.s.readable(out)
}

// each has a line for each machine.
func (c *command) each(words []string, what func(*host) string) string {
	c.t.Helper()
	var b strings.Builder
	for _, word := range words {
		fmt.Fprintf(&b, "%s: %s\n", word, what(c.host(word)))
	}
	return b.String()
}

func nodesCommand(c *command) string {
	n, err := strconv.Atoi(c.word(0))
	if err != nil {
		c.d.Fatalf(c.t, "how many?")
	}
	if snapshots := c.number("snapshots", 0); snapshots > 0 {
		c.s.timing.SnapshotThreshold, c.s.timing.TrailingLogs = uint64(snapshots), 5
		c.s.timing.SnapshotInterval = 2 * time.Second
	}
	for range n {
		h := c.s.add(c.number("expect", n))
		h.alone = slices.Contains(c.words, "alone")
		h.start()
	}
	return ""
}

func joinCommand(c *command) string {
	c.s.add(c.number("expect", 0)).start()
	return ""
}

func startCommand(c *command) string { return restartCommand(c) }

func restartCommand(c *command) string {
	h := c.host(c.word(0))
	h.expect = c.number("expect", h.expect)
	h.alone = slices.Contains(c.words, "alone")
	if err := h.tryStart(); err != nil {
		return c.s.readable(err.Error())
	}
	return ""
}

func stopCommand(c *command) string {
	c.host(c.word(0)).shut()
	return ""
}

func crashCommand(c *command) string {
	c.host(c.word(0)).cut(c.number("lost", 100))
	return ""
}

func wipeCommand(c *command) string {
	c.host(c.word(0)).wipe()
	return ""
}

func letCommand(c *command) string {
	chosen := map[string]*host{} // all at once: a label must not change what the next one means
	for _, a := range c.d.CmdArgs {
		chosen[a.Key] = c.host(a.SingleVal(c.t))
	}
	for name, h := range chosen {
		if before := c.s.names[name]; before != nil {
			before.name = fmt.Sprintf("node%d", before.number)
		}
		c.s.names[name] = h
	}
	for name, h := range chosen {
		h.name = name
	}
	return ""
}

func readyCommand(c *command) string {
	if err := c.s.ready(c.all(c.words), c.within(settleTime)); err != nil {
		return err.Error()
	}
	return "ok"
}

func leaderCommand(c *command) string {
	if c.s.leader(c.within(settleTime)) == nil {
		return "none"
	}
	return "ok"
}

func tickCommand(c *command) string {
	tick(c.duration(c.word(0)))
	return ""
}

func partitionCommand(c *command) string {
	var groups [][]string
	for group := range strings.SplitSeq(c.word(0), "|") {
		var addresses []string
		for word := range strings.SplitSeq(group, ",") {
			addresses = append(addresses, c.host(word).address)
		}
		groups = append(groups, addresses)
	}
	c.s.network.Partition(groups...)
	return ""
}

func oneWayCommand(c *command) string {
	c.s.network.OneWay(c.host(c.word(0)).address, c.host(c.word(1)).address)
	return ""
}

func healCommand(c *command) string {
	c.s.network.Heal()
	return ""
}

func delayCommand(c *command) string {
	c.s.network.Delay(c.duration(c.word(0)), c.duration(c.word(1)))
	return ""
}

func lossCommand(c *command) string {
	share, err := strconv.ParseFloat(c.word(0), 64)
	if err != nil {
		c.d.Fatalf(c.t, "%v", err)
	}
	c.s.network.Loss(share)
	return ""
}

func sameCommand(c *command) string {
	if err := c.s.same(); err != nil {
		return c.s.readable(err.Error())
	}
	return "ok"
}

func installedCommand(c *command) string {
	installed, err := c.host(c.word(0)).installed()
	if err != nil {
		return err.Error()
	}
	return strconv.FormatBool(installed)
}

func statusCommand(c *command) string {
	status, err := c.on().node().Status(context.Background(), false)
	if err != nil {
		return err.Error()
	}
	var b strings.Builder
	leads := "nobody leads"
	if status.Leader.Node != "" {
		leads = "somebody leads"
	}
	fmt.Fprintf(&b, "%s, fresh: %t\n", leads, status.Fresh)
	slices.SortFunc(status.Members, func(a, b2 memberStatus) int {
		return cmp.Compare(c.s.nodes[a.Node].String(), c.s.nodes[b2.Node].String())
	})
	for _, m := range status.Members {
		fmt.Fprintf(&b, "%s: voter: %t, answers: %t, gossips: %t\n", c.s.nodes[m.Node], m.Voter, m.Alive, m.Gossips)
	}
	return b.String()
}

func problemsCommand(c *command) string {
	status, err := c.on().node().Status(context.Background(), false)
	if err != nil {
		return err.Error()
	}
	text := c.s.readable(strings.Join(status.Problems, "\n"))
	if says, ok := c.d.Arg("says"); ok {
		return strconv.FormatBool(strings.Contains(text, says.SingleVal(c.t)))
	}
	return text
}

func removeCommand(c *command) string {
	at := c.on()
	return c.answer(func(ctx context.Context) error { return at.node().RemoveMember(ctx, c.member(c.word(0))) })
}

// member is the id of the node that a word means: by its name, or an id that is
// nobody's.
func (c *command) member(word string) id.Node {
	for node, born := range c.s.nodes {
		if born.String() == word {
			return node
		}
	}
	return id.Node(word)
}

// hashOf is how the state knows the key that has an alias.
func hashOf(alias string) id.KeyHash { return id.HashKey(text(alias)) }
