import { slotFull, type Slots } from "../../people/agents/mod.ts";
import {
  Halted,
  Invalid,
  NotFound,
  TooMany,
  UpstreamFailed,
  UpstreamRefused,
} from "../../kernel/errors.ts";
import { type Caller, type Principal, quotaFor } from "../../people/identity/mod.ts";
import type { FinishedCall, Ledger } from "../ledger/mod.ts";
import type { Scheduler } from "../../kernel/scheduler.ts";
import { suggest } from "../../kernel/suggest.ts";
import type { Backend, Backends } from "./backends.ts";
import { type BackendStats, Call, CallStats, type Outcome } from "./call.ts";
import { providerOf } from "./catalog.ts";
import {
  type Endpoint,
  endpointOf,
  type Environment,
  originsOf,
  Redactor,
  secretsOf,
} from "./credentials.ts";
import { Exchange, type ExchangeLimits } from "./exchange.ts";
import type { Format, ModelCall, ServerEvent } from "./formats/format.ts";
import type { TokenCount } from "./formats/messages.ts";
import { type FormatName, FORMATS } from "./formats/mod.ts";
import { isAllowed } from "./patterns.ts";
import type { ModelRequest } from "./schemas.ts";

/** What a model answered, in the format of the request. */
export type Completion =
  & {
    /** What the provider says in headers to clients of its own API. */
    readonly headers: Readonly<Record<string, string>>;
  }
  & (
    /** JSON. */
    | { readonly kind: "whole"; readonly text: string }
    | {
      readonly kind: "stream";
      /** Cancelling the stream ends the call. */
      readonly events: ReadableStream<ServerEvent>;
      /** Resolves when the call is over, however it ended. */
      readonly ended: Promise<void>;
    }
  );

/** What a request says beside its body. */
export interface Asking {
  /** What the call is for, as the caller names it; null for the ticket that it holds. */
  readonly ticket?: string | null;
  readonly format?: FormatName;
  /** The client's headers that are for the provider, by their names in small letters. */
  readonly headers?: ModelCall["headers"];
}

export interface GatewayLimits extends ExchangeLimits {
  /** For the list of a backend's models, as a whole. */
  readonly modelsMilliseconds: number;
  /** Most concurrent calls. */
  readonly calls: number;
}

/** A model that a request may name. */
export interface KnownModel {
  /** The names of the backend and of the model, with a slash between them. */
  readonly id: string;
  readonly backend: string;
}

export interface GatewayOptions {
  readonly backends: Backends;
  readonly environment: Environment;
  /** The variables that the operator allows for keys; none by default. */
  readonly keyVariables?: readonly string[];
  readonly limits: GatewayLimits;
  /** Admits calls, and keeps a row of each. */
  readonly ledger: Pick<Ledger, "workOf" | "admit" | "record">;
  /** How many concurrent calls each agent or admin may have. */
  readonly slots: Pick<Slots, "limitOf">;
  readonly scheduler: Scheduler;
  /** Which agents are halted: they get no answer of a model. */
  readonly halts: GatewayHalts;
}

/** Which agents are halted. */
export interface GatewayHalts {
  /** @throws Halted if the principal is a halted agent */
  requireGoing(principal: Principal): void;
  /** Why the account with this internal id is halted; null if it is not. */
  reasonById(id: string | null): string | null;
  onChanged(listener: () => void): () => void;
}

/** The target of a request. */
interface Route {
  readonly backend: Backend;
  /** The provider's name of the model; undefined for the provider's choice. */
  readonly model: string | undefined;
}

/** Sends chat completions to the backends, and lists their models. */
export class Gateway {
  readonly #options: GatewayOptions;
  readonly #stats = new CallStats();
  readonly #open = new Set<Call>();
  /** Who waits for a count of tokens, once for each. */
  readonly #counting = new Set<Caller>();
  readonly #closed = new AbortController();
  readonly #unlisten: () => void;

  constructor(options: GatewayOptions) {
    this.#options = options;
    this.#unlisten = options.halts.onChanged(() => this.#abortHalted());
  }

  /**
   * Lists a backend's models, and stores the list.
   *
   * @returns the allowed ones, in the provider's order
   * @throws NotFound, UpstreamFailed, TimedOut, Unavailable if the key is missing
   */
  async models(name: string, signal: AbortSignal): Promise<string[]> {
    const { backends } = this.#options;
    const backend = await backends.get(name);
    const models = await this.#listModels(backend, signal);
    await backends.keepModels(backend, models);
    return models;
  }

