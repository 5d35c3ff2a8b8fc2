package kms

import (
	"context"
	"errors"
	"fmt"
	"net/url"

	"gocloud.dev/gcp"
	"gocloud.dev/secrets"
	"gocloud.dev/secrets/awskms"
	"gocloud.dev/secrets/azurekeyvault"
	"gocloud.dev/secrets/gcpkms"

	"github.com/modelgateway/modelgateway/cluster/vault"
)

// Open returns the key of a URI. Most services are not contacted before the key is used. The
// caller must close the result.
func Open(ctx context.Context, uri string) (vault.KMS, error) {
	u, err := url.Parse(uri)
	if err != nil { // its text quotes the whole URI
		return nil, errors.New("cannot be read as a URI")
	}
	var k *secrets.Keeper
	done := func() {}
	switch u.Scheme {
	case awskms.Scheme:
		k, err = new(awskms.URLOpener).OpenKeeperURL(ctx, u)
	case azurekeyvault.Scheme:
		k, err = (&azurekeyvault.URLOpener{ClientMaker: azurekeyvault.DefaultClientMaker}).OpenKeeperURL(ctx, u)
	case gcpkms.Scheme:
		k, done, err = openGoogle(ctx, u)
	case transitScheme:
		return openTransit(u)
	default:
		return nil, fmt.Errorf("%s is not the scheme of a supported KMS", u.Scheme)
	}
	if err != nil {
		done()
		return nil, clean(err)
	}
	return &keeper{Keeper: k, done: done}, nil
}

// openGoogle authenticates with Google.
func openGoogle(ctx context.Context, u *url.URL) (_ *secrets.Keeper, done func(), err error) {
	done = func() {}
	credentials, err := gcp.DefaultCredentials(ctx)
	if err != nil {
		return nil, done, err
	}
	client, done, err := gcpkms.Dial(ctx, credentials.TokenSource)
	if err != nil {
		return nil, func() {}, err
	}
	k, err := (&gcpkms.URLOpener{Client: client}).OpenKeeperURL(ctx, u)
	return k, done, err
}

// keeper is a key of gocloud.dev.
type keeper struct {
	*secrets.Keeper
	done func() // releases what Close of the Keeper does not
}

// Encrypt wraps.
func (k *keeper) Encrypt(ctx context.Context, plain []byte) ([]byte, error) {
	out, err := k.Keeper.Encrypt(ctx, plain)
	return out, clean(err, string(plain))
}

// Decrypt unwraps.
func (k *keeper) Decrypt(ctx context.Context, wrapped []byte) ([]byte, error) {
	out, err := k.Keeper.Decrypt(ctx, wrapped)
	return out, clean(err)
}

// Close closes the connection.
func (k *keeper) Close() error {
	defer k.done()
	return clean(k.Keeper.Close())
}
