"""A client of Git: `dulwich_client.py COMMAND …`; `foreign_git.ts` says which."""

import os
import sys

from dulwich import porcelain

ACCESS = {"username": os.environ["GIT_USER"], "password": os.environ["GIT_SECRET"]}
WHO = b"Ann <ann@example.org>"


def clone(url, folder, depth="0", filter=""):
    # It fetches nothing that a checkout lacks.
    more = {"filter_spec": filter, "checkout": False} if filter else {}
    porcelain.clone(url, folder, depth=int(depth) or None, errstream=sys.stderr.buffer, **more, **ACCESS)


def fetch(folder, depth="0"):
    porcelain.fetch(folder, "origin", depth=int(depth) or None, errstream=sys.stderr.buffer, **ACCESS)


def commit(folder, path, text, message):
    with open(os.path.join(folder, path), "w", encoding="utf-8") as file:
        file.write(text)
    porcelain.add(folder, [os.path.join(folder, path)])
    porcelain.commit(folder, message=message.encode(), author=WHO, committer=WHO)


def tag(folder, name, message):
    porcelain.tag_create(folder, name, author=WHO, message=message.encode(), annotated=True)


def push(folder, *specs):
    result = porcelain.push(
        folder, "origin", [spec.encode() for spec in specs],
        outstream=sys.stdout.buffer, errstream=sys.stderr.buffer, **ACCESS,
    )
    refusals = [f"{ref}: {why}" for ref, why in (result.ref_status or {}).items() if why]
    if refusals:
        sys.exit("\n".join(refusals))


globals()[sys.argv[1]](*sys.argv[2:])
