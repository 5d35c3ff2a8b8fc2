package gemini

import (
	"mime"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/usage"
	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// IsImagen reports whether a model is one of Imagen's, which draw by predict. Gemini's models draw by generateContent.
func IsImagen(model string) bool {
	return strings.HasPrefix(strings.TrimPrefix(model, "models/"), "imagen")
}

// drawing is a request of generateContent for a picture.
type drawing struct {
	Contents   []content      `json:"contents"`
	Safety     jsontext.Value `json:"safetySettings,omitzero"`
	Generation struct {
		Seed       jsontext.Value `json:"seed,omitzero"`
		Modalities []string       `json:"responseModalities"`
		Picture    pictureConfig  `json:"imageConfig,omitzero"`
	} `json:"generationConfig"`
}

// pictureConfig is the form of a picture. Only Vertex AI has the last two.
type pictureConfig struct {
	picture

	Person  jsontext.Value `json:"personGeneration,omitzero"`
	Options outputOptions  `json:"imageOutputOptions,omitzero"`
}

// outputOptions is the format of a picture.
type outputOptions struct {
	Type    string         `json:"mimeType,omitzero"`
	Quality jsontext.Value `json:"compressionQuality,omitzero"`
}

// draw writes a request for pictures.
func (c Codec) draw(r *driver.Original, t driver.Target) ([]byte, error) {
	p := optionsOf(r, t)
	if raw := p.take("stream"); raw != nil && string(raw) != "false" {
		return nil, fault.Field("stream", driver.CodeUnsupported, "stream: %s sends a picture when it is complete; leave stream out.", vendor)
	}
	p.only("partial_images", "0")
	if form := p.text("response_format"); form != "" && form != "b64_json" && !t.DropParams {
		return nil, fault.Field("response_format", driver.CodeUnsupported, "response_format: %s sends pictures as b64_json alone; request that, or set drop_params on the deployment.", vendor)
	}
	p.only("quality", `"auto"`, `"standard"`)
	p.only("background", `"auto"`, `"opaque"`)
	p.only("moderation", `"auto"`)
	if IsImagen(t.Model) {
		return drawByImagen(p)
	}
	shown, files, err := originals(r)
	if err != nil {
		return nil, err
	}
	var out drawing
	out.Contents = []content{{Role: roleUser, Parts: append(shown, textPart(p.required("prompt")))}}
	p.only("n", "1")
	if r.Endpoint == driver.Images { // a form has no objects
		out.Safety = p.take("safety_settings", "safetySettings")
	}
	g := &out.Generation
	g.Seed, g.Modalities, g.Picture.picture = p.number("seed"), []string{"IMAGE"}, p.form(ratios())
	if c.Vertex {
		g.Picture.Person, g.Picture.Options = p.take("person_generation", "personGeneration"), p.output()
	} else {
		p.only("output_compression", "100", `"100"`)
		p.only("output_format")
	}
	p.only("input_fidelity")
	body, err := p.body(&out)
	if err != nil {
		return nil, err
	}
	return withData(body, files...), nil
}

// originals returns the pictures that a form wants changed: parts whose data is empty, and their data. A request without a form has none.
func originals(r *driver.Original) (shown []part, files [][]byte, err error) {
	if r.Endpoint != driver.ImageEdits {
		return nil, nil, nil
	}
	for _, p := range r.Facts.Form() {
		name := string(p.Base())
		switch {
		case !p.IsFile:
			continue
		case name != "image":
			return nil, nil, fault.Field(name, driver.CodeUnsupported, "%s: %s changes pictures as the prompt says; leave the file out.", name, vendor)
		}
		kind, _, _ := mime.ParseMediaType(string(p.Type)) // empty if there is none
		if !strings.HasPrefix(kind, "image/") {
			kind = typeOfName(string(p.Filename))
		}
		if !strings.HasPrefix(kind, "image/") {
			kind = "image/png"
		}
		shown = append(shown, part{Inline: &blob{MimeType: kind}})
		files = append(files, p.Value.Of(r.Facts.FormBody()))
	}
	return shown, files, nil
}

// output takes the format of a picture.
func (p *options) output() outputOptions {
	out := outputOptions{Quality: p.number("output_compression")}
	switch name := p.text("output_format"); {
	case name == "png", name == "jpeg":
		out.Type = "image/" + name
	case name != "" && !p.target.DropParams:
		p.fail(fault.Field("output_format", driver.CodeUnsupported, "output_format: %s draws in png and jpeg; request one of them, or set drop_params on the deployment.", vendor))
	}
	if out.Type != "image/jpeg" { // the others lose nothing
		out.Quality = nil
	}
	return out
}

// imagenParameters is what a request for Imagen's pictures has besides the prompt.
type imagenParameters struct {
	Count    jsontext.Value `json:"sampleCount,omitzero"`
	Ratio    string         `json:"aspectRatio,omitzero"`
	Size     string         `json:"sampleImageSize,omitzero"`
	Negative jsontext.Value `json:"negativePrompt,omitzero"`
	Seed     jsontext.Value `json:"seed,omitzero"`
	Person   jsontext.Value `json:"personGeneration,omitzero"`
	Mark     jsontext.Value `json:"addWatermark,omitzero"`
	Reasons  bool           `json:"includeRaiReason"` // why the filter has taken a picture
	Options  outputOptions  `json:"outputOptions,omitzero"`
}

// imagenPrompt is what Imagen draws.
type imagenPrompt struct {
	Prompt string `json:"prompt"`
}

// drawByImagen writes a request of predict. Without a count Imagen draws four pictures.
func drawByImagen(p *options) ([]byte, error) {
	var out struct {
		Instances  []imagenPrompt   `json:"instances"`
		Parameters imagenParameters `json:"parameters"`
	}
	out.Instances = []imagenPrompt{{p.required("prompt")}}
	form := p.form(imagenRatios())
	out.Parameters = imagenParameters{
		Count: p.take("n"), Ratio: form.Ratio, Size: form.Size, Negative: p.take("negative_prompt", "negativePrompt"), Seed: p.number("seed"),
		Person: p.take("person_generation", "personGeneration"), Mark: p.take("add_watermark", "addWatermark"), Reasons: true, Options: p.output(),
	}
	if out.Parameters.Count == nil {
		out.Parameters.Count = jsontext.Value("1")
	}
	return p.body(&out)
}

// loosePicture is a picture in a response of generateContent. That of a thought is a draft.
type loosePicture struct {
	Thought bool `json:"thought"`
	Inline  struct {
		Type string         `json:"mimeType"`
		Data jsontext.Value `json:"data"`
	} `json:"inlineData"`
}

// loosePictures is a response with pictures.
type loosePictures struct {
	Candidates []struct {
		Content struct {
			Parts []loosePicture `json:"parts"`
		} `json:"content"`
		Finish  string `json:"finishReason"`
		Message string `json:"finishMessage"`
	} `json:"candidates"`
	Feedback looseFeedback  `json:"promptFeedback"`
	Usage    jsontext.Value `json:"usageMetadata"`
	Error    jsontext.Value `json:"error"`

	Predictions []loosePrediction `json:"predictions"` // of Imagen
}

// loosePrediction is a picture of Imagen's, or why there is none.
type loosePrediction struct {
	Data     jsontext.Value `json:"bytesBase64Encoded"`
	Type     string         `json:"mimeType"`
	Prompt   string         `json:"prompt"` // as Imagen has changed it
	Filtered string         `json:"raiFilteredReason"`
}

// pictures is OpenAI's response with pictures.
type pictures struct {
	Created int64         `json:"created"`
	Format  string        `json:"output_format,omitzero"`
	Data    []drawn       `json:"data"`
	Usage   *pictureUsage `json:"usage,omitzero"`
}

type drawn struct {
	Data   jsontext.Value `json:"b64_json"`
	Prompt string         `json:"revised_prompt,omitzero"`
}

// pictureUsage is OpenAI's report of the tokens of pictures.
type pictureUsage struct {
	Input   int64        `json:"input_tokens"`
	Inputs  pictureParts `json:"input_tokens_details"`
	Output  int64        `json:"output_tokens"`
	Outputs pictureParts `json:"output_tokens_details"`
	Total   int64        `json:"total_tokens"`
}

type pictureParts struct {
	Image int64 `json:"image_tokens"`
	Text  int64 `json:"text_tokens"`
}

// drawn writes pictures in OpenAI's form.
func (Codec) drawn(r *driver.Original, body []byte, model string) (driver.Restored, error) {
	var in loosePictures
	if f := driver.ReadResponse(body, &in); f != nil {
		return driver.Restored{}, f
	}
	if driver.Given(in.Error) {
		return driver.Restored{}, failureIn(body)
	}
	out := pictures{Created: r.Created}
	restored := driver.Restored{}
	var blocked string
	if IsImagen(model) {
		blocked = out.readPredictions(&in)
		restored.Usage = driver.Reported(usage.Tokens{Images: int64(len(out.Data))})
	} else {
		blocked = out.readCandidates(&in)
		restored.Usage = out.readUsage(in.Usage)
	}
	switch {
	case len(out.Data) > 0:
	case blocked != "":
		return driver.Restored{}, blockedBy(blocked)
	default:
		return driver.Restored{}, noPicture()
	}
	var err error
	restored.Body, err = written(&out)
	return restored, err
}

// blockedBy is the failure of a request whose response the provider's filter has taken.
func blockedBy(reason string) *wire.Failure {
	p := driver.Problem{Status: 400, Code: "content_filter", Message: "The provider's filter has taken the response: " + reason}
	return p.Failure()
}

// noPicture is the failure of a response with other content. Another deployment may draw; this one is not broken.
func noPicture() *wire.Failure {
	f := driver.InvalidResponse("has no picture")
	f.CoolDown = false
	return f
}

// add adds a picture.
func (p *pictures) add(data jsontext.Value, media, prompt string) {
	if data.Kind() != '"' || len(data) == len(`""`) {
		return
	}
	if p.Format == "" {
		p.Format, _ = strings.CutPrefix(media, "image/")
	}
	p.Data = append(p.Data, drawn{data, prompt})
}

// readPredictions reads Imagen's pictures, and returns why there are none. Where the reason is missing, a response without pictures is one
// whose pictures the filter has taken.
func (p *pictures) readPredictions(in *loosePictures) (blocked string) {
	for i := range in.Predictions {
		one := &in.Predictions[i]
		if p.add(one.Data, one.Type, one.Prompt); one.Filtered != "" && blocked == "" {
			blocked = one.Filtered
		}
	}
	if blocked == "" && len(in.Predictions) == 0 {
		blocked = "it has no pictures."
	}
	return blocked
}

// readCandidates reads the pictures of a Gemini model, and returns why there are none.
func (p *pictures) readCandidates(in *loosePictures) (blocked string) {
	if reason := in.Feedback.BlockReason; reason != "" {
		blocked = reason + "."
	}
	for i := range in.Candidates {
		c := &in.Candidates[i]
		for j := range c.Content.Parts {
			if one := &c.Content.Parts[j]; !one.Thought && strings.HasPrefix(one.Inline.Type, "image/") {
				p.add(one.Inline.Data, one.Inline.Type, "")
			}
		}
		if readFinish(c.Finish) != wire.FinishFilter || blocked != "" {
			continue
		}
		if blocked = c.Message; blocked == "" {
			blocked = c.Finish + "."
		}
	}
	return blocked
}

// readUsage reads the tokens of pictures. Where the report does not divide them, all that is not thought is pictures.
func (p *pictures) readUsage(raw jsontext.Value) wire.Usage {
	var reported looseUsage
	reported.add(raw)
	u := reported.report()
	if !u.Known() {
		return u
	}
	t := &u.Tokens
	if t.Images = int64(len(p.Data)); len(reported.Out) == 0 {
		t.OutputImage = t.Output - t.Reasoning
	}
	p.Usage = &pictureUsage{
		t.Input, pictureParts{t.InputImage, max(t.Input-t.InputImage, 0)}, t.Output, pictureParts{t.OutputImage, max(t.Output-t.OutputImage, 0)}, t.Input + t.Output,
	}
	return u
}
