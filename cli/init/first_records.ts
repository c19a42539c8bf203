import { createApi } from "../../routes/app.ts";
import type { Config } from "../../services/config/mod.ts";
import { startDaemon } from "../../services/daemon/mod.ts";
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

const registrationSchema = z.object({ credentials: z.object({ passphrase: z.string() }) });

/**
 * Makes the first admin, project and agent in the data folder. The services run meanwhile, and
 * listen nowhere. What exists already stays as it is.
 *
 * @returns what was made, with its secrets, as names and values
 * @throws CommandFailed if the services cannot start, or refuse something
 */
export async function makeFirst(
  config: Config,
  { admin, project, agent }: First,
): Promise<(readonly [name: string, value: string])[]> {
  restrictNewFiles();
  silenceDeprecations();
  const log = new Logging({ ...config.log, level: "error" });
  const daemon = await startDaemon({ config, log, certificate: null, pinnedToken: null })
    .catch((error) => {
      throw explainStart(error);
    });
  try {
    const server = new Server(
      createApi(daemon.services).app.fetch,
      await readToken(config.data_dir),
    );
    const made: (readonly [string, string])[] = [];
    if (await server.make("POST", "/v1/admins", admin) !== null) {
      made.push(["admin", admin.username], ["password", admin.password]);
    }
    if (project !== null && await server.make("POST", "/v1/projects", { slug: project }) !== null) {
      made.push(["project", project]);
    }
    if (agent !== null) {
      const body = { nick: agent, channels: ["general"] };
      const registered = await server.make("POST", "/v1/agents/register", body);
      if (registered !== null) {
        const { credentials } = registrationSchema.parse(registered);
        made.push(["agent", agent], ["passphrase", credentials.passphrase]);
      }
      if (project !== null) {
        const path = `/v1/projects/${project}/members/${agent}`;
        await server.make("PUT", path, { role: "write" });
      }
    }
    return made;
  } finally {
    await daemon.quiesce();
    await daemon.stop();
    await log.flush();
  }
}

type Fetch = ReturnType<typeof createApi>["app"]["fetch"];

/** The API of this process, for its operator. */
class Server {
  readonly #fetch: Fetch;
  readonly #token: string;

  constructor(fetch: Fetch, token: string) {
    this.#fetch = fetch;
    this.#token = token;
  }

  /**
   * Makes something.
   *
   * @returns the answer; null if it exists already
   * @throws CommandFailed if the API refuses it
   */
  async make(method: string, path: string, body: unknown): Promise<unknown> {
    const request = new Request(`http://127.0.0.1${path}`, {
      method,
      headers: { authorization: `Bearer ${this.#token}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    const response = await this.#fetch(request, { remoteAddress: "127.0.0.1", trust: () => {} });
    const text = await response.text();
    if (response.status === 409) return null;
    const answer: unknown = text === "" ? {} : JSON.parse(text);
    if (response.ok) return answer;
    const refusal = z.object({ error: z.string() }).safeParse(answer);
    throw new CommandFailed(refusal.data?.error ?? `${method} ${path} was refused`);
  }
}
