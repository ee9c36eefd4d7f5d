"""Lines with a key in them, and lines that only look like it. No key is real: they are put together here."""

from __future__ import annotations

HEX = "0123456789abcdef" * 2 + "01234567"
MIX = "a1B2c3D4e5F6g7H8"

# A line, and what must not be seen of it.
LEAKING = [
    ("redis://:hunter@host:6379/0", "hunter"),
    ("redis://:pw@host", ":pw"),
    ("postgres://u:p:w@h/db", "p:w"),
    ("postgres://u:p/w@h/db", "p/w"),
    ("postgres://u:p@w@h/db", "p@w"),
    ("postgres://u:p@w:x/y@h/db", "p@w:x/y"),
    (f"https://{HEX}@host/x", HEX),
    (f"https://{MIX}{MIX}:@api.example.org", MIX),
    (f"git clone https://oauth2:{MIX}@example.org/x.git", MIX),
    ("amqp://guest:guest@h:5672//", ":guest"),
    ("DB_PASS=hunter", "hunter"),
    ("LDAP_BIND_PW=hunter", "hunter"),
    ("password：hunter", "hunter"),
    ("密码: hunter", "hunter"),
    ("curl -s -u bob:hunter https://h/x", "hunter"),
    ("curl --user 'bob:hunter' https://h/x", "hunter"),
    (f"WANDB_API_KEY -> {HEX}", HEX),
    (f"api_key=Secret(value='{MIX}')", MIX),
    (f"'api_key': ('{MIX}',)", MIX),
    ("DB_PASS=swordfish", "swordfish"),
    ("export DB_PASS='correct horse'", "horse"),
    ("MYSQL_PWD=secretpw", "secretpw"),
    ("PGPASSWORD=hunter", "hunter"),
    ("MYSQL_ROOT_PASSWORD: letmein", "letmein"),
    ("PASSPHRASE=correcthorse", "correcthorse"),
    ("passphrase: correct-horse-battery-staple", "horse"),
    ("password=abcdefg", "abcdefg"),
    ("password: hunter2", "hunter2"),
    ("db_password: swordfish", "swordfish"),
    ("user: bob password: swordfish host: x", "swordfish"),
    ("{user: bob, password: swordfish}", "swordfish"),
    ("--password swordfish --lr 1", "swordfish"),
    ("'--redis-password', 'swordfish', '--x'", "swordfish"),
    ("  redis_password ................................ swordfish", "swordfish"),
    ('{"password": "sw,ORD;fish", "a": 1}', "ORD"),
    ('\\"password\\": \\"hunter\\", \\"b\\"', "hunter"),
    ("password='it$a{b}c*d'", "a{b}"),
    ("Config(password='hunter', a=1)", "hunter"),
    ("password=SecretStr('hunter')", "hunter"),
    ("password=b'hunter'", "hunter"),
    ("Server=db;User Id=sa;Password=hunter;x=1", "hunter"),
    ("host=db user=x password=swordfish dbname=y", "swordfish"),
    (f"npm_{MIX}{MIX}abcd", MIX),
    (f"pypi-AgEIcHlwaS5vcmc{MIX * 5}", MIX),
    (f"xapp-1-A01-123-{MIX}", MIX),
    (f"sk_live_{MIX}{MIX}", MIX),
    (f"dapi{HEX[:32]}", HEX[:32]),
    (f"hvs.{MIX}{MIX}", MIX),
    (f"hf_oauth_{MIX * 3}", MIX),
    (f"ya29.{MIX * 3}", MIX),
    (f"https://hooks.slack.com/services/T000AAAA/B000BBBB/{MIX}", MIX),
    (f"https://discord.com/api/webhooks/123456789012345678/{MIX * 4}", MIX),
    ("-----BEGIN RSA PRIVATE " + "KEY-----\\nMIIEabc\\n-----END RSA PRIVATE KEY-----", "MIIE"),
    ("-----BEGIN PRIVATE " + "KEY----- MIIEabcd", "MIIE"),
    (f"api_key=SecretStr('{MIX}')", MIX),
    (f"api_key=['{MIX}']", MIX),
    (f"api_key=b'{MIX}'", MIX),
    (f"WANDB_API_KEY is {HEX}", HEX),
    (f'{{"name": "WANDB_API_KEY", "value": "{HEX}"}}', HEX),
    (f'"api_key": "{MIX},rest-of-it"', "rest"),
    (f"OPENROUTER_KEY={MIX}x1", MIX),
    ("client_secret=abcDEFghiJKLmnoPQRstu", "abcDEF"),
    (f"Authorization: {HEX}", HEX),
    ("'Authorization': 'Bearer abcdefghijkl'", "abcdefghijkl"),
    (f"TOKEN={HEX}", HEX),
    (f"SECRET={HEX}", HEX),
    (f"MASTER_KEY={HEX}", HEX),
    (f"wandb login {HEX}", HEX),
    (f"['--wandb-key', '{HEX}']", HEX),
    (f'os.environ["WANDB_API_KEY"] = "{HEX}"', HEX),
    ("sshpass -p hunter22 ssh x", "hunter22"),
    (f"swanlab login -k {MIX}", MIX),
]

