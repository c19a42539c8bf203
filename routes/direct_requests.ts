import type { z } from "@hono/zod-openapi";
import type { Hono } from "hono";
import type { ParamIndexMap, Params, Result } from "hono/router";
import { bodyLimitsOf, BodyReader, readAuthorization, TrustedProxies } from "../http/mod.ts";
import type { Services } from "../services/operation/daemon/mod.ts";
import {
  type Credential,
  type Gates,
  type Principal,
  requireServerCall,
} from "../services/people/identity/mod.ts";
import type { DirectRoute, RoutedHandler } from "./direct.ts";
import type { AppEnv } from "./environment.ts";
import { contextOf } from "./held_answers.ts";
import { parseJson } from "./middleware/body.ts";
import { Completion, type Framed } from "./middleware/completion.ts";
import { errorHandler, invalidRequest } from "./middleware/errors.ts";

/** A URL whose path is written as the router reads it, and that has no query. */
const USUAL = /^https?:\/\/[^/?#]+((?:\/[\w-]{1,80}){1,8})$/;

/** Most remembered URLs of each method. */
const MOST_URLS = 1000;

/** What stands before every route below `/v1/`: the frame, and one for the credential and the body. */
const COMMON_HANDLERS = 2;

/** A request that is answered without the app. */
interface Call extends Framed {
  principal: Principal;
  readonly address: string;
  readonly found: Found;
  readonly credential: Credential;
  /** The value of `Identity.endings` when the credential was valid. */
  readonly endings: number;
}

/** The route for a path, with the validated parameters of the path. */
interface Found {
  readonly route: DirectRoute;
  readonly params: unknown;
}

/**
 * Answers usual requests without the app: at rest, a message costs as much as the code that it
 * touches. A usual request has a token, no query, and a short body if its route takes one. Its route
 * says how it answers ({@link DirectRoute}), and all that the app does before that is done here too.
 * The app answers everything else, and would answer these requests in the same way.
 */
export class DirectRequests {
  readonly #router: Hono<AppEnv>["router"];
  /** By method and URL. Those of a URL that is there do not change. */
  readonly #known = new Map<string, Map<string, Found>>();
  /** The last one: to compare a text costs less than to look it up. */
  #last: { readonly method: string; readonly url: string; readonly found: Found } | null = null;
  readonly #identity: Services["identity"];
  readonly #gates: Gates;
  readonly #proxies: TrustedProxies;
  readonly #reader: BodyReader;
  readonly #completion: Completion;

  /** @param app finds the routes */
  constructor(app: Hono<AppEnv>, services: Services) {
    const { config, identity, agents, space, log } = services;
    this.#router = app.router;
    this.#identity = identity;
    this.#gates = { halts: agents.halts, space };
    this.#proxies = new TrustedProxies(config.trusted_proxies);
    this.#reader = new BodyReader(bodyLimitsOf(config));
    this.#completion = new Completion({ ...services, onError: errorHandler(log) });
  }

  /** Answers a usual request. Returns null for any other, of which it has read nothing. */
  answer(request: Request, bindings: AppEnv["Bindings"]): Response | Promise<Response> | null {
    const started = performance.now();
    const { mark = null, refusal = null } = bindings;
    const found = mark === null && refusal === null ? this.#find(request) : null;
    if (found === null) return null;
    const { headers } = request;
    const { route: { json, pattern } } = found;
    const length = headers.get("content-length");
    const fits = json === undefined ? length === null : this.#reader.isShort(Number(length));
    if (!fits) return null;
    const credential = readAuthorization(headers.get("authorization") ?? undefined);
    if (credential?.kind !== "bearer") return null;
    const principal = this.#identity.enter(credential.token);
    if (principal === null) return null;
    bindings.trust?.(principal);
    const call: Call = {
      request,
      env: bindings,
      started,
      requestId: crypto.randomUUID(),
      route: pattern,
      principal,
      address: this.#proxies.addressOf(bindings.remoteAddress, headers),
      found,
      credential,
      endings: this.#identity.endings,
    };
    return json === undefined ? this.#answer(call) : this.#answerBody(call);
  }

  #find({ method, url }: Request): Found | null {
    const last = this.#last;
    if (last?.url === url && last.method === method) return last.found;
    const found = this.#known.get(method)?.get(url) ?? this.#look(method, url);
    if (found !== null) this.#last = { method, url, found };
    return found;
  }

  /** Asks the app's router, and remembers what it finds. */
  #look(method: string, url: string): Found | null {
    const [, path] = USUAL.exec(url) ?? [];
    if (path === undefined) return null;
    const [handlers, values]: Result<[unknown, unknown]> = this.#router.match(method, path);
    const last = handlers[COMMON_HANDLERS];
    if (last === undefined || handlers.length > COMMON_HANDLERS + 1) return null;
    const [[handler], named] = last;
    const { route } = handler as RoutedHandler;
    if (route === undefined) return null;
    const params = route.params?.safeParse(valuesOf(named, values));
    if (params?.success === false) return null;
    const known = this.#known.get(method) ?? new Map<string, Found>();
    this.#known.set(method, known);
    if (known.size >= MOST_URLS) known.clear();
    const found = { route, params: params?.data };
    known.set(url, found);
    return found;
  }

  /** Answers a request without a body. */
  #answer(call: Call): Response | Promise<Response> {
    try {
      const answered = this.#answerTo(call, undefined);
      if (answered instanceof Response) return this.#completion.complete(answered, call);
      return answered.then(
        (response) => this.#completion.complete(response, call),
        (error) => this.#completion.fail(error, call),
      );
    } catch (error) {
      return this.#completion.fail(error as Error, call);
    }
  }

  async #answerBody(call: Call): Promise<Response> {
    try {
      const text = await this.#reader.readShortText(call.request);
      const { credential, endings, address } = call;
      if (this.#identity.endings !== endings) {
        call.principal = await this.#identity.authenticate(credential, address);
      }
      return this.#completion.complete(await this.#answerTo(call, text), call);
    } catch (error) {
      return this.#completion.fail(error as Error, call);
    }
  }

  /** @param text the body; undefined if the route takes none */
  #answerTo(call: Call, text: string | undefined): Response | Promise<Response> {
    const { request, principal, address, requestId, found } = call;
    const { params, route: { access, noQuery: query, json: schema, answer } } = found;
    requireServerCall(request.method, access, principal, this.#gates);
    const caller = { principal, address, requestId };
    if (text === undefined) return answer({ params, query, json: undefined }, caller);
    const json = schema?.safeParse(parseJson(text));
    if (json?.success === false) return refuse(json.error, call);
    return answer({ params, query, json: json?.data }, caller);
  }
}

/** The values of a path's parameters, of which the router may give the places in a list. */
function valuesOf(
  params: Params | ParamIndexMap,
  values: readonly string[] | undefined,
): Readonly<Record<string, string>> {
  if (values === undefined) return params as Params;
  const named: Record<string, string> = {};
  for (const name in params) named[name] = values[params[name] as number] ?? "";
  return named;
}

/** Refuses a body as the app does. */
function refuse(error: z.core.$ZodError, call: Call): Response {
  const refusal = invalidRequest({ target: "json", success: false, error }, contextOf(call));
  if (refusal === undefined) throw new Error("A refused body has no issue");
  return refusal;
}