  /**
   * Requests an answer from a model.
   *
   * @param signal aborts when the caller no longer waits
   * @throws NotFound, Invalid, UpstreamRefused, UpstreamFailed, TimedOut, Unavailable;
   * UpstreamAnswered if the provider speaks the format of the request
   * @throws TooMany if as many calls as may are running, or a budget is used up
   * @throws Halted if the caller is a halted agent, or becomes one meanwhile
   */
  async complete(
    request: ModelRequest,
    caller: Caller,
    signal: AbortSignal,
    { ticket = null, format: name = "chat", headers = {} }: Asking = {},
  ): Promise<Completion> {
    const { halts, environment, keyVariables = [], limits, ledger } = this.#options;
    const format: Format = FORMATS[name];
    const { backend, model } = await this.#route(request, format, signal);
    halts.requireGoing(caller.principal);
    const endpoint = endpointOf(backend, environment, keyVariables);
    const work = await ledger.workOf(caller, ticket);
    halts.requireGoing(caller.principal);
    // From here to the call nothing waits, so that parallel requests cannot share one place.
    this.#assertRoom(caller);
    const admission = ledger.admit(caller, work, () => ({
      provider: backend.provider,
      model: model ?? null,
      ...format.forecast(request),
    }));
    const passesErrors = format.isOf(endpoint.provider);
    const exchange = this.#exchange(backend, endpoint, signal, limits, passesErrors);
    const streamed = request.stream === true;
    const call = new Call(exchange, {
      caller,
      backend,
      model,
      streamed,
      requestTokens: () => format.forecast(request).input,
      address: endpoint.baseUrl,
      admission,
      startedAt: this.#options.scheduler.now(),
    }, this.#finish);
    this.#open.add(call);
    const modelCall = { request: named(request, model), headers, endpoint, fetch: exchange.fetch };
    return await call.run(async () => {
      const api = await format.open(endpoint.provider);
      if (streamed) {
        const events = await call.begin(api.stream(modelCall));
        return { headers: exchange.headersForClients, kind: "stream", events, ended: call.over };
      }
      const text = await call.take(await api.complete(modelCall));
      return { headers: exchange.headersForClients, kind: "whole", text };
    });
  }

  /**
   * Counts the tokens of a request of Anthropic's Messages API: its provider does, else it is an
   * estimate. Nothing is charged for it.
   *
   * @param signal aborts when the caller no longer waits
   * @throws like {@linkcode complete}, but for budgets
   */
  async countTokens(
    request: ModelRequest,
    caller: Caller,
    signal: AbortSignal,
    headers: ModelCall["headers"],
  ): Promise<TokenCount> {
    const { halts, environment, keyVariables = [], limits } = this.#options;
    const { messages } = FORMATS;
    const { backend, model } = await this.#route(request, messages, signal);
    halts.requireGoing(caller.principal);
    const endpoint = endpointOf(backend, environment, keyVariables);
    if (!messages.isOf(endpoint.provider)) {
      return { input_tokens: messages.forecast(request).input };
    }
    this.#assertRoom(caller);
    const exchange = this.#exchange(backend, endpoint, signal, queryLimits(limits), true);
    const counting = { ...caller };
    this.#counting.add(counting);
    try {
      const { countTokens } = await import("./formats/messages.ts");
      const modelCall = { request: named(request, model), headers, endpoint };
      return await countTokens({ ...modelCall, fetch: exchange.fetch });
    } catch (error) {
      throw exchange.explain(error);
    } finally {
      this.#counting.delete(counting);
      exchange.close();
    }
  }

  /**
   * The allowed models of every backend, in the order of the backends. A backend that was not
   * queried yet is queried now; one that fails has none.
   *
   * @param signal aborts when the caller no longer waits
   */
  async allModels(signal: AbortSignal): Promise<KnownModel[]> {
    const backends = await this.#options.backends.list();
    const lists = await Promise.all(backends.map(async (backend) => {
      const models = backend.models.length > 0
        ? backend.models.filter((model) => allows(backend, model))
        : await this.models(backend.name, signal).catch(() => []);
      return models.map((model) => ({ id: `${backend.name}/${model}`, backend: backend.name }));
    }));
    return lists.flat();
  }

  /**
   * One of {@link allModels}, by its id, or by its bare name as in a request for a completion.
   *
   * @param signal aborts when the caller no longer waits
   * @throws NotFound
   */
  async model(name: string, signal: AbortSignal): Promise<KnownModel> {
    const models = await this.allModels(signal);
    const found = models.find(({ id }) => id === name) ??
      models.find(({ id, backend }) => id === `${backend}/${name}`);
    if (found === undefined) throw new NotFound(`There is no model "${name}"`);
    return found;
  }

  /** The statistics of the calls, by backend. */
  stats(): BackendStats[] {
    return this.#stats.read();
  }

  /** Forgets the statistics of a backend. */
  forget(backend: string): void {
    this.#stats.forget(backend);
  }

  /** The internal ids of the accounts whose calls are running; some more than once. */
  *callers(): Generator<string> {
    for (const { about: { caller } } of this.#open) {
      if (caller.principal.id !== null) yield caller.principal.id;
    }
  }

  /** Ends the calls that are running. */
  async close(): Promise<void> {
    const running = [...this.#open];
    this.#unlisten();
    this.#closed.abort();
    await Promise.all(running.map((call) => call.end("cancelled")));
  }

  /** Ends the running calls of halted agents. */
  #abortHalted(): void {
    for (const call of [...this.#open]) {
      const reason = this.#options.halts.reasonById(call.about.caller.principal.id);
      if (reason !== null) call.abort(new Halted(reason));
    }
  }

  /**
   * @throws TooMany if the caller, or all callers together, have the maximum number of running
   * calls
   */
  #assertRoom({ principal }: Caller): void {
    const { limits: { calls }, slots } = this.#options;
    const limit = slots.limitOf("calls", principal.id);
    const own = [...this.#open].filter(({ about }) => about.caller.principal.id === principal.id);
    const counting = [...this.#counting].filter((one) => one.principal.id === principal.id);
    if (principal.kind !== "operator" && own.length + counting.length >= limit) {
      const filling = own.map(({ about: { backend, model = "", startedAt } }) =>
        `${backend.name}/${model.slice(0, 64)} since ${new Date(startedAt).toISOString()}`
      );
      throw slotFull({ slot: "calls", limit, filling, advice: "wait until one of them ends" });
    }
    const room = quotaFor(principal, calls);
    if (this.#open.size + this.#counting.size >= room) {
      throw new TooMany(`The maximum number of model calls is already running (${room})`);
    }
  }

  async #listModels(backend: Backend, signal: AbortSignal): Promise<string[]> {
    const { limits, environment, keyVariables = [] } = this.#options;
    const endpoint = endpointOf(backend, environment, keyVariables);
    const exchange = this.#exchange(backend, endpoint, signal, queryLimits(limits));
    try {
      const { listModels } = await import("./models.ts");
      const listed = await listModels(endpoint, exchange.fetch);
      return listed.filter((model) => allows(backend, model));
    } catch (error) {
      const told = exchange.explain(error);
      // The caller chose nothing in this request, so a refusal is never the caller's fault.
      throw told instanceof UpstreamRefused ? new UpstreamFailed(told.message) : told;
    } finally {
      exchange.close();
    }
  }

  #exchange(
    backend: Backend,
    endpoint: Endpoint,
    signal: AbortSignal,
    limits: ExchangeLimits,
    passesErrors = false,
  ): Exchange {
    return new Exchange({
      backend: backend.name,
      origins: originsOf(endpoint),
      limits,
      passesErrors,
      redactor: new Redactor(secretsOf(endpoint.credentials)),
      scheduler: this.#options.scheduler,
      signal: AbortSignal.any([signal, this.#closed.signal]),
    });
  }

  /** The named backend, or the one that the model names, that lists the model, or the default. */
  async #route(request: ModelRequest, format: Format, signal: AbortSignal): Promise<Route> {
    const { backend: name, model } = request;
    const { backends } = this.#options;
    const chosen = name === undefined
      ? await this.#chosen(model, format, signal)
      : { backend: await backends.get(name), model };
    const { backend } = chosen;
    const route = { backend, model: listedName(chosen) };
    requireOthersAllowed(request, backend);
    if (route.model === undefined) {
      if (backend.allow.length + backend.block.length === 0) return route;
      throw new Invalid(`"model" is required: the LLM backend "${backend.name}" allows only some`);
    }
    if (!allows(backend, route.model)) {
      throw new Invalid(`"model": the LLM backend "${backend.name}" does not allow this one`);
    }
    return route;
  }

  /**
   * The backend for a model without the name of one beside it. A model with a slash whose first part
   * names no backend may be meant for a backend that does not exist. So it needs a backend that lists
   * it, unless the default's provider names models so and no backend has a similar name. The default
   * is the first backend that speaks the format of the request, else the first one.
   *
   * @throws NotFound
   */
  async #chosen(model: string | undefined, format: Format, signal: AbortSignal): Promise<Route> {
    const { backends } = this.#options;
    const all = await backends.list();
    const first = all.find(({ provider }) => format.isOf(providerOf(provider))) ?? all[0];
    if (first === undefined) throw new NotFound("There is no LLM backend yet");
    if (model === undefined) return { backend: first, model };
    const found = backendOf(all, model);
    if (found !== null) return found;
    const slash = model.indexOf("/");
    if (slash < 0) return { backend: first, model };
    const wanted = model.slice(0, slash);
    const meant = suggest(wanted, all.map(({ name }) => name));
    const { namesHaveSlashes } = providerOf(first.provider);
    if (namesHaveSlashes && meant === null) return { backend: first, model };
    // Backends that were never asked for their models are asked now.
    await this.allModels(signal);
    const listed = backendOf(await backends.list(), model);
    if (listed !== null) return listed;
    throw new NotFound(
      `There is no LLM backend "${wanted}", and no backend lists the model "${model}": ` +
        `write "${meant ?? first.name}/MODEL", or name the backend in "backend"`,
    );
  }

  readonly #finish = async (call: Call, outcome: Outcome): Promise<void> => {
    const { ledger, scheduler } = this.#options;
    const { caller, backend, admission } = call.about;
    const { told: { usage }, milliseconds } = call;
    this.#open.delete(call);
    this.#stats.add(backend.name, outcome, milliseconds / 1000, usage);
    await ledger.record(caller, admission, finishedCall(call, outcome, scheduler.now()));
  };
}

