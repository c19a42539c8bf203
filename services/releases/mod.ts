/** Releases: named check-ins with notes and files. See README.md. */
export { type Asset, fileOf, type Release, Releases } from "./releases.ts";
export {
  assetNameSchema,
  newReleaseSchema,
  newTagSchema,
  releaseChangeSchema,
  tagNameSchema,
} from "./schemas.ts";
