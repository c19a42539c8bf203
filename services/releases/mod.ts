/** Releases: named check-ins with notes and files. See README.md. */
export { fileOf, noSuchAsset, type ReleaseRequest } from "./records.ts";
export { type NewAsset, type ReleaseFiles } from "./release_files.ts";
export { Releases } from "./releases.ts";
export type { Asset, Release } from "./schemas.ts";
