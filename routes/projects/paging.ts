import { z } from "@hono/zod-openapi";

const MAX_PER_PAGE = 100;
const PER_PAGE = 25;

/** Reads a number of a query as the contract does: out of range means the nearest, no number means the default. */
export function boundedNumber(description: string, fallback: number, maximum: number) {
  return z.string().optional().transform((text) => {
    const number = text !== undefined && /^-?\d{1,15}$/.test(text) ? Number(text) : fallback;
    return Math.min(Math.max(number, 1), maximum);
  }).openapi({ type: "integer", default: fallback, description });
}

/** The parameters of a list that has pages; spread them into the query's object. */
export const pageParameters = {
  page: boundedNumber("The page, from 1", 1, 1_000_000),
  per_page: boundedNumber(`How many per page, at most ${MAX_PER_PAGE}`, PER_PAGE, MAX_PER_PAGE),
};

/** A page that was asked for. */
export interface PageRequest {
  readonly page: number;
  readonly per_page: number;
}

/** The fields of an answer that has pages; spread them into the answer's object. */
export const pageFields = {
  total: z.int().openapi({ description: "How many there are on all pages" }),
  page: z.int(),
  per_page: z.int(),
  total_pages: z.int().openapi({ description: "At least 1" }),
};

/** Where a page begins and how long it is, as the engine and SQL want it. */
export function rangeOf({ page, per_page }: PageRequest): { limit: number; offset: number } {
  return { limit: per_page, offset: (page - 1) * per_page };
}

/** The values of {@link pageFields}. */
export function pageOf({ page, per_page }: PageRequest, total: number) {
  return { total, page, per_page, total_pages: Math.max(1, Math.ceil(total / per_page)) };
}
