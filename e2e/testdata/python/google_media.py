"""Draws, speaks, transcribes and counts with models of Google through the gateway with the unchanged SDKs of OpenAI and Anthropic; gemini_test.go runs it."""

import base64
import io
import json
import os
import struct
import sys

import anthropic
import openai

client = openai.OpenAI(base_url=os.environ["GATEWAY_URL"] + "/v1", api_key=os.environ["API_KEY"], max_retries=0)
claude = anthropic.Anthropic(base_url=os.environ["GATEWAY_URL"], api_key=os.environ["API_KEY"], max_retries=0)
RATE = 16000  # bytes a second
SAMPLES = bytes(range(250)) * (2 * RATE // 250)
WAV = b"RIFF" + struct.pack("<I", 36 + len(SAMPLES)) + b"WAVEfmt " + struct.pack("<IHHIIHH", 16, 1, 1, 8000, RATE, 2, 16) + b"data" + struct.pack("<I", len(SAMPLES)) + SAMPLES
HEARD = "The fake provider heard a file of %d bytes" % len(WAV)
SPOKEN = 2 * 9600  # bytes


def refused(call, param):
    try:
        call()
    except openai.BadRequestError as e:
        assert e.param == param, e
        return
    raise AssertionError("nothing is refused")


def picture(prefix):
    r = client.images.generate(model=prefix + "image", prompt="a fox", size="1536x1024", response_format="b64_json")
    assert [base64.b64decode(p.b64_json) for p in r.data] == [b"a fox"] and r.output_format == "png" and r.created > 1_700_000_000, r
    assert r.usage.output_tokens_details.image_tokens == r.usage.output_tokens == 1290, r
    refused(lambda: client.images.generate(model=prefix + "image", prompt="a fox", response_format="url"), "response_format")
    refused(lambda: client.images.generate(model=prefix + "image", prompt="a fox", n=2), "n")


def edit(prefix):
    pictures = [("a.png", io.BytesIO(b"\x89PNG\r\n--a"), "image/png"), ("b.webp", io.BytesIO(b"RIFFWEBP"))]
    r = client.images.edit(model=prefix + "image", image=pictures, prompt="a fox", size="auto")
    assert [base64.b64decode(p.b64_json) for p in r.data] == [b"a fox"] and r.usage.output_tokens == 1290, r


def imagen(prefix):
    r = client.images.generate(model=prefix + "imagen", prompt="a fox", n=2, size="1024x1792")
    assert [base64.b64decode(p.b64_json) for p in r.data] == [b"a fox"] * 2, r


def filtered(prefix):
    try:
        client.images.generate(model=prefix + "image-filtered", prompt="a fox")
    except openai.BadRequestError as e:
        assert e.code == "content_filter", e
        return
    raise AssertionError("a picture comes")


def speech(prefix):
    r = client.audio.speech.create(model=prefix + "tts", input="Hello there.", voice="alloy", instructions="Whisper.")
    assert r.content[:4] == b"RIFF" and len(r.content) == 44 + SPOKEN, len(r.content)
    assert r.response.headers["content-type"] == "audio/wav", r.response.headers
    r = client.audio.speech.create(model=prefix + "tts", input="Hello there.", voice="Kore", response_format="pcm")
    assert len(r.content) == SPOKEN and r.response.headers["content-type"] == "audio/pcm", r.response.headers
    refused(lambda: client.audio.speech.create(model=prefix + "tts", input="Hello.", voice="Kore", response_format="mp3"), "response_format")


def speech_events(prefix):
    with client.audio.speech.with_streaming_response.create(
        model=prefix + "tts", input="Hello there.", voice="alloy", response_format="pcm", stream_format="sse"
    ) as r:
        text = b"".join(r.iter_bytes()).decode()
    assert r.headers["content-type"].startswith("text/event-stream"), r.headers
    events = [json.loads(line[6:]) for line in text.splitlines() if line.startswith("data: ")]
    assert [e["type"] for e in events] == ["speech.audio.delta"] * 2 + ["speech.audio.done"] and events[-1]["usage"]["output_tokens"] > 0, text[-200:]
    assert sum(len(base64.b64decode(e["audio"])) for e in events[:-1]) == SPOKEN, text[-200:]


def transcription(prefix):
    sound = ("a.wav", io.BytesIO(WAV), "audio/wav")
    r = client.audio.transcriptions.create(model=prefix + "flash", file=sound, language="en", prompt='a"b')
    assert r.text == HEARD and r.usage.input_token_details.audio_tokens == r.usage.input_tokens > 60, r
    r = client.audio.transcriptions.create(model=prefix + "flash", file=("a.wav", io.BytesIO(WAV)), response_format="text")
    assert r == HEARD + "\n", r
    events = list(client.audio.transcriptions.create(model=prefix + "flash", file=("a.wav", io.BytesIO(WAV)), stream=True))
    assert events[-1].type == "transcript.text.done" and events[-1].text == HEARD, events
    refused(lambda: client.audio.transcriptions.create(model=prefix + "flash", file=("a.wav", io.BytesIO(WAV)), response_format="srt"), "response_format")


def count(prefix):
    ask = {"model": prefix + "flash", "system": "Be brief.", "messages": [{"role": "user", "content": "How warm is it in Bern?"}]}
    r = claude.messages.with_raw_response.count_tokens(**ask)
    assert r.headers["x-gateway-token-count"] == "provider" and r.parse().input_tokens > 5, (r.headers, r.parse())
    r = client.responses.input_tokens.with_raw_response.count(model=prefix + "flash", instructions="Be brief.", input="How warm is it in Bern?")
    assert r.headers["x-gateway-token-count"] == "provider" and r.parse().input_tokens > 5, r.parse()


failed = False
for prefix in os.environ["PREFIXES"].split():
    for check in (picture, edit, imagen, filtered, speech, speech_events, transcription, count):
        try:
            check(prefix)
            print("ok", prefix, check.__name__)
        except Exception as e:
            failed = True
            print("FAIL", prefix, check.__name__, type(e).__name__, str(e)[:600])
sys.exit(failed)
