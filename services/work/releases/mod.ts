/** Releases: named check-ins with notes and files, and resumable uploads of these. See README.md. */
export { fileOf, noSuchAsset } from "./records.ts";
export { Releases } from "./releases.ts";
export type { Asset, Release } from "./schemas.ts";
export { Uploads } from "./uploads.ts";
