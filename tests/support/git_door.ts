/** A project over HTTP, and the `git` program as its client. */
import { type Clone, GitClient } from "./git_client.ts";
import { type TestProject, withProject } from "./projects.ts";
import type { TestServicesOptions } from "./services.ts";

/** The project of a test, listening. */
export interface GitTest extends TestProject {
  /** `http://HOST:PORT`. */
  readonly origin: string;
  /** The URL for `git` without a credential. */
  readonly bareUrl: string;
  /** The same with a user and a token of the agent `caller`. */
  readonly url: string;
  /** The same for another agent: `caller`, `other` or `outsider`. */
  urlOf(who: "caller" | "other" | "outsider"): string;
  readonly client: GitClient;
  /** Every request that came, as a method, a path and a status. */
  readonly requests: readonly string[];
  /** Clones the project, checks the clone, and returns it. */
  clone(...options: readonly string[]): Promise<Clone>;
}

/** Runs a test on the new private project `demo`, which a server on a free port offers. */
export async function withGit(
  run: (test: GitTest) => Promise<void>,
  options?: TestServicesOptions,
): Promise<void> {
  await withProject(async (test) => {
    const { api } = test;
    const { clock } = api.services;
    clock.advance(Math.max(0, Date.now() - clock.now()));
    const requests: string[] = [];
    const server = Deno.serve(
      { port: 0, hostname: "127.0.0.1", onListen: () => {} },
      async (request) => {
        const response = await api.handle(request, { remoteAddress: "127.0.0.1" });
        const { pathname, search } = new URL(request.url);
        requests.push(`${request.method} ${pathname}${search} ${response.status}`);
        return response;
      },
    );
    const client = new GitClient();
    const host = `127.0.0.1:${server.addr.port}`;
    const place = "/projects/demo.git";
    const names = { caller: "caller", other: "other", outsider: "stranger-1" } as const;
    const urlOf = (who: keyof typeof names) =>
      `http://${names[who]}:${test[who].slice("Bearer ".length)}@${host}${place}`;
    const url = urlOf("caller");
    try {
      await run({
        ...test,
        origin: `http://${host}`,
        bareUrl: `http://${host}${place}`,
        url,
        urlOf,
        client,
        requests,
        clone: (...options) => client.clone(url, ...options),
      });
    } finally {
      client[Symbol.dispose]();
      await server.shutdown();
    }
  }, options);
}
