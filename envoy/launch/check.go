package launch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"time"

	"github.com/modelgateway/modelgateway/cluster/fault"
)

// oldest is the first release with all required features: the priority_group cluster specifier,
// and retries that select the cluster again (refresh_cluster_on_retry).
const (
	oldest      = "1.39"
	oldestMajor = 1
	oldestMinor = 39
)

// versionPattern matches the release in the output of `envoy --version`: "envoy  version:
// <commit>/1.40.0/Clean/RELEASE/BoringSSL".
const versionPattern = `version: [0-9A-Za-z]+/(\d+)\.(\d+)\.(\d+)[^/]*/`

// checkTimeout is long, because a cold binary of 100 MB is read from disk first.
const checkTimeout = 20 * time.Second

// Binary is an Envoy that passed Check.
type Binary struct {
	Path         string
	major, minor int
}

// Check runs `path --version`. It rejects a program that is not Envoy, or an Envoy without a
// required feature. It blocks until the program ends, at most 20 s.
func Check(ctx context.Context, path string) (Binary, error) {
	if err := executable(path); err != nil {
		return Binary{}, err
	}
	major, minor, err := release(ctx, path)
	if err != nil {
		return Binary{}, err
	}
	if major < oldestMajor || major == oldestMajor && minor < oldestMinor {
		return Binary{}, broken("envoy_too_old", nil,
			"%s is Envoy %d.%d, which lacks envoy.router.cluster_specifier_plugin.priority_group or refresh_cluster_on_retry; Envoy %s or later is needed",
			path, major, minor, oldest)
	}
	return Binary{path, major, minor}, nil
}

// release runs `path --version` and returns the release.
func release(ctx context.Context, path string) (major, minor int, err error) {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "--version")
	cmd.Env = []string{}
	cmd.WaitDelay = 10 * time.Second // a busy machine closes pipes late
	text, err := cmd.Output()
	if err != nil {
		return 0, 0, broken("envoy_invalid", err, "%s does not run: `--version` failed; name an Envoy %s or later by --envoy-path", path, oldest)
	}
	found := regexp.MustCompile(versionPattern).FindSubmatch(text)
	if found == nil {
		return 0, 0, broken("envoy_invalid", nil, "%s is not Envoy, or hides its version; name an Envoy %s or later by --envoy-path", path, oldest)
	}
	major, errMajor := strconv.Atoi(string(found[1]))
	minor, errMinor := strconv.Atoi(string(found[2]))
	if err := errors.Join(errMajor, errMinor); err != nil {
		return 0, 0, broken("envoy_invalid", err, "%s prints a version that cannot be read", path)
	}
	return major, minor, nil
}

// executable rejects a path that cannot be executed, and names the cause.
func executable(path string) *fault.Error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return broken("envoy_not_found", err, "there is no file %s", path)
	case err != nil:
		return broken("envoy_not_found", err, "%s cannot be read", path)
	case info.IsDir():
		return broken("envoy_invalid", nil, "%s is a directory; name the Envoy binary in it", path)
	case info.Mode()&0o111 == 0:
		return broken("envoy_invalid", nil, "%s is not executable; %s", path, fmt.Sprintf("run chmod +x %s", path))
	}
	return nil
}
