import type { ParamIndexMap, Params, Result } from "hono/router";
import { getPathNoStrict, tryDecodeURIComponent } from "hono/utils/url";
import { type BodyReader, hasBody, Waits } from "../http/mod.ts";
import { EarlyEnd } from "../services/kernel/early_end.ts";
import type { Services } from "../services/operation/daemon/mod.ts";
import {
  type Gates,
  type Principal,
  requireServerCall,
  type ServerAccess,
} from "../services/people/identity/mod.ts";
import { serverAccessOf } from "./access.ts";
import type { AppEnv, Proof } from "./environment.ts";
import { patternOf } from "./file_routes.ts";
import type { Framed, Framing } from "./framing.ts";
import {
  credentialOf,
  type CredentialSource,
  lacking,
  principalAgain,
  principalOf,
} from "./middleware/authenticate.ts";
import { METHODS, type RoutePlace } from "./middleware/methods.ts";
import { OPERATION_ROUTES } from "./operation_table.ts";
import type { ServerRoute } from "./operations.ts";
import { bySpecificity } from "./path_patterns.ts";
import { RememberingRouter } from "./remembering_router.ts";
import { type Endpoint, ROUTES, type Trait } from "./table.ts";

/** What the paths of all operations begin with. */
const BASE = "/v1/";

/** Most remembered URLs of each method, and the longest one. */
const MOST_URLS = 1000;
const LONGEST_URL = 400;

const SOURCES: ReadonlySet<CredentialSource> = new Set<CredentialSource>(["bearer", "basic"]);

/** The routes of a room, by their names. */
export type LoadRoom = () => Promise<ReadonlyMap<string, ServerRoute>>;

/** An operation as the table lists it, which the first request for it loads. */
interface Listed {
  /** As the table writes it, such as `/v1/agents/{nick}`. */
  readonly path: string;
  readonly access: ServerAccess;
  readonly load: () => Promise<ServerRoute>;
  route: ServerRoute | null;
}

/** The operation that a URL names. */
interface Found {
  readonly listed: Listed;
  /** The parameters of the path, decoded. */
  readonly values: Readonly<Record<string, string>>;
  /** The same, validated; undefined until they are. */
  params: unknown;
}

/** A request for an operation, of a caller whose credential was valid. */
interface Call extends Proof {
  readonly framed: Framed;
  readonly found: Found;
  principal: Principal;
}

export interface OperationRequestsOptions {
  readonly services: Services;
  readonly framing: Framing;
  readonly bodies: BodyReader;
  /** Loads the routes of each room; without the rooms that the configuration switches off. */
  readonly rooms: ReadonlyMap<string, LoadRoom>;
}

/**
 * Answers every request for an operation on the server. Its steps are those of the app's middleware,
 * as plain calls: a middleware costs microseconds, and a request that waits for a minute keeps what
 * its answer needs, and no more.
 */
export class OperationRequests {
  readonly #services: Services;
  readonly #identity: Services["identity"];
  readonly #framing: Framing;
  readonly #bodies: BodyReader;
  readonly #gates: Gates;
  readonly #waits = new Waits();
  /** Null for a path below the same base that has no operation. */
  readonly #router = new RememberingRouter<Listed | null>();
  /** By method and URL. What a URL names does not change. */
  readonly #known = new Map<string, Map<string, Found>>();
  /** The last one: to compare a text costs less than to look it up. */
  #last: { readonly method: string; readonly url: string; readonly found: Found } | null = null;

  constructor(options: OperationRequestsOptions) {
    const { services, framing, bodies, rooms } = options;
    const { identity, agents: { halts }, space } = services;
    this.#services = services;
    this.#identity = identity;
    this.#framing = framing;
    this.#bodies = bodies;
    this.#gates = { halts, space };
    identity.onEnded((ended) => this.#waits.abortEnded(ended));
    for (const [method, pattern, listed] of rowsOf(rooms)) {
      this.#router.add(method, pattern, listed);
    }
  }

  /** Answers a request for an operation; null for any other request, of which it has read nothing. */
  answer(request: Request, env: AppEnv["Bindings"]): Response | Promise<Response> | null {
    const found = this.#find(request);
    if (found === null) return null;
    const framed = this.#framing.begin(request, env);
    framed.route = found.listed.path;
    try {
      const answered = this.#enter(framed, found);
      return answered instanceof Response
        ? this.#complete(answered, framed)
        : this.#completeLater(answered, framed);
    } catch (error) {
      return this.#fail(error, framed);
    }
  }

  /** Finds the operations of a path, of every method. */
  routesAt(path: string): readonly RoutePlace[] {
    return METHODS.flatMap((method) => {
      const [matches]: Result<Listed | null> = this.#router.match(method, path);
      return matches.flatMap(([listed]) =>
        listed === null ? [] : [{ method, path: patternOf(listed.path) }]
      );
    });
  }

  #find(request: Request): Found | null {
    const { method, url } = request;
    const last = this.#last;
    if (last?.url === url && last.method === method) return last.found;
    const found = this.#known.get(method)?.get(url);
    if (found === undefined) return this.#look(request);
    this.#last = { method, url, found };
    return found;
  }

