package deepgram

import (
	"cmp"

	"github.com/modelgateway/modelgateway/extproc/driver"
)

// ListModels returns the request for the list of public models.
func (Driver) ListModels(t driver.Target, _ string) (driver.Call, error) {
	return sound().Call(t, "/models", credential(t)...), nil
}

// ModelsOf reads the voices, and the models that transcribe files.
func (Driver) ModelsOf(_ string, body []byte) (models []string, next string, err error) {
	type model struct {
		Name      string `json:"name"`
		Canonical string `json:"canonical_name"`
		Batch     *bool  `json:"batch"`
	}
	var in struct {
		Listens []model `json:"stt"`
		Speaks  []model `json:"tts"`
	}
	if f := driver.ReadResponse(body, &in); f != nil {
		return nil, "", f
	}
	for _, m := range append(in.Listens, in.Speaks...) {
		if name := cmp.Or(m.Canonical, m.Name); name != "" && (m.Batch == nil || *m.Batch) {
			models = append(models, name)
		}
	}
	return models, "", nil
}
