"""Sends sound and pictures through the gateway with the unchanged OpenAI SDK; sound_test.go runs it."""

import io
import os
import struct
import sys

import openai

client = openai.OpenAI(
    base_url=os.environ["BASE_URL"], api_key=os.environ["API_KEY"], max_retries=0
)
RATE = 16000  # bytes a second
SAMPLES = bytes(range(250)) * (2 * RATE // 250)
WAV = b"RIFF" + struct.pack("<I", 36 + len(SAMPLES)) + b"WAVEfmt " + struct.pack("<IHHIIHH", 16, 1, 1, 8000, RATE, 2, 16) + b"data" + struct.pack("<I", len(SAMPLES)) + SAMPLES
HEARD = "The fake provider heard a file of %d bytes" % len(WAV)
PNG = b"\x89PNG\r\n\x1a\n--picture--\r\n"


def sound():
    return ("a.wav", io.BytesIO(WAV), "audio/wav")


def speech():
    r = client.audio.speech.create(model="tts", input="Hello there.", voice="alloy", response_format="wav")
    assert r.content[:4] == b"RIFF" and len(r.content) == 44 + 12 * 1600, len(r.content)
    assert r.response.headers["content-type"] == "audio/wav", r.response.headers


def speech_streamed():
    with client.audio.speech.with_streaming_response.create(model="tts", input="Hello there.", voice="alloy") as r:
        size = sum(len(p) for p in r.iter_bytes())
    assert size == 12 * 1600, size


def speech_events():
    with client.audio.speech.with_streaming_response.create(
        model="mini-tts", input="Hello there.", voice="alloy", stream_format="sse"
    ) as r:
        text = b"".join(r.iter_bytes()).decode()
    assert "speech.audio.delta" in text and '"speech.audio.done"' in text[-200:] and '"output_tokens":24' in text[-200:], text[-200:]


def transcription():
    r = client.audio.transcriptions.create(model="transcribe", file=sound(), language="en", prompt="a\r\n--b")
    assert r.text == HEARD and r.usage.type == "tokens", r
    r = client.audio.transcriptions.create(model="whisper", file=sound())
    assert r.text == HEARD and r.usage.type == "duration" and round(r.usage.seconds) == 2, r


def transcription_formats():
    for kind in ("text", "srt", "vtt"):
        r = client.audio.transcriptions.create(model="whisper", file=sound(), response_format=kind)
        assert HEARD in r and (kind == "text" or "00:00" in r), r
    r = client.audio.transcriptions.create(
        model="whisper", file=sound(), response_format="verbose_json", timestamp_granularities=["word", "segment"]
    )
    assert r.duration > 2 and r.text == HEARD, r
    r = client.audio.transcriptions.create(
        model="transcribe", file=sound(), response_format="diarized_json", chunking_strategy="auto"
    )
    assert r.segments[0].speaker == "A", r


def transcription_streamed():
    text, last = "", None
    for e in client.audio.transcriptions.create(model="transcribe", file=sound(), stream=True):
        last = e
        if e.type == "transcript.text.delta":
            text += e.delta
    assert text == HEARD and last.type == "transcript.text.done" and last.usage.output_tokens > 0, (text, last)
    r = client.audio.transcriptions.create(model="whisper", file=sound(), stream=True)  # ignored
    r.response.read()
    assert r.response.headers["content-type"] == "application/json" and HEARD in r.response.text, r.response.text


def gateway_fields():
    r = client.audio.transcriptions.create(
        model="transcribe", file=sound(), extra_body={"tags": ["blue", "green"], "metadata": {"user_id": "ada"}, "num_retries": 1}
    )
    assert r.text == HEARD, r


def translation():
    r = client.audio.translations.create(model="whisper", file=sound())
    assert r.text == HEARD, r


def edit():
    r = client.images.edit(model="picture", image=[("a.png", PNG), ("b.png", PNG)], prompt="a fox", n=1)
    assert r.data[0].b64_json and r.usage.total_tokens > 0, r
    last = None
    for e in client.images.edit(model="picture", image=("a.png", PNG), mask=("m.png", PNG), prompt="a fox", stream=True):
        last = e
    assert last.type == "image_edit.completed" and last.usage.total_tokens > 0, last


def errors():
    for kind, code, f in (
        (openai.BadRequestError, "empty_file", lambda: client.audio.transcriptions.create(model="whisper", file=("a.wav", b""))),
        (openai.NotFoundError, "model_not_found", lambda: client.audio.transcriptions.create(model="nope", file=sound())),
        (openai.BadRequestError, "unsupported_parameter", lambda: client.audio.transcriptions.create(model="whisper", file=sound(), extra_body={"api_base": "x"})),
        (openai.InternalServerError, "all_deployments_failed", lambda: client.audio.speech.create(model="failing", input="a", voice="alloy")),
    ):
        try:
            f()
        except kind as e:
            assert e.code == code, (e.code, e.body)
        else:
            raise AssertionError("no %s" % kind.__name__)


failed = 0
for check in (
    speech, speech_streamed, speech_events, transcription, transcription_formats, transcription_streamed, gateway_fields, translation, edit, errors,
):
    try:
        check()
    except Exception as e:
        failed += 1
        print("FAIL %s: %s: %s" % (check.__name__, type(e).__name__, e))
    else:
        print("ok %s" % check.__name__)
sys.exit(1 if failed else 0)
