/** How a route answers usual requests without the app: see `direct_requests.ts`. */
import type { RouteConfig } from "@hono/zod-openapi";
import type { Handler } from "hono";
import type { Caller, ServerAccess } from "../services/people/identity/mod.ts";
import { serverAccessOf } from "./access.ts";
import type { AppEnv } from "./environment.ts";
import type { z } from "./extended_zod.ts";
import type { Endpoint } from "./table.ts";

/** The validated parts of a request; those that its route does not describe are undefined. */
export interface Input<Params = unknown, Query = unknown, Json = unknown> {
  readonly params: Params;
  readonly query: Query;
  readonly json: Json;
}

type Part<Described, Name extends string> = Described extends
  Readonly<Record<Name, infer Schema extends z.ZodType>> ? z.output<Schema> : undefined;

type Json<Described> = Described extends
  { readonly body: { readonly content: { readonly "application/json": infer Media } } }
  ? Part<Media, "schema">
  : undefined;

/** The input that a route describes. */
export type InputOf<Route extends RouteConfig> = Input<
  Part<Route["request"], "params">,
  Part<Route["request"], "query">,
  Json<Route["request"]>
>;

/** Answers a request of which only its input and its caller count. */
export type Answer<Given extends Input = Input> = (
  input: Given,
  caller: Caller,
) => Response | Promise<Response>;

/** An answer, with the schemas of its input. */
export interface DirectAnswer {
  readonly params?: z.ZodType | undefined;
  readonly query?: z.ZodType | undefined;
  readonly json?: z.ZodType | undefined;
  readonly answer: Answer;
}

/** A handler of an app that may also be able to answer without the app. */
export type AnsweringHandler = Handler<AppEnv> & { direct?: DirectAnswer };

/** A route that can answer without the app. */
export interface DirectRoute extends DirectAnswer {
  /** The pattern of its path, as in the table of routes. */
  readonly pattern: string;
  readonly access: ServerAccess;
  /** The query of a request that has none, validated. */
  readonly noQuery: unknown;
}

/** A handler in the app, with its route if that is loaded and can answer without the app. */
export type RoutedHandler = Handler<AppEnv> & { route?: DirectRoute | undefined };

/**
 * The route with these handlers, if it can answer without the app: if nothing but the check of the
 * caller's rights stands before its answer.
 */
export function directRoute(
  name: Endpoint,
  handlers: readonly AnsweringHandler[],
): DirectRoute | undefined {
  const access = serverAccessOf(name);
  const direct = handlers.at(-1)?.direct;
  if (direct === undefined || access === null || handlers.length > 2) return undefined;
  const query = direct.query?.safeParse({});
  if (query?.success === false) return undefined;
  return { ...direct, pattern: name.slice(name.indexOf("/")), access, noQuery: query?.data };
}
