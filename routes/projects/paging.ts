import { z } from "../extended_zod.ts";

const MAX_PER_PAGE = 100;
const PER_PAGE = 25;

/**
 * Reads a number of a query as the contract demands: the nearest bound if it is out of range, the
 * default if it is no number.
 */
export function boundedNumber(
  description: string,
  fallback: number,
  maximum: number,
  minimum = 1,
) {
  return z.string().optional().transform((text) => {
    const number = text !== undefined && /^-?\d{1,15}$/.test(text) ? Number(text) : fallback;
    return Math.min(Math.max(number, minimum), maximum);
  }).openapi({ type: "integer", default: fallback, description });
}

/** The query parameters of a list with pages; spread them into the query's schema. */
export const pageParameters = {
  page: boundedNumber("The page, from 1", 1, 1_000_000),
  per_page: boundedNumber(`Items per page, at most ${MAX_PER_PAGE}`, PER_PAGE, MAX_PER_PAGE),
};

/** The page that a request asks for. */
export interface PageRequest {
  readonly page: number;
  readonly per_page: number;
}

/** The fields of an answer with pages; spread them into the answer's schema. */
export const pageFields = {
  total: z.int().openapi({ description: "Items on all pages" }),
  page: z.int(),
  per_page: z.int(),
  total_pages: z.int().openapi({ description: "At least 1" }),
};

/** The offset and the length of a page, for the engine and SQL. */
export function rangeOf({ page, per_page }: PageRequest): { limit: number; offset: number } {
  return { limit: per_page, offset: (page - 1) * per_page };
}

/** The values of {@link pageFields}. */
export function pageOf({ page, per_page }: PageRequest, total: number) {
  return { total, page, per_page, total_pages: Math.max(1, Math.ceil(total / per_page)) };
}
