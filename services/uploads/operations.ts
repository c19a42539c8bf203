import { z } from "zod";
import type { AccountDirectory } from "../identity/mod.ts";
import { actorOf } from "../projects/mod.ts";
import { operation } from "../projects/operation.ts";
import { uploadSchema } from "./schemas.ts";
import type { Uploads } from "./uploads.ts";

/** What the operations on uploads call. */
interface UploadServices {
  readonly hosting: { readonly uploads: Uploads };
  readonly accounts: Pick<AccountDirectory, "find">;
}

export const listUploads = operation({
  http: "GET /api/uploads",
  needs: "write",
  summary: "Your resumable uploads; for admins, everybody's",
  input: z.object({}),
  ok: {
    schema: z.object({ uploads: z.array(uploadSchema).readonly() }),
    description: "The uploads, oldest first; at most 1100",
  },
}, async ({ hosting, accounts }: UploadServices, _input, { access, project, caller }) => {
  const actor = actorOf(access, undefined, accounts);
  const request = { caller, actor, isAdmin: access.isAdmin };
  return { uploads: await hosting.uploads.list(project, request) };
});
