/** The configuration: its schema, defaults and sources. */
export { type Address, explainListenError, formatAddress, parseAddress, urlOf } from "./address.ts";
export { changedKeys } from "./changes.ts";
export { loadConfig } from "./load.ts";
export { ConfigError, type ConfigSources, type LoadedConfig } from "./sources.ts";
export type { Config } from "./schemas.ts";
export { isPostgresUrl } from "./postgres_url.ts";
export { bridgeNickOf, consoleNickOf } from "./node_names.ts";
export { DataFolder, DataFolderError } from "./data_folder.ts";
