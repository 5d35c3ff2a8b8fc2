package kms

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"path"

	"github.com/hashicorp/vault/api"
)

const (
	transitScheme = "hashivault"
	transitEngine = "transit" // where the engine is mounted unless the URI says so
)

// transit is a key in the Transit engine of HashiCorp Vault. The key stays there;
// what it wraps says by which version, so the key can be rotated there at any time.
type transit struct {
	client *api.Client
	engine string
	key    string
}

// openTransit makes a client of what the environment says. Nobody is asked.
func openTransit(u *url.URL) (*transit, error) {
	t := &transit{engine: transitEngine, key: path.Join(u.Host, u.Path)}
	for name, values := range u.Query() {
		if name != "engine" || values[0] == "" {
			return nil, fmt.Errorf("has the parameter %q, which is not known: engine is, the path that the Transit engine is mounted at", name)
		}
		t.engine = values[0]
	}
	config := api.DefaultConfig() // reads the environment
	if config.Error != nil {
		return nil, clean(config.Error)
	}
	config.MaxRetries = 0 // who asks does it again, and says so
	client, err := api.NewClient(config)
	if err != nil {
		return nil, clean(err)
	}
	t.client = client
	return t, nil
}

// Encrypt wraps.
func (t *transit) Encrypt(ctx context.Context, plain []byte) ([]byte, error) {
	out, err := t.ask(ctx, "encrypt", "plaintext", base64.StdEncoding.EncodeToString(plain), "ciphertext")
	return []byte(out), clean(err, string(plain), t.client.Token())
}

// Decrypt unwraps.
func (t *transit) Decrypt(ctx context.Context, wrapped []byte) ([]byte, error) {
	out, err := t.ask(ctx, "decrypt", "ciphertext", string(wrapped), "plaintext")
	if err != nil {
		return nil, clean(err, t.client.Token())
	}
	plain, err := base64.StdEncoding.DecodeString(out)
	if err != nil { // its text is left out: it is of the secret
		return nil, errors.New("the answer is not base64")
	}
	return plain, nil
}

// ask sends one value and returns the one that comes back.
func (t *transit) ask(ctx context.Context, what, send, value, receive string) (string, error) {
	answer, err := t.client.Logical().WriteWithContext(ctx, path.Join(t.engine, what, t.key), map[string]any{send: value})
	if err != nil {
		return "", err
	}
	if answer == nil {
		return "", errors.New("the answer is empty; is the Transit engine mounted there?")
	}
	out, ok := answer.Data[receive].(string)
	if !ok || out == "" {
		return "", fmt.Errorf("the answer has no %s; is the Transit engine mounted there?", receive)
	}
	return out, nil
}

// Close gives back the connections.
func (t *transit) Close() error {
	t.client.CloneConfig().HttpClient.CloseIdleConnections()
	return nil
}
