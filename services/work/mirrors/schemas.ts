import { z } from "zod";

export const remoteUrlSchema = z.string().max(2000, { error: "must have at most 2000 characters" })
  .refine((text) => isRemote(text), {
    error: "must be an http or https URL without user, password, query and fragment",
  });

/** A text that a header can carry. */
export const printable = (max: number) =>
  z.string().min(1, { error: "must not be empty" }).max(max, {
    error: `must have at most ${max} characters`,
  }).regex(/^[\x21-\x7e]*$/, { error: "must have printable ASCII characters and no spaces" });

export const usernameSchema = printable(200).refine((text) => !text.includes(":"), {
  error: "must not contain a colon",
});

const remoteSchema = z.object({
  url: remoteUrlSchema,
  username: usernameSchema.optional(),
  password: printable(1000).optional().describe(
    "A password or token; if it is absent, the one for the same URL and user stays",
  ),
});

const upstreamSchema = remoteSchema.refine(
  ({ username, password }) => password === undefined || username !== undefined,
  { error: "needs a username with the password", path: ["username"] },
);

/** The body of a request that sets a project's mirror. */
export const mirrorRequestSchema = z.object({
  git: remoteSchema.optional().describe("The Git remote to which branches and tags are pushed"),
  fossil: upstreamSchema.optional().describe(
    "The Fossil repository from which the project pulls, before it is pushed to Git",
  ),
  pull: z.object({
    git: remoteSchema.describe("The Git repository whose branches and tags the project follows"),
  }).optional(),
  every_minutes: z.int({ error: "must be a whole number" }).min(5).max(10_080).default(60),
}).refine(({ git, fossil, pull }) => [git, fossil, pull].some((one) => one !== undefined), {
  error: 'needs "git", "fossil" or "pull"',
}).refine(({ fossil, pull }) => fossil === undefined || pull === undefined, {
  error: 'has one upstream: either "fossil" or "pull"',
});

const remoteViewSchema = z.object({
  url: z.string(),
  username: z.string().nullable(),
  has_password: z.boolean().meta({ description: "The password is never shown" }),
});

const time = z.iso.datetime();

/** A mirror: what the project is pushed to and pulled from. */
export const mirrorSchema = z.object({
  git: remoteViewSchema.nullable(),
  fossil: remoteViewSchema.nullable(),
  pull: z.object({ git: remoteViewSchema }).nullable(),
  every_minutes: z.int(),
  running: z.boolean(),
  next_run_at: time,
  last_run_at: time.nullable(),
  last_success_at: time.nullable(),
  last_error: z.string().nullable().meta({ description: "Why the last run failed, or null" }),
  failures: z.int().meta({ description: "Failed runs since the last success" }),
}).meta({ id: "Mirror" });

export type RemoteView = z.output<typeof remoteViewSchema>;
export type MirrorView = z.output<typeof mirrorSchema>;
export type RemoteRequest = z.infer<typeof remoteSchema>;
export type MirrorRequest = z.infer<typeof mirrorRequestSchema>;

function isRemote(text: string): boolean {
  const parsed = URL.canParse(text) ? new URL(text) : null;
  if (parsed === null || !/^https?:$/.test(parsed.protocol)) return false;
  const { username, password, search, hash } = parsed;
  return [username, password, search, hash].every((part) => part === "");
}
