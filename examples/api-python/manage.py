"""Gives a team a key of its own through the management API, with nothing but requests.

GATEWAY_URL and GATEWAY_KEY (an admin's) say where to; MODEL (default: fast) names a model.
"""

import os
import uuid

import requests

URL = os.environ["GATEWAY_URL"]
MODEL = os.environ.get("MODEL", "fast")


def session(key: str) -> requests.Session:
    s = requests.Session()
    s.headers["Authorization"] = f"Bearer {key}"
    return s


def call(s: requests.Session, method: str, path: str, **kwargs):
    """Returns the answer, or raises with what the gateway says is wrong."""
    r = s.request(method, URL + path, timeout=30, **kwargs)
    if not r.ok:
        error = r.json()["error"]
        raise RuntimeError(f"{r.status_code} {error['code']}: {error['message']}")
    return r.json()


admin = session(os.environ["GATEWAY_KEY"])

team = call(admin, "POST", "/team/new", json={"team_alias": "api-python", "models": [MODEL], "max_budget": 25, "budget_duration": "1mo"})
try:
    print("made the team", team["team_id"])

    # Asked twice under one Idempotency-Key, a key is made once.
    once = {"Idempotency-Key": str(uuid.uuid4())}
    wanted = {"team_id": team["team_id"], "models": [MODEL], "duration": "1h", "key_alias": "ci-" + team["team_id"]}
    key = call(admin, "POST", "/key/generate", json=wanted, headers=once)
    assert call(admin, "POST", "/key/generate", json=wanted, headers=once)["key"] == key["key"]
    print("made the key", key["key_name"])

    app = session(key["key"])
    answer = call(app, "POST", "/v1/chat/completions", json={"model": MODEL, "messages": [{"role": "user", "content": "Hello"}]})
    print("the model says:", answer["choices"][0]["message"]["content"])

    # What is wrong is said field by field.
    r = admin.post(URL + "/key/generate", json={"max_budget": -1, "duration": "soon"}, timeout=30)
    assert r.status_code == 422, r.text
    for problem in r.json()["detail"]:
        print("refused:", ".".join(map(str, problem["loc"])), problem["msg"])

    # Two admins who change the same team at once: the second one is told.
    first = call(admin, "POST", "/team/update", json={"team_id": team["team_id"], "rpm_limit": 60, "if_revision": team["revision"]})
    assert first["data"]["rpm_limit"] == 60
    r = admin.post(URL + "/team/update", json={"team_id": team["team_id"], "rpm_limit": 90}, headers={"If-Match": f'"{int(team["revision"])}"'}, timeout=30)
    assert r.status_code == 409, r.text

    listed = call(admin, "GET", "/key/list", params={"team_id": team["team_id"], "return_full_object": "true"})
    assert [k["token"] for k in listed["keys"]] == [key["token"]]

    call(admin, "POST", "/key/block", json={"key": key["token"]})
    r = app.get(URL + "/v1/models", timeout=30)
    assert (r.status_code, r.json()["error"]["code"]) == (401, "key_blocked"), r.text
    print("blocked it: it is refused")
finally:
    call(admin, "POST", "/team/delete", json={"team_ids": [team["team_id"]]})
print("deleted the team and its key")
