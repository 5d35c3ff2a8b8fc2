package auditsink

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"

	"gocloud.dev/blob"
	_ "gocloud.dev/blob/azureblob" // azblob://
	_ "gocloud.dev/blob/s3blob"    // s3://

	"github.com/modelgateway/modelgateway/cluster/fault"
)

// objects is where objects are put.
type objects interface {
	// Put makes an object of what write writes, whole or not at all; one of that
	// name is replaced. It returns nil when the object is durable.
	Put(ctx context.Context, name string, write func(io.Writer) error) error
	Close() error
}

// objectType is the content type of what is put: lines of JSON, compressed.
const objectType = "application/gzip"

// openBucket reads a bucket's address. Buckets of clouds are opened when something
// is put there first, for that may need their network.
func openBucket(text string) (objects, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil: // its text quotes the address
		return nil, bucketError("is not a URL; write it like s3://bucket?region=eu-central-1")
	case u.User != nil:
		return nil, bucketError("holds a user name or password; credentials come from the environment, as the cloud's own tools have them")
	case u.Fragment != "":
		return nil, bucketError("has a fragment; leave out everything from the # on")
	}
	switch u.Scheme {
	case "file":
		return openDir(u)
	case "gs":
		// Google's own client would add 13 MB to the program.
		return nil, bucketError("starts with gs://; Google's storage is reached by s3://bucket?region=auto&endpoint=https://storage.googleapis.com with an HMAC key")
	case "s3", "azblob":
		if u.Host == "" {
			return nil, bucketError("names no bucket; write it like %s://bucket", u.Scheme)
		}
		prefix := strings.Trim(u.Path, "/")
		u.Path, u.RawPath = "", ""
		return &cloudBucket{url: u.String(), prefix: prefix}, nil
	}
	return nil, bucketError("starts with a scheme that is not known; use s3://, azblob:// or file://")
}

func bucketError(format string, args ...any) error {
	return fault.Field("audit.bucket_url", "invalid_value", "The bucket's address "+format+".", args...)
}

// cloudBucket is a bucket of a cloud, or of a server that is like one. It is for one
// goroutine.
type cloudBucket struct {
	url    string
	prefix string       // of all names; without slashes around it
	open   *blob.Bucket // nil: not yet
}

// Put uploads an object. The services make it appear when it is complete.
func (b *cloudBucket) Put(ctx context.Context, name string, write func(io.Writer) error) error {
	if b.open == nil {
		open, err := blob.OpenBucket(ctx, b.url)
		if err != nil {
			return fmt.Errorf("opening the bucket: %w", clean(err, b.url))
		}
		b.open = open
	}
	if b.prefix != "" {
		name = b.prefix + "/" + name
	}
	// Close completes the object, and drops it where its context is over.
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	w, err := b.open.NewWriter(ctx, name, &blob.WriterOptions{ContentType: objectType})
	if err != nil {
		return fmt.Errorf("writing the object %s: %w", name, clean(err, b.url))
	}
	failed := write(w)
	if failed != nil {
		cancel()
	}
	if err := errors.Join(failed, w.Close()); err != nil {
		return fmt.Errorf("writing the object %s: %w", name, clean(err, b.url))
	}
	return nil
}

// Close gives connections back.
func (b *cloudBucket) Close() error {
	if b.open == nil {
		return nil
	}
	return b.open.Close()
}
