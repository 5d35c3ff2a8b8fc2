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
	transitEngine = "transit" // default mount path of the engine
)

// transit is a key in the Transit engine of HashiCorp Vault. The key never leaves it. Wrapped
// values name the version of the key, so it can be rotated there at any time.
type transit struct {
	client *api.Client
	engine string
	key    string
}

// openTransit creates a client from the environment, without a request.
func openTransit(u *url.URL) (*transit, error) {
	t := &transit{engine: transitEngine, key: path.Join(u.Host, u.Path)}
	for name, values := range u.Query() {
		if name != "engine" || values[0] == "" {
			return nil, fmt.Errorf("has the unknown parameter %q; the only parameter is engine, the mount path of the Transit engine", name)
		}
		t.engine = values[0]
	}
	config := api.DefaultConfig() // reads the environment
	if config.Error != nil {
		return nil, clean(config.Error)
	}
	config.MaxRetries = 0 // the caller retries and logs
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
	if err != nil { // its text is omitted because it quotes the secret
		return nil, errors.New("the response is not base64")
	}
	return plain, nil
}

// ask sends one value and returns the one in the response.
func (t *transit) ask(ctx context.Context, what, send, value, receive string) (string, error) {
	answer, err := t.client.Logical().WriteWithContext(ctx, path.Join(t.engine, what, t.key), map[string]any{send: value})
	if err != nil {
		return "", err
	}
	if answer == nil {
		return "", errors.New("the response is empty; is the Transit engine mounted there?")
	}
	out, ok := answer.Data[receive].(string)
	if !ok || out == "" {
		return "", fmt.Errorf("the response has no %s; is the Transit engine mounted there?", receive)
	}
	return out, nil
}

// Close closes the connections.
func (t *transit) Close() error {
	t.client.CloneConfig().HttpClient.CloseIdleConnections()
	return nil
}
