// Package e2e tests the whole gateway: the real binary with a real Envoy, fake providers
// and real clients. Its tests run in the root of the repository.
package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// builder builds the real binary once.
type builder struct {
	once sync.Once
	path string
	err  error
}

// built and builtRaced build the binary without and with the race detector.
var built, builtRaced builder

// racedVariable makes every test drive a gateway with the race detector if its value is "all".
const racedVariable = "MODELGATEWAY_TEST_RACED"

// concurrent returns the tests whose gateways have the race detector whenever the tests
// have it: those where most happens at the same time. The detector makes a gateway
// several times slower, so all other tests do without it, except in make nightly.
func concurrent() []string {
	return []string{
		"TestCallerLeaves", "TestClusterManages", "TestClusterSurvivesKills", "TestLeastBusy",
		"TestLedgerSurvivesEnvoy", "TestLedgerSurvivesNodes", "TestParallelRequestsOfADeployment",
		"TestParallelRequestsOfTheGateway", "TestRateLimit", "TestRegeneratedKeyHasOneBudget",
		"TestRestoreUnderLoad", "TestStream", "TestWebhook",
	}
}

// raced says whether the gateway of a test has the race detector.
func raced(t *testing.T) bool {
	t.Helper()
	name, _, _ := strings.Cut(t.Name(), "/")
	return raceEnabled && (os.Getenv(racedVariable) == "all" || slices.Contains(concurrent(), name))
}

// TestConcurrentTestsExist checks that each name in concurrent is a test's: a test that is
// renamed would lose the race detector silently.
func TestConcurrentTestsExist(t *testing.T) {
	files, err := filepath.Glob("e2e/*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	var source strings.Builder
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		source.Write(text)
	}
	for _, name := range concurrent() {
		if !strings.Contains(source.String(), "\nfunc "+name+"(t *testing.T) {") {
			t.Errorf("there is no %s", name)
		}
	}
}

// builderOf returns what builds the binary for a test.
func builderOf(t *testing.T) *builder {
	t.Helper()
	if raced(t) {
		return &builtRaced
	}
	return &built
}

// binary returns the path of the real binary, with the module next to it.
func binary(t *testing.T) string {
	t.Helper()
	b := builderOf(t)
	b.once.Do(func() {
		flags := []string{"-ldflags=-s -w"} // without debug information it links in half the time
		if raced(t) {
			flags = append(flags, "-race")
		}
		b.err = b.build(flags...)
	})
	if b.err != nil {
		t.Fatal(b.err)
	}
	return b.path
}

func (b *builder) build(flags ...string) error {
	dir, err := os.MkdirTemp("", "modelgateway-test-")
	if err != nil {
		return err
	}
	b.path = filepath.Join(dir, "modelgateway")
	args := append([]string{"build", "-o", b.path}, flags...)
	out, err := exec.Command("go", append(args, ".")...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	// The module goes into the same folder, as make builds it.
	out, err = exec.Command("make", "--no-print-directory", "module", "MODULES="+dir).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

func TestMain(m *testing.M) {
	if _, err := os.Stat("go.mod"); err != nil { // a test that runs itself again is in the root already
		if err := os.Chdir(".."); err != nil {
			panic(err)
		}
	}
	code := m.Run()
	for _, b := range []*builder{&built, &builtRaced} {
		if b.path != "" {
			_ = os.RemoveAll(filepath.Dir(b.path))
		}
	}
	os.Exit(code)
}
