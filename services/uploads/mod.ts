/** Resumable uploads of releases' files. See README.md. */
export { type NewUpload, type SentPart, Uploads, type UploadView } from "./uploads.ts";
