package bucket

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
	"sync"
	"time"

	"gocloud.dev/blob"
	_ "gocloud.dev/blob/azureblob" // azblob://
	_ "gocloud.dev/blob/s3blob"    // s3://
	"gocloud.dev/gcerrors"

	"github.com/modelgateway/modelgateway/cluster/fault"
)

// putTimeout bounds one call, so that a service that does not respond any more is a failure, which is
// reported and tried again. A million records take seconds.
const putTimeout = 15 * time.Minute

// Bucket is object storage, or a directory that is used like it. It is safe for concurrent use.
type Bucket struct {
	to objects
}

// objects is what a kind of storage does.
type objects interface {
	put(ctx context.Context, name, mediaType string, write func(io.Writer) error) error
	get(ctx context.Context, name string, read func(io.Reader) error) error
	remove(ctx context.Context, name string) error
	close() error
}

// Open reads the address of a bucket, which the setting param has. It connects to nothing yet,
// because a client of a cloud may need the cloud's network. The error is a *fault.Error.
func Open(param, text string) (*Bucket, error) {
	invalid := func(format string, args ...any) error {
		return fault.Field(param, "invalid_value", "The bucket's address "+format+".", args...)
	}
	u, err := url.Parse(text)
	switch {
	case err != nil: // its text quotes the address
		return nil, invalid("is not a URL; write it like s3://bucket?region=eu-central-1")
	case u.User != nil:
		return nil, invalid("holds a user name or password; credentials come from the environment, as the cloud's own tools have them")
	case u.Fragment != "":
		return nil, invalid("has a fragment; leave out everything from the # on")
	}
	switch u.Scheme {
	case "file":
		d, ok := dirOf(u)
		if !ok {
			return nil, invalid("is not the path of a directory; write it like file:///var/lib/audit")
		}
		return &Bucket{d}, nil
	case "gs":
		// Google's own client would add 13 MB to the program.
		return nil, invalid("starts with gs://; Google's storage is reached by s3://bucket?region=auto&endpoint=https://storage.googleapis.com with an HMAC key")
	case "s3", "azblob":
		if u.Host == "" {
			return nil, invalid("names no bucket; write it like %s://bucket", u.Scheme)
		}
		prefix := strings.Trim(u.Path, "/")
		u.Path, u.RawPath = "", ""
		return &Bucket{&cloud{url: u.String(), prefix: prefix}}, nil
	}
	return nil, invalid("starts with a scheme that is not known; use s3://, azblob:// or file://")
}

// Put makes an object of what write writes, whole or not at all. It replaces an object of the
// same name. It returns nil when the object is durable.
func (b *Bucket) Put(ctx context.Context, name, mediaType string, write func(io.Writer) error) error {
	ctx, cancel := context.WithTimeout(ctx, putTimeout)
	defer cancel()
	if err := b.to.put(ctx, name, mediaType, write); err != nil {
		return fmt.Errorf("writing the object %s: %w", name, err)
	}
	return nil
}

// Get reads an object. The error of read is returned as it is. An object that is not there is an error.
func (b *Bucket) Get(ctx context.Context, name string, read func(io.Reader) error) error {
	ctx, cancel := context.WithTimeout(ctx, putTimeout)
	defer cancel()
	if err := b.to.get(ctx, name, read); err != nil {
		return fmt.Errorf("reading the object %s: %w", name, err)
	}
	return nil
}

// Delete deletes an object. One that is not there is no error.
func (b *Bucket) Delete(ctx context.Context, name string) error {
	ctx, cancel := context.WithTimeout(ctx, putTimeout)
	defer cancel()
	if err := b.to.remove(ctx, name); err != nil {
		return fmt.Errorf("deleting the object %s: %w", name, err)
	}
	return nil
}

// Close closes connections. No other call may follow.
func (b *Bucket) Close() error { return b.to.close() }

// cloud is a bucket of a cloud, or of a server with the same interface.
type cloud struct {
	url    string
	prefix string // of all names; without slashes around it

	mu     sync.Mutex
	opened *blob.Bucket // nil: not yet; with mu
}

func (c *cloud) bucket(ctx context.Context) (*blob.Bucket, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.opened == nil {
		opened, err := blob.OpenBucket(ctx, c.url)
		if err != nil {
			return nil, c.clean(err)
		}
		c.opened = opened
	}
	return c.opened, nil
}

// put uploads an object. The services make it visible when it is complete.
func (c *cloud) put(ctx context.Context, name, mediaType string, write func(io.Writer) error) error {
	bucket, err := c.bucket(ctx)
	if err != nil {
		return err
	}
	name = c.name(name)
	// Close completes the object, or drops it if its context is over.
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	w, err := bucket.NewWriter(ctx, name, &blob.WriterOptions{ContentType: mediaType})
	if err != nil {
		return c.clean(err)
	}
	failed := write(w)
	if failed != nil {
		cancel()
	}
	return c.clean(errors.Join(failed, w.Close()))
}

// name returns the name of an object in the bucket.
func (c *cloud) name(name string) string {
	if c.prefix == "" {
		return name
	}
	return c.prefix + "/" + name
}

func (c *cloud) get(ctx context.Context, name string, read func(io.Reader) error) error {
	bucket, err := c.bucket(ctx)
	if err != nil {
		return err
	}
	r, err := bucket.NewReader(ctx, c.name(name), nil)
	if err != nil {
		return c.clean(err)
	}
	return errors.Join(read(r), r.Close())
}

func (c *cloud) remove(ctx context.Context, name string) error {
	bucket, err := c.bucket(ctx)
	if err != nil {
		return err
	}
	if err := bucket.Delete(ctx, c.name(name)); gcerrors.Code(err) != gcerrors.NotFound {
		return c.clean(err)
	}
	return nil
}

func (c *cloud) close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.opened == nil {
		return nil
	}
	return c.opened.Close()
}

// clean removes the address from an error's text, because it may hold a token, and adds the remedy.
func (c *cloud) clean(err error) error {
	if err == nil {
		return nil
	}
	remedy := ""
	if code := gcerrors.Code(err); code == gcerrors.NotFound {
		remedy = "; create the bucket, or correct its address, or put the object back"
	} else if code == gcerrors.PermissionDenied {
		remedy = "; let the credentials of the environment read, write and delete objects there"
	}
	text := strings.ReplaceAll(err.Error(), c.url, "[redacted]")
	if remedy == "" && text == err.Error() {
		return err
	}
	return errors.New(text + remedy)
}
