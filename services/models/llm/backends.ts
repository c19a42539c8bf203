import type { Selectable } from "kysely";
import {
  type Database,
  Duplicate,
  statement,
  type Tables,
  Unchanged,
} from "../../engines/database/mod.ts";
import { Conflict, Invalid, NotFound, TooMany } from "../../kernel/errors.ts";
import { newEvent } from "../../engines/events/mod.ts";
import { type Caller, originOf } from "../../people/identity/mod.ts";
import {
  definitionProblem,
  keyVariableProblem,
  KNOWN_PROVIDERS,
  type ProviderApi,
} from "./catalog.ts";
import { type Environment, isSet, ownAddress } from "./credentials.ts";
import type { BackendChange, BackendDefinition, BackendRequest } from "./schemas.ts";

/** Most backends created through the API. */
const MAX_BACKENDS = 100;

/** A listed backend. */
export interface Backend extends BackendDefinition {
  /** Those of the last live query, or, before the first one, those that were entered. */
  readonly models: string[];
  readonly allow: string[];
  readonly block: string[];
  /** Only the operator edits the configuration. */
  readonly source: "configuration" | "api";
}

/** A provider that muster knows. */
export interface KnownProvider {
  readonly name: string;
  readonly base_url: string;
  /** The usual environment variable of its key; empty if it usually needs none. */
  readonly api_key_env: string;
  readonly api: ProviderApi;
}

/** A provider whose key is in the environment. */
export interface DiscoveredBackend {
  readonly name: string;
  readonly provider: string;
  readonly base_url: string;
  /** The variable that is set. */
  readonly api_key_env: string;
  /** Whether there is a backend of this provider. */
  readonly configured: boolean;
}

export interface BackendsOptions {
  readonly database: Database;
  /** The backends of the configuration, until it is reloaded. */
  readonly configured: readonly BackendDefinition[];
  readonly environment: Environment;
  /** The variables that the operator allows for keys. */
  readonly keyVariables: readonly string[];
  /** Unix milliseconds. */
  readonly clock: () => number;
}

type Row = Selectable<Tables["llm_backends"]>;

/** The LLM backends: those of the configuration first, then those created through the API. */
export class Backends {
  readonly #options: BackendsOptions;
  #configured: readonly BackendDefinition[];

  constructor(options: BackendsOptions) {
    this.#options = options;
    this.#configured = options.configured;
  }

  /** Uses the backends of a reloaded configuration. Running calls continue. */
  reconfigure(configured: readonly BackendDefinition[]): void {
    this.#configured = configured;
  }

  /** Every backend; the first one is the default. */
  async list(): Promise<Backend[]> {
    const { database } = this.#options;
    const configured = this.#configured;
    const names = new Set(configured.map(({ name }) => name));
    const rows = await database.tables.selectFrom("llm_backends").selectAll()
      .orderBy("created_at").orderBy("name").execute();
    const lists = await database.tables.selectFrom("llm_model_lists").selectAll().execute();
    const definitions = [
      ...configured.map((backend) => ({ ...backend, source: "configuration" as const })),
      ...rows.filter(({ name }) => !names.has(name)).map((row) => ({
        ...definitionOf(row),
        source: "api" as const,
      })),
    ];
    return definitions.map((backend) => {
      const list = lists.find(({ backend: name, asked }) =>
        name === backend.name && asked === askedOf(backend)
      );
      return {
        ...backend,
        models: list === undefined ? [...backend.models] : readList(list.models),
        allow: [...backend.allow],
        block: [...backend.block],
      };
    });
  }

  /** @throws NotFound */
  async get(name: string): Promise<Backend> {
    const backend = (await this.list()).find((candidate) => candidate.name === name);
    if (backend === undefined) throw noSuchBackend(name);
    return backend;
  }

