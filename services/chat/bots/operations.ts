import { z } from "zod";
import { Conflict, NotFound, TooMany, Unavailable } from "../../kernel/errors.ts";
import { Created, serverOperation } from "../../people/identity/server_operation.ts";
import { type HeraldDesk, requireDesk } from "./herald_desk.ts";
import { acceptedSchema, heraldSourceSchema } from "./schemas.ts";

/** What the operations on herald call. */
interface HeraldServices {
  /** Null without bots. */
  readonly herald: HeraldDesk | null;
}

const noticeSchema = z.strictObject({
  type: z.string().min(1).max(100).default("notice")
    .describe("What happened, such as `deploy.failed`; it decides the channel"),
  text: z.string().min(1).max(600).describe("What herald says; at most five lines"),
  channel: z.string().min(1).max(80).optional().describe("Instead of the channel of the type"),
}).meta({ id: "HeraldNotice" });

const sourceSchema = heraldSourceSchema.meta({ id: "HeraldSource" });

const newSourceSchema = sourceSchema.extend({
  path: z.string().describe("Where it sends its webhooks"),
  secret: z.string().describe("It is shown once"),
}).meta({ id: "IssuedHeraldSource" });

const withoutBots = { error: Conflict };

export const announce = serverOperation(
  {
    http: "POST /v1/herald",
    on: "server",
    runsOn: "leader",
    summary: "Announce an event in a channel, by the bot herald",
    input: noticeSchema,
    example: { type: "deploy.failed", text: "Deploy 42 failed" },
    ok: { schema: acceptedSchema, description: "It is on disk and waits for its turn" },
    isAccepted: true,
    refusals: [withoutBots, { error: TooMany }],
    cli: {
      at: "herald announce <text...>",
      about: "announce an event in a channel",
      options: {
        type: {
          flags: "--type <type>",
          about: "what happened, such as deploy.failed; it decides the channel",
        },
        channel: { flags: "--channel <channel>", about: "in place of the channel of the type" },
      },
      says: "herald announces it in {channel}",
      examples: [{
        line: "herald announce --type deploy.failed 'Deploy 42 failed'",
        purpose: "Tell a channel of a deploy",
      }],
    },
  },
  ({ herald }: HeraldServices, { type, text, channel }) =>
    requireDesk(herald).announce({ type, text }, channel),
);

export const listHeraldSources = serverOperation({
  http: "GET /v1/herald/sources",
  on: "server",
  runsOn: "leader",
  summary: "List the programs whose webhooks herald announces",
  input: z.object({}),
  ok: { schema: z.array(sourceSchema), description: "The sources" },
  refusals: [withoutBots, { error: Unavailable }],
  cli: {
    at: "herald list",
    about: "list the programs whose webhooks it takes",
    columns: ["name", "kind", "PATH: /webhooks/{name}"],
  },
}, ({ herald }: HeraldServices) => requireDesk(herald).sources());

export const addHeraldSource = serverOperation({
  http: "POST /v1/herald/sources",
  on: "server",
  runsOn: "leader",
  summary: "Add a program whose webhooks herald announces",
  input: sourceSchema,
  example: { name: "code", kind: "github" },
  created: { schema: newSourceSchema, description: "The source, with its secret" },
  refusals: [withoutBots],
  cli: {
    at: "herald add <name> <kind>",
    about: "take a program's webhooks, and print the secret once",
    fields: ["path", "secret"],
    says:
      "The secret is shown only once. Enter it at the program, with whsec_, as the secret of a\n" +
      "webhook to the path behind your server's address, with the content type application/json.",
    notes: [
      "The kind is github, forgejo (also for Gitea), gitlab or standard (Standard Webhooks).",
    ],
    examples: [{ line: "herald add code github", purpose: "Announce what happens at GitHub" }],
  },
}, async ({ herald }: HeraldServices, source, { caller }) => {
  const secret = await requireDesk(herald).addSource(source, caller);
  return new Created({ ...source, path: `/webhooks/${source.name}`, secret });
});

export const removeHeraldSource = serverOperation(
  {
    http: "DELETE /v1/herald/sources/{name}",
    on: "server",
    runsOn: "leader",
    summary: "Remove a source of webhooks: its secret is no longer valid",
    input: z.object({ name: z.string() }),
    done: "Removed",
    refusals: [{ error: NotFound }, withoutBots],
    cli: {
      at: "herald remove <name>",
      about: "take no more webhooks of a program",
      aliases: ["delete"],
    },
  },
  ({ herald }: HeraldServices, { name }, { caller }) =>
    requireDesk(herald).removeSource(name, caller),
);
