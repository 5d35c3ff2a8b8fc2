package launch_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/modelgateway/modelgateway/e2e/scripttest"
	"github.com/modelgateway/modelgateway/envoy/contract"
	"github.com/modelgateway/modelgateway/envoy/launch"
)

// The module that attaches the gateway is given random events and answers, under the address sanitizer.
// Its callers must get what was answered, in order and to the end.
func TestAttachModule(t *testing.T) {
	program := filepath.Join(t.TempDir(), "attach_test")
	cc := exec.Command("cc", "-std=c11", "-g", "-O1", "-Wall", "-Wextra", "-Wno-unused-parameter", "-Werror",
		"-fsanitize=address,undefined", "-fno-sanitize-recover=undefined", "-o", program, "../module/attach_test.c")
	if out, err := cc.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if out, err := exec.Command(program, "1", "40").CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

// Envoy does not start with a module that it cannot load, so CheckModule rejects such a one.
func TestCheckModule(t *testing.T) {
	dir := t.TempDir()
	build := func(name string, args ...string) string {
		path := filepath.Join(dir, name)
		if out, err := exec.Command("cc", append([]string{"-shared", "-fPIC", "-o", path}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return path
	}
	write := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		scripttest.Write(t, path, text, mode)
		return path
	}
	check := func(path string) launch.Binary {
		b, err := launch.Check(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	envoy := check(binary(t))
	good := build(contract.StreamEndFile, "../module/streamend.c")
	if err := envoy.CheckModule(good); err != nil {
		t.Errorf("the module of this Envoy: %v", err)
	}
	if err := envoy.CheckModule(build(contract.AttachFile, "../module/attach.c")); err != nil {
		t.Errorf("the module that attaches the gateway: %v", err)
	}
	foreign := build("libforeign.so", write("foreign.c", "void envoy_no_such_callback(void); void f(void) { envoy_no_such_callback(); }", 0o600))
	for _, tc := range []struct {
		envoy              launch.Binary
		module, code, text string
	}{
		{envoy, filepath.Join(dir, "absent.so"), "module_not_found", "absent.so"},
		{envoy, write("text.so", "text", 0o600), "module_not_found", "text.so"},
		{envoy, foreign, "module_unsuitable", "envoy_no_such_callback"},
		{check(write("later", "#!/bin/sh\necho 'envoy  version: abc123/1.41.0/Clean/RELEASE/BoringSSL'\n", 0o700)), good, "module_unsuitable", "1.41"},
		{check(write("script", "#!/bin/sh\necho 'envoy  version: abc123/1.40.0/Clean/RELEASE/BoringSSL'\n", 0o700)), good, "module_unsuitable", "script"},
	} {
		checkFault(t, tc.envoy.CheckModule(tc.module), tc.code, tc.text)
	}
	if _, err := envoy.FindModule("libmodelgateway_absent.so"); err == nil {
		t.Error("a module was found that is not in the folder of the executable")
	}
}
