package elevenlabs

import "github.com/modelgateway/modelgateway/extproc/driver"

// ListModels returns the request for the list, which is a list of JSON.
func (Driver) ListModels(t driver.Target, _ string) (driver.Call, error) {
	return sound().Call(t, "/models", credential(t)...), nil
}

// ModelsOf reads the models that speak. ElevenLabs does not list those that transcribe.
func (Driver) ModelsOf(_ string, body []byte) (models []string, next string, err error) {
	var in []struct {
		ID     string `json:"model_id"`
		Speaks *bool  `json:"can_do_text_to_speech"`
	}
	if driver.DecodeLoose(body, &in) != nil {
		return nil, "", driver.InvalidResponse("is not a list of models")
	}
	for _, m := range in {
		if m.ID != "" && (m.Speaks == nil || *m.Speaks) {
			models = append(models, m.ID)
		}
	}
	return models, "", nil
}
