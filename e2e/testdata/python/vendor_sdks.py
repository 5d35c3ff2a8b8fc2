"""Uses the providers' own SDKs with the fake provider; vendorsdks_test.go compares their requests with the gateway's."""

import io
import os

from deepgram import DeepgramClient
from deepgram.environment import DeepgramClientEnvironment
from elevenlabs import ElevenLabs, VoiceSettings

URL = os.environ["PROVIDER_URL"]
SOUND = bytes(range(250)) * 64
HEARD = "The fake provider heard a file of %d bytes" % len(SOUND)

eleven = ElevenLabs(api_key="key", base_url=URL)
deepgram = DeepgramClient(api_key="key", environment=DeepgramClientEnvironment(base=URL, production=URL, agent=URL, agent_rest=URL))

speech = dict(voice_id="a voice", text="Hello there.", model_id="eleven_new", output_format="pcm_24000", language_code="en", voice_settings=VoiceSettings(speed=1.1))
assert len(b"".join(eleven.text_to_speech.convert(**speech))) == 12 * 1600
print("ok elevenlabs speech")
assert len(b"".join(eleven.text_to_speech.stream(**speech))) == 12 * 1600
print("ok elevenlabs stream")
t = eleven.speech_to_text.convert(model_id="scribe_v1", file=("a.wav", io.BytesIO(SOUND)), language_code="en", diarize=True, temperature=0.5)
assert t.text == HEARD and t.audio_duration_secs == 1 and t.words[2].speaker_id == "speaker_0" and t.words[1].type == "spacing", t
print("ok elevenlabs transcription")
assert len(b"".join(deepgram.speak.v1.audio.generate(text="Hello there.", model="aura-2-thalia-en", encoding="linear16", container="none", sample_rate=24000))) == 12 * 1600
print("ok deepgram speech")
t = deepgram.listen.v1.media.transcribe_file(request=SOUND, model="nova-3", punctuate=True, diarize=True, language="en", keyterm=["red fox", "a&b"])
best = t.results.channels[0].alternatives[0]
assert best.transcript == HEARD and t.metadata.duration == 1 and best.words[1].start == 0.1, t
print("ok deepgram transcription")
