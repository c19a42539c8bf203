/** A project over HTTP, and the `fossil` program as its client. */
import assert from "node:assert/strict";
import { difference, dumpTables } from "../services/engines/fossil/support/tables.ts";
import type { Run } from "../services/engines/fossil/support/fossil.ts";
import type { ServiceError } from "../../services/kernel/errors.ts";
import { type TestProject, withProject } from "./projects.ts";
import type { TestServicesOptions } from "./services.ts";

/** The project of a test, listening. */
export interface SyncTest extends TestProject {
  /** `http://HOST:PORT`. */
  readonly origin: string;
  /** The URL of the project with a user and a token of the agent `caller`. */
  readonly url: string;
  /** The same for the agent `other`. */
  readonly otherUrl: string;
  /** A folder for the client, which goes away with the test. */
  readonly client: FossilClient;
  /** Path of the server's repository file. */
  readonly file: string;
  /** Refuses every request from now on, as a node does that has lost touch; null ends that. */
  refuse(refusal: ServiceError | null): void;
  /** Checks that a repository is sound: its content, and its tables against a rebuild. */
  assertSound(path?: string): Promise<void>;
}

/**
 * Runs a test on the new private project `demo`, which a server on a free port offers.
 *
 * @param program the `fossil` to run: a name or a path.
 */
export async function withSync(
  program: string,
  run: (test: SyncTest) => Promise<void>,
  options?: TestServicesOptions,
): Promise<void> {
  await withProject(async (test) => {
    const { api, project, base } = test;
    // Programs compare the server's clock with their own, and commit nothing when they differ by 10 s.
    const { clock } = api.services;
    const catchUp = () => clock.advance(Math.max(0, Date.now() - clock.now()));
    catchUp();
    let refusal: ServiceError | null = null;
    const server = Deno.serve(
      { port: 0, hostname: "127.0.0.1", onListen: () => {} },
      (request) => {
        catchUp();
        return api.handle(request, { remoteAddress: "127.0.0.1", refusal });
      },
    );
    const client = new FossilClient(program);
    const origin = `http://127.0.0.1:${server.addr.port}`;
    const file = api.services.hosting.repositories.files.pathOf(project);
    const urlFor = (user: string, bearer: string) =>
      `http://${user}:${bearer.slice("Bearer ".length)}@127.0.0.1:${server.addr.port}${base}`;
    try {
      await run({
        ...test,
        origin,
        url: urlFor("caller", test.caller),
        otherUrl: urlFor("other", test.other),
        client,
        file,
        refuse: (error) => void (refusal = error),
        assertSound: (path = file) => assertSound(client, path),
      });
    } finally {
      client[Symbol.dispose]();
      await server.shutdown();
    }
  }, options);
}

/** The `fossil` program in a folder and a home of its own. */
export class FossilClient implements Disposable {
  readonly folder = Deno.makeTempDirSync({ prefix: "muster-client-" });
  readonly #program: string;
  readonly #user: string;

  /** @param user the account that runs the program; in a clone, the URL's user counts */
  constructor(program: string, user = "caller") {
    this.#program = program;
    this.#user = user;
  }

  path(name: string): string {
    return `${this.folder}/${name}`;
  }

  /** Writes a file, and makes its folder. */
  write(name: string, content: string | Uint8Array): string {
    const path = this.path(name);
    Deno.mkdirSync(path.slice(0, path.lastIndexOf("/")), { recursive: true });
    Deno.writeFileSync(
      path,
      typeof content === "string" ? new TextEncoder().encode(content) : content,
    );
    return path;
  }

  /** Runs `fossil`; a failure is a value. */
  async run(args: readonly string[], folder = this.folder): Promise<Run> {
    const output = await new Deno.Command(this.#program, {
      args: [...args],
      cwd: folder,
      stdin: "null",
      clearEnv: true,
      env: {
        HOME: this.folder,
        PATH: Deno.env.get("PATH") ?? "",
        USER: this.#user,
        LC_ALL: "C.UTF-8",
      },
    }).output();
    const decoder = new TextDecoder();
    const [stdout, stderr] = [decoder.decode(output.stdout), decoder.decode(output.stderr)];
    return { code: output.code, stdout, stderr };
  }

  /** Runs `fossil` and gives everything that it prints; a failure is an error. */
  async fossil(args: readonly string[], folder?: string): Promise<string> {
    const { code, stdout, stderr } = await this.run(args, folder);
    if (code !== 0) throw new Error(`fossil ${args.join(" ")}: ${code}\n${stdout}${stderr}`);
    return stdout + stderr;
  }

  /** Clones a URL and opens a checkout; returns its folder. */
  async checkout(url: string, name = "work"): Promise<string> {
    await this.fossil(["clone", url, `${name}.fossil`, "--save-http-password"]);
    const folder = this.path(name);
    Deno.mkdirSync(folder);
    await this.fossil(["open", `../${name}.fossil`], folder);
    // A test writes a file twice within one tick of its clock, sometimes of the same length.
    await this.fossil(["settings", "mtime-changes", "off"], folder);
    return folder;
  }

  [Symbol.dispose](): void {
    Deno.removeSync(this.folder, { recursive: true });
  }
}

async function assertSound(client: FossilClient, path: string): Promise<void> {
  const copy = `${client.folder}/copy-${crypto.randomUUID()}.fossil`;
  await client.fossil(["sql", "-R", path, `VACUUM INTO '${copy}'`]);
  assert.match(await client.fossil(["test-integrity", "--parse", "-R", copy]), / 0 errors/);
  const before = dumpTables(copy);
  await client.fossil(["rebuild", copy]);
  assert.deepEqual(difference(before, dumpTables(copy)), []);
}
