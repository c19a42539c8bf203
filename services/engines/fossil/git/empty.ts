import { createDatabase, type CreateOptions, type StoreOptions } from "../content/mod.ts";
import { Repository } from "../repository.ts";

/**
 * Makes a repository without any check-in, not even the usual empty first one. The imports need
 * such a repository.
 *
 * @throws {FossilError} `invalid` if the file exists or an option is malformed.
 */
export function createEmptyRepository(
  path: string,
  options: CreateOptions,
  storeOptions: StoreOptions = {},
): Repository {
  return new Repository(createDatabase(path, options), "current", storeOptions);
}