# What is looked for behind the first record too (see `core.leaks`).
ANYWHERE = [
    ("hf_", f"401 for token hf_{MIX}{MIX}", MIX),
    ("sk-", f"using sk-proj-{MIX}{MIX}", MIX),
    ("ghp_", f"remote: ghp_{MIX}{MIX}abcd", MIX),
    ("AKIA", "key id AKIA" + "ABCDEFGH12345678", "ABCDEFGH"),
    ("WANDB_API_KEY", f"WANDB_API_KEY={HEX}", HEX),
    ("DB_PASS", "DB_PASS=swordfish", "swordfish"),
    ("PASSWORD", "password: hunter2", "hunter2"),
    ("in a URL", "redis://:hunter@host:6379", "hunter"),
    ("authorization", f"Authorization: {HEX}", HEX),
    ("private key", "-----BEGIN PRIVATE " + "KEY-----", "MIIE"),
]

INNOCENT = """\
hf_checkpoint ................................... /models/Qwen3-4B-2507
sk-learn/estimators/base.py sk-learn-estimators-of-the-model
commit 0123456789abcdef0123456789abcdef01234567
sample id 6f1ed002ab5595859014ebf0951522d9
curl -u bob https://h/x curl --user $USER:$PASS https://h/x
n_pw: 12 forward_pw=0.25 upwards: 3 def check(password: str) -> bool
max_tokens=4096 pad_token_id=151643 eos_token='</s>' bos_token=None pad_token='<|endoftext|>'
--tokenizer-path /root/models/tokenizer-2507 tokenizer_path=/models/a1b2c3d4e5f6a7b8c9d0
password: None
password=None, api_key=None, API_KEY=***
token usage: 0.36, #token: 12345678
Qwen/Qwen3-235B-A22B-Instruct-2507-FP8
run id 123e4567-e89b-12d3-a456-426614174000
    client = Client(password=self.password, token=os.environ["TOKEN"], api_key=api_key)
Invalid password: denied
password: authentication failed for user "bob"
Enter passphrase for key '/root/.ssh/id_rsa':
PWD=/root/miles OLDPWD=/root
pass@1: 0.25, pass@8=0.75, pass_rate=0.5
forward_pass=12.5 backward_pass: 13.25 first_pass=True TEST_PASS=many
http://127.0.0.1:8265/path@x
docker://registry:5000/img@sha256:abcdef
ssh://git@github.com:org/repo.git git+https://github.com/org/repo@abc123def456
tcp://10.0.0.1:2379, mail bob@example.org
Authorization: required
bearer of bad news 12, basic usage
use_password=True --password-file /run/secrets/pw bypass=everything compass=north
['password', 'username', 'token']
| password | description |
password=%s password={password} password=${DB_PASSWORD} password=$DB_PASSWORD password=<secret>
"password": null, "token": null
reward_key=score_1 label_key=answer input_key=prompt ROUTER_CACHE_KEY=rollout_0123456789abcdef01
secret sharing 2507 runs of key 12345678901
login node: slurm-login-01
the password is required
api_key is not set, api_key='EMPTY', api_key=dummy
sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
hf_token_file=/root/.cache/huggingface/token
passthrough=true password_length=12
--rdzv-endpoint=tcp://head-node:29500/job@1
https://huggingface.co/Qwen/Qwen3-4B/resolve/main/model-00001-of-00003.safetensors""".splitlines()
