/** The checks that a repository defines for itself in `.muster/checks.yaml`. */
export {
  DEFINITION_PATH,
  type DefinitionFault,
  DefinitionInvalid,
  type Locate,
  readDocument,
} from "./document.ts";
export { parseDefinition } from "./parse.ts";
export { hashedFiles, keyOfCache } from "./cache_key.ts";
export type {
  CheckDefinition,
  Concurrency,
  Definition,
  DefinitionCache,
  DefinitionLimits,
  Triggers,
} from "./schemas.ts";