/** A call that is over, for the ledger. */
function finishedCall(call: Call, outcome: Outcome, endedAt: number): FinishedCall {
  const { about, told, error, milliseconds } = call;
  const { usage } = told;
  const isReported = usage.prompt !== null || usage.completion !== null;
  // Most providers bill no call that fails before its answer begins.
  const isFree = !isReported && outcome === "failed" && told.tokens === 0;
  return {
    backend: about.backend.name,
    provider: about.backend.provider,
    address: about.address,
    model: about.model ?? null,
    responseModel: told.model,
    isUsualTier: told.isUsualTier,
    streamed: about.streamed,
    outcome,
    error,
    tokens: {
      input: usage.prompt,
      output: usage.completion,
      cached: usage.cached,
      written: usage.written,
      writtenLong: usage.writtenLong,
    },
    guess: {
      input: isFree || usage.prompt !== null ? 0 : about.requestTokens(),
      output: isFree || usage.completion !== null ? 0 : told.tokens,
    },
    endedAt,
    milliseconds,
  };
}

/**
 * The model's name in its backend's list, so that the rules apply to the model that is called.
 * Gemini also accepts the path of a model.
 */
function listedName({ backend, model }: Route): string | undefined {
  const { api } = providerOf(backend.provider);
  return api === "gemini" ? model?.replace(/^(?:models\/)+/, "") : model;
}

