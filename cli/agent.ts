import { z } from "zod";
import { amount } from "../services/kernel/words.ts";
import { loginLines } from "../services/people/login_lines.ts";
import { quietText, WORK_STATES } from "../services/people/work_states.ts";
import { ApiClient, Refused } from "./client.ts";
import type { Command, Group, Option } from "./command_line/mod.ts";
import {
  checkCount,
  checkRate,
  CLIENT_OPTION,
  type CommandOptions,
  JSON_OPTION,
  URL_OPTION,
} from "./options.ts";
import {
  CommandFailed,
  print,
  printError,
  printFields,
  printJson,
  table,
  visible,
} from "./output.ts";

interface DutyOptions extends CommandOptions {
  readonly type?: string;
  readonly channels?: string;
}

interface LoginOptions extends CommandOptions {
  readonly client?: string;
}

const agentSchema = z.looseObject({
  nick: z.string(),
  type: z.string(),
  channels: z.array(z.string()),
  revoked: z.boolean(),
  paused: z.boolean(),
  pause_reason: z.string().nullable(),
  state: z.enum(WORK_STATES),
  quiet_minutes: z.number().nullable(),
  created_at: z.string(),
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
async function listAgents(options: CommandOptions): Promise<void> {
  const client = await ApiClient.connect(options);
  const agents = await client.call("GET", "/v1/agents", z.array(agentSchema));
  if (options.json === true) return printJson(agents);
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

/** `muster agent show`. */
async function showAgent(nick: string, options: CommandOptions): Promise<void> {
  const client = await ApiClient.connect(options);
  const agent = await client.call("GET", `/v1/agents/${encodeURIComponent(nick)}`, agentSchema);
  if (options.json === true) return printJson(agent);
  const { rate_limit: rate } = agent;
  printFields([
    ["nick", agent.nick],
    ["type", agent.type],
    ["state", stateOf(agent)],
    ...agent.pause_reason === null ? [] : [["paused because", agent.pause_reason] as const],
    ["channels", agent.channels.join(" ")],
    ["registered", agent.created_at],
    ["last seen", agent.last_seen ?? "never"],
    ["messages in the last minute", String(agent.messages_per_minute)],
    [
      "rate",
      rate === null ? "the general limit" : `${rate.messages_per_second}/s, ${rate.burst} at once`,
    ],
  ]);
}

function stateOf({ revoked, paused, state, quiet_minutes: minutes }: Agent): string {
  if (revoked) return "revoked";
  return [state, quietText(minutes), paused ? "paused" : null].filter(Boolean).join(", ");
}

/** `muster agent add`: creates an agent and prints its credentials. */
async function addAgent(nick: string, options: DutyOptions & LoginOptions): Promise<void> {
  const client = await ApiClient.connect(options);
  const duties = dutiesOf(options);
  const body = { nick, ...duties };
  const registration = await client.call("POST", "/v1/agents/register", registrationSchema, body);
  printRegistration(registration, options, duties.channels);
}

/** The agent's type and channels, from the options. */
function dutiesOf({ type, channels }: DutyOptions): { type?: string; channels?: string[] } {
  const names = channels?.split(",").map((name) => name.trim()).filter(Boolean);
  return {
    ...(type === undefined ? {} : { type }),
    ...(names === undefined ? {} : { channels: names }),
  };
}

/** `muster agent rotate`: gives an agent a new passphrase. */
async function rotateAgent(
  nick: string,
  options: LoginOptions & { readonly keepTokens?: boolean },
): Promise<void> {
  const client = await ApiClient.connect(options);
  const path = `/v1/agents/${encodeURIComponent(nick)}/rotate`;
  const body = { keep_tokens: options.keepTokens ?? false };
  printRegistration(await client.call("POST", path, registrationSchema, body), options);
}

/** `muster agent revoke`: ends an agent's access. */
async function revokeAgent(nick: string, options: CommandOptions): Promise<void> {
  const client = await ApiClient.connect(options);
  const path = `/v1/agents/${encodeURIComponent(nick)}`;
  try {
    await client.call("POST", `${path}/revoke`, z.undefined());
  } catch (error) {
    if (!(error instanceof Refused) || error.status !== 409) throw error;
    const { revoked } = await client.call("GET", path, agentSchema);
    if (!revoked) throw error;
    printError(`The agent "${nick}" was revoked before`);
  }
}

interface RateOptions extends CommandOptions {
  readonly burst?: number;
  readonly none?: boolean;
}

/** `muster agent rate`: sets or removes an agent's own rate. */
async function setAgentRate(
  nick: string,
  rate: number | null = null,
  { burst, none = false, ...options }: RateOptions,
): Promise<void> {
  if (none === (rate !== null) || (none && burst !== undefined)) {
    throw new CommandFailed('Give a number of messages per second, or "--none"', 2);
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
  options: LoginOptions,
  channels?: readonly string[],
): void {
  if (options.json === true) return printJson(registration);
  const { nick, passphrase } = registration.credentials;
  print(`nick        ${nick}`);
  print(`passphrase  ${passphrase}`);
  print(`server      ${registration.server}`);
  print();
  print("The passphrase is shown only once. Use it on IRC with SASL PLAIN, and over HTTP with");
  print("Basic authentication.");
  if (options.client === undefined) return;
  const login = { name: nick, password: passphrase, server: registration.server, channels };
  print();
  print(loginLines(options.client, login));
}

const NICK = { usage: "<nick>" };

const DUTY_OPTIONS: readonly Option[] = [
  {
    flags: "--type <type>",
    summary: "the agent's type (default: worker)",
    choices: ["worker", "orchestrator", "observer", "operator"],
  },
  { flags: "--channels <names>", summary: "its channels, separated by commas" },
];

const KEEP_TOKENS_OPTION: Option = {
  flags: "--keep-tokens",
  summary: "let the agent's tokens stay valid",
};

/** The limits of an agent's messages. */
const SPEECH: readonly Command[] = [
  {
    name: "rate",
    summary: "limit an agent's messages per second",
    parameters: [NICK, { usage: "[messages]", parse: checkRate }],
    options: [
      {
        flags: "--burst <count>",
        summary: "messages at once (default: those of one second)",
        parse: checkCount,
      },
      { flags: "--none", summary: "remove the agent's own limit" },
      URL_OPTION,
    ],
    examples: [
      { line: "agent rate scout 0.5 --burst 3", purpose: "One message every two seconds" },
      { line: "agent rate scout --none", purpose: "Only the general limit" },
    ],
    run: setAgentRate,
  },
];

/** An agent's credentials. */
const ACCESS: readonly Command[] = [
  {
    name: "rotate",
    summary: "give an agent a new passphrase; the old one and its tokens end at once",
    parameters: [NICK],
    options: [KEEP_TOKENS_OPTION, CLIENT_OPTION, JSON_OPTION, URL_OPTION],
    run: rotateAgent,
  },
  {
    name: "revoke",
    summary: "end an agent's access; its record stays",
    parameters: [NICK],
    options: [URL_OPTION],
    run: revokeAgent,
  },
];

const inboxSchema = z.looseObject({
  id: z.string(),
  from: z.string(),
  channel: z.string().nullable(),
  text: z.string(),
  timestamp: z.string(),
});

const acknowledgedSchema = z.looseObject({ acknowledged: z.number() });

/** `muster agent inbox`: messages to an agent, and mentions of it. */
async function showInbox(
  nick: string,
  { lines = 0, wait = 0, ids = false, ...options }: CommandOptions & {
    readonly lines?: number;
    /** Seconds. */
    readonly wait?: number;
    readonly ids?: boolean;
  },
): Promise<void> {
  const client = await ApiClient.connect(options);
  const query = `limit=${Math.max(lines, 1)}&wait_seconds=${wait}`;
  const timeout = (wait + 30) * 1000;
  const schema = z.array(inboxSchema);
  const path = `${pathOf(nick)}?${query}`;
  const messages = await client.call("GET", path, schema, undefined, timeout);
  if (options.json === true) return printJson(messages);
  for (const { id, from, channel, text, timestamp } of messages) {
    const time = timestamp.slice(0, 16).replace("T", " ");
    const origin = channel === null ? from : `${from} in ${channel}`;
    print(`${ids ? `${id} ` : ""}${time} <${visible(origin)}> ${visible(text)}`);
  }
}

/** `muster agent acknowledge`: removes entries that the agent is done with. */
async function acknowledge(
  nick: string,
  ids: readonly string[],
  { upTo, ...options }: CommandOptions & { readonly upTo?: string },
): Promise<void> {
  if ((ids.length === 0) === (upTo === undefined)) {
    throw new CommandFailed("Name the ids of entries, or the last one by --up-to", 2);
  }
  const client = await ApiClient.connect(options);
  const body = upTo === undefined ? { ids } : { up_to: upTo };
  const path = `${pathOf(nick)}/acknowledge`;
  const answer = await client.call("POST", path, acknowledgedSchema, body);
  if (options.json === true) return printJson(answer);
  print(`${amount(answer.acknowledged, "entry", "entries")} removed`);
}

function pathOf(nick: string): string {
  return `/v1/agents/${encodeURIComponent(nick)}/messages`;
}

/** The commands for an agent's inbox. */
const AGENT_INBOX: readonly Command[] = [
  {
    name: "inbox",
    summary: "print an agent's inbox: messages to it and mentions of it",
    parameters: [NICK],
    options: [
      {
        flags: "-n, --lines <count>",
        summary: "most messages to print",
        parse: checkCount,
        default: 20,
      },
      {
        flags: "--wait <seconds>",
        summary: "longest wait for a first message, in seconds, at most 60",
        parse: checkCount,
      },
      { flags: "--ids", summary: "begin each line with the id of the entry" },
      JSON_OPTION,
      URL_OPTION,
    ],
    run: showInbox,
  },
  {
    name: "acknowledge",
    summary: "remove entries of an agent's inbox that it is done with",
    parameters: [NICK, { usage: "[ids...]" }],
    options: [
      { flags: "--up-to <id>", summary: "this entry and every older one" },
      JSON_OPTION,
      URL_OPTION,
    ],
    examples: [{ line: "agent inbox scout --ids", purpose: "See the ids of the entries" }],
    run: acknowledge,
  },
];

/** What is limited, in the order of the table. */
const SLOTS = ["claims", "workspaces", "reviews", "calls"] as const;
type Slot = (typeof SLOTS)[number];

interface SlotsOptions extends CommandOptions, Partial<Record<Slot, string>> {}

const slotsSchema = z.object({
  limits: z.record(z.enum(SLOTS), z.number()),
  own: z.record(z.enum(SLOTS), z.number().nullable()),
});

/** `muster agent slots`: shows how much an agent may have at once, or sets it. */
async function agentSlots(nick: string, options: SlotsOptions): Promise<void> {
  const client = await ApiClient.connect(options);
  const path = `/v1/agents/${encodeURIComponent(nick)}/slots`;
  const given = SLOTS.filter((slot) => options[slot] !== undefined);
  const change = Object.fromEntries(given.map((slot) => [slot, numberOf(options[slot] ?? "")]));
  let slots = await client.call("GET", path, slotsSchema);
  if (given.length > 0) {
    // PUT replaces all of them.
    slots = await client.call("PUT", path, slotsSchema, { ...slots.own, ...change });
  }
  if (options.json === true) return printJson(slots);
  const rows = SLOTS.map((slot) => [
    slot,
    String(slots.limits[slot]),
    slots.own[slot] === null ? "of its type, or the general one" : "its own",
  ]);
  print(table(["SLOTS", "AT ONCE", "LIMIT"], rows));
}

/** The number of an option; null for `none`, which removes the agent's own limit. */
function numberOf(text: string): number | null {
  if (text === "none") return null;
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new CommandFailed(`"${text}" is no number of slots; "none" removes the limit`, 2);
}

/** The command for an agent's slots. */
const AGENT_SLOTS: Command = {
  name: "slots",
  summary: "show or set how much an agent may have at once",
  parameters: [{ usage: "<nick>" }],
  options: [
    { flags: "--claims <count>", summary: "tickets that it holds" },
    { flags: "--workspaces <count>", summary: "open workspaces" },
    { flags: "--reviews <count>", summary: "reviews that wait" },
    { flags: "--calls <count>", summary: "calls of models; for each, none removes its own limit" },
    JSON_OPTION,
    URL_OPTION,
  ],
  examples: [{ line: "agent slots scout --claims 2", purpose: "Two tickets at once" }],
  run: agentSlots,
};

/** `muster agent`: the registry of agents. */
export const AGENT: Group = {
  commands: [
    {
      name: "add",
      aliases: ["register"],
      summary: "register an agent, and print its passphrase once",
      parameters: [NICK],
      options: [...DUTY_OPTIONS, CLIENT_OPTION, JSON_OPTION, URL_OPTION],
      run: addAgent,
    },
    {
      name: "list",
      summary: "list all agents",
      options: [JSON_OPTION, URL_OPTION],
      run: listAgents,
    },
    {
      name: "show",
      summary: "show one agent",
      parameters: [NICK],
      options: [JSON_OPTION, URL_OPTION],
      run: showAgent,
    },
    ...AGENT_INBOX,
    ...ACCESS,
    ...SPEECH,
    AGENT_SLOTS,
  ],
  examples: [
    { line: "agent add scout --channels general", purpose: "Register an agent" },
    { line: "agent rotate scout --client irssi", purpose: "Replace its passphrase" },
  ],
};