  /** Asks the router, and remembers what it finds. */
  #look(request: Request): Found | null {
    const { method, url } = request;
    const path = getPathNoStrict(request);
    if (!path.startsWith(BASE)) return null;
    const asked = method === "HEAD" ? "GET" : method;
    const [[first], values]: Result<Listed | null> = this.#router.match(asked, path);
    const [listed = null, named = {}] = first ?? [];
    if (listed === null) return null;
    const found = { listed, values: decoded(named, values), params: undefined };
    if (url.length > LONGEST_URL || url.includes("?")) return found;
    const known = this.#known.get(method) ?? new Map<string, Found>();
    this.#known.set(method, known);
    if (known.size >= MOST_URLS) known.clear();
    known.set(url, found);
    return found;
  }

  /** Finds who calls. */
  #enter(framed: Framed, found: Found): Response | Promise<Response> {
    this.#framing.requireAcceptable(framed, () => false);
    const credential = credentialOf(framed.request, SOURCES);
    if (credential === null) throw lacking(SOURCES);
    const { endings } = this.#identity;
    const enter = (principal: Principal) => {
      framed.principal = principal;
      framed.env.trust?.(principal);
      return this.#read({ framed, found, credential, endings, principal });
    };
    const entered = principalOf(this.#identity, credential, framed.address);
    return entered instanceof Promise ? entered.then(enter) : enter(entered);
  }

  #read(call: Call): Response | Promise<Response> {
    const { request } = call.framed;
    if (!hasBody(request)) return this.#perform(call, undefined);
    return this.#bodies.read(request).then(async (text) => {
      // The client may have held it back until its credential had ended.
      await this.#prove(call);
      return await this.#perform(call, text);
    });
  }

  #perform(call: Call, body: string | undefined): Response | Promise<Response> {
    this.#require(call);
    const { listed } = call.found;
    if (listed.route !== null) return this.#run(call, listed.route, body);
    return listed.load().then((route) => {
      listed.route = route;
      return this.#run(call, route, body);
    });
  }

  /** Validates the request in the order of its parts, and calls the operation. */
  #run(call: Call, route: ServerRoute, body: string | undefined): Response | Promise<Response> {
    const { framed: { request, address, requestId }, found, principal } = call;
    const { method, url, headers } = request;
    const { schemas, waits } = route;
    const query = schemas.query(url);
    found.params ??= schemas.params((name) => found.values[name]);
    const parts = { params: found.params, query, json: schemas.json(body, headers) };
    const isPeek = method === "HEAD";
    const caller = { principal, address, requestId };
    if (waits === "always" || (waits === "if asked" && url.includes("?"))) {
      // A client may leave while it waits.
      return this.#waits.run(
        principal,
        request.signal,
        async (end) => await route.perform(this.#services, parts, { caller, end, isPeek }),
      );
    }
    const confirm = () => this.#confirm(call);
    const end = new EarlyEnd();
    return route.perform(this.#services, parts, { caller: { ...caller, confirm }, end, isPeek });
  }

  /** Makes the checks of a request once more after a wait. */
  async #confirm(call: Call): Promise<void> {
    await this.#prove(call);
    this.#require(call);
  }

  /** @throws Unauthorized if the credential has ended */
  async #prove(call: Call): Promise<void> {
    const again = principalAgain(this.#identity, call, call.framed.address);
    if (again === null) return;
    call.principal = await again;
    call.framed.principal = call.principal;
  }

  /** @throws Forbidden; Halted; Unavailable if the disk is nearly full */
  #require({ framed: { request }, found: { listed }, principal }: Call): void {
    requireServerCall(request.method, listed.access, principal, this.#gates);
  }

  #completeLater(answered: Promise<Response>, framed: Framed): Promise<Response> {
    return answered.then(
      (response) => this.#complete(response, framed),
      (error) => this.#fail(error, framed),
    );
  }

  #fail(error: unknown, framed: Framed): Response {
    return this.#complete(this.#framing.refuse(error as Error, framed), framed);
  }

  #complete(response: Response, framed: Framed): Response {
    const completed = this.#framing.complete(response, framed);
    return framed.request.method === "HEAD" ? new Response(null, completed) : completed;
  }
}

/** A row of the router: a method, a pattern as it writes them, and the operation, if it is one. */
type Row = readonly [method: string, pattern: string, listed: Listed | null];

/**
 * Every path below the base, with every method: a name in a path hides a parameter
 * there, also where it lacks the method. The first row that matches counts.
 */
function rowsOf(rooms: ReadonlyMap<string, LoadRoom>): readonly Row[] {
  const table: ReadonlyMap<string, readonly [group: string, opens: string, trait?: Trait]> =
    new Map(Object.entries(ROUTES));
  const paths = new Set(Array.from(table.keys(), pathOf).filter((path) => path.startsWith(BASE)));
  return [...paths].sort(bySpecificity).flatMap((path) =>
    METHODS.flatMap((method) => {
      const name = `${method} ${path}`;
      const [room = "", , trait] = table.get(name) ?? [];
      const load = name in OPERATION_ROUTES ? rooms.get(room) : undefined;
      const listed = load === undefined ? null : listedAs(name as Endpoint, load);
      const pattern = patternOf(path);
      const patterns = trait === "slashes" ? [pattern, `${pattern}{[\\s\\S]+}`] : [pattern];
      return patterns.map((pattern): Row => [method, pattern, listed]);
    })
  );
}

function listedAs(name: Endpoint, loadRoom: LoadRoom): Listed {
  const access = serverAccessOf(name);
  if (access === null) throw new Error(`${name} acts on nothing`);
  const load = async () => {
    const route = (await loadRoom()).get(name);
    if (route === undefined) throw new Error(`No operation answers ${name}`);
    return route;
  };
  return { path: pathOf(name), access, load, route: null };
}

function pathOf(name: string): string {
  return name.slice(name.indexOf(" ") + 1);
}

/** The values of a path's parameters, whose places the router gives, or the values themselves. */
function decoded(
  named: ParamIndexMap | Params,
  values: readonly string[] | undefined,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(named).map(([name, place]) => {
      const value = typeof place === "number" ? values?.[place] ?? "" : place;
      return [name, value.includes("%") ? tryDecodeURIComponent(value) : value];
    }),
  );
}
