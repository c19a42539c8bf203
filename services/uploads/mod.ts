/** Resumable uploads of releases' files. See README.md. */
export { type NewUpload, type SentPart, Uploads } from "./uploads.ts";
export type { UploadView } from "./schemas.ts";
