import { z } from "zod";
import { Conflict, TooMany } from "../../kernel/errors.ts";
import { operation } from "../projects/operation.ts";
import type { Imports } from "./imports.ts";
import { importRequestSchema, importSchema } from "./schemas.ts";

/** What the operations on imports call. */
interface ImportServices {
  readonly hosting: { readonly imports: Imports };
}

/** Only a project's admins fill it. */
const admins = { needs: "admin", callers: "no passphrase" } as const;

export const getImport = operation({
  http: "GET /api/import",
  ...admins,
  summary: "Show how far the import from elsewhere into a project is, or how the last one ended",
  input: z.object({}),
  ok: { schema: importSchema, description: "The import" },
}, ({ hosting: { imports } }: ImportServices, _input, { project }) => imports.show(project));

export const startImport = operation(
  {
    http: "POST /api/import",
    ...admins,
    summary: "Fill a project from a Git or Fossil repository elsewhere",
    description: "The project must be empty. The import runs in the background; nothing of it is " +
      "stored before all of it is there. Commits, branches and tags of Git keep their hashes and " +
      "names. The password is never stored: an import that the end of the server interrupts begins " +
      "anew. Local and private addresses are never reached unless `webhooks.allow_private` is set.",
    input: importRequestSchema,
    bodyName: "ImportRequest",
    example: { url: "https://git.example/team/website.git" },
    refusals: [{ error: Conflict }, { error: TooMany }],
    ok: { schema: importSchema, description: "Started" },
    isAccepted: true,
  },
  ({ hosting: { imports } }: ImportServices, request, { project, caller }) =>
    imports.start(project, request, caller),
);

export const cancelImport = operation({
  http: "DELETE /api/import",
  ...admins,
  summary: "Cancel the import into a project; the project stays empty",
  input: z.object({}),
  refusals: [{ error: Conflict }],
  ok: { schema: importSchema, description: "Cancelled" },
}, ({ hosting: { imports } }: ImportServices, _input, { project }) => imports.cancel(project));