  /**
   * Creates a backend.
   *
   * @throws Invalid if the provider is unknown and no base_url is given, Conflict if the name is
   * taken, TooMany if there are too many
   */
  async create({ api_key: _, ...definition }: BackendRequest, caller: Caller): Promise<Backend> {
    assertUsable(definition, this.#options.keyVariables);
    const { database, clock } = this.#options;
    const backends = await this.list();
    const { name, provider, base_url } = definition;
    if (backends.some((backend) => backend.name === name)) throw taken(name);
    if (backends.length >= MAX_BACKENDS) {
      throw new TooMany(`There are already ${MAX_BACKENDS} LLM backends, which is the limit`);
    }
    const now = clock();
    const row = { ...columnsOf(definition), name, created_at: now };
    try {
      await database.commit({
        statements: [statement(database.tables.insertInto("llm_backends").values(row))],
        events: [
          newEvent("llm_backend.created", { name, provider, base_url }, originOf(caller), now),
        ],
      });
    } catch (error) {
      throw error instanceof Duplicate ? taken(name) : error;
    }
    return await this.get(name);
  }

  /**
   * Changes the given fields of a backend.
   *
   * @throws NotFound, Conflict if it is configured, Invalid if it could no longer be used
   */
  async change(name: string, change: BackendChange, caller: Caller): Promise<Backend> {
    const before = await this.#editable(name);
    if (change.name !== undefined && change.name !== name) {
      throw new Invalid('"name": a backend cannot be renamed');
    }
    const definition = {
      provider: change.provider ?? before.provider,
      base_url: change.base_url ?? before.base_url,
      api_key_env: change.api_key_env ?? before.api_key_env,
      models: change.models ?? before.models,
      allow: change.allow ?? before.allow,
      block: change.block ?? before.block,
    };
    assertUsable(definition, this.#options.keyVariables);
    const columns = Object.entries(columnsOf(definition)).filter(([name]) => name in change);
    if (columns.length === 0) return before;
    const fields = columns.map(([name]) => name);
    const { database, clock } = this.#options;
    // The entered models apply until the provider is queried again.
    const forgotten = "models" in change ? [statement(this.#forgetModels(name))] : [];
    await this.#commit(name, {
      statements: [
        statement(
          database.tables.updateTable("llm_backends").set(Object.fromEntries(columns))
            .where("name", "=", name),
          { mustChange: true },
        ),
        ...forgotten,
      ],
      events: [newEvent("llm_backend.changed", { name, fields }, originOf(caller), clock())],
    });
    return await this.get(name);
  }

  /** @throws NotFound, Conflict if it is configured */
  async delete(name: string, caller: Caller): Promise<void> {
    await this.#editable(name);
    const { database, clock } = this.#options;
    await this.#commit(name, {
      statements: [
        statement(database.tables.deleteFrom("llm_backends").where("name", "=", name), {
          mustChange: true,
        }),
        statement(this.#forgetModels(name)),
      ],
      events: [newEvent("llm_backend.deleted", { name }, originOf(caller), clock())],
    });
  }

  /** Stores the models of a backend, for listings and for the choice of a backend by model. */
  async keepModels(backend: BackendDefinition, listed: readonly string[]): Promise<void> {
    const { database, clock } = this.#options;
    const list = { asked: askedOf(backend), models: JSON.stringify(listed), queried_at: clock() };
    await database.commit({
      statements: [
        statement(
          database.tables.insertInto("llm_model_lists").values({ backend: backend.name, ...list })
            .onConflict((conflict) => conflict.column("backend").doUpdateSet(list)),
        ),
      ],
    });
  }

  /** The providers whose keys are in the environment. Sends no request and creates nothing. */
  async discover(): Promise<DiscoveredBackend[]> {
    const { environment } = this.#options;
    const inUse = new Set((await this.list()).map(({ provider }) => provider));
    return KNOWN_PROVIDERS.flatMap((provider) => {
      const variable = provider.variables.find((candidate) => isSet(environment, candidate));
      if (variable === undefined) return [];
      return [{
        name: provider.name,
        provider: provider.name,
        base_url: ownAddress(provider, environment),
        api_key_env: variable,
        configured: inUse.has(provider.name),
      }];
    });
  }

  /** Every provider that muster knows, by name. */
  known(): KnownProvider[] {
    return KNOWN_PROVIDERS.map(({ name, baseUrl, variables: [variable = ""], api }) => ({
      name,
      base_url: baseUrl,
      api_key_env: variable,
      api,
    }));
  }

  async #editable(name: string): Promise<Backend> {
    const backend = await this.get(name);
    if (backend.source === "api") return backend;
    throw new Conflict(
      `The LLM backend "${name}" is part of the configuration: change it there`,
    );
  }

  async #commit(name: string, change: Parameters<Database["commit"]>[0]): Promise<void> {
    try {
      await this.#options.database.commit(change);
    } catch (error) {
      throw error instanceof Unchanged ? noSuchBackend(name) : error;
    }
  }

  #forgetModels(name: string) {
    return this.#options.database.tables.deleteFrom("llm_model_lists").where("backend", "=", name);
  }
}

function columnsOf(definition: Omit<BackendDefinition, "name">) {
  const { provider, base_url, api_key_env, models, allow, block } = definition;
  return {
    provider,
    base_url,
    api_key_env,
    models: JSON.stringify(models),
    allow: JSON.stringify(allow),
    block: JSON.stringify(block),
  };
}

function definitionOf({ created_at: _, models, allow, block, ...row }: Row): BackendDefinition {
  return { ...row, models: readList(models), allow: readList(allow), block: readList(block) };
}

function readList(text: string): string[] {
  return JSON.parse(text);
}

/** The source of a list of models: a list from another provider or address does not apply. */
function askedOf({ provider, base_url }: BackendDefinition): string {
  return `${provider} ${base_url}`;
}

function assertUsable(
  definition: Omit<BackendDefinition, "name">,
  keyVariables: readonly string[],
): void {
  const problem = definitionProblem(definition);
  if (problem !== null) throw new Invalid(`"base_url" ${problem}`);
  const forbidden = keyVariableProblem(definition.api_key_env, keyVariables);
  if (forbidden !== null) throw new Invalid(`"api_key_env" ${forbidden}`);
}

function noSuchBackend(name: string): NotFound {
  return new NotFound(`There is no LLM backend "${name}"`);
}

function taken(name: string): Conflict {
  return new Conflict(`The LLM backend "${name}" already exists`);
}
