/** The configuration: its schema, defaults and sources. */
export {
  type Address,
  bridgeNickOf,
  consoleNickOf,
  explainListenError,
  formatAddress,
  isPostgresUrl,
  parseAddress,
  urlOf,
} from "./address.ts";
export { changedKeys, loadConfig } from "./load.ts";
export { ConfigError, type ConfigSources, type LoadedConfig } from "./sources.ts";
export type { Config } from "./schemas.ts";
export { DataFolder, DataFolderError } from "./data_folder.ts";
