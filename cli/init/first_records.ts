import { createApi } from "../../routes/app.ts";
import type { Config } from "../../services/operation/config/mod.ts";
import { startDaemon } from "../../services/operation/daemon/mod.ts";
import { foldCase } from "../../services/engines/irc/mod.ts";
import { z } from "zod";
import { readToken } from "../client.ts";
import { Logging } from "../logging.ts";
import { CommandFailed } from "../output.ts";
import { restrictNewFiles, silenceDeprecations } from "../platform.ts";
import { explainStart } from "../start_errors.ts";

/** What a new server begins with. */
export interface First {
  readonly admin: { readonly username: string; readonly password: string };
  /** The slug of a project, or null. */
  readonly project: string | null;
  /** The nick of an agent, or null. */
  readonly agent: string | null;
}

/** The name and the value of something that was made. */
export type Made = readonly [name: string, value: string];

const registrationSchema = z.object({ credentials: z.object({ passphrase: z.string() }) });

/**
 * Makes the first admin, project and agent in the data folder. The services run meanwhile, and
 * listen nowhere. What exists already stays as it is.
 *
 * @param onMade called with what was made or was there, and with its secrets
 * @throws CommandFailed if the services cannot start, or refuse something
 */
export async function makeFirst(
  config: Config,
  first: First,
  onMade: (...made: Made) => void,
): Promise<void> {
  restrictNewFiles();
  silenceDeprecations();
  const log = new Logging({ ...config.log, level: "error" });
  const daemon = await startDaemon({ config, log, certificate: null, pinnedToken: null })
    .catch((error) => {
      throw explainStart(error, config);
    });
  try {
    const { fetch } = createApi(daemon.services);
    await makeRecords(new Server(fetch, await readToken(config.data_dir)), first, onMade);
  } finally {
    await daemon.quiesce();
    await daemon.stop();
    await log.flush();
  }
}

async function makeRecords(
  server: Server,
  { admin, project, agent }: First,
  onMade: (...made: Made) => void,
): Promise<void> {
  const { username, password } = admin;
  if (await server.has("/v1/admins", "username", username)) {
    onMade("admin", `${username} (was there; "muster admin passwd ${username}" sets a password)`);
  } else {
    await server.make("POST", "/v1/admins", admin);
    onMade("admin", username);
    onMade("password", password);
  }
  if (project !== null) {
    const isThere = await server.has("/v1/projects", "slug", project);
    if (!isThere) await server.make("POST", "/v1/projects", { slug: project });
    // Without a role, not even an admin sees a private project on the web pages.
    if (!await server.has(`/v1/projects/${project}/members`, "name", username)) {
      await server.make("PUT", `/v1/projects/${project}/members/${username}`, { role: "admin" });
    }
    onMade("project", isThere ? `${project} (was there)` : project);
  }
  if (agent === null) return;
  if (await server.has("/v1/agents", "nick", agent)) {
    onMade("agent", `${agent} (was there; "muster agent rotate ${agent}" makes a passphrase)`);
  } else {
    const body = { nick: agent, channels: ["general"] };
    const registered = await server.make("POST", "/v1/agents/register", body);
    onMade("agent", agent);
    onMade("passphrase", registrationSchema.parse(registered).credentials.passphrase);
  }
  if (project === null) return;
  await server.make("PUT", `/v1/projects/${project}/members/${agent}`, { role: "write" });
}

type Fetch = ReturnType<typeof createApi>["fetch"];

/** The API of this process, for its operator. */
class Server {
  readonly #fetch: Fetch;
  readonly #token: string;

  constructor(fetch: Fetch, token: string) {
    this.#fetch = fetch;
    this.#token = token;
  }

  /** Whether a list has an entry whose field is this name, without regard to case. */
  async has(path: string, field: string, name: string): Promise<boolean> {
    const entries = z.array(z.record(z.string(), z.unknown()))
      .parse(await this.#call("GET", path, undefined));
    return entries.some((entry) => foldCase(String(entry[field])) === foldCase(name));
  }

  /**
   * Makes something.
   *
   * @returns the answer
   * @throws CommandFailed if the API refuses it
   */
  async make(method: "POST" | "PUT", path: string, body: unknown): Promise<unknown> {
    return await this.#call(method, path, JSON.stringify(body));
  }

  async #call(method: string, path: string, body: string | undefined): Promise<unknown> {
    const request = new Request(`http://127.0.0.1${path}`, {
      method,
      headers: { authorization: `Bearer ${this.#token}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body }),
    });
    const response = await this.#fetch(request, { remoteAddress: "127.0.0.1", trust: () => {} });
    const text = await response.text();
    const answer: unknown = text === "" ? {} : JSON.parse(text);
    if (response.ok) return answer;
    const refusal = z.object({ error: z.string() }).safeParse(answer);
    throw new CommandFailed(refusal.data?.error ?? `${method} ${path} was refused`);
  }
}
