/** `DENO_CERT`: the file with further authorities that the runtime trusts in TLS. */
import { CommandFailed } from "./output.ts";

const VARIABLE = "DENO_CERT";

/**
 * Removes the variable if it is empty, as containers may set it. The runtime would look for a file
 * without a name at the first connection with TLS.
 */
export function ignoreEmptyAuthorities(): void {
  if (Deno.env.get(VARIABLE) === "") Deno.env.delete(VARIABLE);
}

/** What is wrong with the file, as a sentence; null if nothing is, or the variable names none. */
export function faultOfAuthorities(): string | null {
  const file = Deno.env.get(VARIABLE) ?? "";
  if (file === "") return null;
  try {
    const hasOne = Deno.readTextFileSync(file).includes("-----BEGIN CERTIFICATE-----");
    return hasOne ? null : `The file "${file}" (${VARIABLE}) holds no certificate in PEM form`;
  } catch {
    return `The file "${file}" (${VARIABLE}) cannot be read`;
  }
}

/**
 * Checks the file before something needs it.
 *
 * @throws CommandFailed
 */
export function requireAuthorities(): void {
  const fault = faultOfAuthorities();
  if (fault !== null) throw new CommandFailed(fault, 2);
}
