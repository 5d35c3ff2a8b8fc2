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

// Open reaches the key that a URI names. Most services are not asked before the
// key is used. Who calls closes what is returned.
func Open(ctx context.Context, uri string) (vault.KMS, error) {
	u, err := url.Parse(uri)
	if err != nil { // its text quotes the whole
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
		return nil, fmt.Errorf("no KMS is known by %s", u.Scheme)
	}
	if err != nil {
		done()
		return nil, clean(err)
	}
	return &keeper{Keeper: k, done: done}, nil
}

// openGoogle signs in at Google.
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

// keeper is a key behind gocloud.dev.
type keeper struct {
	*secrets.Keeper
	done func() // gives back what Close of the Keeper does not
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

// Close gives back the connection.
func (k *keeper) Close() error {
	defer k.done()
	return clean(k.Keeper.Close())
}
