/**
 * The signatures of commits, with the accounts whose keys made them. A worker reads a commit from the
 * companion and verifies it: that depends on the repository alone, so it is kept. Whose key it is
 * changes with the keys and the accounts; kept answers of the API name their version.
 */
export { Signatures, type SignaturesOptions } from "./signatures.ts";
