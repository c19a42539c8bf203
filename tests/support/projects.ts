/** A project with its repository, its API, and two agents who may write. */
import type { Project } from "../../services/work/projects/mod.ts";
import type { TokenRequest } from "../../services/people/identity/mod.ts";
import { type TestApi, withApi } from "./scenarios.ts";
import { anAgent, BY_OPERATOR, type TestServicesOptions } from "./services.ts";

/** A request to the repository API. */
export interface ProjectRequest {
  /** The value of `Authorization`; by default the operator's token, none if null. */
  readonly as?: string | null;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The project of a test. */
export interface TestProject {
  readonly api: TestApi;
  readonly project: Project;
  /** The base of its API: `/projects/demo/fossil`. */
  readonly base: string;
  /** `Authorization` of the agents `caller` and `other`, members with the role `write`. */
  readonly caller: string;
  readonly other: string;
  /** `Authorization` of the agent `stranger-1`, who is no member. */
  readonly outsider: string;
  /** Sends a request such as `GET /api/timeline`. */
  send(request: string, options?: ProjectRequest): Promise<Response>;
  /** Sends a request that must succeed; returns its JSON, unchecked as `JSON.parse` gives it. */
  answer(request: string, options?: ProjectRequest): Promise<ReturnType<typeof JSON.parse>>;
  /** Settles unfinished writes, and appends the events of what other programs wrote. */
  catchUp(): Promise<void>;
}

/** Runs a test on a new private project, `demo`. */
export async function withProject(
  run: (test: TestProject) => Promise<void>,
  options?: TestServicesOptions,
): Promise<void> {
  await withApi(async (api) => {
    const { services } = api;
    const { projects, repositories } = services.hosting;
    const { project } = await projects.create({
      slug: "demo",
      name: "Demo",
      description: "A project",
      visibility: "private",
    }, BY_OPERATOR);
    const token = async (owner: string, scopes: TokenRequest["scopes"] = ["read", "write"]) => {
      const request = { owner, name: "test", scopes, project: null, expires_at: null };
      return `Bearer ${(await services.tokens.create(request, BY_OPERATOR)).token}`;
    };
    for (const nick of ["other", "stranger-1"]) await anAgent(services, nick);
    for (const nick of ["caller", "other"]) {
      await projects.setMember("demo", nick, "write", BY_OPERATOR);
    }
    const base = "/projects/demo/fossil";
    const send: TestProject["send"] = (request, options = {}) =>
      sendTo(api, base, request, options);
    await run({
      api,
      project,
      base,
      send,
      caller: await token("caller"),
      other: await token("other"),
      outsider: await token("stranger-1"),
      answer: async (request, options) => {
        const response = await send(request, options);
        const text = await response.text();
        if (!response.ok) throw new Error(`${request}: ${response.status} ${text}`);
        return text === "" ? null : JSON.parse(text);
      },
      catchUp: () => repositories.catchUp(project),
    });
  }, options);
}

function sendTo(
  api: TestApi,
  base: string,
  request: string,
  { as, body, headers = {} }: ProjectRequest,
): Promise<Response> {
  const [method, path] = request.split(" ");
  return api.send({
    who: as === undefined ? "operator" : "guest",
    request: `${method} ${base}${path}`,
    headers: typeof as === "string" ? { ...headers, authorization: as } : headers,
    ...(body === undefined ? {} : { body }),
  });
}

/** Commits files of any names to trunk; returns the check-in. */
export async function commitFiles(
  { api, project }: Pick<TestProject, "api" | "project">,
  files: Readonly<Record<string, string | Uint8Array>>,
): Promise<string> {
  return await api.services.hosting.repositories.write(project, {
    caller: BY_OPERATOR,
    write: async (repository, stamp) => {
      const { uuid: parent } = await repository.resolveCheckin("trunk");
      return await repository.commit({
        ...stamp,
        parent,
        comment: "Files",
        anyNames: true,
        changes: Object.entries(files).map(([path, content]) => ({
          kind: "write",
          path,
          content: typeof content === "string" ? new TextEncoder().encode(content) : content,
        })),
      });
    },
  });
}

/** Makes a token for the project `demo`; gives its value for `Authorization`, and its id. */
export async function projectToken(api: TestApi, ...scopes: string[]): Promise<[string, string]> {
  const request = { project: "demo", name: "ci", scopes };
  const { token, id } = await api.answer("POST /v1/tokens", request) as Record<string, string>;
  return [`Bearer ${token}`, id ?? ""];
}