function allows(backend: Backend, model: string): boolean {
  return isAllowed(model, backend, providerOf(backend.provider).api);
}

/**
 * Requires the same of the models that some providers (OpenRouter, LiteLLM) take in place of one
 * that fails.
 *
 * @throws Invalid
 */
function requireOthersAllowed(request: ModelRequest, backend: Backend): void {
  if (backend.allow.length + backend.block.length === 0) return;
  for (const field of ["models", "fallbacks"]) {
    for (const other of [request[field] ?? []].flat()) {
      if (typeof other === "string" && allows(backend, other)) continue;
      throw new Invalid(`"${field}": the LLM backend "${backend.name}" does not allow this one`);
    }
  }
}

/** The request as its provider gets it. */
function named({ backend: _, ...request }: ModelRequest, model: string | undefined) {
  return model === undefined ? request : { ...request, model };
}

/** The limits of an exchange that asks no model. */
function queryLimits({ modelsMilliseconds, answerBytes }: GatewayLimits): ExchangeLimits {
  return {
    firstByteMilliseconds: modelsMilliseconds,
    idleMilliseconds: modelsMilliseconds,
    totalMilliseconds: modelsMilliseconds,
    answerBytes,
  };
}

/** The backend that a model names, or that lists it; null if there is none. */
function backendOf(backends: readonly Backend[], model: string): Route | null {
  const slash = model.indexOf("/");
  const named = slash < 0 ? undefined : backends.find(({ name }) => name === model.slice(0, slash));
  if (named !== undefined) {
    return { backend: named, model: named.models.includes(model) ? model : model.slice(slash + 1) };
  }
  const holder = backends.find(({ models }) => models.includes(model));
  return holder === undefined ? null : { backend: holder, model };
}
