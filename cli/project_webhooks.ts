/** `muster project webhook`: webhooks of projects, and what they sent. */
import { z } from "zod";
import { ApiClient } from "./client.ts";
import type { Group } from "./command_line/mod.ts";
import { checkCount, type CommandOptions, JSON_OPTION, URL_OPTION } from "./options.ts";
import { print, printJson, table } from "./output.ts";
import { pathOf, SLUG } from "./project_calls.ts";

interface AddOptions extends CommandOptions {
  readonly types?: string;
}

interface DeliveriesOptions extends CommandOptions {
  readonly limit?: number;
  readonly before?: string;
}

const webhookSchema = z.looseObject({
  id: z.string(),
  url: z.string(),
  types: z.array(z.string()),
  active: z.boolean(),
  failing_since: z.string().nullable(),
});

const issuedSchema = webhookSchema.extend({ secret: z.string() });

const deliverySchema = z.looseObject({
  id: z.string(),
  type: z.string(),
  status: z.string(),
  attempts: z.number(),
  response_status: z.number().nullable(),
  error: z.string().nullable(),
  created_at: z.string(),
});

type Delivery = z.infer<typeof deliverySchema>;

/** `muster project webhook add`: the secret is printed once. */
async function addWebhook(slug: string, url: string, options: AddOptions): Promise<void> {
  const client = await ApiClient.connect(options);
  const types = options.types?.split(",").map((type) => type.trim());
  const webhook = await client.call("POST", webhooksOf(slug), issuedSchema, { url, types });
  if (options.json === true) return printJson(webhook);
  print(`id      ${webhook.id}`);
  print(`secret  ${webhook.secret}`);
}

/** `muster project webhook list`. */
async function listWebhooks(slug: string, options: CommandOptions): Promise<void> {
  const client = await ApiClient.connect(options);
  const webhooks = await client.call("GET", webhooksOf(slug), z.array(webhookSchema));
  if (options.json === true) return printJson(webhooks);
  const rows = webhooks.map(({ id, url, types, active, failing_since: since }) => [
    id,
    !active ? "off" : since === null ? "on" : `fails since ${since}`,
    types.length === 0 ? "all" : types.join(","),
    url,
  ]);
  print(table(["ID", "STATE", "TYPES", "URL"], rows));
}

/** `muster project webhook remove`. */
async function removeWebhook(slug: string, id: string, options: CommandOptions): Promise<void> {
  const client = await ApiClient.connect(options);
  await client.call("DELETE", webhookOf(slug, id), z.undefined());
}

/** `muster project webhook ping`. */
async function pingWebhook(slug: string, id: string, options: CommandOptions): Promise<void> {
  const client = await ApiClient.connect(options);
  const path = `${webhookOf(slug, id)}/ping`;
  printQueued(await client.call("POST", path, deliverySchema), options);
}

/** `muster project webhook deliveries`: newest first. */
async function listDeliveries(
  slug: string,
  id: string,
  { limit, before, ...options }: DeliveriesOptions,
): Promise<void> {
  const client = await ApiClient.connect(options);
  const query = new URLSearchParams();
  if (limit !== undefined) query.set("limit", `${limit}`);
  if (before !== undefined) query.set("before", before);
  const path = `${webhookOf(slug, id)}/deliveries?${query}`;
  const deliveries = await client.call("GET", path, z.array(deliverySchema));
  if (options.json === true) return printJson(deliveries);
  const rows = deliveries.map((delivery) => [
    delivery.id,
    delivery.created_at,
    delivery.type,
    delivery.status,
    `${delivery.attempts}`,
    delivery.error ?? `${delivery.response_status ?? ""}`,
  ]);
  print(table(["ID", "CREATED", "TYPE", "STATUS", "ATTEMPTS", "ANSWER"], rows));
}

/** `muster project webhook redeliver`. */
async function redeliver(
  slug: string,
  id: string,
  delivery: string,
  options: CommandOptions,
): Promise<void> {
  const client = await ApiClient.connect(options);
  const path = `${webhookOf(slug, id)}/deliveries/${encodeURIComponent(delivery)}/redeliver`;
  printQueued(await client.call("POST", path, deliverySchema), options);
}

function printQueued(delivery: Delivery, { json }: CommandOptions): void {
  if (json === true) return printJson(delivery);
  print(`The delivery ${delivery.id} is queued`);
}

function webhooksOf(slug: string): string {
  return `${pathOf(slug)}/webhooks`;
}

function webhookOf(slug: string, id: string): string {
  return `${webhooksOf(slug)}/${encodeURIComponent(id)}`;
}

const WEBHOOK_ID = { usage: "<webhook>" };

/** The commands of `muster project webhook`. */
export const WEBHOOK: Group = {
  commands: [
    {
      name: "add",
      aliases: ["create"],
      summary: "post a project's events to a URL, and print the secret once",
      parameters: [SLUG, { usage: "<address>" }],
      options: [
        {
          flags: "--types <types>",
          summary: "names of events, separated by commas (default: all)",
        },
        JSON_OPTION,
        URL_OPTION,
      ],
      run: addWebhook,
    },
    {
      name: "list",
      summary: "list a project's webhooks",
      parameters: [SLUG],
      options: [JSON_OPTION, URL_OPTION],
      run: listWebhooks,
    },
    {
      name: "remove",
      aliases: ["delete"],
      summary: "remove a webhook with its deliveries",
      parameters: [SLUG, WEBHOOK_ID],
      options: [URL_OPTION],
      run: removeWebhook,
    },
    {
      name: "ping",
      summary: "send a test delivery",
      parameters: [SLUG, WEBHOOK_ID],
      options: [JSON_OPTION, URL_OPTION],
      run: pingWebhook,
    },
    {
      name: "deliveries",
      summary: "list what a webhook sent, newest first",
      parameters: [SLUG, WEBHOOK_ID],
      options: [
        {
          flags: "--limit <count>",
          summary: "most deliveries, at most 100 (default: 25)",
          parse: checkCount,
        },
        { flags: "--before <delivery>", summary: "only deliveries older than this one" },
        JSON_OPTION,
        URL_OPTION,
      ],
      run: listDeliveries,
    },
    {
      name: "redeliver",
      summary: "send a delivery again, under the same id",
      parameters: [SLUG, WEBHOOK_ID, { usage: "<delivery>" }],
      options: [JSON_OPTION, URL_OPTION],
      run: redeliver,
    },
  ],
};
