/** Releases: named check-ins with notes and files. See README.md. */
export { type Asset, fileOf, noSuchAsset, type Release, type ReleaseRequest } from "./records.ts";
export { type NewAsset, type ReleaseFiles } from "./release_files.ts";
export { Releases } from "./releases.ts";
