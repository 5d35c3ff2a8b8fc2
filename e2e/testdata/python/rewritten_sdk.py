"""Uses providers without chats through the gateway with the unchanged SDK of OpenAI and types of Cohere's; rewritten_test.go runs it."""

import io
import os
import struct
import sys

import httpx
import openai
from cohere.v2.types.v2rerank_response import V2RerankResponse

client = openai.OpenAI(base_url=os.environ["GATEWAY_URL"] + "/v1", api_key=os.environ["API_KEY"], max_retries=0)
RATE = 16000  # bytes a second
SAMPLES = bytes(range(250)) * (2 * RATE // 250)
WAV = b"RIFF" + struct.pack("<I", 36 + len(SAMPLES)) + b"WAVEfmt " + struct.pack("<IHHIIHH", 16, 1, 1, 8000, RATE, 2, 16) + b"data" + struct.pack("<I", len(SAMPLES)) + SAMPLES
HEARD = "The fake provider heard a file of %d bytes" % len(WAV)
SECONDS = len(WAV) / RATE


def sound():
    return ("a.wav", io.BytesIO(WAV), "audio/wav")


def embeddings(model):
    r = client.embeddings.create(model=model, input=["red fox", "red fox jumps"], dimensions=16)  # base64, unseen
    assert len(r.data) == 2 and len(r.data[0].embedding) == 16 and abs(sum(v * v for v in r.data[0].embedding) - 1) < 1e-5, r
    assert r.model == model and r.usage.prompt_tokens == r.usage.total_tokens > 0, r
    f = client.embeddings.create(model=model, input="red fox", dimensions=16, encoding_format="float", user="ada")
    assert max(abs(a - b) for a, b in zip(f.data[0].embedding, r.data[0].embedding)) < 1e-6, f


def rerank(model):
    # Cohere's client needs a tokenizer to be imported; its types do not.
    answer = httpx.post(
        os.environ["GATEWAY_URL"] + "/v2/rerank",
        headers={"authorization": "Bearer " + os.environ["API_KEY"]},
        json={"model": model, "query": "red fox", "documents": ["blue whale", "red fox"], "top_n": 1},
    )
    r = V2RerankResponse.model_validate(answer.raise_for_status().json())
    assert [(x.index, x.relevance_score) for x in r.results] == [(1, 1.0)], r
    assert r.meta.tokens.input_tokens > 0 and r.meta.billed_units.input_tokens == r.meta.tokens.input_tokens, r


def speech(model):
    r = client.audio.speech.create(model=model, input="Hello there.", voice="thalia", response_format="wav")
    assert r.content[:4] == b"RIFF" and len(r.content) == 44 + 12 * 1600, len(r.content)
    assert r.response.headers["content-type"] == "audio/wav", r.response.headers


def speech_streamed(model):
    with client.audio.speech.with_streaming_response.create(
        model=model, input="Hello there.", voice="thalia", response_format="pcm", extra_body={"stream_format": "audio"}
    ) as r:
        size = sum(len(p) for p in r.iter_bytes())
    assert size == 12 * 1600, size


def speech_rejected(model):
    try:
        client.audio.speech.create(model=model, input="Hello there.", voice="thalia", instructions="Whisper.")
    except openai.BadRequestError as e:
        assert e.param == "instructions" and e.code == "unsupported_parameter", e
    else:
        raise AssertionError("instructions are not rejected")


def transcription(model):
    r = client.audio.transcriptions.create(model=model, file=sound(), language="en", temperature=0)
    assert r.text == HEARD and r.usage.type == "duration" and r.usage.seconds == SECONDS, r


def transcription_formats(model):
    for kind, start in (("text", HEARD), ("srt", "1\n00:00:00,000 --> 00:00:00,900\n"), ("vtt", "WEBVTT\n\n00:00:00.000 --> 00:00:00.900\n")):
        r = client.audio.transcriptions.create(model=model, file=sound(), response_format=kind)
        assert r.startswith(start) and HEARD in r, r
    r = client.audio.transcriptions.create(
        model=model, file=sound(), response_format="verbose_json", timestamp_granularities=["word", "segment"]
    )
    assert r.duration == SECONDS and r.text == HEARD and [w.word for w in r.words] == HEARD.split() and r.words[1].start == 0.1, r
    assert [s.text for s in r.segments] == [HEARD] and r.segments[0].avg_logprob < 0, r
    r = client.audio.transcriptions.create(model=model, file=sound(), response_format="diarized_json", chunking_strategy="auto")
    assert [(s.speaker, s.text) for s in r.segments] == [("A", HEARD)], r


def transcription_streamed(model):
    text, last = "", None
    for e in client.audio.transcriptions.create(model=model, file=sound(), stream=True):
        last = e
        if e.type == "transcript.text.delta":
            text += e.delta
    assert text == HEARD and last.type == "transcript.text.done" and last.text == HEARD, (text, last)


def transcription_rejected(model):
    for member, value in (("prompt", "Names"), ("include", ["logprobs"])):
        try:
            client.audio.transcriptions.create(model=model, file=sound(), **{member: value})
        except openai.BadRequestError as e:
            assert e.param == member and e.code == "unsupported_parameter", e
        else:
            raise AssertionError(member + " is not rejected")


failed = False
for models, checks in (
    (("voyage", "jina"), (embeddings,)),
    (("voyage-rank", "jina-rank"), (rerank,)),
    (("eleven", "aura"), (speech, speech_streamed, speech_rejected)),
    (("scribe", "nova"), (transcription, transcription_formats, transcription_streamed, transcription_rejected)),
):
    for model in models:
        for check in checks:
            try:
                check(model)
                print("ok", check.__name__, model)
            except Exception as e:  # noqa: BLE001 - the test reports each
                failed = True
                print("FAILED", check.__name__, model, type(e).__name__, e)
sys.exit(failed)
