import { z } from "../extended_zod.ts";
import type { Services } from "../../services/operation/daemon/mod.ts";
import { bodyLimitsOf, BodyReader } from "../../http/mod.ts";
import { Invalid, NotFound, ServiceError } from "../../services/kernel/errors.ts";
import { partSumsSchema } from "../../services/cluster/moves/schemas.ts";
import { NOTES_TARGET } from "../../services/cluster/nodes/mod.ts";
import type { Project } from "../../services/work/projects/mod.ts";
import { sharedReadSchema } from "../../services/work/projects/schemas.ts";
import { statusOf } from "../middleware/errors.ts";
import { parseJson } from "../../services/kernel/validation/mod.ts";

const READ = /^\/internal\/reads\/([a-z0-9_-]+)$/;

/** `/internal/copies/SLUG` and what follows. */
const COPY = /^\/internal\/copies\/([a-z0-9_-]+)(?:\/([A-Za-z0-9]+))?$/;

/** Longest body that is read as a whole, in bytes. */
const MAX_BYTES = 8 * 1024 * 1024;

type InternalServices = Pick<Services, "config" | "hosting" | "nodeLinks" | "log">;

/** Answers what other nodes ask in their own name: the mark of such a request is its credential. */
export class InternalRequests {
  readonly #services: InternalServices;
  readonly #bodies: BodyReader;

  constructor(services: InternalServices) {
    this.#services = services;
    const { stallMilliseconds } = bodyLimitsOf(services.config);
    this.#bodies = new BodyReader({ maxBytes: MAX_BYTES, stallMilliseconds });
  }

  /**
   * Answers a request with a valid mark of the kind `internal`.
   *
   * @param from the name of the node
   */
  async answer(request: Request, from: string): Promise<Response> {
    const { nodeLinks } = this.#services;
    if (nodeLinks !== null && new URL(request.url).pathname === NOTES_TARGET) {
      return nodeLinks.notes.answer(from);
    }
    try {
      const answer = await this.#serve(request);
      return answer === undefined ? new Response(null, { status: 204 }) : Response.json(answer);
    } catch (error) {
      if (error instanceof ServiceError) {
        return Response.json({ error: error.message }, { status: statusOf(error) });
      }
      this.#services.log.error("A request of another node failed on a bug", { error });
      return Response.json({ error: "internal error" }, { status: 500 });
    }
  }

  /** @returns the JSON of the answer; undefined for none */
  async #serve(request: Request): Promise<unknown> {
    const { pathname, searchParams } = new URL(request.url);
    const { projects, reads } = this.#services.hosting;
    const [, asked = ""] = READ.exec(pathname) ?? [];
    if (asked !== "") {
      const { project } = projects.require(asked);
      return await reads.answer(project, await this.#read(request, sharedReadSchema));
    }
    const [, slug = "", part = ""] = COPY.exec(pathname) ?? [];
    if (slug === "") throw new NotFound(`There is no ${pathname} here`);
    const { project } = projects.require(slug);
    const offset = Number(searchParams.get("offset") ?? 0);
    await this.#copy(project, { part, offset }, request);
    return undefined;
  }

  async #copy(
    project: Project,
    { part, offset }: { readonly part: string; readonly offset: number },
    request: Request,
  ): Promise<void> {
    const { arrivingCopies: copies } = this.#services.hosting;
    switch (`${request.method} ${part}`) {
      case "POST ":
        return await copies.begin(project);
      case "DELETE ":
        return await copies.drop(project);
      case "POST verify":
        return await copies.verify(project);
      case "POST finish":
        return await copies.finish(project, await this.#read(request, partSumsSchema));
      default:
        return await copies.write(project, { name: part, offset }, request.body);
    }
  }

  /** @throws Invalid if the body is no JSON of the schema; what {@linkcode BodyReader.read} throws */
  async #read<Schema extends z.ZodType>(
    request: Request,
    schema: Schema,
  ): Promise<z.output<Schema>> {
    const parsed = schema.safeParse(jsonOf(await this.#bodies.read(request)));
    if (!parsed.success) throw new Invalid("The nodes run different versions of muster");
    return parsed.data;
  }
}

/** @throws Invalid */
function jsonOf(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    throw new Invalid("The body is not valid JSON");
  }
}
