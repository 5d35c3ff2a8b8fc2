"""Serves IAM and STS by moto, which verifies signatures, session tokens, policies and the trust of roles.

Prints a line of JSON with the address and the keys of its users, and ends when its standard input does.
"""

import json
import sys

import boto3
import moto.core.authorization as authorization
import moto.core.exceptions as exceptions
from moto import settings
from moto.server import ThreadedMotoServer

ACCOUNT = "123456789012"
REGION = "eu-west-1"


def allow(action, principal=None, condition=None):
    statement = {"Effect": "Allow", "Action": action}
    if principal:
        statement["Principal"] = {"AWS": principal}
    else:
        statement["Resource"] = "*"
    if condition:
        statement["Condition"] = condition
    return json.dumps({"Version": "2012-10-17", "Statement": [statement]})



def as_sts_does(self, name, value):
    """Moto has an element around the error that STS has not, so the libraries of AWS would not see its code."""
    if name == "description" and value:
        value = value.replace("<Errors>", "").replace("</Errors>", "")
    object.__setattr__(self, name, value)


def unless_unsigned(verify):
    """The one call that is not signed: its web identity says who calls. Moto does not read that."""
    return lambda self, *args: None if self._get_action() == "AssumeRoleWithWebIdentity" and "Authorization" not in self.headers else verify(self, *args)


for denial in (exceptions.AccessDeniedError, exceptions.InvalidClientTokenIdError, exceptions.SignatureDoesNotMatchError):
    denial.__setattr__ = as_sts_does
mixin = authorization.ActionAuthenticatorMixin
mixin._authenticate_and_authorize_action = unless_unsigned(mixin._authenticate_and_authorize_action)

server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
server.start()
host, port = server.get_host_and_port()
url = "http://%s:%d" % (host, port)
iam = boto3.client("iam", region_name=REGION, endpoint_url=url, aws_access_key_id="setup", aws_secret_access_key="setup")

keys = {}
for user in ("gateway", "stranger"):
    iam.create_user(UserName=user)
    key = iam.create_access_key(UserName=user)["AccessKey"]
    keys[user] = [key["AccessKeyId"], key["SecretAccessKey"]]
iam.put_user_policy(UserName="gateway", PolicyName="p", PolicyDocument=allow("sts:AssumeRole"))
trusted = "arn:aws:iam::%s:user/gateway" % ACCOUNT
iam.create_role(RoleName="plain", AssumeRolePolicyDocument=allow("sts:AssumeRole", trusted))
iam.create_role(RoleName="external", AssumeRolePolicyDocument=allow("sts:AssumeRole", trusted, {"StringEquals": {"sts:ExternalId": "partner-7"}}))
iam.create_role(RoleName="closed", AssumeRolePolicyDocument=allow("sts:AssumeRole", "arn:aws:iam::%s:user/stranger" % ACCOUNT))
iam.create_role(RoleName="first", AssumeRolePolicyDocument=allow("sts:AssumeRole", trusted))
iam.put_role_policy(RoleName="first", PolicyName="p", PolicyDocument=allow("sts:AssumeRole"))
iam.create_role(RoleName="second", AssumeRolePolicyDocument=allow("sts:AssumeRole", "arn:aws:sts::%s:assumed-role/first/modelgateway" % ACCOUNT))

# From now on every request is verified.
settings.INITIAL_NO_AUTH_ACTION_COUNT = 0
mixin.request_count = 0
print(json.dumps({"url": url, "keys": keys}), flush=True)
sys.stdin.read()
server.stop()
