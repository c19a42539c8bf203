/** A running program in which much has happened, for tests that look at every page. */
import { order, registerAgent, type Server } from "./api.ts";
import { addWebhook, fillProject, type ProjectPlaces } from "./filled_project.ts";
import type { Program } from "./program.ts";
import { type LoggedIn, logIn, sendForm } from "./visiting.ts";

const PASSWORD = "correct horse";

/** Who looks at the pages, and the ids that only the program knows. */
export interface FilledServer {
  /** An admin of the server and of the project `demo`. */
  readonly admin: LoggedIn;
  /** A person who may write in the project `demo`. */
  readonly person: LoggedIn;
  /** A webhook of the server. */
  readonly webhook: string;
  readonly project: ProjectPlaces;
}

/** Makes an admin, who logs in. */
export async function addAdmin(server: Server, username: string): Promise<LoggedIn> {
  await order(server, "POST /v1/admins", { username, password: PASSWORD });
  return await logIn(server, username, PASSWORD);
}

/** Makes a person, who logs in. */
export async function addPerson(server: Server, account: string): Promise<LoggedIn> {
  await order(server, "POST /v1/irc/accounts", { account, password: PASSWORD });
  return await logIn(server, account, PASSWORD);
}

/**
 * Fills a new program: agents in every state, channels and conversations, the projects `demo` and
 * `empty`, and what an admin sets up.
 *
 * @param admin from {@link addAdmin}
 */
export async function fillServer(program: Program, admin: LoggedIn): Promise<FilledServer> {
  const person = await addPerson(program, "ann");
  await fillAgents(program);
  await fillQuestions(program);
  await fillChannels(program, admin, person);
  const webhook = await fillSettings(program);
  const project = await fillProject(program, { admin: admin.name, person: person.name });
  return { admin, person, webhook, project };
}

/** Agents that work, are paused, are limited and are revoked, and one with a long name. */
async function fillAgents(program: Program): Promise<void> {
  for (const nick of ["scout", "builder", "paused", "revoked", `long-${"name-".repeat(10)}end`]) {
    await registerAgent(program, nick, { channels: ["general"] });
  }
  await order(program, "POST /v1/agents/paused/pause", { reason: "It repeats itself" });
  await order(program, "PATCH /v1/agents/builder", {
    rate_limit: { messages_per_second: 5, burst: 10 },
  });
  await order(program, "POST /v1/agents/revoked/revoke");
  await order(program, "PUT /v1/llm/budgets/agent.builder.day", { max_cost_micro_usd: 5_000_000 });
}

/** An open question with choices, and one that is answered. */
async function fillQuestions(program: Program): Promise<void> {
  await order(program, "POST /v1/questions", {
    text: "The tests are green. Shall I land it now?",
    choices: ["yes", "no"],
    default: "no",
    deadline: 86_400,
  });
  await order(program, "POST /v1/questions", { text: "Which color?" });
  await order(program, "POST /v1/questions/2/answer", { answer: "Blue" });
  await order(program, "POST /v1/questions", { text: "Which name?" });
}

const ENVELOPE = JSON.stringify({
  v: 1,
  type: "task.create",
  id: "01J0000000000000000000000A",
  from: "scout",
  to: ["builder"],
  payload: { title: "Skip empty lines" },
});

/** What is said in `#general`: by people and agents, with code, links and long texts. */
const TALK = [
  ["scout", "Good morning! See https://example.test/a?b=c#d and `deno task test`."],
  ["scout", ENVELOPE],
  ["builder", "```ts\nconst answer = 42;\n```"],
  ["builder", "ann: could you look at this?"],
  ["builder", "A long report. ".repeat(80)],
  ["scout", "\x02bold\x02, \x1ditalic\x1d and \x0304red\x03"],
] as const;

async function fillChannels(
  program: Program,
  admin: LoggedIn,
  person: LoggedIn,
): Promise<void> {
  for (const [nick, text] of TALK) {
    await order(program, "POST /v1/channels/general/messages", { nick, text });
  }
  await order(program, "POST /v1/channels/quiet/join");
  for (const one of [admin, person]) {
    await sendForm(program, one, "/channels/general", { action: "join" });
  }
  await sendForm(program, person, "/channels/general", { action: "say", text: "Good morning" });
  await sendForm(program, person, "/messages/scout", { action: "say", text: "How is it going?" });
  await sendForm(program, person, `/messages/${admin.name}`, { action: "say", text: "A question" });
  await order(program, "POST /v1/agents/scout/messages", { text: "Please hurry" });
}

/** What an admin sets up: tokens, bans, backends, policies, and a webhook, whose id it returns. */
async function fillSettings(program: Program): Promise<string> {
  for (const name of ["laptop", "ci"]) {
    await order(program, "POST /v1/tokens", { owner: "scout", name, scopes: ["read", "write"] });
  }
  await order(program, "POST /v1/irc/bans", { mask: "192.0.2.0/24", reason: "It floods" });
  await order(program, "POST /v1/llm/backends", {
    name: "main",
    provider: "openai",
    base_url: "http://127.0.0.1:9",
    api_key_env: "",
  });
  await order(program, "PUT /v1/settings/policies", {
    oracle: { enabled: true, backend: "main" },
    unknown: { enabled: false, words: ["one"] },
  });
  return await addWebhook(program, "/v1/webhooks");
}
