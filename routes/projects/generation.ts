import type { Context } from "hono";
import { Invalid } from "../../services/kernel/errors.ts";

/** The header with the generation of the claim under which a client works. */
const HEADER = "X-Claim-Generation";

/**
 * The generation of the claim that a request names in its body or its header.
 *
 * @throws Invalid if the header is no number, or the two differ
 */
export function generationOf(context: Context, inBody: number | undefined): number | undefined {
  const text = context.req.header(HEADER);
  if (text === undefined) return inBody;
  const inHeader = /^[1-9]\d{0,9}$/.test(text) ? Number(text) : null;
  if (inHeader === null) throw new Invalid(`The header ${HEADER} must be a whole number from 1`);
  if (inBody !== undefined && inBody !== inHeader) {
    throw new Invalid(`The header ${HEADER} and the field "generation" differ`);
  }
  return inHeader;
}
