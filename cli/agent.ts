import { z } from "zod";
import { ApiClient } from "./client.ts";
import { loginLines } from "./login_lines.ts";
import type { CommandOptions } from "./options.ts";
import { CommandFailed, print, table } from "./output.ts";

const agentSchema = z.object({
  nick: z.string(),
  type: z.string(),
  channels: z.array(z.string()),
  revoked: z.boolean(),
  paused: z.boolean(),
  pause_reason: z.string().nullable(),
  online: z.boolean(),
  last_seen: z.string().nullable(),
  messages_per_minute: z.number(),
  rate_limit: z.object({ messages_per_second: z.number(), burst: z.number() }).nullable(),
});

type Agent = z.infer<typeof agentSchema>;

const registrationSchema = z.object({
  nick: z.string(),
  credentials: z.object({ nick: z.string(), passphrase: z.string() }),
  server: z.string(),
});

type Registration = z.infer<typeof registrationSchema>;

/** `muster agent list`. */
export async function listAgents(options: CommandOptions): Promise<void> {
  const client = await ApiClient.connect(options);
  const agents = await client.call("GET", "/v1/agents", z.array(agentSchema));
  if (options.json === true) return print(JSON.stringify(agents, null, 2));
  const rows = agents.map((agent) => [
    agent.nick,
    agent.type,
    stateOf(agent),
    String(agent.messages_per_minute),
    agent.rate_limit === null ? "" : `${agent.rate_limit.messages_per_second}/s`,
    agent.last_seen ?? "never",
    agent.channels.join(" "),
  ]);
  const titles = ["NICK", "TYPE", "STATE", "MESSAGES/MIN", "RATE", "LAST SEEN", "CHANNELS"];
  print(table(titles, rows));
}

function stateOf({ revoked, paused, online }: Agent): string {
  if (revoked) return "revoked";
  return `${online ? "online" : "offline"}${paused ? ", paused" : ""}`;
}

/** `muster agent register`: makes an agent and prints what it logs in with. */
export async function registerAgent(nick: string, options: CommandOptions): Promise<void> {
  const client = await ApiClient.connect(options);
  const duties = dutiesOf(options);
  const body = { nick, ...duties };
  const registration = await client.call("POST", "/v1/agents/register", registrationSchema, body);
  printRegistration(registration, options, duties.channels);
}

/** `muster agent adopt`: makes an IRC account an agent. */
export async function adoptAgent(nick: string, options: CommandOptions): Promise<void> {
  const client = await ApiClient.connect(options);
  const path = `/v1/agents/${encodeURIComponent(nick)}/adopt`;
  await client.call("POST", path, agentSchema, dutiesOf(options));
}

/** What the options say of what an agent is for. */
function dutiesOf({ type, channels }: CommandOptions): { type?: string; channels?: string[] } {
  const names = channels?.split(",").map((name) => name.trim()).filter(Boolean);
  return {
    ...(type === undefined ? {} : { type }),
    ...(names === undefined ? {} : { channels: names }),
  };
}

/** `muster agent rotate`: gives an agent a new passphrase. */
export async function rotateAgent(nick: string, options: CommandOptions): Promise<void> {
  const client = await ApiClient.connect(options);
  const path = `/v1/agents/${encodeURIComponent(nick)}/rotate`;
  printRegistration(await client.call("POST", path, registrationSchema), options);
}

/** `muster agent revoke` and `muster agent delete`. */
export async function endAgent(
  action: "revoke" | "delete",
  nick: string,
  options: CommandOptions,
): Promise<void> {
  const client = await ApiClient.connect(options);
  const path = `/v1/agents/${encodeURIComponent(nick)}`;
  if (action === "revoke") await client.call("POST", `${path}/revoke`, z.undefined());
  else await client.call("DELETE", path, z.undefined());
}

/** `muster agent pause`: its messages are refused until it is resumed. */
export async function pauseAgent(nick: string, options: CommandOptions): Promise<void> {
  const client = await ApiClient.connect(options);
  const path = `/v1/agents/${encodeURIComponent(nick)}/pause`;
  await client.call("POST", path, z.undefined(), { reason: options.reason ?? null });
}

/** `muster agent resume`. */
export async function resumeAgent(nick: string, options: CommandOptions): Promise<void> {
  const client = await ApiClient.connect(options);
  await client.call("POST", `/v1/agents/${encodeURIComponent(nick)}/resume`, z.undefined());
}

/** `muster agent rate`: gives an agent a rate of its own, or takes it away. */
export async function setAgentRate(
  nick: string,
  rate: number | null,
  { burst, none = false, ...options }: CommandOptions,
): Promise<void> {
  if (none === (rate !== null) || (none && burst !== undefined)) {
    throw new CommandFailed('Say how many messages a second, or "--none"', 2);
  }
  const client = await ApiClient.connect(options);
  const limit = rate === null
    ? null
    : { messages_per_second: rate, burst: burst ?? Math.max(1, Math.ceil(rate)) };
  const path = `/v1/agents/${encodeURIComponent(nick)}`;
  await client.call("PATCH", path, agentSchema, { rate_limit: limit });
}

function printRegistration(
  registration: Registration,
  options: CommandOptions,
  channels?: readonly string[],
): void {
  if (options.json === true) return print(JSON.stringify(registration, null, 2));
  const { nick, passphrase } = registration.credentials;
  print(`nick        ${nick}`);
  print(`passphrase  ${passphrase}`);
  print(`server      ${registration.server}`);
  print();
  print("The passphrase is shown this once. It logs in to IRC by SASL PLAIN, and over HTTP as");
  print("Basic authentication.");
  if (options.client === undefined) return;
  const login = { name: nick, password: passphrase, server: registration.server, channels };
  print();
  print(loginLines(options.client, login));
}
