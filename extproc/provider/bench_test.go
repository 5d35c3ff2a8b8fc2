package provider_test

import (
	"testing"

	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/openai"
	"github.com/modelgateway/modelgateway/extproc/provider"
)

// BenchmarkTranslate decodes the requests of the golden files and encodes them for each language.
func BenchmarkTranslate(b *testing.B) {
	for _, p := range provider.Providers()[:2] {
		b.Run(p.Name, func(b *testing.B) {
			seeds := askSeeds(b)
			b.ReportAllocs()
			for b.Loop() {
				for _, body := range seeds {
					ask, err := openai.Dialect{}.DecodeRequest(body)
					if err != nil {
						continue
					}
					_, _ = codec(p).Encode(ask, driver.Target{Model: "m", DropParams: true})
				}
			}
		})
	}
}
