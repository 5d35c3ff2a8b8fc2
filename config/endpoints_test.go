package config_test

import (
	"strings"
	"testing"

	"github.com/modelgateway/modelgateway/config"
)

// The operator's file may name private addresses, and no metadata service.
func TestAddressesOfTheFile(t *testing.T) {
	t.Parallel()
	for base, sound := range map[string]bool{
		"http://10.0.0.20:8000": true, "http://localhost:8000/v1": true, "http://vllm:8000": true,
		"http://169.254.169.254/v1": false, "http://[::ffff:a9fe:a9fe]": false, "http://2852039166": false, "http://metadata.google.internal": false,
	} {
		_, err := config.Parse("gateway.yaml", []byte(`general_settings: {master_key: sk-the-master-key-0123}
model_list: [{model_name: m, gateway_params: {model: openai/x, api_key: sk-1, api_base: "`+base+`"}}]
`), none)
		if (err == nil) != sound || !sound && (!strings.Contains(err.Error(), "gateway.yaml:2:") || strings.Contains(err.Error(), base)) {
			t.Errorf("%s: %v", base, err)
		}
	}
}

// Where the file does not say it, private addresses may be added over the API if the
// listener is on loopback.
func TestPrivateEndpoints(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"listen: 127.0.0.1:4000": true, "listen: '[::1]:4000'": true, "listen: 0.0.0.0:4000": false, "listen: 10.0.0.1:4000": false,
		"listen: 127.0.0.1:4000\ngeneral_settings: {allow_private_endpoints: false}": false,
		"listen: 0.0.0.0:4000\ngeneral_settings: {allow_private_endpoints: true}":    true,
	} {
		c, err := config.Parse("gateway.yaml", []byte(text+"\n"), func(name string) (string, bool) {
			if name != "LITELLM_MASTER_KEY" {
				return "", false
			}
			return "sk-the-master-key-0123", true
		})
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got := c.AllowsPrivateEndpoints(); got != want {
			t.Errorf("%s: %v", text, got)
		}
		if given := strings.Contains(text, "allow_private"); given != strings.Contains(string(c.Effective()), "allow_private_endpoints: ") {
			t.Errorf("%s: the effective configuration is\n%s", text, c.Effective())
		}
	}
}

// The effective configuration has no credential of an address.
func TestCredentialsOfAddressesAreNotShown(t *testing.T) {
	t.Parallel()
	for address, shown := range map[string]string{
		"https://prices.example.com/map.json":                     "https://prices.example.com/map.json",
		"https://someone:s3cr3t-mark@prices.example.com/map.json": "[redacted]",
		"https://s3cr3t-mark@prices.example.com/map.json":         "[redacted]",
		"https://prices.example.com/map.json?token=s3cr3t-mark":   "[redacted]",
	} {
		c, err := config.Parse("gateway.yaml", []byte("general_settings: {master_key: sk-the-master-key-0123, model_cost_map_url: \""+address+"\"}\n"), none)
		if err != nil {
			t.Fatal(err)
		}
		text := string(c.Effective())
		if !strings.Contains(text, `model_cost_map_url: "`+shown+`"`) && !strings.Contains(text, "model_cost_map_url: "+shown) || strings.Contains(text, "s3cr3t") || strings.Contains(text, "someone") {
			t.Errorf("%s is shown as\n%s", address, text)
		}
	}
}
