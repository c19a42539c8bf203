/** The configuration: its schema, defaults and sources. */
export { type Address, explainListenError, formatAddress, parseAddress } from "./address.ts";
export { changedKeys } from "./changes.ts";
export { ConfigError, type ConfigSources, loadConfig, type LoadedConfig } from "./load.ts";
export { type Config, configSchema } from "./schema.ts";
export { isPostgresUrl } from "./database.ts";
export { bridgeNickOf, consoleNickOf } from "./node.ts";
export { DataFolder, DataFolderError } from "./data_folder.ts";
