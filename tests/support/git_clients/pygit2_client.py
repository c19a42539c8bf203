"""A client of Git: `pygit2_client.py COMMAND …`; `foreign_git.ts` says which."""

import os
import sys

import pygit2


class Callbacks(pygit2.RemoteCallbacks):
    """Answers with the credential, once, and keeps why the server refuses a reference."""

    def __init__(self):
        super().__init__()
        self.refusals = []
        self.asked = False

    def credentials(self, url, username_from_url, allowed_types):
        if self.asked:
            raise pygit2.GitError("authentication failed")
        self.asked = True
        return pygit2.UserPass(os.environ["GIT_USER"], os.environ["GIT_SECRET"])

    def push_update_reference(self, refname, message):
        if message is not None:
            self.refusals.append(f"{refname}: {message}")


def clone(url, folder, depth="0", _filter=""):
    pygit2.clone_repository(url, folder, callbacks=Callbacks(), depth=int(depth))


def fetch(folder, depth="0"):
    repository = pygit2.Repository(folder)
    repository.remotes["origin"].fetch(callbacks=Callbacks(), depth=int(depth))


def commit(folder, path, text, message):
    repository = pygit2.Repository(folder)
    with open(os.path.join(folder, path), "w", encoding="utf-8") as file:
        file.write(text)
    repository.index.add(path)
    repository.index.write()
    tree = repository.index.write_tree()
    who = pygit2.Signature("Ann", "ann@example.org")
    repository.create_commit("HEAD", who, who, message, tree, [repository.head.target])


def tag(folder, name, message):
    repository = pygit2.Repository(folder)
    who = pygit2.Signature("Ann", "ann@example.org")
    repository.create_tag(name, repository.head.target, pygit2.enums.ObjectType.COMMIT, who, message)


def push(folder, *specs):
    callbacks = Callbacks()
    pygit2.Repository(folder).remotes["origin"].push(list(specs), callbacks=callbacks)
    if callbacks.refusals:
        sys.exit("\n".join(callbacks.refusals))


globals()[sys.argv[1]](*sys.argv[2:])
