import { z } from "zod";
import { NICK_PATTERN } from "../../engines/irc/mod.ts";
import { lineSchema } from "../../kernel/validation/schemas.ts";
import { SCOPES } from "./principal.ts";

/** The name of an account, which is also a nick on IRC. */
export const accountNameSchema = z.string().regex(NICK_PATTERN, {
  error: "must be an IRC nick: 1 to 64 letters, digits, or []\\`_^{|}-, no digit or - first",
});

/** The request for a token. */
export const tokenRequestSchema = z.object({
  /** The account that it belongs to; none for a project's token. */
  owner: z.string().nullable().default(null).describe("The account; none for a project's token"),
  /** A label for people. */
  name: lineSchema(1, 100),
  scopes: z.array(z.enum(SCOPES, {
    error: 'must be "read", "write", "admin" or, for a project, "status:write"',
  })).min(1, { error: "must name at least one scope" }).max(10, {
    error: "must name each scope once",
  }),
  project: z.string().nullable().default(null).describe(
    "The slug of the one project that it opens, in place of an owner",
  ),
  expires_at: z.iso.datetime({
    offset: true,
    error: "must be a time of ISO 8601, such as 2027-01-31T12:00:00Z",
  }).nullable().default(null),
});

export type TokenRequest = z.infer<typeof tokenRequestSchema>;
