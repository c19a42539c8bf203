import { z } from "zod";
import { Created, operation } from "../projects/operation.ts";
import type { Mirrors } from "./mirrors.ts";
import { mirrorRequestSchema, mirrorSchema } from "./schemas.ts";

/** What the operations on mirrors call. */
interface MirrorServices {
  readonly hosting: { readonly mirrors: Mirrors };
}

/** Only a project's admins mirror it. */
const admins = { needs: "admin", callers: "no passphrase" } as const;

export const getMirror = operation({
  http: "GET /api/mirror",
  ...admins,
  summary: "Show where a project is mirrored, and how the last run ended",
  input: z.object({}),
  ok: { schema: mirrorSchema, description: "The mirror" },
}, ({ hosting: { mirrors } }: MirrorServices, _input, { project }) => mirrors.show(project));

export const setMirror = operation({
  http: "PUT /api/mirror",
  ...admins,
  summary: "Pull from an upstream Git or Fossil repository, or push to a Git remote, on a schedule",
  description: "The mirror runs at once, then every `every_minutes`; after failures at longer " +
    "and longer intervals, up to a day. It first pulls, from `fossil` or from Git (`pull`), then " +
    "pushes to `git`; any of them may be absent. From Fossil, an empty project becomes a copy of " +
    "upstream and takes its project code; any other project must have that code. It only adds: if " +
    "somebody commits here too, a branch forks. Branches and tags of the Git remote are overwritten; other " +
    "ones stay. The password is stored sealed and never shown. Without a new one, it stays as " +
    "long as URL and user do. Local and private addresses are never reached unless " +
    "`webhooks.allow_private` is set, and redirects are not followed. Pushing needs `git` 2.37 or " +
    "later on the server.",
  input: mirrorRequestSchema,
  bodyName: "MirrorRequest",
  example: {
    git: { url: "https://git.example/team/website.git", username: "bot", password: "s3cret" },
    fossil: { url: "https://fossil.example/website" },
    every_minutes: 60,
  },
  ok: { schema: mirrorSchema, description: "Changed" },
  created: { schema: mirrorSchema, description: "Set" },
}, async ({ hosting: { mirrors } }: MirrorServices, request, { project, caller }) => {
  const { mirror, isNew } = await mirrors.set(project, request, caller);
  return isNew ? new Created(mirror) : mirror;
});

export const deleteMirror = operation({
  http: "DELETE /api/mirror",
  ...admins,
  summary: "End the mirror of a project; the remote stays as it is",
  input: z.object({}),
  done: "Removed",
  cli: {
    at: "project mirror remove <project>",
    about: "end the mirror; project and remotes stay as they are",
  },
}, async ({ hosting: { mirrors } }: MirrorServices, _input, { project, caller }) => {
  await mirrors.remove(project, caller);
  return undefined;
});

export const runMirror = operation({
  http: "POST /api/mirror/run",
  ...admins,
  summary: "Let the mirror of a project run now",
  input: z.object({}),
  ok: { schema: mirrorSchema, description: "Queued" },
  isAccepted: true,
  cli: {
    at: "project mirror run <project>",
    about: "run it now",
    says: 'The mirror runs; "muster project mirror show {project}" shows how it ended',
  },
}, ({ hosting: { mirrors } }: MirrorServices, _input, { project }) => mirrors.run(project));
