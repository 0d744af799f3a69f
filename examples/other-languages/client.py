# A call with a token that is requested once and reused until it expires, in Python with its standard library.

import json
import os
import time
import urllib.error
import urllib.parse
import urllib.request


def setting(name):
    return os.environ["CREDIT_DATA_" + name]


token, renew_at = None, 0.0


def access_token():
    global token, renew_at
    if time.monotonic() >= renew_at:
        form = {
            "client_id": setting("CLIENT_ID"),
            "client_secret": setting("CLIENT_SECRET"),
            "audience": setting("AUDIENCE"),
            "scope": setting("SCOPES"),
            "grant_type": "client_credentials",
        }
        body = urllib.parse.urlencode(form).encode()
        with urllib.request.urlopen(setting("AUTH_V2_URL") + "/oauth2/token", body, timeout=10) as response:
            granted = json.load(response)
        token, renew_at = granted["access_token"], time.monotonic() + 0.9 * granted["expires_in"]
    return token


def call(path, retry=True):
    global renew_at
    request = urllib.request.Request(setting("BASE_URL") + path, headers={"authorization": "Bearer " + access_token()})
    try:
        with urllib.request.urlopen(request, timeout=10) as response:
            return response.status, response.read().decode()
    except urllib.error.HTTPError as error:
        if error.code != 401 or not retry:
            raise
        renew_at = 0.0  # the API rejected the token: request another one, once
        return call(path, retry=False)


for path in ["/data-access/consumers/42", "/furnishment/submissions/7"]:
    print(*call(path))
